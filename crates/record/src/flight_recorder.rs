//! The flight recorder: keeps parts of a run as traces while the run goes on.
//!
//! One thread watches for triggers of a part: a signal, a call, a standstill, a share of the worker
//! time. It marks the moment of the trigger in a file that the recorded processes read. From then
//! on they discard no chunks ([`workspan_recorder::Parts`]). A second thread writes the trace, adds
//! it to the lake, and removes the mark. So a part is complete however long writing takes, and the
//! file grows only during that time.

mod last_second;
mod part_writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::launch::stall::StallTimer;
use crate::options::keep_windows::Windows;
use crate::options::triggers::TriggerArgs;
use last_second::breakdowns;
pub use part_writer::{KeptParts, PartWriter};

use crate::say;

/// The interval between two checks for triggers.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The interval between two measurements of the last second.
const MEASURE_INTERVAL: Duration = Duration::from_millis(500);

/// What triggered a part, and when.
pub(crate) struct Trigger {
    /// The time in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub(crate) at: u64,
    /// A clause for the user: `SIGUSR2 came`.
    pub(crate) why: String,
}

/// Watches a program until it is dropped.
pub(crate) struct FlightRecorder {
    done: Option<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl FlightRecorder {
    /// Keeps parts of `program`, whose recordings come into `spool`.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn new(
        program: Pid,
        windows: &Arc<Windows>,
        writer: PartWriter,
    ) -> std::io::Result<FlightRecorder> {
        let (done, ended) = channel();
        let (triggers, requests) = channel::<Trigger>();
        let spool = writer.spool().to_owned();
        let writing = Arc::clone(windows);
        let writes = std::thread::Builder::new().name("parts".into());
        let writes = writes.spawn(move || {
            for trigger in requests {
                writer.write(&trigger, &writing);
                writing.part_is_written(trigger.at);
            }
        })?;
        let watching = Arc::clone(windows);
        let watches = std::thread::Builder::new().name("triggers".into());
        let watches = watches.spawn(move || {
            Watch::new(program, &watching, &spool).run(&ended, &triggers);
        })?;
        Ok(FlightRecorder {
            done: Some(done),
            threads: vec![watches, writes],
        })
    }
}

impl Drop for FlightRecorder {
    /// Waits until all triggered parts are written.
    fn drop(&mut self) {
        drop(self.done.take());
        for thread in self.threads.drain(..) {
            // A panic has printed its location; the end of the run continues.
            let _ = thread.join();
        }
    }
}

/// The state of the thread that watches for triggers.
struct Watch<'a> {
    program: Pid,
    windows: &'a Windows,
    triggers: &'a TriggerArgs,
    spool: &'a Path,
    calls: PathBuf,
    calls_seen: u64,
    still: Option<StallTimer>,
    /// Whether the program stands still and that was a trigger already.
    stands: bool,
    measured: Instant,
    parts: u32,
    /// The end of the last part, in nanoseconds.
    last: Option<u64>,
}

impl<'a> Watch<'a> {
    fn new(program: Pid, windows: &'a Windows, spool: &'a Path) -> Watch<'a> {
        let triggers = windows.triggers();
        Watch {
            program,
            windows,
            triggers,
            spool,
            calls: spool.join(workspan_recorder::CALLS),
            calls_seen: 0,
            still: triggers
                .on_stall
                .map(|patience| StallTimer::new(patience.duration())),
            stands: false,
            measured: Instant::now(),
            parts: 0,
            last: None,
        }
    }

    fn run(mut self, ended: &Receiver<()>, to: &Sender<Trigger>) {
        // Any result other than a timeout means that the program has ended.
        while ended.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            for trigger in self.look() {
                if self.parts == self.triggers.most_parts() {
                    say!(
                        "workspan: {} parts have been kept, so this one is dropped: {} (--most-parts)",
                        self.parts,
                        trigger.why
                    );
                    // The message is printed once.
                    return;
                }
                self.parts += 1;
                self.last = Some(trigger.at);
                self.windows.part_is_wanted(trigger.at);
                if to.send(trigger).is_err() {
                    return;
                }
            }
        }
    }

    /// The triggers since the last check. A standstill or a condition is ignored while its part
    /// would overlap the part before.
    fn look(&mut self) -> Vec<Trigger> {
        let mut found = Vec::new();
        for at in self.windows.take_signals() {
            found.push(Trigger {
                at,
                why: "SIGUSR2 came".into(),
            });
        }
        if self.triggers.on_call && self.has_been_called() {
            found.push(Trigger::now("the program called workspan_keep".into()));
        }
        if let Some(why) = self.stall().or_else(|| self.condition()) {
            let now = workspan_recorder::monotonic_raw_ns();
            let is_apart = |last: u64| now.saturating_sub(last) >= self.windows.ring_ns();
            if self.last.is_none_or(is_apart) && found.is_empty() {
                found.push(Trigger { at: now, why });
            }
        }
        found
    }

    fn has_been_called(&mut self) -> bool {
        let calls = std::fs::metadata(&self.calls).map_or(0, |file| file.len());
        let seen = std::mem::replace(&mut self.calls_seen, calls);
        calls > seen
    }

    fn stall(&mut self) -> Option<String> {
        let still = self.still.as_mut()?;
        let stands = still.has_stalled(self.program);
        let began = stands && !self.stands;
        self.stands = stands;
        let patience = self.triggers.on_stall?.duration();
        began.then(|| format!("it used no CPU for {} ms", patience.as_millis()))
    }

    fn condition(&mut self) -> Option<String> {
        if self.triggers.on.is_empty() || self.measured.elapsed() < MEASURE_INTERVAL {
            return None;
        }
        self.measured = Instant::now();
        let breakdowns = breakdowns(self.spool);
        let holds = |breakdown| {
            let mut conditions = self.triggers.on.iter();
            conditions.find_map(|condition| Some((condition, condition.holds(breakdown)?)))
        };
        let (condition, percent) = breakdowns.iter().find_map(holds)?;
        Some(format!(
            "{} was {percent:.1} % of the worker time in the second before",
            condition.name()
        ))
    }
}

impl Trigger {
    fn now(why: String) -> Trigger {
        Trigger {
            at: workspan_recorder::monotonic_raw_ns(),
            why,
        }
    }
}
