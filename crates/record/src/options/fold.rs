//! Folding, from the flags to the recorder (docs/folding.md).

use std::ffi::OsString;
use std::process::Command;
use std::str::FromStr;

use workspan_recorder::GRAIN;

use crate::units;

use crate::cargo::command_line::CargoLine;
use crate::launch::environment::{FOLD, KEEP, MAX_MEMORY, MAX_SIZE, join};

/// The flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FoldArgs {
    /// Which subtrees that ran on one thread become one record: none (off), those shorter than a time (10us), or auto: those shorter than
    /// 10 µs, or more the larger the trace is, on threads whose tasks take less than 1 µs, and on all once the trace has an eighth of
    /// --max-size (default off)
    #[arg(long, value_name = "auto|off|TIME")]
    pub fold: Option<FoldWhen>,
    /// With --fold auto, fold longer subtrees, up to 1 ms, to keep the trace below this (default 256MB)
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    pub max_size: Option<Size>,
    /// Memory a thread for what may still be folded (default 64MB)
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Size>,
    /// Never fold the tasks of this spawn site, as sort.rs:42 (Rayon, the Rust API) or a site's name; may be given several times
    #[arg(long, value_name = "SITE")]
    pub keep: Vec<String>,
}

/// `--fold`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldWhen {
    /// Never.
    #[default]
    Off,
    /// Where it is needed.
    Auto,
    /// Below so many nanoseconds.
    Below(u64),
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(u64);

const DEFAULT_SIZE: Size = Size(256 << 20);
const DEFAULT_MEMORY: Size = Size(64 << 20);
/// Longer is a thing to look at, not to fold away.
const LONGEST: u64 = 1_000_000_000;

/// A number with one of these units.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let unit = text[digits.len()..].trim();
    let factor = units.iter().find(|u| u.0.eq_ignore_ascii_case(unit))?.1;
    let number: f64 = digits.parse().ok()?;
    Some(number * factor)
}

impl FromStr for FoldWhen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => return Ok(FoldWhen::Off),
            "auto" => return Ok(FoldWhen::Auto),
            _ => {}
        }
        match units::time(text).map(|ns| ns.round() as u64) {
            Ok(ns @ 1..=LONGEST) => Ok(FoldWhen::Below(ns)),
            _ => Err("give auto, off, or a time from 1ns to 1s, as 10us".into()),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mega = f64::from(1 << 20);
        let units = [
            ("", 1.0),
            ("b", 1.0),
            ("k", 1024.0),
            ("kb", 1024.0),
            ("m", mega),
            ("mb", mega),
            ("g", mega * 1024.0),
            ("gb", mega * 1024.0),
        ];
        match with_unit(text, &units) {
            Some(bytes) if (1.0..1e18).contains(&bytes) => Ok(Size(bytes as u64)),
            _ => Err("give a number of bytes, as 256MB".into()),
        }
    }
}

/// A size that a trace can stay below: none stays below less.
fn max_size(text: &str) -> Result<Size, String> {
    match text.parse::<Size>()? {
        Size(bytes) if bytes < MIN_MAX_SIZE => {
            Err("give at least 4KB: every trace takes some".into())
        }
        size => Ok(size),
    }
}

const MIN_MAX_SIZE: u64 = 4 << 10;

impl FoldArgs {
    /// Those that stand among cargo's arguments count before these.
    ///
    /// # Errors
    /// A value that is none, by the name of its flag.
    pub fn take(mut self, line: &mut CargoLine) -> anyhow::Result<FoldArgs> {
        fn value<T: FromStr<Err = String>>(
            line: &mut CargoLine,
            flag: &str,
        ) -> anyhow::Result<Option<T>> {
            let Some(value) = line.take(flag) else {
                return Ok(None);
            };
            let value = value.to_string_lossy();
            let told = value.parse();
            told.map(Some)
                .map_err(|what| anyhow::anyhow!("{flag} {value}: {what}"))
        }
        self.fold = value(line, "--fold")?.or(self.fold);
        if let Some(told) = line.take("--max-size") {
            let told = told.to_string_lossy();
            let size =
                max_size(&told).map_err(|what| anyhow::anyhow!("--max-size {told}: {what}"))?;
            self.max_size = Some(size);
        }
        self.max_memory = value(line, "--max-memory")?.or(self.max_memory);
        let kept = line.values("--keep");
        self.keep
            .extend(kept.iter().map(|site| site.to_string_lossy().into_owned()));
        line.take("--keep");
        Ok(self)
    }

    /// True when anything may be folded.
    pub fn folds(&self) -> bool {
        self.fold.unwrap_or_default() != FoldWhen::Off
    }

    /// What is shorter, in ns, is folded in the records that a thread that folds left last; `None` for nothing. Which sites the recorder kept is not known.
    pub fn tail_grain(&self) -> Option<u64> {
        let grain = match self.fold.unwrap_or_default() {
            FoldWhen::Off => None,
            FoldWhen::Auto => Some(GRAIN),
            FoldWhen::Below(ns) => Some(ns),
        };
        grain.filter(|_| self.keep.is_empty())
    }

    /// Tells the recorder below `command`.
    pub fn tell(&self, command: &mut Command) {
        let when = match self.fold.unwrap_or_default() {
            FoldWhen::Off => "off".to_owned(),
            FoldWhen::Auto => "auto".to_owned(),
            FoldWhen::Below(ns) => ns.to_string(),
        };
        let keep: Vec<OsString> = self.keep.iter().map(OsString::from).collect();
        command
            .env(FOLD, when)
            .env(
                MAX_SIZE,
                self.max_size.unwrap_or(DEFAULT_SIZE).0.to_string(),
            )
            .env(
                MAX_MEMORY,
                self.max_memory.unwrap_or(DEFAULT_MEMORY).0.to_string(),
            );
        if !keep.is_empty() {
            command.env(KEEP, join(&keep));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_site_to_keep_counts() {
        let words = [
            "run",
            "--keep",
            "a.rs:1",
            "--keep=b.rs:2",
            "--",
            "--keep",
            "c",
        ];
        let mut line = CargoLine::parse(&words.map(OsString::from));
        let taken = FoldArgs::default().take(&mut line).unwrap_or_default();
        assert_eq!(taken.keep, ["a.rs:1", "b.rs:2"]);
        assert_eq!(line.own, ["run"]);
    }

    #[test]
    fn times_and_sizes_are_read_as_people_write_them() {
        let below = |text: &str| text.parse::<FoldWhen>();
        assert_eq!(below("10us"), Ok(FoldWhen::Below(10_000)));
        assert_eq!(below("1.5 ms"), Ok(FoldWhen::Below(1_500_000)));
        assert_eq!(below("20µs"), Ok(FoldWhen::Below(20_000)));
        assert_eq!(below("off"), Ok(FoldWhen::Off));
        for none in ["", "10", "0ns", "2s", "us", "-1us", "soon"] {
            assert!(below(none).is_err(), "{none}");
        }
        let size = |text: &str| text.parse::<Size>().map(|s| s.0);
        assert_eq!(size("256MB"), Ok(256 << 20));
        assert_eq!(size("1g"), Ok(1 << 30));
        assert_eq!(size("4096"), Ok(4096));
        assert!(size("0").is_err() && size("much").is_err());
    }
}
