//! What the kernel watches of the recorded program, from the flags to the runner.

use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use workspan_perf::{Counter, Rate};
use workspan_trace::entry::Note;
use workspan_trace::note_keys::WARNING;

use crate::instructions;
use crate::lake::Lake;
use crate::launch::environment::{COUNT, COUNTERS, MAX_OVERHEAD, NO_PERF, SAMPLE, is_followed};
use crate::options::fold::FoldArgs;
use crate::options::keep_windows::Windows;
use crate::options::max_overhead::MaxOverhead;

use crate::say;
use crate::units::ParseError;

/// The flags for watching the program.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// `--no-perf`.
    pub no_perf: bool,
    /// `--sample`; `None` if it was not given.
    pub sample: Option<Sampling>,
    /// `--max-overhead`; `None` if it was not given.
    pub max_overhead: Option<MaxOverhead>,
    /// `--stall`: a program that uses no CPU for that long is ended.
    pub stall: Option<Duration>,
    /// The options of folding.
    pub fold: FoldArgs,
    /// `--lake`: the lake that the runs are added to.
    pub lake: Option<Lake>,
    /// `--counters`: the counters that the kernel has.
    counters: Vec<Counter>,
    /// `--count`: the folder of the tool that counts instructions.
    counted: Option<PathBuf>,
    /// The reasons why the kernel does not have the others.
    uncounted: Vec<String>,
}

impl Watch {
    /// Created from the flags; prints on stderr which counters are missing.
    ///
    /// # Errors
    /// A name that is not a counter.
    pub fn new(
        no_perf: bool,
        sample: Option<Sampling>,
        counters: Option<&str>,
    ) -> anyhow::Result<Self> {
        let mut watch = Watch {
            no_perf,
            sample,
            ..Watch::default()
        };
        if counters.is_some_and(|names| names.split(',').all(|name| name.trim().is_empty())) {
            anyhow::bail!(
                "--counters: names no counter; give some, such as instructions,page-faults, or leave it out"
            );
        }
        if sample.is_none()
            && let Some(value) = std::env::var_os(SAMPLE).filter(|value| !value.is_empty())
        {
            let rate = value.to_string_lossy().parse::<Sampling>();
            rate.with_context(|| format!("{SAMPLE} in the environment"))?;
        }
        let names = counters.unwrap_or_default().split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            let counter =
                Counter::named(name).map_err(|what| anyhow::anyhow!("--counters: {what}"))?;
            if watch
                .counters
                .iter()
                .any(|known| known.name == counter.name)
            {
                continue;
            }
            if watch.counters.len() == MAX_COUNTERS {
                anyhow::bail!(
                    "--counters: at most {MAX_COUNTERS} can be read at once; record twice"
                );
            }
            match counter.probe() {
                Ok(counter) => watch.counters.push(counter),
                Err(refused) => {
                    say!("workspan: {refused}");
                    watch.uncounted.push(refused.to_string());
                }
            }
        }
        Ok(watch)
    }

    /// `--count instructions`: the program runs in an emulator that counts them.
    ///
    /// # Errors
    /// What is missing for that, or that `--counters` asks the CPU for the same.
    pub fn count_instructions(&mut self) -> anyhow::Result<()> {
        if self.counters.iter().any(|c| c.name == "instructions") {
            anyhow::bail!(
                "--count instructions and --counters instructions count the same; leave one out"
            );
        }
        // The kernel would see the emulator's code and waits.
        self.no_perf = true;
        self.counted = Some(instructions::prepare()?);
        Ok(())
    }

    /// The notes about the settings in the trace, if those parts of the run are kept.
    pub fn notes(&self, windows: &Windows) -> impl Iterator<Item = Note> {
        let mut names: Vec<&str> = self.counters.iter().map(|c| c.name.as_str()).collect();
        names.extend(self.counted.iter().map(|_| "instructions"));
        let counted = (!names.is_empty()).then(|| Note::new("counters", names.join(", ")));
        let uncounted = self.uncounted.iter();
        let uncounted =
            uncounted.map(|why| Note::new(WARNING, format!("Without a counter: {why}.")));
        let emulated = self.counted.iter();
        let emulated = emulated.map(|_| Note::new(WARNING, instructions::TIMES_ARE_NOT));
        let unfolded = (self.fold.folds() && (windows.keep_parts() || counted.is_some()))
            .then(|| Note::new(WARNING, UNFOLDED));
        counted
            .into_iter()
            .chain(uncounted)
            .chain(emulated)
            .chain(unfolded)
    }

    /// Passes the settings to the runner below `command`.
    pub fn tell(&self, command: &mut Command) {
        self.fold.tell(command);
        if self.no_perf {
            command.env(NO_PERF, "1");
        }
        if let Some(sampling) = self.sample {
            command.env(SAMPLE, sampling.0.to_string());
        }
        // With folding, every task is recorded.
        let folds = self.fold.folds().then_some(MaxOverhead::OFF);
        let most = self.max_overhead.or(folds);
        // The user may have set the variable, but a recording around this one may also have done
        // so.
        let is_set = std::env::var_os(MAX_OVERHEAD).is_some() && !is_followed();
        if most.is_some() || !is_set {
            command.env(MAX_OVERHEAD, MaxOverhead::describe(most));
        }
        let counter = |c: &Counter| {
            let kernel = u8::from(c.kernel);
            format!("{}:{}:{}:{kernel}", c.name, c.kind, c.config)
        };
        let mut counters: Vec<String> = self.counters.iter().map(counter).collect();
        if let Some(folder) = &self.counted {
            command.env(COUNT, folder);
            let event = instructions::event();
            counters.push(format!("{}:{}:{}:0", event.name, event.kind, event.config));
        }
        if !counters.is_empty() {
            command.env(COUNTERS, counters.join(","));
        }
    }
}

/// The warning that a trace is not small, although the user asked for that.
const UNFOLDED: &str = "--fold was without effect: no run is folded with --ring, --delay, --duration, --counters or --count.";

/// The largest number of counters, which the recorder can read.
const MAX_COUNTERS: usize = workspan_recorder::MAX_COUNTERS;

/// Samples per second of CPU time; 0 = none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling(u32);

/// The highest allowed rate. A higher one would slow the program down noticeably.
const MAX_SAMPLE_HZ: u32 = 20_000;

impl Sampling {
    /// The rate, if samples are requested.
    pub fn rate(self) -> Option<Rate> {
        (self.0 > 0).then_some(Rate::from_hertz(self.0))
    }

    /// The rate that was passed to the runner, or that the user set. If there is neither, the rate
    /// that this machine can afford.
    pub fn rate_from_environment() -> Option<Rate> {
        let sampling: Option<Sampling> = std::env::var(SAMPLE)
            .ok()
            .and_then(|value| value.parse().ok());
        sampling.map_or_else(|| Some(Rate::affordable()), Sampling::rate)
    }
}

impl FromStr for Sampling {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == "off" {
            return Ok(Sampling(0));
        }
        match text.parse() {
            Ok(hertz) if hertz <= MAX_SAMPLE_HZ => Ok(Sampling(hertz)),
            _ => Err(ParseError::new(
                text,
                "a sampling rate",
                format!("off, or samples per second up to {MAX_SAMPLE_HZ}"),
            )),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::{FoldArgs, Rate, Sampling, UNFOLDED, Watch, Windows};
    use crate::options::keep_windows::WindowArgs;

    #[test]
    fn what_can_not_be_folded_is_said() {
        let unfolded = |fold: &str, ring: Option<&str>, counters: Option<&str>| {
            let mut watch = Watch::new(false, None, counters).unwrap();
            watch.fold = FoldArgs {
                fold: fold.parse().ok(),
                ..FoldArgs::default()
            };
            let windows = Windows::new(WindowArgs {
                ring: ring.and_then(|ring| ring.parse().ok()),
                ..WindowArgs::default()
            });
            watch.notes(&windows).any(|note| note.value == UNFOLDED)
        };
        assert!(unfolded("10us", Some("1s"), None));
        assert!(!unfolded("10us", None, None));
        assert!(!unfolded("off", Some("1s"), None));
        // A counter that every kernel has, if it allows counting.
        let counted = !Watch::new(false, None, Some("page-faults"))
            .unwrap()
            .counters
            .is_empty();
        assert_eq!(unfolded("auto", None, Some("page-faults")), counted);
    }

    #[test]
    fn rates() {
        let rate = |text: &str| text.parse::<Sampling>().map(Sampling::rate);
        assert_eq!(rate("off"), Ok(None));
        assert_eq!(rate("0"), Ok(None));
        assert_eq!(rate("499"), Ok(Some(Rate::from_hertz(499))));
        assert!(rate("1000000").is_err());
        assert!(rate("fast").is_err());
    }
}
