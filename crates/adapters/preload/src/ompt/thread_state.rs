//! The state of each thread for which the runtime calls back.

use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use workspan_recorder::TABLE;
use workspan_recorder::adapter::LiveHandle;

use super::budget::SkipState;
use super::ffi::Data;
use super::region::Member;
use super::silent_end;
use super::start;
use super::sync::Group;
use super::task_word::{level, part_on_stack, unpack};
use crate::loaded_files::era;
use crate::site_cache;

const CACHED_SITES: usize = 64;

/// A begin that is written only when a later event confirms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingBegin {
    /// Nothing is pending.
    None,
    /// The implicit task left a barrier at this time. Its region may be over.
    Member(u64),
    /// The current task, an untied one with this word, began at this time. Its first part is often
    /// empty, and another thread begins the task again.
    Task { since: u64, word: u64 },
}

/// The state of a thread in its callbacks.
pub(super) struct ThreadState {
    pub(super) h: LiveHandle,
    pub(super) pending_begin: PendingBegin,
    /// Whether the next task is undeferred because the program's `if` clause is false.
    pub(super) has_false_if: bool,
    /// Whether the task just created begins immediately.
    pub(super) at_once: bool,
    is_worker: bool,
    /// The number of threads in the innermost team; 1 outside of all teams.
    pub(super) team_size: u32,
    /// The task that runs on this thread, according to the runtime.
    pub(super) current: *mut Data,
    /// The innermost implicit task of this thread.
    pub(super) member: *mut Member,
    /// Return address of the `taskloop` that this thread is about to enter.
    pub(super) taskloop_call: usize,
    /// The function of the parallel region that this thread is about to open.
    pub(super) region_function: usize,
    /// The time at which it began to wait for a lock.
    pub(super) lock_wait: u64,
    /// The return address of the call for that lock.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "waits are logged there")
    )]
    pub(super) lock_site: usize,
    /// The address of the record after that of the last `taskwait`.
    pub(super) after_wait: *mut u8,
    /// Site of a `taskwait` with dependences, between its two events.
    pub(super) dependence_wait: u32,
    /// Untied tasks with a part on this thread's stack, innermost last.
    pub(super) untied: Vec<*mut Data>,
    /// Task groups that are open on this thread's stack.
    pub(super) groups: Vec<Group>,
    /// The skipped subtrees of this thread.
    pub(super) left_out: SkipState,
    /// Members that ended, for reuse.
    pub(super) spare: Vec<*mut Member>,
    sites: [(u64, u32); CACHED_SITES],
}

/// The site of a call by its return address. A call that returns into the runtime was a tail call.
/// Its position is unknown, because the compiler let it return for its function too.
#[cold]
fn site_of(return_address: usize, primitive: u8) -> u32 {
    const TAIL_CALL: &str = "? (tail call)";
    if start::is_runtime(return_address) {
        return (TABLE.site_label)(TAIL_CALL.as_ptr(), TAIL_CALL.len(), primitive);
    }
    site_cache::at(return_address, primitive, true)
}

/// The index at which the state caches the site of such a call, and the key.
#[inline]
fn place_of(return_address: usize, primitive: u8) -> (usize, u64) {
    let key = ((return_address as u64) << 8 | u64::from(primitive)) ^ era();
    ((return_address ^ return_address >> 6) % CACHED_SITES, key)
}

// The thread's state.
workspan_recorder::tls_slot!(Slot: ThreadState, "workspan_ompt_lane");

/// The calling thread's state, made on first use; `None` if this process is not recorded. The
/// callbacks of one thread do not interrupt each other, so the reference is the only one while a
/// callback runs.
#[inline]
pub(super) fn current() -> Option<&'static mut ThreadState> {
    existing().or_else(make)
}

/// The calling thread's state, if it was made before.
#[inline]
pub(super) fn existing() -> Option<&'static mut ThreadState> {
    // SAFETY: null, or this thread's state, which lives until `thread_end`.
    let thread = unsafe { Slot::get().as_mut() }?;
    if silent_end::is_any() {
        silent_end::write(thread);
    }
    Some(thread)
}

#[cold]
fn make() -> Option<&'static mut ThreadState> {
    // SAFETY: the state is used only in this thread's callbacks, and freed before the thread ends.
    let h = unsafe { LiveHandle::current() }?;
    let thread = Box::into_raw(Box::new(ThreadState {
        h,
        pending_begin: PendingBegin::None,
        has_false_if: false,
        at_once: false,
        is_worker: false,
        team_size: 1,
        current: ptr::null_mut(),
        member: ptr::null_mut(),
        taskloop_call: 0,
        region_function: 0,
        lock_wait: 0,
        lock_site: 0,
        after_wait: ptr::null_mut(),
        dependence_wait: 0,
        untied: Vec::new(),
        groups: Vec::new(),
        left_out: SkipState::new(),
        spare: Vec::new(),
        sites: [(0, 0); CACHED_SITES],
    }));
    Slot::set(thread);
    // SAFETY: just made, for this thread.
    unsafe { thread.as_mut() }
}

/// `ompt_callback_thread_end_t`: the runtime has finished with this thread, and another thread may
/// soon get its handle.
pub(super) extern "C" fn thread_end(_data: *mut Data) {
    let Some(thread) = existing() else {
        return;
    };
    let thread = ptr::from_mut(thread);
    Slot::set(ptr::null_mut());
    // SAFETY: the state came from a box and only this thread has it; none of its implicit tasks
    // runs any more.
    unsafe {
        let mut thread = Box::from_raw(thread);
        thread.free_members();
    }
}

impl ThreadState {
    /// Makes the thread a worker, like every thread that runs tasks or belongs to a team.
    #[inline]
    pub(super) fn work_here(&mut self) {
        if !self.is_worker {
            self.become_worker();
        }
    }

    #[cold]
    fn become_worker(&mut self) {
        static POOL: OnceLock<u32> = OnceLock::new();
        static WORKERS: AtomicU32 = AtomicU32::new(0);
        self.is_worker = true;
        let pool = *POOL.get_or_init(|| (TABLE.pool)());
        if self.member.is_null() {
            self.h.ensure_root();
        }
        self.h
            .become_worker(pool, WORKERS.fetch_add(1, Ordering::Relaxed));
    }

    /// The runtime reports that `task` runs here. If the innermost task was a part of an untied
    /// one, that part has ended without an event ([`silent_end`]).
    #[inline]
    pub(super) fn runs(&mut self, task: *mut Data) {
        if self.current.is_null() {
            self.current = task;
        } else if !self.untied.is_empty()
            && task != self.current
            && self.untied.last() == Some(&self.current)
        {
            silent_end::found(self, task);
        }
    }

    /// Writes the pending begin, which an event has confirmed.
    #[inline]
    pub(super) fn write_pending_begin(&mut self) {
        if self.pending_begin != PendingBegin::None {
            self.write_pending();
        }
    }

    #[cold]
    fn write_pending(&mut self) {
        match core::mem::replace(&mut self.pending_begin, PendingBegin::None) {
            PendingBegin::None => {}
            // SAFETY: null, or this thread's innermost member, which lives until its implicit task
            // ends.
            PendingBegin::Member(since) => unsafe {
                if let Some(member) = self.member.as_mut() {
                    member.enter_phase(self.h, since);
                }
            },
            // SAFETY: the runtime reports that this task runs here, so this thread may write its
            // word.
            PendingBegin::Task { since, word } => unsafe {
                (*self.current).value = part_on_stack(word, level(word), self.h.thread());
                self.h.task_begin_at(unpack(word), since);
            },
        }
    }

    /// A task, or a part of it, has left this thread's stack.
    #[inline]
    pub(super) fn forget(&mut self, task: *mut Data) {
        if !self.untied.is_empty() {
            self.untied.retain(|&untied| untied != task);
        }
    }

    /// The site of a call by its return address.
    #[inline]
    pub(super) fn site(&mut self, return_address: usize, primitive: u8) -> u32 {
        self.cached_site(return_address, primitive)
            .unwrap_or_else(|| self.look_up_site(return_address, primitive))
    }

    /// The cached site of a call, if it was the last one at this place of the cache.
    #[inline]
    pub(super) fn cached_site(&self, return_address: usize, primitive: u8) -> Option<u32> {
        let (place, key) = place_of(return_address, primitive);
        let (cached_key, site) = self.sites[place];
        (cached_key == key && key != 0).then_some(site)
    }

    #[cold]
    fn look_up_site(&mut self, return_address: usize, primitive: u8) -> u32 {
        let (place, key) = place_of(return_address, primitive);
        let site = site_of(return_address, primitive);
        self.sites[place] = (key, site);
        site
    }

    /// # Safety
    /// The runtime will not name an implicit task of this thread again.
    unsafe fn free_members(&mut self) {
        // SAFETY: all members came from boxes, and each is either open or spare.
        unsafe {
            while let Some(open) = self.member.as_mut() {
                self.member = open.outer;
                drop(Box::from_raw(open));
            }
            for member in self.spare.drain(..) {
                drop(Box::from_raw(member));
            }
        }
    }
}
