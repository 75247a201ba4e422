//! The parts of a run that are kept: those after a delay, for a while, the last seconds, or from
//! signal to signal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use workspan_recorder::{CALLS, MAX_SIGNALS, Parts, SIGNALS, SIGNALS_SIZE};
use workspan_trace::Trace;
use workspan_trace::entry::{ClockPair, Note};
use workspan_trace::note_keys::{PART_OF_RUN, WARNING};
use workspan_trace::window::{Window, WindowStatistics};

use crate::kernel::clock::Clock;
use crate::launch::environment::PARTS;
use crate::options::triggers::TriggerArgs;
use crate::trace_file::finalize::private;

use crate::say;
use crate::units::{self, ParseError};

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    ns: u64,
}

impl Length {
    /// As a duration.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.ns)
    }
}

/// The largest length, a hundred days, so that sums of nanoseconds stay far from their limit.
const MAX_LENGTH_NS: f64 = 8_640_000.0 * 1e9;

impl FromStr for Length {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match units::time_or_seconds(text) {
            Ok(ns) if ns <= MAX_LENGTH_NS => Ok(Length { ns: ns as u64 }),
            _ => Err(ParseError::new(
                text,
                "a length of time",
                "one of at most 100 days, such as 500ms, 10s, 2m or 1h",
            )),
        }
    }
}

/// A length that is not zero.
///
/// # Errors
/// The text is not a length, or is zero.
pub fn positive(text: &str) -> Result<Length, ParseError> {
    match text.parse::<Length>()? {
        Length { ns: 0 } => Err(ParseError::new(text, "a length to keep", "a time above 0")),
        length => Ok(length),
    }
}

/// `--delay`, `--duration` and `--ring`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct WindowArgs {
    /// Start recording this long after the program starts: 500ms, 5s, 2m (SIGUSR2 to `workspan
    /// record` also starts and stops it)
    #[arg(long, value_name = "TIME")]
    pub delay: Option<Length>,
    /// Record for this long; the program continues afterwards
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub duration: Option<Length>,
    /// Keep only the last part of the run, of this length, in a file of bounded size
    #[arg(long, value_name = "TIME", conflicts_with_all = ["delay", "duration"], value_parser = positive)]
    pub ring: Option<Length>,
}

/// The parts of one run that are kept.
#[derive(Debug, Default)]
pub struct Windows {
    parts: Parts,
    /// The triggers that keep parts while the run goes on.
    triggers: TriggerArgs,
    /// The times of SIGUSR2, in nanoseconds of `CLOCK_MONOTONIC_RAW`, and the file in which
    /// recorded processes look for it. With triggers, the times of parts that are not written yet.
    signals: Mutex<(Vec<u64>, Option<File>)>,
    /// With triggers: the times of SIGUSR2 that have not been taken.
    came: Mutex<Vec<u64>>,
    /// The end of the one part that is kept.
    up_to: Option<u64>,
}

impl Windows {
    /// The windows of the flags.
    pub fn new(asked: WindowArgs) -> Self {
        let ns = |length: Option<Length>| length.map(|length| length.ns);
        Windows {
            parts: Parts {
                delay: ns(asked.delay),
                duration: ns(asked.duration),
                ring: ns(asked.ring).map(|ring| ring.max(1)),
                triggered: false,
            },
            ..Windows::default()
        }
    }

    /// The windows of the flags, with triggers that keep parts while the run goes on.
    pub fn with_triggers(asked: WindowArgs, triggers: TriggerArgs) -> Self {
        let mut windows = Windows::new(asked);
        windows.parts.triggered = triggers.is_any();
        windows.triggers = triggers;
        windows
    }

    /// The triggers that keep parts while the run goes on.
    pub fn triggers(&self) -> &TriggerArgs {
        &self.triggers
    }

    /// Whether there are any triggers.
    pub fn is_triggered(&self) -> bool {
        self.parts.triggered
    }

    /// Whether the program's end triggers keeping the last part. A code of `None` is an end by a
    /// signal.
    pub fn keep_end(&self, code: Option<i32>) -> bool {
        let codes = self.triggers.on_exit_code.as_ref();
        !self.is_triggered() || codes.is_some_and(|codes| codes.has(code))
    }

    /// The length of a part, in nanoseconds.
    pub(crate) fn ring_ns(&self) -> u64 {
        self.parts.ring.unwrap_or(0)
    }

    /// Only the part up to that moment.
    pub(crate) fn part(&self, at: u64) -> Windows {
        Windows {
            parts: self.parts,
            up_to: Some(at),
            ..Windows::default()
        }
    }

    /// The times at which SIGUSR2 came since the last call.
    pub(crate) fn take_signals(&self) -> Vec<u64> {
        let taken = self.came.lock().map(|mut came| std::mem::take(&mut *came));
        taken.unwrap_or_default()
    }

    /// Requests the part up to that moment. Until it is written, recorded processes discard
    /// nothing.
    pub(crate) fn part_is_wanted(&self, at: u64) {
        self.change(|times| times.push(at));
    }

    /// The part up to that moment is written.
    pub(crate) fn part_is_written(&self, at: u64) {
        self.change(|times| times.retain(|&time| time != at));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u64>)) {
        let Ok(mut signals) = self.signals.lock() else {
            return;
        };
        let (times, file) = &mut *signals;
        change(times);
        let Some(file) = file else { return };
        // Recorded processes only check whether there is a time, so the times may be wrong for an
        // instant.
        let mut written = Ok(());
        for (at, time) in (1u64..).zip(times.iter().take(MAX_SIGNALS)) {
            written = written.and_then(|()| file.write_all_at(&time.to_le_bytes(), at * 8));
        }
        let count = times.len().min(MAX_SIGNALS) as u64;
        if let Err(error) = written.and_then(|()| file.write_all_at(&count.to_le_bytes(), 0)) {
            say!("workspan: the recorded program can't be told to keep a part: {error}");
        }
    }

    /// Whether flags say which parts are kept. A signal may still come if they do not.
    pub fn keep_parts(&self) -> bool {
        !self.parts.is_all()
    }

    /// Passes the windows to the runner below `command`, and to the processes whose recordings come
    /// into `spool`.
    pub fn tell(&self, command: &mut Command, spool: &Path) {
        if self.parts.is_all() {
            command.env_remove(PARTS);
            return;
        }
        command.env(PARTS, self.parts.to_string());
        if self.triggers.on_call {
            // Without the file, calls have no effect.
            let _ = private(&spool.join(CALLS));
        }
        let file = private(&spool.join(SIGNALS)).and_then(|file| {
            file.set_len(SIGNALS_SIZE as u64)?;
            Ok(file)
        });
        if let Ok(mut signals) = self.signals.lock() {
            // Without the file, a signal comes too late for chunks that the recorder has discarded.
            signals.1 = file.ok();
        }
    }

    /// Handles a SIGUSR2.
    pub fn signal(&self) {
        let ns = workspan_recorder::monotonic_raw_ns();
        if self.is_triggered() {
            if let Ok(mut came) = self.came.lock()
                && self.triggers.on_signal
            {
                came.push(ns);
            }
            return;
        }
        let Ok(mut signals) = self.signals.lock() else {
            return;
        };
        let (times, file) = &mut *signals;
        if times.len() == MAX_SIGNALS {
            return;
        }
        times.push(ns);
        if let Some(file) = file {
            let count = times.len() as u64;
            // The time is written before the count that includes it.
            let written = file
                .write_all_at(&ns.to_le_bytes(), count * 8)
                .and_then(|()| file.write_all_at(&count.to_le_bytes(), 0));
            if let Err(error) = written {
                say!("workspan: the recorded program can't be told of the signal: {error}");
            }
        }
    }

    /// The windows of a recorded process; `None` if all of it is kept.
    pub fn of(&self, trace: &Trace<'_>, clock: &Clock) -> Option<Vec<Window>> {
        let (start, end) = (trace.header.start_ns, clock.last_ns);
        let pair = |ns: u64| ClockPair {
            ticks: clock.ticks(ns),
            ns,
        };
        if let Some(at) = self.up_to {
            let from = at.saturating_sub(self.ring_ns()).max(start);
            return Some(vec![Window {
                from: pair(from),
                to: pair(at.max(from)),
            }]);
        }
        let signals = self.signals.lock().map(|s| s.0.clone());
        let signals = signals.unwrap_or_default();
        let mut parts = self.parts.intervals(start, &signals, end.max(start))?;
        if parts.is_empty() {
            // An empty part still gets a trace, which says that nothing was kept.
            parts.push((end, end));
        }
        let window = |(from, to)| Window {
            from: pair(from),
            to: pair(to),
        };
        Some(parts.into_iter().map(window).collect())
    }
}

/// The notes in a trace about the part that it contains.
pub fn notes(window: &Window, start_ns: u64, cut: &WindowStatistics) -> Vec<Note> {
    let seconds = |pair: ClockPair| pair.ns.saturating_sub(start_ns) as f64 / 1e9;
    let (from, to) = (seconds(window.from), seconds(window.to));
    let mut notes = vec![Note::new(
        PART_OF_RUN,
        format!("{from:.6} s to {to:.6} s after its start"),
    )];
    let mut warn = |what: String| notes.push(Note::new(WARNING, what));
    if from >= to {
        warn(format!(
            "The run ended {to:.3} s after its start, before the part to keep began, so the trace is empty."
        ));
    } else if cut.early {
        warn(format!(
            "Nothing was recorded in this part, which ends {to:.6} s after the program's start; it is shown as one strand of \
            the main thread."
        ));
    } else if cut.open > 0 {
        warn(format!(
            "This is a part of the run, from {from:.3} s after its start. {} task(s) that ran or waited then, and tasks that \
            were created before and began later, are roots here; which tasks wait for them is not known.",
            cut.open
        ));
    }
    if cut.broken > 0 {
        warn(format!(
            "A chunk of {} thread(s) is missing; what they did afterwards is not known.",
            cut.broken
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let ns = |text: &str| text.parse::<Length>().map(|length| length.ns);
        assert_eq!(ns("500ms"), Ok(500_000_000));
        assert_eq!(ns("1.5"), Ok(1_500_000_000));
        assert_eq!(ns("2m"), Ok(120_000_000_000));
        for wrong in ["", "s", "-1s", "nan", "1000000h", "5d"] {
            assert!(ns(wrong).is_err(), "{wrong}");
        }
        assert!(positive("0s").is_err() && positive("1ms").is_ok());
    }
}
