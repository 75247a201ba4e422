//! The recording of this process: its start, its end, and what happens to it in a fork.
//!
//! States only go forward: off → on → over. `RECORDING` is set before `STATE` says on, and never
//! taken back: threads may still hold handles when the process is over.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::path::Path;

use crate::abi;
use crate::budget::Settings;
use crate::chunk_queue::ChunkQueue;
use crate::clock;
use crate::counters::{self, CounterEvent, Counters};
use crate::fold_policy::Grain;
use crate::fork::{self, State};
use crate::intern::InternTable;
use crate::lock::{self, Lock};
use crate::schedstat::{self, Readings};
use crate::spool::{MappedChunk, Spool};
use crate::system;
use crate::thread::{self, Owner};
use workspan_trace::chunk::{ChunkHeader, ChunkKind, NO_THREAD};
use workspan_trace::entry::{ClockPair, Finished};
use workspan_trace::hand_off;
use workspan_trace::header::ExhaustedResource;
use workspan_trace::note_keys;
use workspan_trace::{ClockKind, FileHeader};

/// The state that a process needs for recording; made once and never freed.
pub(crate) struct Recording {
    pub(crate) spool: Spool,
    pub(crate) page: usize,
    pub(crate) key: core::ffi::c_uint,
    pub(crate) pid: i32,
    pub(crate) threads: AtomicU32,
    pub(crate) pools: AtomicU32,
    /// The memory of threads that ended, for new ones.
    pub(crate) ended: Lock<Vec<RetiredThread>>,
    pub(crate) interned: Lock<InternTable>,
    /// Set if the recorder reads the threads' scheduling statistics.
    pub(crate) readings: Option<Readings>,
    /// Whether the threads' CPU clocks are read, to compare them with the kernel's context
    /// switches.
    pub(crate) cpu_clocks: bool,
    pub(crate) counters: Counters,
    /// Set if only parts of the run are kept.
    pub(crate) ring: Option<ChunkQueue>,
    /// Set if the run is folded.
    pub(crate) grain: Option<Grain>,
    start: clock::Pair,
    /// The CPU time that the process had used before, in ns.
    used: u64,
    /// The chunk of the end record, allocated at the start so that a full disk does not hide an
    /// orderly end.
    finished: Option<MappedChunk>,
}

/// The named pipe in the spool folder into which a process writes its id (32 bits) to be watched by
/// the kernel, if it did not inherit that.
pub const WATCH_REQUESTS: &str = "watch-requests";

/// The source of the threads' off-CPU times (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffCpuTimes {
    /// `record` asks the kernel, or off-CPU times are not wanted.
    Elsewhere,
    /// The recorder reads the threads' scheduling statistics at the ends of their chunks.
    FromSchedstat,
}

/// The memory of a thread that ended.
pub(crate) struct RetiredThread(pub(crate) *mut Owner);

// SAFETY: no thread uses the owner in it any more.
unsafe impl Send for RetiredThread {}
// SAFETY: all parts are atomics, mutexes, or constant after the start.
unsafe impl Sync for Recording {}
// SAFETY: all parts are atomics, mutexes, or constant after the start.
unsafe impl Send for Recording {}

const OFF: u8 = 0;
const ON: u8 = 1;
const OVER: u8 = 2;

/// The share of time that recording may add, in millionths; 0: no limit.
static MAX_PER_MILLION: AtomicU32 = AtomicU32::new(0);
/// The number of tasks that a thread records before the limit applies.
static HELD_TASKS: AtomicU32 = AtomicU32::new(0);
/// The state of recording, which is [`OFF`] in children, however they were made.
static STATE: State = State::new();
/// The number of children forked by this process. Whether one went on by exec cannot be seen from
/// here.
static FORKS: AtomicU32 = AtomicU32::new(0);
static RECORDING: AtomicPtr<Recording> = AtomicPtr::new(core::ptr::null_mut());

/// The recording, while it is on.
#[inline]
pub(crate) fn recording() -> Option<&'static Recording> {
    if STATE.load(Ordering::Acquire) == ON {
        any_recording()
    } else {
        None
    }
}

/// The recording, including after its end (not in a forked child, which must not access it).
pub(crate) fn any_recording() -> Option<&'static Recording> {
    // SAFETY: set once to a leaked box.
    unsafe { RECORDING.load(Ordering::Acquire).as_ref() }
}

/// Whether this process records.
#[inline]
pub fn is_on() -> bool {
    STATE.load(Ordering::Acquire) == ON
}

impl Recording {
    /// Converts ticks to nanoseconds, for a time just past.
    pub(crate) fn ns_at(&self, ticks: u64) -> u64 {
        let now = clock::pair(1);
        let (run, ns) = (
            now.ticks.saturating_sub(self.start.ticks),
            now.ns.saturating_sub(self.start.ns),
        );
        if run == 0 {
            return now.ns;
        }
        let since = u128::from(now.ticks.saturating_sub(ticks)) * u128::from(ns) / u128::from(run);
        now.ns.saturating_sub(since as u64)
    }

    /// A length in ticks, at the rate of the clock so far.
    pub(crate) fn ticks_of(&self, ns: u64) -> u64 {
        let now = clock::pair(1);
        let (run, since) = (
            now.ticks.saturating_sub(self.start.ticks),
            now.ns.saturating_sub(self.start.ns),
        );
        let ticks = u128::from(ns) * u128::from(run) / u128::from(since.max(1));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// Limits the time that recording may add to the program, in millionths of its time; 0: no limit.
/// Each thread records `hold` tasks in full before it skips any, so that small runs are complete.
/// Call it before [`start`].
pub fn use_at_most(per_million: u32, hold: u32) {
    MAX_PER_MILLION.store(per_million, Ordering::Relaxed);
    HELD_TASKS.store(hold, Ordering::Relaxed);
}

/// The number of records of a join.
const RECORDS_A_JOIN: u64 = 4;

/// The settings of the overhead budget.
pub(crate) fn settings() -> Settings {
    let Some(recording) = recording() else {
        return Settings::default();
    };
    let now = clock::pair(1);
    let ns = now.ns.saturating_sub(recording.start.ns).max(1);
    let ticks = now.ticks.saturating_sub(recording.start.ticks);
    let millisecond = u128::from(ticks) * 1_000_000 / u128::from(ns);
    Settings {
        // With counters, their readings are the purpose of the recording, whatever they cost.
        per_million: if recording.counters.is_empty() {
            MAX_PER_MILLION.load(Ordering::Relaxed)
        } else {
            0
        },
        hold: HELD_TASKS.load(Ordering::Relaxed),
        // A probe adds half of its own time to the strand beside it. In a program whose caches it
        // shares, it adds at least a quarter more.
        join_ticks: (thread::probe_cost() * RECORDS_A_JOIN * 5 / 2).max(1),
        millisecond: (millisecond as u64).max(1),
        seed: recording.start.ticks,
    }
}

/// Starts recording this process into a new spool file in `folder`. The calling thread becomes
/// thread 0 with the main root task. `notes` are facts to store. If the kernel keeps the statistics
/// for [`OffCpuTimes::FromSchedstat`], the note `off-CPU times` says that they are used. `counters`
/// are read at every record. Returns false if the file cannot be made, or if recording is already
/// on or over.
pub fn start(
    folder: &Path,
    name: &str,
    notes: &[(String, String)],
    off_cpu: OffCpuTimes,
    counters: &[CounterEvent],
) -> bool {
    let _errno = system::KeepErrno::new();
    if STATE.load(Ordering::Acquire) != OFF || any_recording().is_some() {
        return false;
    }
    clock::choose();
    lock::find_sanitizer();
    // SAFETY: sysconf has no preconditions.
    let page = usize::try_from(unsafe { system::sysconf(system::SC_PAGESIZE) })
        .unwrap_or(4096)
        .max(4096);
    let mut key = 0;
    // SAFETY: `key` is written by the call; the destructor takes what `thread::handle` stores.
    if unsafe { system::pthread_key_create(&mut key, Some(thread::thread_ends)) } != 0 {
        return false;
    }
    let Some(spool) = Spool::create(folder, name, page) else {
        // SAFETY: no thread has a value for it.
        unsafe { system::pthread_key_delete(key) };
        return false;
    };
    let start = clock::pair(8);
    // SAFETY: getpid has no preconditions.
    let pid = unsafe { system::getpid() };
    let header = FileHeader {
        clock: if clock::is_tsc() {
            ClockKind::Tsc
        } else {
            ClockKind::Nanoseconds
        },
        pid: pid as u32,
        page_size: page as u32,
        realtime_ns: system::kernel_clock_ns(system::CLOCK_REALTIME),
        start_ticks: start.ticks,
        start_ns: start.ns,
        length: 0,
        dropped: 0,
        lack: ExhaustedResource::default(),
    };
    spool.write_header(&header.encode());
    let finished = spool.chunk(page, entry_chunk(ChunkKind::Finished, 0));
    let reads = off_cpu == OffCpuTimes::FromSchedstat && schedstat::is_there();
    let ring = ChunkQueue::from_environment(folder, start.ns);
    let mut recording = Box::new(Recording {
        spool,
        page,
        key,
        pid,
        threads: AtomicU32::new(0),
        pools: AtomicU32::new(0),
        ended: Lock::new(Vec::new()),
        interned: Lock::new(InternTable::new()),
        readings: reads.then(Readings::default),
        // In a run without end, these entries would take unlimited space.
        cpu_clocks: !reads && ring.is_none(),
        counters: Counters::default(),
        ring,
        grain: Grain::new(),
        start,
        used: system::process_cpu_ns(),
        finished,
    });
    let mut named = Counters::new(counters);
    named.name(|name| crate::intern::label_of(&recording, name.to_owned()));
    recording.counters = named;
    RECORDING.store(Box::into_raw(recording), Ordering::Release);
    abi::use_table(&raw const crate::table::TABLE);
    STATE.empty_in_children();
    STATE.store(ON, Ordering::Release);
    // SAFETY: the handlers are plain functions that live as long as the library.
    unsafe { system::pthread_atfork(None, Some(parent_of_fork), Some(child_of_fork)) };
    if let Some(recording) = any_recording() {
        recording.write_clock(start);
        crate::intern::note_all(recording, notes);
        if reads {
            let note = ("off-CPU times".into(), "from schedstat, per chunk".into());
            crate::intern::note_all(recording, &[note]);
        }
        crate::intern::note_mappings(recording);
        crate::intern::note_all(
            recording,
            &[(
                note_keys::PROBE_COST.into(),
                thread::probe_cost().to_string(),
            )],
        );
        // The second pair gives an approximate rate of the clock in case the process is killed
        // soon.
        recording.write_clock(clock::pair(8));
    }
    // SAFETY: the calling thread's own handle.
    unsafe { thread::ensure_root(thread::handle()) };
    true
}

/// Header of a chunk of entries.
pub(crate) fn entry_chunk(kind: ChunkKind, seq: u32) -> ChunkHeader {
    ChunkHeader {
        kind: kind as u8,
        flags: 0,
        thread: NO_THREAD,
        seq,
        capacity: 0,
        committed: 0,
        base_ticks: 0,
        base_ns: 0,
        checksum: 0,
    }
}

/// Ends recording: writes the last clock pair and the statistics. Records that other threads still
/// write are read as far as their chunks' counts say. Tasks still open, including the main root,
/// end at this moment.
pub fn finish() {
    let _errno = system::KeepErrno::new();
    let Some(recording) = recording() else { return };
    // A child that has a copy of the parent's memory, because none of our handlers ran in it.
    // SAFETY: getpid has no preconditions.
    if !fork::children_are_empty() && recording.pid != unsafe { system::getpid() } {
        return;
    }
    thread::last_counts();
    thread::last_cpu_reading();
    if let Some(grain) = &recording.grain {
        crate::intern::note_all(recording, &grain.notes());
    }
    if counters::were_scaled() {
        let what = "There were more counters than the CPU has: their values are estimates, scaled up from part of the time.";
        crate::intern::note_all(recording, &[(note_keys::WARNING.into(), what.into())]);
    }
    if STATE
        .compare_exchange(ON, OVER, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        return;
    }
    let end = clock::pair(8);
    let used = system::process_cpu_ns();
    recording.write_clock(end);
    if let Some(used) = used.checked_sub(recording.used).filter(|_| used > 0) {
        crate::intern::note_all(
            recording,
            &[(note_keys::PROCESS_CPU_NS.into(), used.to_string())],
        );
    }
    // Libraries loaded meanwhile may include a runtime that was silent.
    crate::intern::note_mappings(recording);
    let forks = FORKS.load(Ordering::Relaxed);
    if forks > 0 {
        crate::intern::note_all(
            recording,
            &[(note_keys::FORKED_CHILDREN.into(), forks.to_string())],
        );
    }
    if let Some(readings) = &recording.readings {
        readings.end_all(recording);
    }
    let left_out = crate::wait_log::left_out();
    if left_out > 0 {
        let note = (note_keys::WAITS_LEFT_OUT.into(), left_out.to_string());
        crate::intern::note_all(recording, &[note]);
    }
    let Some(chunk) = recording.finished else {
        return;
    };
    let mut bytes = Vec::new();
    let finished = Finished {
        ticks: end.ticks,
        ns: end.ns,
        dropped: recording.spool.dropped().load(Ordering::Relaxed),
        threads: u64::from(recording.threads.load(Ordering::Relaxed)),
    };
    finished.encode(&mut bytes);
    hand_off::append(&chunk, 0, &bytes);
    // The mapping ends with the process; a sandbox may not allow unmapping it.
    hand_off::seal(&chunk);
}

impl Recording {
    fn write_clock(&self, pair: clock::Pair) {
        let mut bytes = Vec::new();
        ClockPair {
            ticks: pair.ticks,
            ns: pair.ns,
        }
        .encode(&mut bytes);
        crate::intern::append(self, ChunkKind::Clock, &bytes);
    }
}

/// Handles the return value of a function that forks without running `pthread_atfork`'s handlers.
pub fn has_forked(child: i32) {
    match child {
        0 => become_child(),
        1.. => count_child(),
        _ => {}
    }
}

fn count_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Ends recording in a forked child, because the file is the parent's. Its only thread stops
/// writing to its chunk, which it shares with the parent. If the kernel [emptied](fork) its handle,
/// that is already the case.
fn become_child() {
    STATE.store(OVER, Ordering::Release);
    thread::abandon();
}

unsafe extern "C" fn parent_of_fork() {
    count_child();
}

unsafe extern "C" fn child_of_fork() {
    become_child();
}
