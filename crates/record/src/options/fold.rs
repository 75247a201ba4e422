//! The options of folding, from the flags to the recorder (docs/folding.md).

use std::ffi::OsString;
use std::process::Command;
use std::str::FromStr;

use workspan_recorder::GRAIN;

use crate::units::{self, ParseError};

use crate::launch::environment::{
    FOLD, FOLD_STRANDS, FOLD_TASKS, KEEP, MAX_MEMORY, MAX_SIZE, join,
};

/// Flags of folding.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FoldArgs {
    /// Which subtrees are folded into one record if one thread ran them: none (off), those shorter
    /// than a time (10us), all (steals), or auto (default off). auto folds those shorter than
    /// 10 µs, and longer ones in a larger trace, on threads whose tasks take less than 1 µs; once
    /// the trace has an eighth of --max-size, on all threads
    #[arg(long, value_name = "auto|off|steals|TIME")]
    pub fold: Option<FoldWhen>,
    /// Keep a folded trace near this number of strands, by folding longer subtrees the more strands
    /// it has; without --fold, those of 10 µs and more. A folded subtree counts as one strand.
    /// With off, subtrees longer than --fold are never folded, however large the trace becomes
    /// (default: 1000 for each thread that folds)
    #[arg(long, value_name = "N|off")]
    pub fold_strands: Option<StrandTarget>,
    /// Fold only subtrees with at most this many tasks; without --fold and --fold-strands, all such
    /// subtrees
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub fold_tasks: Option<u64>,
    /// With --fold auto: fold longer subtrees, up to 1 ms, to keep the trace below this size
    /// (default 256MB)
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    pub max_size: Option<u64>,
    /// Memory per thread for records that may still be folded (default 64MB)
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub max_memory: Option<u64>,
    /// Never fold the tasks of this spawn site, such as sort.rs:42 (Rayon, the Rust API), or a
    /// site's name; repeatable
    #[arg(long, value_name = "SITE")]
    pub keep: Vec<String>,
}

/// `--fold`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldWhen {
    /// Fold nothing.
    #[default]
    Off,
    /// Fold where it is needed.
    Auto,
    /// Fold subtrees shorter than this many nanoseconds.
    Below(u64),
    /// Fold everything, whatever its length.
    Steals,
}

/// `--fold-strands`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrandTarget {
    /// The grain does not grow with the trace.
    Off,
    /// Aim at this many strands in all.
    InAll(u64),
}

/// The number of strands of a thread that folds, if no other was requested. Including what its
/// steals add, they take less than 64 KB.
const DEFAULT_STRANDS_PER_THREAD: u64 = 1_000;
/// The smallest number that can be requested. Fewer strands would show nothing.
const MIN_STRANDS: u64 = 100;

const DEFAULT_MAX_SIZE_BYTES: u64 = 256_000_000;
const DEFAULT_MAX_MEMORY_BYTES: u64 = 64_000_000;
/// The largest grain. A longer subtree is worth looking at, so it is not folded.
const MAX_GRAIN_NS: u64 = 1_000_000_000;
/// The smallest size that can be requested. Every trace takes a few kilobytes.
const MIN_MAX_SIZE_BYTES: u64 = 4_000;

impl FromStr for FoldWhen {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "off" => return Ok(FoldWhen::Off),
            "auto" => return Ok(FoldWhen::Auto),
            "steals" => return Ok(FoldWhen::Steals),
            _ => {}
        }
        match units::time(text).map(|ns| ns.round() as u64) {
            Ok(ns @ 1..=MAX_GRAIN_NS) => Ok(FoldWhen::Below(ns)),
            _ => Err(ParseError::new(
                text,
                "a grain",
                "auto, off, steals, or a time from 1ns to 1s, such as 10us",
            )),
        }
    }
}

impl FromStr for StrandTarget {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.parse::<u64>() {
            _ if text == "off" => Ok(StrandTarget::Off),
            Ok(strands) if strands >= MIN_STRANDS => Ok(StrandTarget::InAll(strands)),
            _ => Err(ParseError::new(
                text,
                "a number of strands",
                "off, or a number from 100 on",
            )),
        }
    }
}

fn max_size(text: &str) -> Result<u64, ParseError> {
    match units::size(text)? {
        bytes if bytes < MIN_MAX_SIZE_BYTES => Err(ParseError::new(
            text,
            "a size that a trace can have",
            "at least 4KB",
        )),
        bytes => Ok(bytes),
    }
}

impl FoldArgs {
    /// When subtrees are folded.
    fn when(&self) -> FoldWhen {
        match (self.fold, self.fold_strands) {
            (Some(when), _) => when,
            (None, Some(StrandTarget::InAll(_))) => FoldWhen::Below(GRAIN),
            (None, _) if self.fold_tasks.is_some() => FoldWhen::Steals,
            (None, _) => FoldWhen::default(),
        }
    }

    /// Whether anything may be folded.
    pub fn folds(&self) -> bool {
        self.when() != FoldWhen::Off
    }

    /// The length, in ns, below which subtrees are folded in the last records of a thread that
    /// folds; `None` if nothing is folded. It is not known which sites the recorder kept.
    pub fn tail_grain(&self) -> Option<u64> {
        let grain = match self.when() {
            FoldWhen::Off => None,
            FoldWhen::Auto => Some(GRAIN),
            FoldWhen::Below(ns) => Some(ns),
            FoldWhen::Steals => Some(u64::MAX),
        };
        grain.filter(|_| self.keep.is_empty() && self.fold_tasks.is_none())
    }

    /// Passes the options to the recorder below `command`.
    pub fn tell(&self, command: &mut Command) {
        let when = match self.when() {
            FoldWhen::Off => "off".to_owned(),
            FoldWhen::Auto => "auto".to_owned(),
            FoldWhen::Below(ns) => ns.to_string(),
            FoldWhen::Steals => "steals".to_owned(),
        };
        let strands = match self.fold_strands {
            None => format!("thread {DEFAULT_STRANDS_PER_THREAD}"),
            Some(StrandTarget::InAll(strands)) => format!("all {strands}"),
            Some(StrandTarget::Off) => "off".to_owned(),
        };
        let keep: Vec<OsString> = self.keep.iter().map(OsString::from).collect();
        command
            .env(FOLD, when)
            .env(FOLD_STRANDS, strands)
            .env(
                MAX_SIZE,
                self.max_size.unwrap_or(DEFAULT_MAX_SIZE_BYTES).to_string(),
            )
            .env(
                MAX_MEMORY,
                self.max_memory
                    .unwrap_or(DEFAULT_MAX_MEMORY_BYTES)
                    .to_string(),
            );
        if let Some(tasks) = self.fold_tasks {
            command.env(FOLD_TASKS, tasks.to_string());
        }
        if !keep.is_empty() {
            command.env(KEEP, join(&keep));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grains_are_times_up_to_a_second() {
        let below = |text: &str| text.parse::<FoldWhen>();
        assert_eq!(below("10us"), Ok(FoldWhen::Below(10_000)));
        assert_eq!(below("1.5 ms"), Ok(FoldWhen::Below(1_500_000)));
        assert_eq!(below("off"), Ok(FoldWhen::Off));
        for wrong in ["", "10", "0ns", "2s", "us", "-1us", "soon"] {
            assert!(below(wrong).is_err(), "{wrong}");
        }
        assert_eq!(max_size("256MB"), Ok(256_000_000));
        assert_eq!("off".parse(), Ok(StrandTarget::Off));
        assert_eq!("100".parse(), Ok(StrandTarget::InAll(100)));
        assert!("99".parse::<StrandTarget>().is_err());
        assert!(max_size("3KB").is_err() && max_size("4KB").is_ok());
    }
}
