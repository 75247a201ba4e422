//! Writes a part of a run as a trace while the run goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use workspan_symbols::Workspace;
use workspan_trace::entry::Note;

use super::Trigger;
use super::last_second::spools;
use crate::kernel::off_cpu::OffCpu;
use crate::lake::Lake;
use crate::options::keep_windows::Windows;
use crate::outcome::shown;
use crate::trace_file::finalize::{Settings, finalize};
use crate::trace_file::run_folder;

use crate::say;

/// The longest time for which a process may still be discarding a chunk when a part is requested.
const MAX_DISCARD_TIME: Duration = Duration::from_millis(30);

/// The parts that have been kept so far.
pub type KeptParts = Arc<Mutex<Vec<PathBuf>>>;

/// Writes parts.
pub struct PartWriter {
    /// The folder in which the processes leave their spool files.
    pub spool: PathBuf,
    /// The folder for traces.
    pub folder: PathBuf,
    /// The file that the user named; parts get an additional number.
    pub output: Option<PathBuf>,
    /// The workspace whose code is the user's.
    pub workspace: Workspace,
    /// Notes for every trace.
    pub facts: Vec<Note>,
    /// The folder in which the tool is unpacked.
    pub tool: PathBuf,
    /// Whether processes that the program started are recorded too.
    pub follow: bool,
    /// The lake that parts are added to.
    pub lake: Option<Lake>,
    /// The files of the parts, in the order in which they were kept.
    pub written_parts: KeptParts,
}

impl PartWriter {
    pub(super) fn spool(&self) -> &Path {
        &self.spool
    }

    /// Writes the trace of each process, and prints its path.
    pub(super) fn write(&self, trigger: &Trigger, windows: &Windows) {
        std::thread::sleep(MAX_DISCARD_TIME);
        let part = windows.part(trigger.at);
        let mut facts = self.facts.clone();
        facts.push(Note::new("kept because", trigger.why.clone()));
        let settings = Settings {
            workspace: &self.workspace,
            facts: &facts,
            follow: false,
            tool: &self.tool,
            windows: &part,
            tail_grain: None,
            is_running: true,
        };
        let mut written = Vec::new();
        for spool in spools(&self.spool) {
            let half = self.spool.join("part");
            // With a ring, the kernel does not watch the run.
            match finalize(&spool, &half, &mut OffCpu::default(), &settings) {
                Ok(traces) => {
                    for (half, trace) in traces {
                        if self.follow && trace.tasks == 0 {
                            let _ = std::fs::remove_file(&half);
                            continue;
                        }
                        match run_folder::put(&half, &self.folder, &self.name(&trace.name)) {
                            Ok(path) => written.push(path),
                            Err(error) => {
                                let _ = std::fs::remove_file(&half);
                                say!("workspan: {}: {error}", self.folder.display());
                            }
                        }
                    }
                }
                Err(error) => {
                    let _ = std::fs::remove_file(&half);
                    say!("workspan: a part was not kept: {error:#}");
                }
            }
        }
        for path in &written {
            say!("workspan: kept {}, because {}", shown(path), trigger.why);
        }
        if let Some(lake) = self.lake.as_ref().filter(|_| !written.is_empty()) {
            lake.add(&written);
        }
        if let Ok(mut all) = self.written_parts.lock() {
            all.extend(written);
        }
    }

    fn name(&self, program: &str) -> String {
        let stem = self.output.as_deref().and_then(Path::file_stem);
        stem.map_or_else(
            || program.to_owned(),
            |stem| stem.to_string_lossy().into_owned(),
        )
    }
}
