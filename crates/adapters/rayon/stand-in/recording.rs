//! Whether the process is recorded, and the calling thread's state.

use crate::budget::Watch;
use crate::abi::{Handle, Table, HAS_ROOT, TABLE_SYMBOL};
use crate::task::{Task, ROOT};
use crate::skipped_subtree::Subtree;
use crate::wire::{self, Kind};
use crate::worker::Pool;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::thread::LocalKey;

/// Values of [`MODE`]: not looked up yet; not recorded; recorded.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// Changes once, from the first value to one of the others.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// The recorder's table; set before `MODE` becomes `ON`.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

/// The handle of a thread that is not recorded.
const NO_HANDLE: *mut Handle = 1 as *mut Handle;

/// Entries in a thread's cache of source positions; a power of two.
pub(crate) const POSITIONS: usize = 64;

/// The state of a thread. Only that thread touches it. It has no destructor, so it lives as long as
/// the thread.
pub(crate) struct ThreadState {
    /// Null before the first lookup; `NO_HANDLE` if the thread is not recorded.
    handle: Cell<*mut Handle>,
    /// The current task; null if there is none (an idle worker).
    pub(crate) task: Cell<*const Task>,
    /// Whether the thread is a worker of one of Rayon's pools.
    pub(crate) worker: Cell<bool>,
    /// The pool of a worker (`Arc::into_raw`), else null.
    pub(crate) pool: Cell<*const Pool>,
    /// The number of joins to record before the budget is asked again.
    pub(crate) unasked: Cell<u32>,
    /// The state of the budget, once it was asked.
    pub(crate) watch: Cell<*mut Watch>,
    /// A stolen job that has not begun: the victim's index + 1, and the time of the steal; else 0.
    pub(crate) stolen: Cell<(usize, u64)>,
    /// The number of failed attempts to steal since this thread became idle, or woke.
    pub(crate) missed: Cell<u64>,
    /// In `yield_now` or `yield_local`, until something has run there: the call's site + 1; else 0.
    pub(crate) yielding: Cell<u32>,
    /// Cached sites by position: the call's address + primitive, and its site.
    pub(crate) positions: [Cell<(usize, u32)>; POSITIONS],
    /// The highest stack address that an unwinding has reached.
    pub(crate) stack_top: Cell<usize>,
}

thread_local! {
    /// The subtree that this thread skips; `NOBODYS` if the thread is not recorded; null if the
    /// thread records, or has not looked up its state yet. It is a variable of its own, because a
    /// skipped join reads nothing else.
    static SKIPPED: Cell<*const Subtree> = const { Cell::new(ptr::null()) };

    static THREAD: ThreadState = const {
        ThreadState {
            handle: Cell::new(ptr::null_mut()),
            task: Cell::new(ptr::null()),
            worker: Cell::new(false),
            pool: Cell::new(ptr::null()),
            unasked: Cell::new(0),
            watch: Cell::new(ptr::null_mut()),
            stolen: Cell::new((0, 0)),
            missed: Cell::new(0),
            yielding: Cell::new(0),
            positions: [const { Cell::new((0, 0)) }; POSITIONS],
            stack_top: Cell::new(0),
        }
    };
}

/// The calling thread, if it is recorded. Valid on this thread only, until it ends.
#[derive(Clone, Copy)]
pub(crate) struct RecordedThread {
    handle: *mut Handle,
    thread: *const ThreadState,
}

/// Reads a thread-local. `LocalKey::with` is not inlined across codegen units and would be a call
/// here. `try_with` is inlined and is a load. Never `None`, because these variables have no
/// destructors.
#[inline(always)]
fn look<T, R>(own: &'static LocalKey<T>, find: impl FnOnce(&T) -> R) -> Option<R> {
    own.try_with(find).ok()
}

/// The calling thread, if it is recorded. This is the only branch in an unrecorded call.
#[inline(always)]
pub(crate) fn recorded_thread() -> Option<RecordedThread> {
    if MODE.load(Ordering::Relaxed) == OFF {
        return None;
    }
    let thread = look(&THREAD, |thread| thread as *const ThreadState)?;
    // SAFETY: the thread-local lives as long as this thread and has no destructor.
    let handle = unsafe { (*thread).handle.get() };
    if handle as usize > NO_HANDLE as usize {
        return Some(RecordedThread { handle, thread });
    }
    first_look(thread)
}

/// The subtree that the calling thread skips, which decides how a join runs; null if the join has
/// to look.
#[inline]
pub(crate) fn skipped() -> *const Subtree {
    look(&SKIPPED, Cell::get).unwrap_or(ptr::null())
}

/// Sets the subtree that the calling thread skips, and returns the one before.
#[inline]
pub(crate) fn set_skipped(subtree: *const Subtree) -> *const Subtree {
    look(&SKIPPED, |skipped| skipped.replace(subtree)).unwrap_or(ptr::null())
}

#[cold]
#[inline(never)]
fn first_look(thread: *const ThreadState) -> Option<RecordedThread> {
    if MODE.load(Ordering::Acquire) == UNKNOWN {
        find_table();
    }
    if MODE.load(Ordering::Acquire) == OFF {
        return None;
    }
    // SAFETY: the thread-local lives as long as this thread and has no destructor.
    let thread_ref = unsafe { &*thread };
    if thread_ref.handle.get() == NO_HANDLE {
        return None;
    }
    // SAFETY: `MODE` is `ON`, so the table is set, and it stays.
    let handle = unsafe { ((*TABLE.load(Ordering::Acquire)).thread)() };
    if handle.is_null() {
        thread_ref.handle.set(NO_HANDLE);
        return None;
    }
    thread_ref.handle.set(handle);
    Some(RecordedThread { handle, thread })
}

/// Looks for the recorder's table. Two threads may do so at the same time and get the same answer.
fn find_table() {
    let table = ask_for_table();
    if table.is_null() {
        MODE.store(OFF, Ordering::Release);
        return;
    }
    TABLE.store(table.cast_mut(), Ordering::Release);
    crate::abi::use_table(table);
    let version = concat!("Rayon (rayon-core ", env!("CARGO_PKG_VERSION"), ")");
    // SAFETY: a table of our version; key and value are read during the call.
    unsafe { ((*table).note)(b"runtime".as_ptr(), 7, version.as_ptr(), version.len()) };
    MODE.store(ON, Ordering::Release);
    #[cfg(workspan_hooks)]
    crate::scheduler_hooks::install();
    #[cfg(not(workspan_hooks))]
    {
        let text = concat!(
            "Steals by victim, failed attempts and sleep are not recorded: rayon-core ",
            env!("CARGO_PKG_VERSION"),
            " differs from the versions that workspan knows."
        );
        // SAFETY: a table of our version; key and value are read during the call.
        unsafe { ((*table).note)(b"warning".as_ptr(), 7, text.as_ptr(), text.len()) };
    }
}

#[cfg(all(target_os = "linux", not(target_feature = "crt-static")))]
fn ask_for_table() -> *const Table {
    extern "C" {
        fn dlsym(
            handle: *mut core::ffi::c_void,
            symbol: *const core::ffi::c_char,
        ) -> *mut core::ffi::c_void;
    }
    // SAFETY: a null handle is `RTLD_DEFAULT`, and the name ends in 0.
    let symbol = unsafe { dlsym(ptr::null_mut(), TABLE_SYMBOL.as_ptr()) };
    if symbol.is_null() {
        return ptr::null();
    }
    // SAFETY: the name includes the version, so a function exported under it has this type.
    let table: extern "C" fn() -> *const Table = unsafe { core::mem::transmute(symbol) };
    let table = table();
    // SAFETY: null, or a table that lives as long as the process.
    let known = !table.is_null()
        && unsafe {
            (*table).version == 1 && (*table).size as usize >= core::mem::size_of::<Table>()
        };
    if known {
        table
    } else {
        ptr::null()
    }
}

#[cfg(not(all(target_os = "linux", not(target_feature = "crt-static"))))]
fn ask_for_table() -> *const Table {
    let _ = TABLE_SYMBOL;
    ptr::null()
}

impl RecordedThread {
    #[inline(always)]
    fn handle(&self) -> &Handle {
        // SAFETY: this thread's live handle; the reference ends before anything writes to it.
        unsafe { &*self.handle }
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> &ThreadState {
        // SAFETY: this thread's own thread-local, which lives as long as the thread.
        unsafe { &*self.thread }
    }

    #[inline(always)]
    pub(crate) fn table(&self) -> &Table {
        // SAFETY: this thread's live handle, whose table is the recorder's.
        unsafe { &*Handle::table(self.handle) }
    }

    /// This thread's number in the trace.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        self.handle().thread
    }

    /// The address of the next record.
    #[inline(always)]
    pub(crate) fn cursor(&self) -> *mut u8 {
        self.handle().cursor
    }

    /// Takes `count` of this thread's task numbers and returns the first.
    #[inline(always)]
    pub(crate) fn take_tasks(&self, count: u64) -> u64 {
        // SAFETY: only this thread touches its handle.
        unsafe {
            let first = (*self.handle).next_task;
            (*self.handle).next_task = first + count;
            first
        }
    }

    /// How many tasks this thread has created.
    #[inline(always)]
    pub(crate) fn tasks(&self) -> u64 {
        self.handle().next_task
    }

    /// Takes this thread's next scope number.
    pub(crate) fn take_scope(&self) -> u64 {
        // SAFETY: only this thread touches its handle.
        unsafe {
            let scope = (*self.handle).next_scope;
            (*self.handle).next_scope = scope + 1;
            scope
        }
    }

    /// Takes this thread's next yield number.
    pub(crate) fn take_yield(&self) -> u64 {
        // SAFETY: only this thread touches its handle.
        unsafe {
            let number = (*self.handle).next_yield;
            (*self.handle).next_yield = number + 1;
            number
        }
    }

    /// The clock, in ticks.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        // SAFETY: this thread's live handle.
        unsafe { Handle::now(self.handle) }
    }

    /// The time of the thread's last record.
    #[inline(always)]
    pub(crate) fn last(&self) -> u64 {
        self.handle().last
    }

    /// Writes a record at `time`.
    #[inline(always)]
    pub(crate) fn record<const N: usize>(&self, kind: Kind, time: u64, operands: [u64; N]) {
        // SAFETY: this thread's live handle; at most 5 operands of at most 9 bytes.
        unsafe {
            let mut p = Handle::head(self.handle, kind, time);
            for operand in operands {
                p = wire::put_varint(p, operand);
            }
            Handle::commit(self.handle, p);
        }
    }

    /// Writes a record now.
    #[inline(always)]
    pub(crate) fn event<const N: usize>(&self, kind: Kind, operands: [u64; N]) {
        self.record(kind, self.now(), operands);
    }

    /// Whether this thread is a worker of one of Rayon's pools.
    #[inline(always)]
    pub(crate) fn is_worker(&self) -> bool {
        self.state().worker.get()
    }

    /// The current task. A thread without one becomes a root.
    #[inline(always)]
    pub(crate) fn task(&self) -> &Task {
        let mut task = self.state().task.get();
        if task.is_null() {
            task = self.begin_root();
        }
        // SAFETY: a current task is in a frame below this one, on the same stack.
        unsafe { &*task }
    }

    /// Whether a flag of the handle is set.
    pub(crate) fn has_flag(&self, flag: u32) -> bool {
        self.handle().flags & flag != 0
    }

    /// Sets or clears flags of the handle.
    pub(crate) fn set_flags(&self, flags: u32, on: bool) {
        // SAFETY: only this thread touches its handle.
        unsafe {
            let old = (*self.handle).flags;
            (*self.handle).flags = if on { old | flags } else { old & !flags };
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_root(&self) -> *const Task {
        if self.handle().flags & HAS_ROOT == 0 {
            self.set_flags(HAS_ROOT, true);
            self.take_tasks(1);
            self.event(Kind::Root, []);
        }
        self.state().task.set(&ROOT);
        &ROOT
    }
}
