//! The handle of the calling thread, as adapters use it: safe methods around the raw [`Handle`].

use core::ptr::NonNull;

use crate::abi::{HAS_ROOT, Handle, IS_WORKER, id};
use crate::thread;
use crate::wire::Kind;

/// The calling thread's handle, while the thread is in a callback of the runtime.
///
/// Its invariant makes all its methods safe: the pointer is the calling thread's handle, and the
/// thread has not given it up. The type is not `Send`, so it stays on its thread. A thread gives
/// its handle up when it ends, after its last callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct LiveHandle(NonNull<Handle>);

impl LiveHandle {
    /// The calling thread's handle, made on first use; `None` if this process is not recorded, or
    /// no longer recorded.
    ///
    /// # Safety
    /// The result is used on the calling thread alone, before the thread ends. It is therefore not
    /// used after a call that may return on another thread, which oneTBB's waits do.
    #[inline(always)]
    pub unsafe fn current() -> Option<LiveHandle> {
        NonNull::new(thread::of_thread()).map(LiveHandle)
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut Handle {
        self.0.as_ptr()
    }

    #[inline(always)]
    fn get(&self) -> &Handle {
        // SAFETY: the type's invariant. The reference ends before anything writes to the handle.
        unsafe { self.0.as_ref() }
    }

    #[inline(always)]
    fn update<R>(self, change: impl FnOnce(&mut Handle) -> R) -> R {
        // SAFETY: the type's invariant: no other thread has the handle, and `change` has no way to
        // reach it a second time.
        unsafe { change(&mut *self.as_ptr()) }
    }

    /// The clock, in ticks.
    #[inline(always)]
    pub fn now(self) -> u64 {
        // SAFETY: the type's invariant.
        unsafe { Handle::now(self.as_ptr()) }
    }

    /// The time of the thread's last record, in ticks.
    #[inline(always)]
    pub fn last(self) -> u64 {
        self.get().last
    }

    /// The thread's number in the trace.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        self.get().thread
    }

    /// The number of tasks that the thread has created.
    #[inline(always)]
    pub fn created_tasks(self) -> u64 {
        self.get().next_task
    }

    /// The number of yields and skipped subtrees of the thread.
    #[inline(always)]
    pub fn counted_yields(self) -> u64 {
        self.get().next_yield
    }

    /// The address of the next record. Two equal results mean that nothing was recorded in between.
    #[inline(always)]
    pub fn cursor(self) -> *mut u8 {
        self.get().cursor
    }

    /// Whether the thread is a worker of a pool.
    #[inline(always)]
    pub fn is_worker(self) -> bool {
        self.get().flags & IS_WORKER != 0
    }

    /// Whether the thread has a root task.
    #[inline(always)]
    pub fn has_root(self) -> bool {
        self.get().flags & HAS_ROOT != 0
    }

    /// Gives the thread a root task, unless it has a current task or is a worker.
    #[inline]
    pub fn ensure_root(self) {
        if self.get().flags & (HAS_ROOT | IS_WORKER) == 0 && self.depth() == 0 {
            // SAFETY: the type's invariant.
            unsafe { thread::ensure_root(self.as_ptr()) };
        }
    }

    /// Begins the task that the thread was started for, at the bottom of its stack.
    pub fn begin_thread_task(self, task: u64) {
        // SAFETY: the type's invariant.
        unsafe { thread::begin_thread_task(self.as_ptr(), task) };
    }

    /// Ends that task if nothing lies on top of it, because the thread belongs to a runtime.
    pub fn end_thread_task(self) {
        // SAFETY: the type's invariant.
        unsafe { thread::end_thread_task(self.as_ptr()) };
    }

    /// Makes the thread a worker of this pool (`TABLE.pool` gives the numbers).
    pub fn become_worker(self, pool: u32, index: u32) {
        self.update(|handle| handle.flags |= IS_WORKER);
        self.event(Kind::Worker, [u64::from(pool), u64::from(index)]);
    }

    /// Writes a record now and returns its time.
    #[inline(always)]
    pub(super) fn event<const N: usize>(self, kind: Kind, operands: [u64; N]) -> u64 {
        const { assert!(N <= MAX_OPERANDS) };
        // SAFETY: the type's invariant; a record has room for N operands.
        unsafe { Handle::event_with(self.as_ptr(), kind, operands) }
    }

    /// The number of tasks on top of the root.
    #[inline(always)]
    pub(super) fn depth(self) -> u32 {
        // SAFETY: the type's invariant.
        unsafe { thread::depth(self.as_ptr()) }
    }

    /// Changes [`LiveHandle::depth`] by `by`.
    #[inline(always)]
    pub(super) fn deepen(self, by: i32) {
        // SAFETY: the type's invariant.
        unsafe { thread::deepen(self.as_ptr(), by) };
    }

    /// The root leaves the thread.
    pub(super) fn lose_root(self) {
        self.update(|handle| handle.flags &= !HAS_ROOT);
    }

    /// Numbers a task that the thread creates.
    #[inline(always)]
    pub(super) fn number_task(self) -> u64 {
        self.update(|handle| number(handle.thread, &mut handle.next_task))
    }

    /// Numbers a scope that the thread opens.
    #[inline(always)]
    pub(super) fn number_scope(self) -> u64 {
        self.update(|handle| number(handle.thread, &mut handle.next_scope))
    }

    /// Numbers a yield, or a skipped subtree, of the thread.
    #[inline(always)]
    pub(super) fn number_yield(self) -> u64 {
        self.update(|handle| number(handle.thread, &mut handle.next_yield))
    }
}

/// The room of a record holds five operands of any size: ten bytes for its head and nine for each
/// operand.
pub(super) const MAX_OPERANDS: usize = 5;

#[inline(always)]
fn number(thread: u32, next: &mut u64) -> u64 {
    let count = *next;
    *next = count + 1;
    id::new(thread, count)
}
