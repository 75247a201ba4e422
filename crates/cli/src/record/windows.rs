//! Which parts of a run are kept: after a delay, for a while, the last seconds, or from signal to signal.

use std::process::Command;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use workspan_trace::Trace;
use workspan_trace::entry::{ClockPair, Note};
use workspan_trace::window::{Cut, Window};

use super::clock::Clock;
use super::environment::RING;

/// A length of time as on the command line: `500ms`, `10s`, `2m`, `1h`; a bare number is of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length(Duration);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a length of time, as 500ms, 10s, 2m or 1h".to_owned();
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let seconds = match unit {
            "ms" => number / 1e3,
            "" | "s" => number,
            "m" | "min" => number * 60.0,
            "h" => number * 3600.0,
            _ => return Err(wrong()),
        };
        match Duration::try_from_secs_f64(seconds) {
            // A hundred days, so that sums of nanoseconds stay far from their limit.
            Ok(length) if length.as_secs() <= 8_640_000 => Ok(Length(length)),
            _ => Err(wrong()),
        }
    }
}

impl Length {
    fn ns(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// `--delay`, `--duration` and `--ring`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct WindowArgs {
    /// Keep what happens from so long after the program's start on: 500ms, 5s, 2m (SIGUSR2 to `workspan record` starts and stops
    /// as well)
    #[arg(long, value_name = "TIME")]
    pub delay: Option<Length>,
    /// Keep so much from there on; the program runs on
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Length>,
    /// Keep the last so much before the program's end, in a file that grows no further
    #[arg(long, value_name = "TIME", conflicts_with_all = ["delay", "duration"])]
    pub ring: Option<Length>,
}

/// The parts wanted of one run.
#[derive(Debug, Default)]
pub struct Windows {
    asked: WindowArgs,
    /// When SIGUSR2 came, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    signals: Mutex<Vec<u64>>,
}

impl Windows {
    /// From the flags.
    pub fn new(asked: WindowArgs) -> Self {
        Windows {
            asked,
            signals: Mutex::default(),
        }
    }

    /// Tells the runner below `command`.
    pub fn tell(&self, command: &mut Command) {
        match self.asked.ring {
            Some(ring) => command.env(RING, ring.ns().max(1).to_string()),
            None => command.env_remove(RING),
        };
    }

    /// SIGUSR2 came.
    pub fn signal(&self) {
        let ns = workspan_recorder::monotonic_raw_ns();
        if let Ok(mut signals) = self.signals.lock() {
            signals.push(ns);
        }
    }

    /// The parts of a run that began at `start` and ended at `end`, in nanoseconds; `None` when all of it is wanted.
    fn parts(&self, start: u64, end: u64) -> Option<Vec<(u64, u64)>> {
        let signals = self.signals.lock().map(|s| s.clone()).unwrap_or_default();
        let WindowArgs {
            delay,
            duration,
            ring,
        } = self.asked;
        if let Some(ring) = ring {
            // A signal ends what is kept there.
            let end = signals.first().copied().unwrap_or(end).clamp(start, end);
            return Some(vec![(end.saturating_sub(ring.ns()).max(start), end)]);
        }
        if delay.is_none() && duration.is_none() && signals.is_empty() {
            return None;
        }
        let mut begin = Some(delay.map_or(start, |delay| start.saturating_add(delay.ns())));
        let mut open: Option<u64> = None;
        let mut parts = Vec::new();
        let closes = |from: u64| {
            let length = duration.map_or(u64::MAX, Length::ns);
            from.saturating_add(length)
        };
        for at in signals.into_iter().chain([end]) {
            let at = at.clamp(start, end);
            if let Some(from) = begin.filter(|&from| open.is_none() && from <= at) {
                (open, begin) = (Some(from), None);
            }
            if let Some(from) = open.filter(|&from| closes(from) <= at) {
                parts.push((from, closes(from)));
                open = None;
                if at < end {
                    // It had stopped by itself: the signal starts anew.
                    open = Some(at);
                }
            } else if let Some(from) = open.take() {
                parts.push((from, at));
            } else if at < end {
                (open, begin) = (Some(at), None);
            }
        }
        Some(parts)
    }

    /// The windows of a recorded process; `None` when all of it is wanted.
    pub fn of(&self, trace: &Trace<'_>, clock: &Clock) -> Option<Vec<Window>> {
        let (start, end) = (trace.header.start_ns, clock.last_ns);
        let pair = |ns: u64| ClockPair {
            ticks: clock.ticks(ns),
            ns,
        };
        let mut parts = self.parts(start, end.max(start))?;
        if parts.is_empty() {
            // A trace that says so.
            parts.push((end, end));
        }
        let window = |(from, to)| Window {
            from: pair(from),
            to: pair(to),
        };
        Some(parts.into_iter().map(window).collect())
    }
}

/// What a trace says of the part that it is.
pub fn notes(window: &Window, start_ns: u64, cut: &Cut) -> Vec<Note> {
    let seconds = |pair: ClockPair| pair.ns.saturating_sub(start_ns) as f64 / 1e9;
    let (from, to) = (seconds(window.from), seconds(window.to));
    let mut notes = vec![Note::new(
        "part of the run",
        format!("{from:.6} s to {to:.6} s after its start"),
    )];
    let mut warn = |what: String| notes.push(Note::new("warning", what));
    if from >= to {
        warn(format!(
            "The run ended {to:.3} s after its start, before the part to keep began: nothing of it is here."
        ));
    } else if cut.open > 0 {
        warn(format!(
            "This is a part of the run, from {from:.3} s after its start on: {} task(s) that ran or waited then, and those that were created \
             before and began later, are roots here; who waits for them is not known.",
            cut.open
        ));
    }
    if cut.broken > 0 {
        warn(format!(
            "Of {} thread(s) a chunk is missing; what they did from there on is not known.",
            cut.broken
        ));
    }
    notes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;

    fn windows(delay: Option<&str>, duration: Option<&str>, ring: Option<&str>) -> Windows {
        let length = |text: Option<&str>| text.map(|t| t.parse().unwrap());
        Windows::new(WindowArgs {
            delay: length(delay),
            duration: length(duration),
            ring: length(ring),
        })
    }

    fn with(windows: Windows, signals: &[u64]) -> Option<Vec<(u64, u64)>> {
        *windows.signals.lock().unwrap() = signals.iter().map(|s| 1000 + s * 1_000_000).collect();
        let ms = |ns: u64| (ns - 1000) / 1_000_000;
        let parts = windows.parts(1000, 1000 + 100_000_000)?;
        Some(parts.into_iter().map(|(a, b)| (ms(a), ms(b))).collect())
    }

    #[test]
    fn parts_of_a_run_of_a_hundred_milliseconds() {
        let all = || windows(None, None, None);
        assert_eq!(with(all(), &[]), None);
        assert_eq!(with(all(), &[40]), Some(vec![(0, 40)]));
        assert_eq!(
            with(all(), &[40, 50, 60, 70]),
            Some(vec![(0, 40), (50, 60), (70, 100)])
        );
        let late = || windows(Some("30ms"), None, None);
        assert_eq!(with(late(), &[]), Some(vec![(30, 100)]));
        assert_eq!(with(late(), &[10, 20]), Some(vec![(10, 20)]));
        assert_eq!(with(late(), &[50, 90]), Some(vec![(30, 50), (90, 100)]));
        let short = || windows(Some("30ms"), Some("20ms"), None);
        assert_eq!(with(short(), &[]), Some(vec![(30, 50)]));
        assert_eq!(with(short(), &[40]), Some(vec![(30, 40)]));
        assert_eq!(with(short(), &[60]), Some(vec![(30, 50), (60, 80)]));
        assert_eq!(with(short(), &[90]), Some(vec![(30, 50), (90, 100)]));
        assert_eq!(with(windows(Some("2s"), None, None), &[]), Some(vec![]));
        assert_eq!(
            with(windows(None, None, Some("25ms")), &[]),
            Some(vec![(75, 100)])
        );
        assert_eq!(
            with(windows(None, None, Some("1h")), &[]),
            Some(vec![(0, 100)])
        );
        assert_eq!(
            with(windows(None, None, Some("25ms")), &[60]),
            Some(vec![(35, 60)])
        );
    }

    #[test]
    fn lengths() {
        let ns = |text: &str| text.parse::<Length>().map(Length::ns);
        assert_eq!(ns("500ms"), Ok(500_000_000));
        assert_eq!(ns("1.5"), Ok(1_500_000_000));
        assert_eq!(ns("2m"), Ok(120_000_000_000));
        for wrong in ["", "s", "-1s", "5 s", "1e9", "nan", "1000000h", "5d"] {
            assert!(ns(wrong).is_err(), "{wrong}");
        }
    }
}
