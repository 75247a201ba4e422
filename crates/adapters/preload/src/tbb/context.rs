//! The open scope of a context (`task_group_context`): kept in the context's own unused bytes, so that a spawn finds it
//! without a lock.
//!
//! A context is marked when it is made (`r1::initialize`), as its unused bytes hold anything before. One that is not
//! marked, because it was made before recording or by a libtbb that initialises it without asking, has no scope: tasks
//! created into it are plain children.
//!
//! One that is made in an unrecorded subtree has the subtree's name instead, under another mark.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a context, and where ours begin: the last two words of its padding.
const OURS: usize = 128 - 16;
const MARK: u64 = 0x5753_5041_4e5f_7462;
const INSIDE: u64 = 0x5753_5041_4e5f_7562;

#[repr(C)]
struct Slot {
    /// Or the subtree's name.
    scope: AtomicU64,
    /// [`MARK`], or [`INSIDE`], mixed with the context's address.
    mark: AtomicU64,
}

fn slot(context: usize) -> *const Slot {
    (context + OURS) as *const Slot
}

/// A context was made at this address, in the unrecorded subtree of that name; 0: in none.
///
/// # Safety
/// `context` is a live context of 128 bytes that no other thread knows yet.
pub(super) unsafe fn made(context: usize, name: u64) {
    // SAFETY: the caller's; these bytes are nobody else's.
    unsafe {
        let slot = &*slot(context);
        slot.scope.store(name, Ordering::Relaxed);
        let mark = if name == 0 { MARK } else { INSIDE };
        slot.mark.store(mark ^ context as u64, Ordering::Release);
    }
}

/// The name of the unrecorded subtree it was made in; 0 when it was made in none.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn inside(context: usize) -> u64 {
    // SAFETY: the caller's.
    let slot = unsafe { &*slot(context) };
    if slot.mark.load(Ordering::Relaxed) == INSIDE ^ context as u64 {
        slot.scope.load(Ordering::Relaxed)
    } else {
        0
    }
}

/// # Safety
/// `context` is a live context.
#[inline]
unsafe fn marked<'a>(context: usize) -> Option<&'a Slot> {
    // SAFETY: the caller's.
    let slot = unsafe { &*slot(context) };
    (slot.mark.load(Ordering::Relaxed) == MARK ^ context as u64).then_some(slot)
}

/// The open scope; 0 when there is none.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn scope(context: usize) -> u64 {
    // SAFETY: the caller's.
    unsafe { marked(context) }.map_or(0, |slot| slot.scope.load(Ordering::Acquire))
}

/// Whether a scope can be kept for it.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn keeps(context: usize) -> bool {
    // SAFETY: the caller's.
    unsafe { marked(context) }.is_some()
}

/// Makes `scope` the open one, unless there is one; the open one.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn open(context: usize, scope: u64) -> u64 {
    // SAFETY: the caller's.
    match unsafe { marked(context) } {
        Some(slot) => slot
            .scope
            .compare_exchange(0, scope, Ordering::AcqRel, Ordering::Acquire)
            .map_or_else(|other| other, |_| scope),
        None => scope,
    }
}

/// The scope was waited for.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn close(context: usize, scope: u64) {
    // SAFETY: the caller's.
    if let Some(slot) = unsafe { marked(context) }
        && slot.scope.load(Ordering::Relaxed) == scope
    {
        slot.scope.store(0, Ordering::Release);
    }
}
