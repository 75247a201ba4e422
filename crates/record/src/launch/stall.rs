//! `--stall`: ends a program that stands still, so that its report says what it waits for.
//!
//! A program stands still if neither it nor the processes that it started use a CPU. A thread of
//! this process checks their CPU times now and then. The program notices nothing until it is ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::launch::process_stat::fields;
use crate::say;

/// The largest share of the time that may be CPU time during a standstill.
const MAX_SHARE: f64 = 0.002;
/// How long a program may take to end after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// Clock ticks per second in `/proc/PID/stat`; the same on all of Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Watches a program until it is dropped.
pub(super) struct StallWatch {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StallWatch {
    /// Ends `program` once it has stood still for `patience`, counted from the time when it began
    /// to record into `spool`, because cargo may wait for another cargo before.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn new(
        program: Pid,
        patience: Duration,
        spool: &Path,
    ) -> std::io::Result<StallWatch> {
        let spool = spool.to_owned();
        let (done, ended) = channel::<()>();
        let thread = std::thread::Builder::new().name("stall".into());
        let thread = thread.spawn(move || {
            let each = (patience / 20).clamp(Duration::from_millis(20), Duration::from_secs(1));
            let mut still = StallTimer::new(patience);
            // Any result other than a timeout means that the program has ended.
            while ended.recv_timeout(each) == Err(RecvTimeoutError::Timeout) {
                if is_recording(&spool) && still.is_over(Instant::now(), cpu_ticks(program)) {
                    say!(
                        "workspan: the program has used no CPU for {:.1} s, so it is ended now (--stall)",
                        patience.as_secs_f64()
                    );
                    signal_all(program, Signal::TERM);
                    if ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
                        signal_all(program, Signal::KILL);
                    }
                    return;
                }
            }
        })?;
        Ok(StallWatch {
            done: Some(done),
            thread: Some(thread),
        })
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic, and there would be nothing to do about it.
            let _ = thread.join();
        }
    }
}

/// The time since which the CPU time has hardly grown.
pub(crate) struct StallTimer {
    patience: Duration,
    max_ticks: u64,
    since: Option<(Instant, u64)>,
}

impl StallTimer {
    /// Detects a standstill of this length.
    pub(crate) fn new(patience: Duration) -> StallTimer {
        let max_ticks = MAX_SHARE * patience.as_secs_f64() * TICKS_PER_SECOND;
        StallTimer {
            patience,
            max_ticks: max_ticks as u64,
            since: None,
        }
    }

    /// Whether the program has now stood still for long enough.
    pub(crate) fn has_stalled(&mut self, program: Pid) -> bool {
        self.is_over(Instant::now(), cpu_ticks(program))
    }

    /// Whether the program has stood still for long enough at `now`, with this CPU time.
    fn is_over(&mut self, now: Instant, ticks: u64) -> bool {
        match self.since {
            // The CPU time of a process that ended is no longer counted.
            Some((since, first)) if ticks.abs_diff(first) <= self.max_ticks => {
                now.duration_since(since) >= self.patience
            }
            _ => {
                self.since = Some((now, ticks));
                false
            }
        }
    }
}

/// Whether a process has begun to record.
fn is_recording(spool: &Path) -> bool {
    let files = std::fs::read_dir(spool).into_iter().flatten().flatten();
    let mut extensions = files.map(|file| file.path().extension().map(ToOwned::to_owned));
    extensions.any(|extension| extension.is_some_and(|extension| extension == "spool"))
}

/// The CPU time of the process and its descendants, in clock ticks.
fn cpu_ticks(program: Pid) -> u64 {
    let processes = processes();
    let family = family(&processes, program.as_raw_nonzero().get());
    let ticks = family.iter().filter_map(|pid| processes.get(pid));
    ticks.fold(0, |sum, process| sum.saturating_add(process.1))
}

/// The parent and the CPU time in clock ticks of every process, including its ended children's
/// time.
fn processes() -> BTreeMap<i32, (i32, u64)> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let known = folders.filter_map(|folder| {
        let pid = folder.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(folder.path().join("stat")).ok()?;
        Some((pid, parent_and_ticks(&stat)?))
    });
    known.collect()
}

/// Parses the text of `/proc/PID/stat`.
fn parent_and_ticks(stat: &str) -> Option<(i32, u64)> {
    let fields = fields(stat);
    let parent = fields.get(1)?.parse().ok()?;
    // Times of the process and of its ended children, in user and kernel mode.
    let times = fields.get(11..15)?.iter();
    let ticks = times.filter_map(|time| time.parse::<u64>().ok());
    Some((parent, ticks.fold(0, u64::saturating_add)))
}

/// The process and all its descendants.
fn family(processes: &BTreeMap<i32, (i32, u64)>, first: i32) -> BTreeSet<i32> {
    let mut family = BTreeSet::from([first]);
    loop {
        let more: Vec<i32> = processes
            .iter()
            .filter(|(pid, process)| family.contains(&process.0) && !family.contains(pid))
            .map(|(&pid, _)| pid)
            .collect();
        if more.is_empty() {
            return family;
        }
        family.extend(more);
    }
}

/// Sends the signal to the program and its descendants.
fn signal_all(program: Pid, signal: Signal) {
    let processes = processes();
    for pid in family(&processes, program.as_raw_nonzero().get()) {
        if let Some(pid) = Pid::from_raw(pid) {
            // The process may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = "7 (a) b (c)) S 3 7 7 0 -1 4194304 90 0 0 0 12 5 2 1 20 0 1 0 100 0 0";
        assert_eq!(parent_and_ticks(stat), Some((3, 20)));
        assert_eq!(parent_and_ticks("7 (a"), None);
        assert_eq!(parent_and_ticks("7 (a) S x"), None);
    }

    #[test]
    fn a_family_has_children_of_children_and_nobody_else() {
        let processes = BTreeMap::from([
            (1, (0, 0)),
            (2, (1, 0)),
            (3, (2, 0)),
            (4, (3, 0)),
            (5, (1, 0)),
        ]);
        assert_eq!(family(&processes, 2), BTreeSet::from([2, 3, 4]));
    }

    #[test]
    fn only_a_program_that_uses_no_cpu_stands_still() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut still = StallTimer::new(Duration::from_secs(10));
        assert!(!still.is_over(at(0), 100));
        assert!(!still.is_over(at(9), 101));
        // The program went on.
        assert!(!still.is_over(at(10), 160));
        assert!(!still.is_over(at(19), 161));
        assert!(still.is_over(at(20), 161));
    }
}
