//! The open scope of a context (`task_group_context`). It is kept in unused bytes of the context,
//! so a spawn finds it without a lock.
//!
//! A context is marked when it is created (`r1::initialize`), because its unused bytes may contain
//! anything before. A context without a mark was created before recording, or by a libtbb that
//! initialises it without a call. It has no scope: tasks created into it are plain children.
//!
//! A context that is created in a skipped subtree has the subtree's name instead, under another
//! mark.
//!
//! All functions here take the address of a live context.

use std::sync::atomic::{AtomicU64, Ordering};

/// The offset of our bytes: the last two of a context's 16 words, which are padding.
const OURS: usize = 128 - 16;
const MARK: u64 = 0x5753_5041_4e5f_7462;
const INSIDE: u64 = 0x5753_5041_4e5f_7562;

#[repr(C)]
struct Slot {
    /// The open scope; or the subtree's name.
    scope: AtomicU64,
    /// [`MARK`], or [`INSIDE`], mixed with the context's address.
    mark: AtomicU64,
}

fn slot(context: usize) -> *const Slot {
    (context + OURS) as *const Slot
}

/// Marks a new context. `name` is the skipped subtree in which it was created; 0 if there is none.
///
/// # Safety
/// `context` is a live context of 128 bytes that no other thread knows yet.
pub(super) unsafe fn made(context: usize, name: u64) {
    // SAFETY: the context is live, and these bytes are not used by libtbb.
    unsafe {
        let slot = &*slot(context);
        slot.scope.store(name, Ordering::Relaxed);
        let mark = if name == 0 { MARK } else { INSIDE };
        slot.mark.store(mark ^ context as u64, Ordering::Release);
    }
}

/// The name of the skipped subtree in which it was created; 0 if there is none.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn inside(context: usize) -> u64 {
    // SAFETY: the context is live.
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
    // SAFETY: the context is live.
    let slot = unsafe { &*slot(context) };
    (slot.mark.load(Ordering::Relaxed) == MARK ^ context as u64).then_some(slot)
}

/// The open scope; 0 if there is none.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn scope(context: usize) -> u64 {
    // SAFETY: the context is live.
    unsafe { marked(context) }.map_or(0, |slot| slot.scope.load(Ordering::Acquire))
}

/// Whether it can have a scope.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn keeps(context: usize) -> bool {
    // SAFETY: the context is live.
    unsafe { marked(context) }.is_some()
}

/// Makes `scope` the open one, unless there is one already. Returns the open one.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn open(context: usize, scope: u64) -> u64 {
    // SAFETY: the context is live.
    match unsafe { marked(context) } {
        Some(slot) => slot
            .scope
            .compare_exchange(0, scope, Ordering::AcqRel, Ordering::Acquire)
            .map_or_else(|other| other, |_| scope),
        None => scope,
    }
}

/// Removes a scope that was waited for.
///
/// # Safety
/// `context` is a live context.
#[inline]
pub(super) unsafe fn close(context: usize, scope: u64) {
    // SAFETY: the context is live.
    if let Some(slot) = unsafe { marked(context) }
        && slot.scope.load(Ordering::Relaxed) == scope
    {
        slot.scope.store(0, Ordering::Release);
    }
}
