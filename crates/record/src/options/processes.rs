//! Whether the processes of a run are kept as one run, or each by itself.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::str::FromStr;

use crate::units::ParseError;

/// `--processes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessesArg {
    /// All processes in one trace.
    One,
    /// A trace for each process.
    Each,
}

impl FromStr for ProcessesArg {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "one" => Ok(ProcessesArg::One),
            "each" => Ok(ProcessesArg::Each),
            _ => Err(ParseError::new(
                text,
                "a way to keep processes",
                "one, for one trace of all, or each, for a trace of each",
            )),
        }
    }
}

/// How the processes that the program starts are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessHandling {
    /// Whether they are recorded.
    pub follow: bool,
    /// Whether all of them become one trace.
    pub as_one: bool,
}

impl ProcessHandling {
    /// From the flags. A launcher's processes are the run, so they are recorded, in one trace.
    pub fn new(
        follow: bool,
        processes: Option<ProcessesArg>,
        command: &[OsString],
    ) -> ProcessHandling {
        let launches = command.first().is_some_and(|program| is_launcher(program));
        ProcessHandling {
            follow: follow || processes.is_some() || launches,
            as_one: processes.map_or(launches, |choice| choice == ProcessesArg::One),
        }
    }
}

/// Programs that only start other programs, by name; some have a suffix, as in `mpirun.openmpi`.
const LAUNCHERS: [&str; 12] = [
    "mpirun",
    "mpiexec",
    "orterun",
    "prterun",
    "srun",
    "torchrun",
    "accelerate",
    "parallel",
    "make",
    "gmake",
    "ninja",
    "xargs",
];

/// Whether a program only starts other programs.
pub(crate) fn is_launcher(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    LAUNCHERS.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(follow: bool, processes: Option<&str>, program: &str) -> (bool, bool) {
        let processes = processes.and_then(|text| text.parse().ok());
        let of = ProcessHandling::new(follow, processes, &[OsString::from(program)]);
        (of.follow, of.as_one)
    }

    #[test]
    fn a_launchers_processes_are_one_run() {
        assert_eq!(
            followed(false, None, "/usr/bin/mpirun.openmpi"),
            (true, true)
        );
        assert_eq!(followed(false, Some("each"), "make"), (true, false));
        assert_eq!(followed(false, None, "./makefile"), (false, false));
        assert_eq!(followed(true, None, "./run.sh"), (true, false));
        assert_eq!(followed(false, Some("one"), "./run.sh"), (true, true));
        assert!("all".parse::<ProcessesArg>().is_err());
    }
}
