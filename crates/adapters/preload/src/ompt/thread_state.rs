//! What is kept for each thread the runtime tells of.

use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use workspan_recorder::TABLE;
use workspan_recorder::adapter;
use workspan_recorder::front::Handle;

use super::budget::LeftOut;
use super::ffi::Data;
use super::region::Member;
use super::start;
use super::sync::Group;
use super::task_word::{level, on_stack, unpack};
use crate::loaded_files::era;
use crate::site_cache;

const CACHED_SITES: usize = 64;

/// A begin that is written only when it is known to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingBegin {
    /// Nothing is owed.
    None,
    /// The implicit task left a barrier at this time; perhaps its region is over.
    Member(u64),
    /// The current task, an untied one, began at this time; its first part is often empty, and another thread begins it
    /// again.
    Task(u64),
}

/// A thread, as its callbacks know it.
pub(super) struct ThreadState {
    pub(super) h: *mut Handle,
    pub(super) pending_begin: PendingBegin,
    /// An undeferred task is about to be created because the program says so.
    pub(super) has_false_if: bool,
    /// The task just created begins here and now.
    pub(super) at_once: bool,
    is_worker: bool,
    /// Threads of the innermost team; 1 outside of all.
    pub(super) team_size: u32,
    /// The task that runs on this thread, as the runtime says.
    pub(super) current: *mut Data,
    /// The innermost implicit task of this thread.
    pub(super) member: *mut Member,
    /// The call of a `taskloop` that this thread is about to make.
    pub(super) taskloop_call: usize,
    /// The function made of the parallel region that this thread is about to open.
    pub(super) region_function: usize,
    /// When it began to wait for a lock.
    pub(super) lock_wait: u64,
    /// Where the record after that of the last `taskwait` goes.
    pub(super) after_wait: *mut u8,
    /// Site of a `taskwait` with dependences, between its two events.
    pub(super) dependence_wait: u32,
    /// Untied tasks of which a part is on this thread's stack, innermost last.
    pub(super) untied: Vec<*mut Data>,
    /// Task groups open on this thread's stack.
    pub(super) groups: Vec<Group>,
    /// What is left out of the recording, to stay inside the budget.
    pub(super) left_out: LeftOut,
    /// Members of before, for reuse.
    pub(super) spare: Vec<*mut Member>,
    sites: [(u64, u32); CACHED_SITES],
}

/// Where a call that returns into the runtime was made is not known: it was the last thing its function did, and the compiler
/// let it return for both.
#[cold]
fn site_of(return_address: usize, primitive: u8) -> u32 {
    const TAIL_CALL: &str = "? (tail call)";
    if start::is_runtime(return_address) {
        return (TABLE.site_label)(TAIL_CALL.as_ptr(), TAIL_CALL.len(), primitive);
    }
    site_cache::at(return_address, primitive, true)
}

/// Where a lane keeps the site of such a call, and under what.
#[inline]
fn place_of(return_address: usize, primitive: u8) -> (usize, u64) {
    let key = ((return_address as u64) << 8 | u64::from(primitive)) ^ era();
    ((return_address ^ return_address >> 6) % CACHED_SITES, key)
}

// Where a thread's lane is found.
workspan_recorder::thread_word!(Slot: ThreadState, "workspan_ompt_lane");

/// The calling thread's lane, made on first use; `None` when this process is not recorded. The callbacks of one thread do not
/// interrupt each other, so the reference is the only one while a callback runs.
#[inline]
pub(super) fn current() -> Option<&'static mut ThreadState> {
    existing().or_else(make)
}

/// The same, if it was made before.
#[inline]
pub(super) fn existing() -> Option<&'static mut ThreadState> {
    // SAFETY: the slot holds this thread's lane until its end.
    unsafe { Slot::get().as_mut() }
}

#[cold]
fn make() -> Option<&'static mut ThreadState> {
    let h = adapter::handle();
    if h.is_null() {
        return None;
    }
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
        after_wait: ptr::null_mut(),
        dependence_wait: 0,
        untied: Vec::new(),
        groups: Vec::new(),
        left_out: LeftOut::new(),
        spare: Vec::new(),
        sites: [(0, 0); CACHED_SITES],
    }));
    Slot::set(thread);
    // SAFETY: just made.
    unsafe { thread.as_mut() }
}

/// The runtime is done with this thread (`ompt_callback_thread_end_t`); its handle may soon be another's.
pub(super) extern "C" fn thread_end(_data: *mut Data) {
    let thread = Slot::get();
    if thread.is_null() {
        return;
    }
    Slot::set(ptr::null_mut());
    // SAFETY: the lane came from a box and nobody else knows it; its members are its own, and no task of theirs runs.
    unsafe {
        let mut thread = Box::from_raw(thread);
        thread.free_members();
    }
}

impl ThreadState {
    /// Declares the thread a worker, which all are that run tasks or belong to a team.
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
        // SAFETY: the lane's handle is the calling thread's. One that came from outside has its root first.
        unsafe {
            if self.member.is_null() {
                adapter::root(self.h);
            }
            adapter::worker(self.h, pool, WORKERS.fetch_add(1, Ordering::Relaxed));
        }
    }

    /// Writes the begin that is owed: something shows that it was one.
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
            // SAFETY: the member is this thread's innermost, and lives until its implicit task ends.
            PendingBegin::Member(since) => unsafe {
                if let Some(member) = self.member.as_mut() {
                    member.enter_phase(self.h, since);
                }
            },
            // SAFETY: the runtime says that this task runs here, so its word is this thread's to write.
            PendingBegin::Task(since) => unsafe {
                let word = (*self.current).value;
                (*self.current).value = on_stack(word, level(word));
                adapter::task_begin_at(self.h, unpack(word), since);
            },
        }
    }

    /// A task, or a part of it, is gone from this thread's stack.
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

    /// That site, if the last call that has its place was the same.
    #[inline]
    pub(super) fn cached_site(&self, return_address: usize, primitive: u8) -> Option<u32> {
        let (place, key) = place_of(return_address, primitive);
        let (of, site) = self.sites[place];
        (of == key && key != 0).then_some(site)
    }

    #[cold]
    fn look_up_site(&mut self, return_address: usize, primitive: u8) -> u32 {
        let (place, key) = place_of(return_address, primitive);
        let site = site_of(return_address, primitive);
        self.sites[place] = (key, site);
        site
    }

    /// # Safety
    /// No implicit task of this thread will be told of again.
    unsafe fn free_members(&mut self) {
        // SAFETY: members came from boxes, and each is either open or spare.
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
