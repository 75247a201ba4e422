//! The contract between the recorder (in the preloaded library) and its front ends (the Rayon
//! stand-in, the Rust API, `workspan.h`): one versioned table of functions, and the per-thread
//! [`Handle`] that front ends write through.
//!
//! This file is also compiled into every front end. It uses only `core`, `crate::wire` and
//! `crate::budget`.
//!
//! A front end looks up `workspan_table_v1` once, with `dlsym` on the global scope. If the symbol
//! is missing or returns null, the process is not recorded. With the table the front end gets the
//! calling thread's handle ([`Table::thread`]), keeps it in a thread-local of its own, and writes
//! records with [`Handle::head`] and related functions: a bounds test, a clock read, a few stores.

use crate::budget::Settings;
use crate::wire::{self, Kind};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Name of the exported function `extern "C" fn() -> *const Table` of this version.
pub const TABLE_SYMBOL: &core::ffi::CStr = c"workspan_table_v1";

/// [`Handle::flags`]: times are those of the CPU's time-stamp counter, read in place; otherwise
/// [`Table::now`] is called.
pub const CLOCK_TSC: u32 = 1;
/// [`Handle::flags`]: a root task has begun on this thread.
pub const HAS_ROOT: u32 = 2;
/// [`Handle::flags`]: this thread is a pool's worker (set by the front end together with
/// [`Kind::Worker`]).
pub const IS_WORKER: u32 = 4;
/// [`Handle::flags`], with [`HAS_ROOT`]: the task at the bottom of this thread's stack is not a
/// root but the one that the thread was started for.
pub const IS_THREAD_TASK: u32 = 8;

/// Marks the last entry of a call stack ([`Table::site_stack`]) as the calling task's site. No code
/// has such an address.
pub const INHERITED: usize = 0xffff_ffff_0000_0000_u64 as usize;

/// After a strand of this many ticks the thread's CPU clock is read ([`Table::long_strand`]). This
/// is about a third of a millisecond on current CPUs, so that the reading takes a thousandth of it.
pub const LONG_TICKS: u64 = 1 << 20;

/// The table of this process's recorder, for handles that have none.
static IN_USE: AtomicPtr<Table> = AtomicPtr::new(core::ptr::null_mut());

/// Sets the table that a front end found. Called once, before the front end has a handle.
pub fn use_table(table: *const Table) {
    IN_USE.store(table.cast_mut(), Ordering::Release);
}

/// A thread's position in its current chunk. Only its own thread accesses it.
///
/// In a forked child it is all zeros. Then there is no room, so the child's first record goes to
/// [`Table::refill`] of the table in use ([`use_table`]), which makes the handle write to scratch
/// memory.
#[repr(C)]
pub struct Handle {
    /// The address of the next record.
    pub cursor: *mut u8,
    /// From this address on, [`Table::refill`] is called first: at least [`wire::SLACK`] bytes are
    /// left after it.
    pub limit: *mut u8,
    /// First byte of the chunk's payload.
    pub base: *mut u8,
    /// The count of whole records' bytes in the chunk's header. It is what readers of a killed
    /// process's trace rely on.
    pub committed: *const AtomicU64,
    /// Time of the last record, in ticks.
    pub last: u64,
    /// The number of tasks that this thread created, which is the next one's seq.
    pub next_task: u64,
    /// The number of scopes that it opened.
    pub next_scope: u64,
    /// The number of its yields.
    pub next_yield: u64,
    /// Its number in the trace.
    pub thread: u32,
    /// Flags: `CLOCK_TSC`, `HAS_ROOT`, `IS_WORKER`.
    pub flags: u32,
    /// The table, for refill and clock.
    pub table: *const Table,
    /// The recorder's own data.
    pub owner: *mut core::ffi::c_void,
}

/// The recorder's functions, version 1. New ones are only ever appended; [`Table::size`] tells
/// which ones exist. All may be called from any thread; none unwinds.
#[repr(C)]
pub struct Table {
    /// The version, which is 1.
    pub version: u32,
    /// Size of this struct in bytes as the recorder knows it.
    pub size: u32,
    /// The calling thread's handle, made on first use; null if recording is off for this thread
    /// (out of memory, a forked child, shutdown).
    pub thread: extern "C" fn() -> *mut Handle,
    /// Seals the handle's chunk and gives it a new one, whose base time is [`Handle::last`]. Never
    /// fails: if there is no space left, the handle points to scratch memory, and bytes written
    /// there are counted as dropped.
    pub refill: extern "C" fn(*mut Handle),
    /// The clock, in ticks.
    pub now: extern "C" fn() -> u64,
    /// Interns a source position as a site: file (UTF-8, not zero-terminated), its length, line,
    /// column, primitive code.
    pub site_location: extern "C" fn(*const u8, usize, u32, u32, u8) -> u32,
    /// Interns a call stack as a site: return addresses, innermost first, their number, primitive
    /// code, and the file, length and line of the library's own call, for stacks without a user's
    /// frame. A last address from [`INHERITED`] up is not an address: its low 32 bits are the site
    /// of the task that made the call, which is used instead if no frame is the user's.
    pub site_stack: extern "C" fn(*const usize, usize, u8, *const u8, usize, u32) -> u32,
    /// Interns a text (a region's name, a counter's, a site's label).
    pub label: extern "C" fn(*const u8, usize) -> u32,
    /// Stores a fact about the run: key and value (`runtime` = `Rayon (rayon-core 1.13.0)`). The
    /// first value of a key is kept.
    pub note: extern "C" fn(*const u8, usize, *const u8, usize),
    /// Returns the number of a new pool.
    pub pool: extern "C" fn() -> u32,
    /// Interns a code address as a site: address, primitive code, 1 if it is a return address (0: a
    /// function's own).
    pub site_address: extern "C" fn(usize, u8, u8) -> u32,
    /// Interns a text as a site: UTF-8, its length, primitive code.
    pub site_label: extern "C" fn(*const u8, usize, u8) -> u32,
    /// Writes a record whose operands do not fit [`wire::SLACK`]: handle, kind, time, operands as
    /// varints, their length.
    pub record: unsafe extern "C" fn(*mut Handle, u8, u64, *const u8, usize),

    // The general path, for front ends that are not on a runtime's hot path (the Rust API,
    // `workspan.h`). Each call finds the thread's handle by itself and writes one record. A task,
    // scope or yield is named by a number that is never 0 ([`id`]). Calls return 0 if nothing is
    // recorded, and ignore 0 as an argument. Site 0 is unknown. A thread that is not a worker gets
    // a root task when it needs one.
    /// Begins the calling thread's root task, if it has none.
    pub root: extern "C" fn(),
    /// The current task creates a task: flags ([`wire::create`]; `SCOPED` is set if there is a
    /// scope), site, scope or 0.
    pub task_create: extern "C" fn(u32, u32, u64) -> u64,
    /// The task begins, on top of what this thread does.
    pub task_begin: extern "C" fn(u64),
    /// The current task ends.
    pub task_end: extern "C" fn(),
    /// The current task opens a scope: 0 group, 1 tree.
    pub scope_open: extern "C" fn(u32) -> u64,
    /// The current task waits for its children: site. It goes on with `resume`.
    pub wait_children: extern "C" fn(u32),
    /// The current task waits for a scope's members, and closes the scope: site, scope.
    pub wait_scope: extern "C" fn(u32, u64),
    /// The current task waits for tasks: site, tasks, their number.
    pub wait_tasks: unsafe extern "C" fn(u32, *const u64, usize),
    /// The current task waits for signals: site, signals, their number.
    pub wait_signals: unsafe extern "C" fn(u32, *const u64, usize),
    /// The current task goes on after a wait or a yield.
    pub resume: extern "C" fn(),
    /// The current task stops without waiting: site. It stays on this thread's stack. Returns a
    /// number for `resume_yielded`.
    pub yield_task: extern "C" fn(u32) -> u64,
    /// The current task stops without waiting and leaves this thread: site. Returns a number for
    /// `resume_yielded`.
    pub leave_task: extern "C" fn(u32) -> u64,
    /// The task of that yield goes on here, on top of what this thread does.
    pub resume_yielded: extern "C" fn(u64),
    /// The first task could not start before the second had ended.
    pub depend: extern "C" fn(u64, u64),
    /// Returns the number of a new signal.
    pub signal_new: extern "C" fn() -> u64,
    /// The current task sets a signal: site, signal.
    pub signal_set: extern "C" fn(u32, u64),
    /// The current task opens a region: label, 1 for a tree region.
    pub region_begin: extern "C" fn(u32, u32),
    /// The current task closes its innermost region with this label.
    pub region_end: extern "C" fn(u32),
    /// The current task starts a part: label.
    pub part_begin: extern "C" fn(u32),
    /// The current task ends a part: label.
    pub part_end: extern "C" fn(u32),
    /// Adds to a counter in the current strand, before the call that ends the strand: label,
    /// increase.
    pub counter: extern "C" fn(u32, u64),
    /// This thread stole a task: victim's `thread_number` or 0, 1 if the thief was waiting for a
    /// stolen child, the task.
    pub steal: extern "C" fn(u32, u32, u64),
    /// A steal attempt failed: victim's `thread_number` or 0.
    pub steal_failed: extern "C" fn(u32),
    /// The thread goes to sleep because it has no work.
    pub sleep: extern "C" fn(),
    /// The thread wakes up.
    pub wake: extern "C" fn(),
    /// The calling thread's number + 1; 0 if it is not recorded.
    pub thread_number: extern "C" fn() -> u32,
    /// Begins a pool with this many workers. Returns the pool's number.
    pub pool_begin: extern "C" fn(u32) -> u32,
    /// Ends a pool.
    pub pool_end: extern "C" fn(u32),
    /// The calling thread becomes a worker: pool, index in it.
    pub worker_begin: extern "C" fn(u32, u32),
    /// The calling thread is no longer a worker.
    pub worker_end: extern "C" fn(),
    /// Writes the budget's settings ([`crate::budget`]) to the argument's address.
    pub budget: unsafe extern "C" fn(*mut Settings),
    /// Called if more than [`LONG_TICKS`] have passed since the thread's last record.
    pub long_strand: extern "C" fn(*mut Handle),
    /// With 1, the threads that the calling thread starts from now on are a runtime's workers and
    /// not tasks of their own; with 0, no longer. Calls nest.
    pub starts_workers: extern "C" fn(u32),
    /// Keeps the last seconds of the run, under `workspan record --on-call`.
    pub keep: extern "C" fn(),
}

/// The numbers of tasks, scopes and yields in the general path.
pub mod id {
    /// The low bits of a number, which hold the thread's running count; those above hold the thread
    /// + 1.
    pub const COUNT_BITS: u32 = 40;

    /// The number of the item with this count on this thread.
    #[inline]
    pub const fn new(thread: u32, count: u64) -> u64 {
        (thread as u64 + 1) << COUNT_BITS | count & ((1 << COUNT_BITS) - 1)
    }

    /// The thread and the count of a number; `None` for 0.
    #[inline]
    pub const fn split(id: u64) -> Option<(u32, u64)> {
        match (id >> COUNT_BITS) as u32 {
            0 => None,
            thread => Some((thread - 1, id & ((1 << COUNT_BITS) - 1))),
        }
    }
}

impl Handle {
    /// The recorder's functions.
    ///
    /// # Safety
    /// `h` must be the calling thread's handle, of the recorder whose table was passed to
    /// [`use_table`].
    #[inline]
    pub unsafe fn table(h: *const Handle) -> *const Table {
        // SAFETY: `h` is the calling thread's handle, as the caller guarantees.
        let table = unsafe { (*h).table };
        if table.is_null() {
            IN_USE.load(Ordering::Acquire)
        } else {
            table
        }
    }

    /// The clock, in ticks.
    ///
    /// # Safety
    /// `h` must be the calling thread's live handle.
    #[inline(always)]
    pub unsafe fn now(h: *mut Handle) -> u64 {
        // SAFETY: the caller's handle is live, and so is its table.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if (*h).flags & CLOCK_TSC != 0 {
                return core::arch::x86_64::_rdtsc();
            }
            ((*Self::table(h)).now)()
        }
    }

    /// Starts a record at time `now` and returns the address of its operands. Finish it with
    /// [`Handle::commit`]. A clock that went backwards counts as standing still.
    ///
    /// # Safety
    /// `h` must be the calling thread's live handle; operands must stay below [`wire::SLACK`] − 8
    /// bytes.
    #[inline(always)]
    pub unsafe fn head(h: *mut Handle, kind: Kind, now: u64) -> *mut u8 {
        // SAFETY: the handle is this thread's; after the refill there are SLACK bytes from the
        // cursor.
        unsafe {
            let last = (*h).last;
            let now = if now > last { now } else { last };
            (*h).last = now;
            let mut since = now - last;
            if (*h).cursor >= (*h).limit || since >= LONG_TICKS {
                since = Self::before_record(h, since);
            }
            wire::put_head((*h).cursor, kind, since)
        }
    }

    /// Prepares for a record if there is no room for it, or if the time `since` the last one was
    /// long. Returns the number of ticks that the record counts.
    ///
    /// # Safety
    /// The same as for [`Handle::head`].
    #[cold]
    #[inline(never)]
    unsafe fn before_record(h: *mut Handle, since: u64) -> u64 {
        // SAFETY: the caller's handle is live, and so is its table, which has the fields that its
        // size covers.
        unsafe {
            let table = Self::table(h);
            let has_readings = (*table).size as usize > core::mem::offset_of!(Table, long_strand);
            if since >= LONG_TICKS && has_readings {
                ((*table).long_strand)(h);
            }
            if (*h).cursor >= (*h).limit {
                // The new chunk counts from the record's time.
                ((*table).refill)(h);
                return 0;
            }
            since
        }
    }

    /// Ends a record at `end`. From now on a reader sees it.
    ///
    /// # Safety
    /// The same as for [`Handle::head`]; `end` is the address that the last put returned.
    #[inline(always)]
    pub unsafe fn commit(h: *mut Handle, end: *mut u8) {
        // SAFETY: `committed` points into the chunk's header for as long as the handle has the
        // chunk.
        unsafe {
            (*h).cursor = end;
            let length = end as usize - (*h).base as usize;
            wire::commit(&*(*h).committed, length as u64);
        }
    }

    /// Writes a record without operands, now. Returns its time.
    ///
    /// # Safety
    /// The same as for [`Handle::head`].
    #[inline(always)]
    pub unsafe fn event(h: *mut Handle, kind: Kind) -> u64 {
        // SAFETY: the caller guarantees what these functions require.
        unsafe {
            let now = Self::now(h);
            let p = Self::head(h, kind, now);
            Self::commit(h, p);
            now
        }
    }

    /// Writes a record with operands, now. Returns its time.
    ///
    /// # Safety
    /// The same as for [`Handle::head`]; at most 5 operands below 2^56.
    #[inline(always)]
    pub unsafe fn event_with<const N: usize>(
        h: *mut Handle,
        kind: Kind,
        operands: [u64; N],
    ) -> u64 {
        // SAFETY: the caller guarantees what these functions require.
        unsafe {
            let now = Self::now(h);
            let mut p = Self::head(h, kind, now);
            for v in operands {
                p = wire::put_varint(p, v);
            }
            Self::commit(h, p);
            now
        }
    }
}
