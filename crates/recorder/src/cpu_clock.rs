//! The CPU clocks of the threads: what the kernel's context switches are held against.
//!
//! A thread that has not left its CPU may not have run all the same: the host of a virtual machine
//! can have had the CPU, or the record of a switch is missing. The thread's CPU clock knows. It is
//! read when the thread's handle is made, after each strand of more than
//! [`crate::front::LONG_TICKS`], at the end of each chunk, when the thread ends, and for all threads
//! when the process ends. A reading is kept ([`CpuReading`]) where the thread ran for less than the
//! time that passed; what of that is no time off the CPU is found after the run.
//!
//! A reading is one system call. A program that goes into a sandbox may forbid it, so there are none
//! from the call that prepares for that ([`stop`]).

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;

use crate::clock;
use crate::lock::Lock;
use crate::process::{self, Recording};
use crate::system::{self, KeepErrno};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::CpuReading;

/// Less than this is how inexactly two clocks are read at one moment.
const MIN_LOST_NS: u64 = 20_000;

/// The program may have forbidden itself to read such clocks.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// No CPU clock is read any more: the program is about to enter a sandbox.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

fn is_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// The last reading of each thread, by the thread's number in the trace.
#[derive(Default)]
pub(crate) struct CpuClocks {
    threads: Lock<BTreeMap<u32, (u32, Reading)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    at: clock::Pair,
    ran_ns: u64,
}

impl Reading {
    fn now(tid: u32) -> Option<Reading> {
        if is_stopped() {
            return None;
        }
        let ran_ns = system::thread_cpu_ns(tid)?;
        let at = clock::pair(1);
        Some(Reading { at, ran_ns })
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

impl CpuClocks {
    /// The calling thread begins to record.
    pub(crate) fn begin(&self, thread: u32) {
        let tid = system::thread_id();
        if let Some(reading) = Reading::now(tid)
            && let Ok(mut threads) = self.threads.lock()
        {
            threads.insert(thread, (tid, reading));
        }
    }

    /// A strand of the calling thread, or its chunk, ends.
    pub(crate) fn read(&self, recording: &Recording, thread: u32) {
        let told = match self.threads.lock() {
            Ok(mut threads) => threads
                .get_mut(&thread)
                .and_then(|(tid, last)| advance(thread, *tid, last)),
            Err(_) => None,
        };
        keep(recording, told);
    }

    /// The calling thread ends.
    pub(crate) fn end(&self, recording: &Recording, thread: u32) {
        let told = match self.threads.lock() {
            Ok(mut threads) => threads
                .remove(&thread)
                .and_then(|(tid, mut last)| advance(thread, tid, &mut last)),
            Err(_) => None,
        };
        keep(recording, told);
    }

    /// The process ends.
    pub(crate) fn end_all(&self, recording: &Recording) {
        let threads = match self.threads.lock() {
            Ok(mut threads) => std::mem::take(&mut *threads),
            Err(_) => return,
        };
        for (thread, (tid, mut last)) in threads {
            keep(recording, advance(thread, tid, &mut last));
        }
    }
}

/// Reads the thread's clock again. The clock has a moment of its own, so that the next reading counts
/// from there also where this one is not kept.
fn advance(thread: u32, tid: u32, last: &mut Reading) -> Option<CpuReading> {
    let now = Reading::now(tid)?;
    let told = last.until(&now, thread);
    *last = now;
    told
}

fn keep(recording: &Recording, reading: Option<CpuReading>) {
    if let Some(reading) = reading {
        let mut bytes = Vec::new();
        reading.encode(&mut bytes);
        crate::intern::append(recording, ChunkKind::CpuReadings, &bytes);
    }
}

/// [`crate::front::Table::long_strand`].
pub(crate) extern "C" fn long_strand(handle: *mut crate::front::Handle) {
    let Some(recording) = process::recording() else {
        return;
    };
    let _errno = KeepErrno::new();
    // SAFETY: the handle is the calling thread's own.
    let thread = unsafe { (*handle).thread };
    if let Some(clocks) = &recording.cpu_clocks {
        clocks.read(recording, thread);
    }
    if let Some(readings) = recording.readings.as_ref().filter(|_| !is_stopped()) {
        readings.read_after(recording, thread);
    }
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
        let told = first.until(&reading(40, 2_000_000, 900_500), 7);
        let expected = CpuReading {
            thread: 7,
            from: 10,
            to: 40,
            ran_ns: 900_000,
        };
        assert_eq!(told, Some(expected));
        assert_eq!(first.until(&reading(40, 2_000_000, 999_000), 7), None);
        // The clocks are not read at one moment.
        assert_eq!(first.until(&reading(40, 2_000_000, 1_000_900), 7), None);
    }

    #[test]
    fn a_sleeping_thread_does_not_run_and_a_spinning_one_does() {
        let tid = system::thread_id();
        let before = Reading::now(tid).expect("a reading");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = Reading::now(tid).expect("a second reading");
        let told = before.until(&slept, 0).expect("the thread slept");
        assert!(told.ran_ns < 25_000_000 && told.to > told.from, "{told:?}");
        while Reading::now(tid).is_some_and(|now| now.ran_ns < slept.ran_ns + 50_000_000) {
            core::hint::spin_loop();
        }
        let spun = Reading::now(tid).expect("a third reading");
        assert!(spun.ran_ns - slept.ran_ns >= 50_000_000);
    }
}
