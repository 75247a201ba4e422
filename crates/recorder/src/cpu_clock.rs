//! The CPU clocks of the threads, which are compared with the kernel's context switches.
//!
//! A thread that has not left its CPU may still not have run: the host of a virtual machine can
//! have had the CPU, or the record of a switch is missing. The thread's CPU clock shows this. It is
//! read when the thread's handle is made, after each strand of more than
//! [`crate::abi::LONG_TICKS`], at the end of each chunk, when the thread ends, and, for the
//! thread that ends the process, at that time. A reading is kept ([`CpuReading`]) if the thread ran
//! for less than the time that passed. After the run, the off-CPU times from its switches are
//! subtracted from the difference.
//!
//! A reading is one system call. A program that enters a sandbox may forbid that call, so the
//! readings end when the program prepares to enter one ([`stop`]).

use core::sync::atomic::{AtomicBool, Ordering};

use crate::clock;
use crate::process::Recording;
use crate::system;
use workspan_fold::OffCpuWindow;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::CpuReading;

/// A smaller difference can result from reading the two clocks one after the other.
const MIN_OFF_NS: u64 = 2_000;
/// Shorter losses are not worth an entry each.
const MIN_LOST_NS: u64 = 20_000;

/// Whether the program may have forbidden itself to read such clocks.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Stops all readings of CPU clocks: the program is about to enter a sandbox.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Whether the kernel's statistics of a thread may still be read.
pub(crate) fn may_be_read() -> bool {
    !STOPPED.load(Ordering::Relaxed)
}

/// A thread's CPU clock at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    at: clock::Pair,
    ran_ns: u64,
}

/// The id of the calling thread in the kernel's numbering of CPU clocks.
const OWN: u32 = 0;

impl Reading {
    /// Reads the calling thread's clock; `None` if that is not allowed.
    pub(crate) fn now() -> Option<Reading> {
        if !may_be_read() {
            return None;
        }
        // A thread that loses its CPU between the two readings has not run after the first one.
        let at = clock::pair(1);
        let ran_ns = system::thread_cpu_ns(OWN)?;
        Some(Reading { at, ran_ns })
    }

    /// The time of the reading, in ticks.
    pub(crate) fn ticks(&self) -> u64 {
        self.at.ticks
    }

    /// The time from here to `now`, if the thread did not run all of it.
    fn off_until(&self, now: &Reading) -> Option<OffCpuWindow> {
        let ran_ns = now.ran_ns.saturating_sub(self.ran_ns);
        let elapsed = now.at.ns.saturating_sub(self.at.ns);
        let off_ns = elapsed.saturating_sub(ran_ns);
        let ticks = u128::from(now.at.ticks.saturating_sub(self.at.ticks)) * u128::from(off_ns);
        (off_ns >= MIN_OFF_NS).then(|| OffCpuWindow {
            from: self.at.ticks,
            to: now.at.ticks,
            ticks: (ticks / u128::from(elapsed.max(1))) as u64,
        })
    }

    /// The entry for the time from here to `now`, if the thread did not run all of it.
    fn until(&self, now: &Reading, thread: u32) -> Option<CpuReading> {
        let ran_ns = now.ran_ns.saturating_sub(self.ran_ns);
        let elapsed = now.at.ns.saturating_sub(self.at.ns);
        (elapsed.saturating_sub(ran_ns) >= MIN_LOST_NS).then_some(CpuReading {
            thread,
            from: self.at.ticks,
            to: now.at.ticks,
            ran_ns,
        })
    }
}

/// Reads the calling thread's clock again. The last reading belongs to the thread alone: with more
/// threads than CPUs, a thread that lost its CPU would hold a lock shared by all of them. The next
/// reading counts from this one even if this one is not kept. Returns how long the thread was off
/// the CPU since the last reading, if it was.
pub(crate) fn read(
    recording: &Recording,
    thread: u32,
    last: &mut Option<Reading>,
) -> Option<OffCpuWindow> {
    let (reading, off) = read_only(thread, last);
    if let Some(reading) = reading {
        write(recording, &reading);
    }
    off
}

/// Like [`read`], but leaves the entry to be written by the caller.
pub(crate) fn read_only(
    thread: u32,
    last: &mut Option<Reading>,
) -> (Option<CpuReading>, Option<OffCpuWindow>) {
    let Some(before) = last.take() else {
        return (None, None);
    };
    *last = Reading::now();
    match last {
        Some(now) => (before.until(now, thread), before.off_until(now)),
        None => (None, None),
    }
}

/// Writes a reading to the file.
pub(crate) fn write(recording: &Recording, reading: &CpuReading) {
    let mut bytes = Vec::new();
    reading.encode(&mut bytes);
    crate::intern::append(recording, ChunkKind::CpuReadings, &bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ticks: u64, ns: u64, ran_ns: u64) -> Reading {
        let at = clock::Pair { ticks, ns };
        Reading { at, ran_ns }
    }

    #[test]
    fn time_that_a_thread_did_not_run_is_kept_with_what_it_ran() {
        let first = reading(10, 1_000_000, 500);
        let entry = first.until(&reading(40, 2_000_000, 900_500), 7);
        let expected = CpuReading {
            thread: 7,
            from: 10,
            to: 40,
            ran_ns: 900_000,
        };
        assert_eq!(entry, Some(expected));
        assert_eq!(first.until(&reading(40, 2_000_000, 999_000), 7), None);
        let off = first.off_until(&reading(40, 2_000_000, 900_500));
        let (from, to, ticks) = (10, 40, 3);
        assert_eq!(off, Some(OffCpuWindow { from, to, ticks }));
        // The two clocks are not read at the same moment.
        assert_eq!(first.off_until(&reading(40, 2_000_000, 999_000)), None);
        assert_eq!(first.until(&reading(40, 2_000_000, 1_000_900), 7), None);
    }

    #[test]
    fn a_sleeping_thread_does_not_run_and_a_spinning_one_does() {
        let before = Reading::now().expect("a reading");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = Reading::now().expect("a second reading");
        let entry = before.until(&slept, 0).expect("the thread slept");
        assert!(
            entry.ran_ns < 25_000_000 && entry.to > entry.from,
            "{entry:?}"
        );
        while Reading::now().is_some_and(|now| now.ran_ns < slept.ran_ns + 50_000_000) {
            core::hint::spin_loop();
        }
        let spun = Reading::now().expect("a third reading");
        assert!(spun.ran_ns - slept.ran_ns >= 50_000_000);
    }
}
