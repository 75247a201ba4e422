//! The recording of this process: its start, its end, and what happens to it in a fork.
//!
//! States only go forward: off → on → over. `RECORDING` is set before `STATE` says on, and never
//! taken back: threads may still hold handles when the process is over.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::path::Path;

use crate::budget::Settings;
use crate::clock;
use crate::counters::{self, CounterEvent, Counters};
use crate::folding::Grain;
use crate::fork::{self, State};
use crate::front;
use crate::intern::Interned;
use crate::lock::{self, Lock};
use crate::ring::Ring;
use crate::schedstat::{self, Readings};
use crate::spool::{Mapped, Spool};
use crate::system;
use crate::thread::{self, Owner};
use workspan_trace::chunk::{ChunkHeader, ChunkKind, NO_THREAD};
use workspan_trace::entry::{ClockPair, Finished};
use workspan_trace::hand_off;
use workspan_trace::header::Lack;
use workspan_trace::note_keys;
use workspan_trace::{ClockKind, FileHeader};

/// What one process needs for recording; made once and never freed.
pub(crate) struct Recording {
    pub(crate) spool: Spool,
    pub(crate) page: usize,
    pub(crate) key: core::ffi::c_uint,
    pub(crate) pid: i32,
    pub(crate) threads: AtomicU32,
    pub(crate) pools: AtomicU32,
    /// Threads that ended; their memory serves new ones.
    pub(crate) ended: Lock<Vec<Ended>>,
    pub(crate) interned: Lock<Interned>,
    /// When nobody watches the threads from outside.
    pub(crate) readings: Option<Readings>,
    /// When the kernel tells of their context switches.
    pub(crate) cpu_clocks: bool,
    pub(crate) counters: Counters,
    /// When only parts of the run are kept.
    pub(crate) ring: Option<Ring>,
    /// When the run is folded.
    pub(crate) grain: Option<Grain>,
    start: clock::Pair,
    /// What the process had used of the CPUs before, in ns.
    used: u64,
    /// Set aside at the start, so that a full disk does not hide an orderly end.
    finished: Option<Mapped>,
}

/// Who sees to the threads' off-CPU times (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffCpuTimes {
    /// The kernel is asked from outside, or nobody wants to know.
    Elsewhere,
    /// The recorder reads the threads' scheduling statistics at the ends of their chunks.
    FromSchedstat,
}

/// An ended thread's memory.
pub(crate) struct Ended(pub(crate) *mut Owner);

// SAFETY: the owner in it belongs to no thread any more.
unsafe impl Send for Ended {}
// SAFETY: all parts are atomics, mutexes, or constant after the start.
unsafe impl Sync for Recording {}
// SAFETY: as above.
unsafe impl Send for Recording {}

const OFF: u8 = 0;
const ON: u8 = 1;
const OVER: u8 = 2;

/// Millionths of the time that recording may add; 0: no limit.
static MOST: AtomicU32 = AtomicU32::new(0);
/// Tasks that a thread records before there is one.
static HOLD: AtomicU32 = AtomicU32::new(0);
/// [`OFF`] in children as well, whatever made them.
static STATE: State = State::new();
/// Children forked by this process. Whether one went on by exec can't be seen from here.
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

/// The recording, also when it is over (not in a forked child, which must not touch it).
pub(crate) fn any_recording() -> Option<&'static Recording> {
    // SAFETY: set once to a leaked box.
    unsafe { RECORDING.load(Ordering::Acquire).as_ref() }
}

/// True while this process records.
#[inline]
pub fn is_on() -> bool {
    STATE.load(Ordering::Acquire) == ON
}

impl Recording {
    /// Ticks to nanoseconds near now, as a pair for a time just past.
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

/// Recording may add at most so many millionths to the program's time; 0: no limit. Each thread
/// records `hold` tasks in full before it leaves any out, so that small runs are whole. Before
/// [`start`].
pub fn use_at_most(per_million: u32, hold: u32) {
    MOST.store(per_million, Ordering::Relaxed);
    HOLD.store(hold, Ordering::Relaxed);
}

/// Records of a join.
const RECORDS_A_JOIN: u64 = 4;

/// What recording may cost.
pub(crate) fn settings() -> Settings {
    let Some(recording) = recording() else {
        return Settings::default();
    };
    let now = clock::pair(1);
    let ns = now.ns.saturating_sub(recording.start.ns).max(1);
    let ticks = now.ticks.saturating_sub(recording.start.ticks);
    let millisecond = u128::from(ticks) * 1_000_000 / u128::from(ns);
    Settings {
        // Readings of counters are what is asked for then, at whatever cost.
        per_million: if recording.counters.is_empty() {
            MOST.load(Ordering::Relaxed)
        } else {
            0
        },
        hold: HOLD.load(Ordering::Relaxed),
        // A probe's cost to the strand beside it is half of what it takes, and in a program whose
        // caches it shares a quarter more at the least.
        join_ticks: (thread::probe_cost() * RECORDS_A_JOIN * 5 / 2).max(1),
        millisecond: (millisecond as u64).max(1),
        seed: recording.start.ticks,
    }
}

/// Starts recording this process into a new spool file in `folder`; the calling thread becomes
/// thread 0 with the main root task. `notes` are facts to store. Where the kernel keeps the
/// statistics for [`OffCpuTimes::FromSchedstat`], the note `off-CPU times` says that they are used.
/// `counters` are read at every record. Returns false when the file can't be made or recording is
/// on or over already.
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
        lack: Lack::default(),
    };
    spool.write_header(&header.encode());
    let finished = spool.chunk(page, entry_chunk(ChunkKind::Finished, 0));
    let reads = off_cpu == OffCpuTimes::FromSchedstat && schedstat::is_there();
    let ring = Ring::asked(folder, start.ns);
    let mut recording = Box::new(Recording {
        spool,
        page,
        key,
        pid,
        threads: AtomicU32::new(0),
        pools: AtomicU32::new(0),
        ended: Lock::new(Vec::new()),
        interned: Lock::new(Interned::new()),
        readings: reads.then(Readings::default),
        // Of a run without end they would grow without end.
        cpu_clocks: !reads && ring.is_none(),
        counters: Counters::default(),
        ring,
        grain: Grain::new(),
        start,
        used: system::process_cpu_ns(),
        finished,
    });
    let mut wanted = Counters::new(counters);
    wanted.name(|name| crate::intern::label_of(&recording, name.to_owned()));
    recording.counters = wanted;
    RECORDING.store(Box::into_raw(recording), Ordering::Release);
    front::use_table(&raw const crate::table::TABLE);
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
        // The second pair gives the clock's rate, roughly, should the process be killed soon.
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

/// Ends recording: writes the last clock pair and the statistics. What other threads still write is
/// read as far as their chunks say. Tasks still open, the main root among them, end at this moment.
pub fn finish() {
    let _errno = system::KeepErrno::new();
    let Some(recording) = recording() else { return };
    // A child whose memory is as the parent's, as no handler of ours ran in it.
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
    // Libraries that were loaded meanwhile: a runtime among them may have been silent.
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
    // The mapping goes with the process; a sandbox may not let it be taken away.
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

/// The process called a function that forks without telling `pthread_atfork`'s handlers: what it
/// returned.
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

/// In a forked child nothing is recorded: the file is the parent's. The one thread there is stops
/// writing to its chunk, which it shares with the parent; where the kernel [emptied](fork) its
/// handle, it does so anyway.
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
