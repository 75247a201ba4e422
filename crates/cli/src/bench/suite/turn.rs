//! One turn of a program on a runtime: a bare run and a recorded one. The results are kept in a
//! file of the suite's folder, so that an interrupted suite continues where it was.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::super::folder::put;
use super::super::measure::{Call, Extent, Recording, UNSEEN, Variant, read};
use super::super::result::Recorded;
use super::super::runtime::Runtime;
use super::programs::Program;

/// The parameters of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The program.
    pub program: Program,
    /// Number of workers; 1 for the serial elision.
    pub workers: usize,
    /// The runtime.
    pub runtime: Runtime,
    /// The number of the repetition, from 1.
    pub turn: usize,
}

/// The times of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTimes {
    /// Time of the measured part, in ns.
    pub elapsed: u64,
    /// CPU time of the whole process, in ns.
    pub cpu: Option<u64>,
}

/// The results of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnResults {
    /// The inputs that the programs were built from; a turn with other inputs is measured again.
    pub built: String,
    /// The result line.
    pub printed: String,
    /// The bare run.
    pub bare: RunTimes,
    /// The recorded run; `None` with `--no-record`.
    pub recorded: Option<RecordedRun>,
    /// Total time of the turn in ns, including the time to make the report.
    pub turn_ns: u64,
}

/// A recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// Its times.
    pub took: RunTimes,
    /// The trace below the suite's folder.
    pub trace: String,
    /// The results from the trace; or the reason why there are none.
    pub says: Result<Recorded, String>,
}

/// The folder of the turns, and how they are measured.
pub struct Store {
    folder: PathBuf,
    /// The folder of the sources that contain the sites.
    cache: PathBuf,
    size: String,
    record: bool,
    limit: Duration,
}

/// The parameters of the measurements in a folder.
#[derive(Debug, Clone, Copy)]
pub struct TurnSettings<'a> {
    /// The size of the inputs.
    pub size: &'a str,
    /// Whether runs are recorded too.
    pub record: bool,
    /// Maximum time of a run.
    pub limit: Duration,
}

impl Store {
    /// A store in `folder`, which is made; `cache` has the sources of the programs.
    ///
    /// # Errors
    /// The folder can't be made.
    pub fn new(folder: &Path, cache: &Path, filling: TurnSettings) -> anyhow::Result<Self> {
        for part in ["turns", "traces"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).with_context(|| part.display().to_string())?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            cache: cache.to_owned(),
            size: filling.size.to_owned(),
            record: filling.record,
            limit: filling.limit,
        })
    }

    /// A text with the paths of sources relative to the package. Reports shorten those below the
    /// current folder.
    fn without_cache(&self, text: &str) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let mut text = text.to_owned();
        for part in ["cpp/include/", "rayon/"] {
            let folder = self.cache.join(part);
            for folder in [Some(&*folder), folder.strip_prefix(&here).ok()] {
                if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
                    text = text.replace(&format!("{}/", folder.display()).replace("//", "/"), "");
                }
            }
        }
        text
    }

    fn name(&self, cell: &Cell) -> String {
        let (program, runtime) = (cell.program.name, cell.runtime.name());
        let (size, workers, turn) = (&self.size, cell.workers, cell.turn);
        format!("{program}-{size}-{runtime}-{workers}-{turn}")
    }

    fn file(&self, cell: &Cell) -> PathBuf {
        self.folder.join(format!("turns/{}.json", self.name(cell)))
    }

    /// A turn that was measured earlier with the same programs.
    pub fn saved_turn(&self, cell: &Cell, built: &str) -> Option<TurnResults> {
        let text = std::fs::read(self.file(cell)).ok()?;
        let turn: TurnResults = serde_json::from_slice(&text).ok()?;
        let whole = turn.recorded.is_some() || !self.record;
        let traced = |t: &RecordedRun| t.says.is_err() || self.folder.join(&t.trace).exists();
        (turn.built == built && whole && turn.recorded.iter().all(traced)).then_some(turn)
    }

    /// Measures a turn, and keeps it if `is_right` accepts its output.
    ///
    /// # Errors
    /// A run fails, the two print different results, `is_right` rejects the output, or the turn
    /// can't be written.
    pub fn measure(
        &self,
        cell: &Cell,
        variant: &Variant,
        built: &str,
        is_right: impl Fn(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<TurnResults> {
        let began = std::time::Instant::now();
        let arguments = [cell.program.name, "--size", &self.size];
        let call = |program| Call {
            program,
            arguments: &arguments,
            workers: cell.workers,
            limit: Some(self.limit),
        };
        let bare = call(&variant.bare).run(None)?;
        is_right(&bare.printed)?;
        let mut turn = TurnResults {
            built: built.to_owned(),
            printed: bare.printed,
            bare: RunTimes {
                elapsed: bare.took,
                cpu: Some(bare.cpu),
            },
            recorded: None,
            turn_ns: 0,
        };
        if self.record {
            let name = format!("traces/{}.wspan", self.name(cell));
            let trace = self.folder.join(&name);
            // `record` never overwrites a file; a file here is left over from a turn that was not
            // finished.
            let _ = std::fs::remove_file(&trace);
            let run = call(&variant.recorded).run(Some(Recording {
                options: &[],
                trace: &trace,
            }))?;
            if run.printed != turn.printed {
                bail!(
                    "recorded it printed `{}`, bare `{}`",
                    run.printed,
                    turn.printed
                );
            }
            let says = read(&trace, Extent::Measured).and_then(|said| {
                // If there is only the main thread's root, the runtime that ran the tasks is not
                // recorded.
                let blind = said.tasks <= 1 && cell.runtime != Runtime::Serial;
                if blind { Err(UNSEEN.into()) } else { Ok(said) }
            });
            let says = says.map(|said| Recorded {
                says: self.without_cache(&said.says),
                ..said
            });
            turn.recorded = Some(RecordedRun {
                took: RunTimes {
                    elapsed: run.took,
                    cpu: says.as_ref().ok().and_then(|said| said.cpu),
                },
                trace: name,
                says,
            });
        }
        turn.turn_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        put(&self.file(cell), &serde_json::to_string_pretty(&turn)?)?;
        Ok(turn)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::super::programs::PROGRAMS;
    use super::*;

    const BARE: TurnSettings = TurnSettings {
        size: "test",
        record: false,
        limit: Duration::from_secs(1),
    };

    #[test]
    fn turns_of_other_programs_are_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), folder.path(), BARE).unwrap();
        let cell = Cell {
            program: PROGRAMS[2],
            workers: 2,
            runtime: Runtime::Libgomp,
            turn: 1,
        };
        let turn = TurnResults {
            built: "a".into(),
            printed: "fib(20) = 6765".into(),
            bare: RunTimes::default(),
            recorded: None,
            turn_ns: 5,
        };
        assert_eq!(store.saved_turn(&cell, "a"), None);
        let text = serde_json::to_string(&turn).unwrap();
        std::fs::write(store.file(&cell), text).unwrap();
        assert_eq!(store.saved_turn(&cell, "a"), Some(turn));
        assert_eq!(store.saved_turn(&cell, "b"), None);
        let next = Cell { turn: 2, ..cell };
        assert_eq!(store.saved_turn(&next, "a"), None);
        // The filling without recorded runs.
        let filling = TurnSettings {
            record: true,
            ..BARE
        };
        let recording = Store::new(folder.path(), folder.path(), filling).unwrap();
        assert_eq!(recording.saved_turn(&cell, "a"), None);
    }

    /// A program that prints `$1` and how long it took, like those of the suite.
    #[cfg(unix)]
    fn program(folder: &Path, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let file = folder.join(name);
        std::fs::write(
            &file,
            format!("#!/bin/sh\n{body}\necho kernel took 5 ns >&2\n"),
        )
        .unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        file
    }

    #[test]
    fn a_turn_that_is_wrong_or_does_not_end_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), folder.path(), BARE).unwrap();
        let cell = Cell {
            program: PROGRAMS[2],
            workers: 2,
            runtime: Runtime::Libgomp,
            turn: 1,
        };
        let variant = |program: PathBuf| Variant {
            runtime: Runtime::Libgomp,
            bare: program.clone(),
            recorded: program,
        };
        let is_right = |printed: &str| match printed {
            "right" => Ok(()),
            _ => bail!("it printed {printed}"),
        };
        let wrong = variant(program(folder.path(), "wrong", "echo wrong"));
        let error = store.measure(&cell, &wrong, "a", is_right).unwrap_err();
        assert_eq!(error.to_string(), "it printed wrong");
        assert_eq!(store.saved_turn(&cell, "a"), None);
        let endless = variant(program(folder.path(), "endless", "exec sleep 1000"));
        let error = store.measure(&cell, &endless, "a", is_right).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("it did not end within 1 s"), "{error}");
        assert_eq!(store.saved_turn(&cell, "a"), None);
        let right = variant(program(folder.path(), "right", "echo right"));
        let turn = store.measure(&cell, &right, "a", is_right).unwrap();
        assert_eq!(store.saved_turn(&cell, "a"), Some(turn));
    }
}
