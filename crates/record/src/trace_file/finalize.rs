//! From what a recorded process left behind (its spool file) to one self-contained trace: chunks
//! trimmed and sealed, what was still open to folding folded, sites resolved, facts about the run
//! noted; small folded ones packed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_fold::Tails;
use workspan_fold::{FoldOptions, Thieves};
use workspan_reader::packed;
use workspan_symbols::Workspace;
use workspan_trace::chunk::{ALIGNMENT, ChunkKind};
use workspan_trace::entry::{Finished, Note, PlaceEntry};
use workspan_trace::event::{Event, Events};
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::note_keys as key;
use workspan_trace::reader::{Chunk, Tolerance};
use workspan_trace::sealed_copy::copy_with_records;
use workspan_trace::window::{Window, copy_window};
use workspan_trace::{Trace, TraceWriter};

use crate::costs::costs;
use crate::kernel::clock::Clock;
use crate::kernel::cpu_times::cpu_times;
use crate::kernel::off_cpu::OffCpu;
use crate::kernel::waits::Waits;
use crate::options::keep_windows::{self, Windows};
use crate::run_notes::EXIT_STATUS;
use crate::trace_file::process_facts::ProcessFacts;

/// A trace that was finalised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finalized {
    /// Tasks that the first records of the process create which tell of any: 0 if it has none.
    /// Counting all takes as long as all else here.
    pub tasks: u64,
    /// It started threads of its own, which are no such tasks.
    pub threads: bool,
    /// The number that a launcher gave it.
    pub rank: Option<u32>,
    /// The program's name.
    pub name: String,
    /// When recording started, in nanoseconds since 1970.
    pub started: u64,
    /// The process and the one that started it.
    pub process: (u32, u32),
    /// Children it forked, those among them that went on by exec.
    pub forked: u64,
    /// The runtimes that were caught.
    pub runtimes: Vec<String>,
    /// Files of code that were loaded into it.
    pub libraries: Vec<PathBuf>,
    /// Damage and modules that could not be read; full sentences.
    pub warnings: Vec<String>,
}

/// How the traces of a run are written.
pub struct Settings<'a> {
    /// Whose code is the user's.
    pub workspace: &'a Workspace,
    /// Notes for every trace.
    pub facts: &'a [Note],
    /// What the program started was recorded too.
    pub follow: bool,
    /// The folder where this machine's costs are kept.
    pub tool: &'a Path,
    /// Which parts of the run are kept.
    pub windows: &'a Windows,
    /// What took less time, in ns, is folded in the records that threads that fold had last;
    /// `None`: they stay.
    pub tail_grain: Option<u64>,
    /// The process runs on: the spool file is its own.
    pub is_running: bool,
}

/// What a thread may run while a task waits on it, where all of the process's `runtimes` limit that
/// and the environment, which the process has from us, does not say otherwise.
fn tasks_in_waits(runtimes: &[String]) -> Option<Note> {
    let limits = |note: &String| {
        let variable = workspan_runtimes::Runtime::from_note(note)?.stealing_constraint?;
        let value = std::env::var(variable).unwrap_or_default();
        (value.trim() != "0").then_some(())
    };
    let all = !runtimes.is_empty() && runtimes.iter().all(|note| limits(note).is_some());
    all.then(|| Note::new(key::TASKS_IN_WAITS, "descendants"))
}

/// Writes the trace of `spool`, with what the kernel saw of its process, to `output`, a new file
/// that the caller then puts in its place; where parts of the run are kept, each to a file of its
/// own, whose names have a number more. Returns the files with what is in them.
///
/// # Errors
/// The spool file can't be read or is none; `output` can't be written. The spool file is left as it
/// is.
pub fn finalize(
    spool: &Path,
    output: &Path,
    off_cpu: &mut OffCpu,
    settings: &Settings<'_>,
) -> anyhow::Result<Vec<(PathBuf, Finalized)>> {
    let &Settings {
        workspace,
        facts,
        follow,
        tool,
        windows,
        tail_grain,
        is_running,
    } = settings;
    let bytes = std::fs::read(spool).with_context(|| spool.display().to_string())?;
    let trace = Trace::open(&bytes).with_context(|| spool.display().to_string())?;
    let clock = Clock::of(&trace);
    let unseen_ns = off_cpu.add_unseen(&trace, &clock);
    let waits = Waits::of(&trace);
    off_cpu.add_waits(trace.header.pid, waits.intervals(&clock));
    let off_cpu = &*off_cpu;
    let parts = windows.of(&trace, &clock);
    let tails = tail_grain.map_or_else(Tails::default, |grain| tails(&trace, clock.length(grain)));
    let told = ProcessFacts::read(&trace);
    let (places, mut warnings) = told.resolve(workspace);
    let costs = costs(&told, &clock, tool);
    // Of a process that the recorded program started, its end is not known.
    let own = told.number(key::PARENT_PROCESS) == u64::from(std::process::id());
    let facts = facts
        .iter()
        .filter(|note| own || !follow || note.key != EXIT_STATUS);
    warnings.extend(told.still_running(trace.header.pid).filter(|_| follow));
    let folder = workspace.root.iter();
    let folder = folder.map(|root| Note::new(key::SOURCE_FOLDER, root.to_string_lossy()));
    let notes: Vec<Note> = facts
        .cloned()
        // What file names are relative to, for whoever shows the sources later.
        .chain(folder)
        .chain(off_cpu.notes(told.estimated))
        .chain(off_cpu.samples.notes())
        .chain(tasks_in_waits(&told.all(key::RUNTIME)))
        .chain((unseen_ns > 0).then(|| Note::new(key::UNSEEN_OFF_NS, unseen_ns.to_string())))
        .chain(costs)
        .collect();
    let found = TraceParts {
        trace: &trace,
        told: &told,
        places: &places,
        notes: &notes,
        workspace,
        off_cpu,
        waits: &waits,
        tails: &tails,
        is_running,
    };
    let parts: Vec<Option<Window>> = match parts {
        None => vec![None],
        Some(parts) => parts.into_iter().map(Some).collect(),
    };
    warnings.extend(off_cpu.unwatched_threads(&trace));
    let mut written: Vec<(PathBuf, Finalized)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let mut output = output.to_owned();
        if number > 0 {
            output.as_mut_os_string().push(format!(".{number}"));
        }
        let mut warnings = warnings.clone();
        match found.write(
            &output,
            part.as_ref(),
            &mut warnings,
            &spool.display().to_string(),
        ) {
            Err(error) if is_full(&error) && !is_running => {
                // Half a file takes room that what follows may need; and so do parts, of which the
                // whole has all.
                let _ = std::fs::remove_file(&output);
                for (part, _) in written.drain(..) {
                    let _ = std::fs::remove_file(part);
                }
                let kept = found.keep_as_recorded(spool, &output);
                warnings.extend(kept.with_context(|| unwritten(&output, spool))?);
            }
            other => other.with_context(|| unwritten(&output, spool))?,
        }
        let finalized = Finalized {
            tasks: told.tasks,
            threads: told.threads,
            rank: told.all(key::RANK).first().and_then(|n| n.parse().ok()),
            name: told.name(),
            started: trace.header.realtime_ns,
            process: (trace.header.pid, told.number(key::PARENT_PROCESS) as u32),
            forked: told.number(key::FORKED_CHILDREN),
            runtimes: told.all(key::RUNTIME),
            libraries: told.mappings.iter().map(|m| m.path.clone()).collect(),
            warnings,
        };
        written.push((output, finalized));
        if !spool.exists() {
            break;
        }
    }
    Ok(written)
}

/// Traces with more bytes of records are not packed, as that would take some fifth of a second.
const MOST_PACKED: usize = 2 << 20;
/// Bytes of memory a thread for what may still be folded of its last records.
const TAIL_MEMORY: usize = 16 << 20;

/// What threads that fold did last, with what is shorter than so many ticks folded.
fn tails(trace: &Trace<'_>, grain: u64) -> Tails {
    let options = FoldOptions {
        grain,
        max_tasks: u64::MAX,
        // As the recorder has it.
        thieves: Thieves::TakeChildren,
        kept: Vec::new(),
        memory: TAIL_MEMORY,
    };
    Tails::of(trace, &options)
}

fn unwritten(output: &Path, spool: &Path) -> String {
    format!(
        "{}: could not write the trace (the recording is still in {})",
        output.display(),
        spool.display()
    )
}

/// No room on the disk, for this user, or below the limit of a file's size.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// All that goes into a trace.
struct TraceParts<'a> {
    trace: &'a Trace<'a>,
    told: &'a ProcessFacts,
    places: &'a [PlaceEntry],
    /// Beside those the process told itself.
    notes: &'a [Note],
    workspace: &'a Workspace,
    off_cpu: &'a OffCpu,
    waits: &'a Waits,
    tails: &'a Tails,
    is_running: bool,
}

impl TraceParts<'_> {
    /// Writes the trace, packed where that is worth it; damage in what was recorded is left out and
    /// told.
    fn write(
        &self,
        output: &Path,
        part: Option<&Window>,
        warnings: &mut Vec<String>,
        spool: &str,
    ) -> io::Result<()> {
        let file = private(output)?;
        if self.packs() {
            let trace = self.put(Cursor::new(Vec::new()), part, warnings, spool)?;
            packed::pack(&trace.into_inner(), &file)?;
            return file.sync_data();
        }
        let file = BufWriter::with_capacity(1 << 20, file);
        let file = self.put(file, part, warnings, spool)?;
        file.into_inner().map_err(|e| e.into_error())?.sync_data()
    }

    /// True for a small trace with folded subtrees: whoever has a run folded wants its trace to be
    /// small, and unpacking a large one would take some of the time of its report.
    fn packs(&self) -> bool {
        let folds = |chunk: &Chunk<'_>| {
            let mut events = Events::new(chunk.payload, 0);
            events.any(|(_, event)| matches!(event, Event::Folded(_)))
        };
        let (mut bytes, mut any) = (0, false);
        for chunk in self.trace.chunks(Tolerance::Tolerant).flatten() {
            if chunk.kind == ChunkKind::Events {
                bytes += chunk.payload.len();
                any = any || folds(&chunk);
            }
            if bytes > MOST_PACKED {
                return false;
            }
        }
        any
    }

    /// Writes the trace to `out`.
    fn put<W: Write + Seek>(
        &self,
        out: W,
        part: Option<&Window>,
        warnings: &mut Vec<String>,
        spool: &str,
    ) -> io::Result<W> {
        let trace = self.trace;
        let mut writer = TraceWriter::new(out, trace.header)?;
        let rewritten = [
            ChunkKind::Places,
            ChunkKind::Notes,
            // Their contents are among the times off the CPU and the stops now.
            ChunkKind::CpuReadings,
            ChunkKind::WaitLog,
        ];
        let mut told = self.told.notes.clone();
        match part {
            None => {
                let sealed = copy_with_records(
                    trace,
                    &rewritten,
                    |chunk| self.tails.instead_of(chunk),
                    &mut writer,
                )?;
                let damage = sealed.damage.iter();
                warnings.extend(damage.map(|d| format!("{spool}: {d}")));
                for chunk in self.off_cpu.chunks(trace, None) {
                    writer.events(chunk.thread, chunk.seq, (chunk.base, 0), &chunk.payload)?;
                }
                if let Some(on) = self.off_cpu.on_times(trace.header.pid) {
                    let (samples, mappings) = (&self.off_cpu.samples, &self.told.mappings);
                    let times = cpu_times(trace, on, samples, mappings, self.workspace);
                    writer.all_entries(ChunkKind::CpuTimes, times, |time, out| time.encode(out))?;
                }
            }
            Some(window) => {
                let cut = copy_window(trace, window, &rewritten, &mut writer)?;
                if self.is_running && !cut.is_finished {
                    let finished = Finished {
                        ticks: window.to.ticks,
                        ns: window.to.ns,
                        dropped: trace.header.dropped,
                        threads: cut.next.len() as u64,
                    };
                    let finished = [finished];
                    writer.all_entries(ChunkKind::Finished, finished, |f, out| f.encode(out))?;
                }
                for chunk in self.off_cpu.chunks(trace, part) {
                    if let Some(&seq) = cut.next.get(&chunk.thread) {
                        writer.events(chunk.thread, seq, (chunk.base, 0), &chunk.payload)?;
                    }
                }
                told.extend(keep_windows::notes(window, trace.header.start_ns, &cut));
            }
        }
        let samples = &self.off_cpu.samples;
        let code = (self.told.mappings.as_slice(), self.workspace);
        samples.write(trace, part, code, (self.off_cpu, self.waits), &mut writer)?;
        self.write_notes(&told, warnings, &mut writer)?;
        writer.finish()
    }

    fn write_notes<W: Write + Seek>(
        &self,
        told: &[Note],
        warnings: &[String],
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        let warnings = warnings.iter().map(|w| Note::new(key::WARNING, w.clone()));
        let notes = told.iter().chain(self.notes).cloned().chain(warnings);
        writer.all_entries(ChunkKind::Notes, notes, Note::encode)?;
        writer.all_entries(ChunkKind::Places, self.places, |place, out| {
            place.encode(out)
        })
    }

    /// There is no room for a copy: what the process left is a trace too, and becomes the one.
    /// Where there is room for so much, it gets its sites' lines and the facts. Returns what to say
    /// of it.
    fn keep_as_recorded(&self, spool: &Path, output: &Path) -> io::Result<Option<String>> {
        let what = "There was no room on the disk to write the trace anew: it is what the process left, with chunks that are \
                    not full, and without samples and off-CPU times.";
        let mut chunks = TraceWriter::new(Cursor::new(Vec::new()), self.trace.header)?;
        self.write_notes(&[], &[what.to_owned()], &mut chunks)?;
        let chunks = chunks.finish()?.into_inner();
        let chunks = chunks.get(HEADER_SIZE..).unwrap_or_default();
        let length = self.trace.bytes().len() as u64;
        let mut file = OpenOptions::new().write(true).open(spool)?;
        file.seek(SeekFrom::Start(length.next_multiple_of(ALIGNMENT as u64)))?;
        if file.write_all(chunks).is_err() {
            file.set_len(length)?;
        }
        std::fs::rename(spool, output)?;
        Ok(Some(what.to_owned()))
    }
}

/// A new file that only its user may read: a program's arguments and lines of its sources are in a
/// trace.
///
/// # Errors
/// As of opening; something is there already.
pub fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
