//! A thread's handle and its chunks.
//!
//! A thread gets its handle on first use and keeps it until it ends. Front ends write directly
//! through it and call [`refill`] when the chunk is full. If there is no space on the disk, or
//! recording is over, the handle points to scratch memory of its own. Front ends need not know, and
//! the records they write there are counted as dropped.

mod chunks;
mod end;
mod folding;
mod kept_chunks;
mod name;
mod probe;
mod readings;

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{CLOCK_TSC, HAS_ROOT, Handle, IS_THREAD_TASK, id};
use crate::chunk_folder::{ChunkStart, Folder};
use crate::clock;
use crate::counters::OpenCounters;
use crate::cpu_clock;
use crate::emergency_heap;
use crate::fork;
use crate::process::{self, Recording, RetiredThread};
use crate::schedstat;
use crate::spool::MappedChunk;
use crate::system::{self, KeepErrno};
use crate::table::TABLE;
use crate::wire::Kind;
use workspan_fold::OffCpuWindow;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{CpuReading, ThreadEntry};
use workspan_trace::thread_state::ThreadState;

pub(crate) use chunks::{long_record, refill};
pub(crate) use end::{abandon, at_ends, thread_ends};
pub(crate) use name::note_name;
pub(crate) use probe::probe_cost;
pub(crate) use readings::last_counts;

const SCRATCH: usize = 1024;

/// A handle and the recorder's data for it.
#[repr(C)]
pub(crate) struct Owner {
    handle: Handle,
    chunk: Option<MappedChunk>,
    /// The rest of the first chunk of a thread that ended; the next thread begins there.
    rest: Option<MappedChunk>,
    /// The state of the thread where its chunk begins. Set if only parts of the run are kept.
    at_base: Option<Box<ThreadState>>,
    /// The last address at which a record may begin. With counters, the handle's own limit is null,
    /// so that every record goes through [`refill`].
    limit: *mut u8,
    counters: Option<Box<OpenCounters>>,
    /// The last reading of the thread's CPU clock, if it is read.
    cpu: Option<cpu_clock::Reading>,
    /// A reading that is not written yet, because writing takes time.
    unwritten: Option<CpuReading>,
    /// If the run is folded: off-CPU times while the records in its chunk were made.
    off_cpu: Vec<OffCpuWindow>,
    chunks: u32,
    /// If the run is folded: the counts before the chunk, and the state of folding.
    before: ChunkStart,
    folder: Option<Box<Folder>>,
    /// Whether the thread can no longer be folded.
    unfolded: bool,
    rounds: u8,
    /// The thread's name in the trace.
    name: name::Name,
    /// The number of tasks on top of the root that the general path began. Those of front ends that
    /// write records themselves are not counted.
    depth: u32,
    scratch_committed: AtomicU64,
    scratch: [u8; SCRATCH],
}

impl Owner {
    /// The owner of a handle that has no memory to write to yet; its first record counts from
    /// `now`, in ticks.
    fn new(thread: u32, now: u64) -> Owner {
        Owner {
            handle: Handle {
                cursor: ptr::null_mut(),
                limit: ptr::null_mut(),
                base: ptr::null_mut(),
                committed: ptr::null(),
                last: now,
                next_task: 0,
                next_scope: 0,
                next_yield: 0,
                thread,
                flags: if clock::is_tsc() { CLOCK_TSC } else { 0 },
                table: &raw const TABLE,
                owner: ptr::null_mut(),
            },
            chunk: None,
            rest: None,
            at_base: None,
            limit: ptr::null_mut(),
            counters: None,
            cpu: None,
            unwritten: None,
            off_cpu: Vec::new(),
            chunks: 0,
            before: ChunkStart::default(),
            folder: None,
            unfolded: false,
            rounds: 0,
            name: name::Name::default(),
            depth: 0,
            scratch_committed: AtomicU64::new(0),
            scratch: [0; SCRATCH],
        }
    }
}

crate::tls_slot!(Own: Handle, "workspan_thread_handle");
// Not null once the thread has given its handle back.
crate::tls_slot!(Gone: u8, "workspan_thread_gone");
// The number of unfinished calls of `starts_workers`, as an address.
crate::tls_slot!(StartsWorkers: u8, "workspan_starts_workers");

/// The owner of a handle, which is its first field. ([`Handle::owner`] is null in a child that
/// found the handle emptied.)
#[inline(always)]
fn owner_of(handle: *mut Handle) -> *mut Owner {
    handle.cast()
}

/// Makes a handle that was emptied in a forked child write to scratch memory.
///
/// # Safety
/// The handle is the calling thread's, and the first field of its owner.
#[cold]
unsafe fn revive(handle: *mut Handle) {
    let owner = owner_of(handle);
    // SAFETY: the caller guarantees the handle; the owner's old contents belong to the parent.
    unsafe {
        owner.write(Owner::new(0, clock::now()));
        (*owner).handle.owner = owner.cast();
        chunks::use_scratch(&mut *owner);
    }
}

/// [`crate::abi::Table::thread`].
pub(crate) extern "C" fn handle() -> *mut Handle {
    of_thread()
}

/// The calling thread's handle, made on first use; null if nothing is recorded.
#[inline]
pub(crate) fn of_thread() -> *mut Handle {
    if !process::is_on() {
        return ptr::null_mut();
    }
    let handle = Own::get();
    if !handle.is_null() {
        return handle;
    }
    new_handle()
}

#[cold]
#[inline(never)]
fn new_handle() -> *mut Handle {
    let Some(recording) = process::recording().filter(|_| !emergency_heap::is_touched()) else {
        return ptr::null_mut();
    };
    // A thread that is about to end has no later chance to give back another handle.
    if !Gone::get().is_null() {
        return ptr::null_mut();
    }
    let _errno = KeepErrno::new();
    let reused = recording
        .ended
        .lock()
        .ok()
        .and_then(|mut ended| ended.pop());
    let number = recording.threads.fetch_add(1, Ordering::Relaxed);
    let now = clock::now();
    let mut fresh = Owner::new(number, now);
    fresh.at_base = recording.ring.is_some().then(Box::default);
    fresh.counters = recording.counters.open(recording);
    if recording.cpu_clocks {
        fresh.cpu = cpu_clock::Reading::now();
    }
    let owner = match reused {
        Some(RetiredThread(owner)) => {
            // SAFETY: no thread uses an ended thread's owner; only the rest in it needs to be
            // dropped.
            unsafe {
                fresh.rest = (*owner).rest.take();
                owner.write(fresh);
            }
            owner
        }
        None => {
            let Some(owner) = fork::piece::<Owner>() else {
                return ptr::null_mut();
            };
            // SAFETY: memory for an owner that no thread uses.
            unsafe { owner.write(fresh) };
            owner
        }
    };
    // SAFETY: the owner is this thread's from here on.
    unsafe {
        (*owner).handle.owner = owner.cast();
        if system::pthread_setspecific(recording.key, owner.cast::<c_void>()) != 0 {
            (*owner).counters = None;
            (*owner).at_base = None;
            if let Ok(mut ended) = recording.ended.lock() {
                ended.push(RetiredThread(owner));
            }
            return ptr::null_mut();
        }
        Own::set(owner.cast());
        chunks::next_chunk(recording, owner);
    }
    if let Some(readings) = &recording.readings {
        readings.begin(number);
    }
    let name = name::Name::now();
    // SAFETY: the owner is this thread's.
    unsafe { (*owner).name = name };
    let entry = ThreadEntry {
        thread: number,
        tid: system::thread_id(),
        start_ticks: now,
        name: name.text(),
        waited_ns: schedstat::waited_at_birth().unwrap_or(0),
    };
    let mut bytes = Vec::new();
    entry.encode(&mut bytes);
    crate::intern::append(recording, ChunkKind::Threads, &bytes);
    owner.cast()
}

/// [`crate::abi::Table::long_strand`].
pub(crate) extern "C" fn long_strand(handle: *mut Handle) {
    // SAFETY: the handle is null or the calling thread's own, possibly emptied in a child.
    let is_live = unsafe { handle.as_ref() }.is_some_and(|handle| !handle.table.is_null());
    let Some(recording) = process::recording().filter(|_| is_live) else {
        return;
    };
    let _errno = KeepErrno::new();
    // SAFETY: the handle is the calling thread's own, and the first field of its owner.
    let owner = unsafe { &mut *owner_of(handle) };
    read_cpu_clock(recording, owner);
}

/// Reads the calling thread's CPU clock. Remembers how long the thread was off the CPU if its
/// records may be folded.
fn read_cpu_clock(recording: &Recording, owner: &mut Owner) {
    let off = cpu_clock::read(recording, owner.handle.thread, &mut owner.cpu);
    if let Some(reading) = owner.unwritten.take() {
        cpu_clock::write(recording, &reading);
    }
    if let Some(off) = off.filter(|_| recording.grain.is_some() && !owner.unfolded) {
        folding::remember(&mut owner.off_cpu, off);
    }
}

/// Reads the calling thread's CPU clock when the process ends.
pub(crate) fn last_cpu_reading() {
    long_strand(Own::get());
}

/// Begins a root task on the thread, unless it has one.
///
/// # Safety
/// `handle` is the calling thread's or null.
pub(crate) unsafe fn ensure_root(handle: *mut Handle) {
    // SAFETY: the caller's handle.
    unsafe {
        if !handle.is_null() && (*handle).flags & HAS_ROOT == 0 {
            (*handle).flags |= HAS_ROOT;
            (*handle).next_task += 1;
            Handle::event(handle, Kind::Root);
        }
    }
}

/// Begins the task that the calling thread was started for: it takes the place of a root.
///
/// # Safety
/// `handle` is the calling thread's, which has no root yet.
pub(crate) unsafe fn begin_thread_task(handle: *mut Handle, task: u64) {
    // SAFETY: the caller's handle.
    unsafe {
        if let Some((thread, count)) = id::split(task) {
            (*handle).flags |= HAS_ROOT | IS_THREAD_TASK;
            Handle::event_with(handle, Kind::Begin, [u64::from(thread), count]);
        }
    }
}

/// Ends the task that the calling thread was started for, because the thread turned out to be a
/// runtime's worker. From now on it runs that runtime's tasks.
///
/// # Safety
/// `handle` is the calling thread's.
pub(crate) unsafe fn end_thread_task(handle: *mut Handle) {
    // SAFETY: the caller's handle.
    unsafe {
        if (*handle).flags & IS_THREAD_TASK != 0 && depth(handle) == 0 {
            (*handle).flags &= !(HAS_ROOT | IS_THREAD_TASK);
            Handle::event(handle, Kind::End);
        }
    }
}

/// [`crate::abi::Table::starts_workers`].
pub(crate) extern "C" fn starts_workers(begins: u32) {
    let count = StartsWorkers::get() as usize;
    let count = match begins {
        0 => count.saturating_sub(1),
        _ => count.saturating_add(1),
    };
    StartsWorkers::set(ptr::without_provenance_mut(count));
}

/// Whether the threads that the calling thread starts are a runtime's workers.
pub(crate) fn is_starting_workers() -> bool {
    !StartsWorkers::get().is_null()
}

/// The number of tasks that the general path began on this thread and that have not ended.
///
/// # Safety
/// `handle` is the calling thread's.
pub(crate) unsafe fn depth(handle: *mut Handle) -> u32 {
    // SAFETY: the handle's owner lives as long as the handle, emptied or not.
    unsafe { (*owner_of(handle)).depth }
}

/// Adds to that number.
///
/// # Safety
/// `handle` is the calling thread's.
pub(crate) unsafe fn deepen(handle: *mut Handle, by: i32) {
    // SAFETY: the handle's owner lives as long as the handle, emptied or not.
    unsafe {
        let depth = &raw mut (*owner_of(handle)).depth;
        *depth = (*depth).saturating_add_signed(by);
    }
}
