//! How long each thread was off the CPU, from the kernel's statistics. Used in runs whose context
//! switches are not traced.
//!
//! A thread's statistics are read when its handle is made, at the end of each of its chunks and
//! when it ends. Those of all threads are read once more when the process ends. The time lost since
//! the previous reading is one entry ([`OffCpu`]): the time in a run queue
//! (`/proc/self/task/TID/schedstat`, second number), and the elapsed time minus that and minus the
//! time run. The time run comes from the thread's CPU clock, because the first number of
//! `schedstat` lags behind by up to a scheduler tick.
//!
//! The run-queue time of a new thread is read in every run: it had waited for a CPU that long
//! before it began ([`waited_at_birth`]).
//!
//! The file is opened for each reading, which takes about 5 µs per 256 KiB of records. A descriptor
//! kept open for every thread could use up the program's descriptors, and could refer to another
//! file after the program has closed all descriptors it knows.

use std::collections::BTreeMap;
use std::ffi::CString;

use crate::clock;
use crate::cpu_clock;
use crate::lock::Lock;
use crate::process::Recording;
use crate::system;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::OffCpu;

/// The threads' last readings, by thread number in the trace.
#[derive(Default)]
pub(crate) struct Readings {
    threads: Lock<BTreeMap<u32, (u32, Reading)>>,
}

/// A thread's statistics at a moment. All fields except the ticks are in ns since the thread's
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    at: clock::Pair,
    run: u64,
    queued: u64,
}

/// Whether the kernel keeps such statistics.
pub(crate) fn is_there() -> bool {
    Reading::now(system::thread_id()).is_some()
}

impl Readings {
    /// The calling thread begins to record.
    pub(crate) fn begin(&self, thread: u32) {
        let tid = system::thread_id();
        if let Some(reading) = Reading::at_birth(tid).or_else(|| Reading::now(tid))
            && let Ok(mut threads) = self.threads.lock()
        {
            threads.insert(thread, (tid, reading));
        }
    }

    /// A chunk of the thread ends.
    pub(crate) fn read(&self, recording: &Recording, thread: u32) {
        if let Ok(mut threads) = self.threads.lock()
            && let Some((tid, last)) = threads.get_mut(&thread)
        {
            advance(recording, thread, *tid, last);
        }
    }

    /// The thread ends.
    pub(crate) fn end(&self, recording: &Recording, thread: u32) {
        if let Ok(mut threads) = self.threads.lock()
            && let Some((tid, mut last)) = threads.remove(&thread)
            && clock::pair(1).ns.saturating_sub(last.at.ns) >= MIN_LIFE_NS
        {
            advance(recording, thread, tid, &mut last);
        }
    }

    /// The process ends.
    pub(crate) fn end_all(&self, recording: &Recording) {
        if let Ok(mut threads) = self.threads.lock() {
            for (thread, (tid, mut last)) in std::mem::take(&mut *threads) {
                advance(recording, thread, tid, &mut last);
            }
        }
    }
}

fn advance(recording: &Recording, thread: u32, tid: u32, last: &mut Reading) {
    let Some(now) = Reading::now(tid) else { return };
    let lost = last.lost_until(&now);
    *last = now;
    if lost.preempted_ns > 0 || lost.blocked_ns > 0 {
        let mut bytes = Vec::new();
        OffCpu { thread, ..lost }.encode(&mut bytes);
        crate::intern::append(recording, ChunkKind::OffCpu, &bytes);
    }
}

/// Threads that live for less time are not asked for their losses. With very many of them, opening
/// their files would cost more than the threads themselves.
const MIN_LIFE_NS: u64 = 1_000_000;

impl Reading {
    /// The first reading of a thread that has run for a moment only. Its waiting time before the
    /// first record counts as waiting after it.
    fn at_birth(tid: u32) -> Option<Reading> {
        let run = system::thread_cpu_ns(tid).filter(|&run| run < MIN_LIFE_NS)?;
        let at = clock::pair(1);
        Some(Reading { at, run, queued: 0 })
    }

    fn now(tid: u32) -> Option<Reading> {
        let run = system::thread_cpu_ns(tid)?;
        let at = clock::pair(1);
        let queued = queued_of(tid)?;
        Some(Reading { at, run, queued })
    }

    /// The time that the thread lost from here to `now`, which is at most the time passed.
    fn lost_until(&self, now: &Reading) -> OffCpu {
        let elapsed = now.at.ns.saturating_sub(self.at.ns);
        let off = elapsed.saturating_sub(now.run.saturating_sub(self.run));
        let preempted_ns = now.queued.saturating_sub(self.queued).min(off);
        OffCpu {
            thread: 0,
            from: self.at.ticks,
            to: now.at.ticks,
            preempted_ns,
            blocked_ns: off - preempted_ns,
        }
    }
}

/// How long the calling thread has waited for a CPU, in nanoseconds, if it has run for a moment
/// only. Then it waited before it began.
pub(crate) fn waited_at_birth() -> Option<u64> {
    const OWN: u32 = 0;
    let is_new =
        cpu_clock::may_be_read() && system::thread_cpu_ns(OWN).is_some_and(|run| run < MIN_LIFE_NS);
    is_new.then(|| queued_of(system::thread_id())).flatten()
}

/// How long a thread has been in a run queue since it was started, in nanoseconds.
fn queued_of(tid: u32) -> Option<u64> {
    let path = CString::new(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    let mut text = [0u8; 96];
    let length = system::read_file(&path, &mut text)?;
    queued(text.get(..length)?)
}

/// The second of the file's three numbers.
fn queued(text: &[u8]) -> Option<u64> {
    let text = core::str::from_utf8(text).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ticks: u64, ns: u64, run: u64, queued: u64) -> Reading {
        let at = clock::Pair { ticks, ns };
        Reading { at, run, queued }
    }

    #[test]
    fn what_was_neither_run_nor_queued_was_blocked() {
        let lost = reading(10, 1_000, 500, 40).lost_until(&reading(40, 2_000, 900, 240));
        assert_eq!(
            (lost.from, lost.to, lost.preempted_ns, lost.blocked_ns),
            (10, 40, 200, 400)
        );
        // The two clocks are not read at the same moment.
        let lost = reading(10, 1_000, 500, 40).lost_until(&reading(40, 2_000, 1_501, 60));
        assert_eq!((lost.preempted_ns, lost.blocked_ns), (0, 0));
        let lost = reading(10, 1_000, 500, 40).lost_until(&reading(40, 2_000, 1_490, 60));
        assert_eq!((lost.preempted_ns, lost.blocked_ns), (10, 0));
    }

    #[test]
    fn a_line_of_three_numbers() {
        assert_eq!(queued(b"123 456 7\n"), Some(456));
        assert_eq!(queued(b"123\n"), None);
    }

    #[test]
    fn a_sleeping_thread_is_blocked_and_a_spinning_one_is_not() {
        let tid = system::thread_id();
        let Some(before) = Reading::now(tid) else {
            // Bypasses the test harness, which hides the output of passing tests.
            let line = b"skipped: schedstat: this kernel keeps no scheduling statistics\n";
            let _ = std::io::Write::write_all(&mut std::io::stdout(), line);
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(100));
        let slept = Reading::now(tid).expect("a second reading");
        let lost = before.lost_until(&slept);
        assert!(
            lost.blocked_ns >= 50_000_000 && lost.to > lost.from,
            "{lost:?}"
        );
        while Reading::now(tid).is_some_and(|now| now.run < slept.run + 50_000_000) {
            core::hint::spin_loop();
        }
        let lost = slept.lost_until(&Reading::now(tid).expect("a third reading"));
        assert!(lost.blocked_ns < 25_000_000, "{lost:?}");
    }
}
