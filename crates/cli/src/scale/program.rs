//! The program to run: as given, or the one that a cargo command would start.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use workspan_record::cargo::dry_run::{self, DryRunCommand};
use workspan_record::launch::preflight;
use workspan_record::trace_file::run_folder;

/// Placeholder in an argument for the number of workers of a run.
pub const PLACE: &[u8] = b"{workers}";

/// A program that can be started again and again.
#[derive(Debug, Clone)]
pub struct Program {
    /// The command as the user gave it.
    given: Vec<OsString>,
    /// The program that cargo would start; `None` if the command is not cargo's.
    started: Option<DryRunCommand>,
}

impl Program {
    /// For a cargo command, builds the program and finds out what it would start. Checks that other
    /// programs exist.
    ///
    /// # Errors
    /// There is no such program, or cargo fails, or it would start no program or several.
    pub fn prepare(command: &[OsString]) -> anyhow::Result<Program> {
        let Some((first, rest)) = command.split_first() else {
            bail!("no program given; for example: workspan scale -- ./sort 1000000");
        };
        let given = command.to_vec();
        if Path::new(first).file_name() != Some(OsStr::new("cargo")) {
            preflight::find(first).map_err(anyhow::Error::msg)?;
            return Ok(Program {
                given,
                started: None,
            });
        }
        let mut started = dry_run::listed(first, rest)?;
        match (started.pop(), started.len()) {
            (Some(one), 0) => Ok(Program {
                given,
                started: Some(one),
            }),
            (None, _) => {
                bail!("cargo would start no program; give it `run`, or `bench` with --bench NAME")
            }
            (_, more) => bail!(
                "cargo would start {} programs, but only one can be measured: choose it with --bin, --bench or --test",
                more + 1
            ),
        }
    }

    /// The bare program with `workers` workers.
    pub fn bare(&self, workers: u32) -> Command {
        let words = self.started.as_ref().map_or(&self.given, |s| &s.words);
        let mut words = words.iter().map(|word| filled(word, workers));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        if let Some(started) = &self.started {
            command
                .env_clear()
                .envs(started.environment.iter().cloned());
            command.current_dir(&started.folder);
        }
        command
    }

    /// The given command with `workers` workers.
    pub fn arguments(&self, workers: u32) -> Vec<OsString> {
        self.given
            .iter()
            .map(|word| filled(word, workers))
            .collect()
    }

    /// The name shown to people.
    pub fn name(&self) -> String {
        let words = self.started.as_ref().map_or(&self.given, |s| &s.words);
        let path = PathBuf::from(words.first().cloned().unwrap_or_default());
        let name = path.file_name().unwrap_or(path.as_os_str());
        run_folder::program_name(&name.to_string_lossy()).to_owned()
    }

    /// The command as a line of a shell.
    pub fn line(&self) -> String {
        line(&self.given)
    }

    /// The command line with one worker, if arguments set the number.
    pub fn line_on_one(&self) -> String {
        line(&self.arguments(1))
    }

    /// Whether an argument contains the number of workers.
    pub fn takes_argument(&self) -> bool {
        self.arguments(1) != self.given
    }
}

/// Words joined into a line that a shell splits in the same way.
fn line(words: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    let words = words.iter().map(|word| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The word with [`PLACE`] replaced by the number of workers.
fn filled(word: &OsStr, workers: u32) -> OsString {
    let bytes = word.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(PLACE) {
            out.extend_from_slice(workers.to_string().as_bytes());
            at += PLACE.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_workers_goes_where_its_place_is() {
        let word = |text: &str| filled(OsStr::new(text), 16);
        assert_eq!(word("--threads={workers}"), "--threads=16");
        assert_eq!(word("{workers}{workers}"), "1616");
        assert_eq!(word("{worker}"), "{worker}");
        assert_eq!(word("{workers"), "{workers");
        let words = ["./a.out", "{workers}", "it's", ""].map(OsString::from);
        assert_eq!(line(&words), r"./a.out '{workers}' 'it'\''s' ''");
        assert_eq!(
            filled(OsStr::from_bytes(b"\xff{workers}"), 2).as_bytes(),
            b"\xff2"
        );
    }
}
