//! Turns a recorded process's spool file into a self-contained trace: trims and seals chunks, folds
//! the records that were still open to folding, resolves sites, and adds notes about the run. Small
//! folded traces are packed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_fold::ThreadTails;
use workspan_fold::{FoldOptions, StealKind};
use workspan_reader::packed;
use workspan_runtimes::Runtime;
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
pub struct FinalTrace {
    /// The number of tasks that the first records with tasks create: 0 if the process has no tasks.
    /// Counting all tasks would take as long as everything else here.
    pub tasks: u64,
    /// Whether it started threads of its own, which do not count as tasks.
    pub threads: bool,
    /// The rank that a launcher assigned to it.
    pub rank: Option<u32>,
    /// The program's name.
    pub name: String,
    /// When recording started, in nanoseconds since 1970.
    pub started: u64,
    /// The ids of the process and of the one that started it.
    pub process: (u32, u32),
    /// The CPU time that the kernel saw it use, in nanoseconds; 0 if it was not watched.
    pub cpu_ns: u64,
    /// Whether the kernel's watch of the run cannot reach it, as on another host.
    pub outside_watch: bool,
    /// The number of children it forked, and of those that went on by exec.
    pub forked: u64,
    /// The recorded runtimes.
    pub runtimes: Vec<String>,
    /// Code files that were loaded into it.
    pub libraries: Vec<PathBuf>,
    /// Damage and unreadable modules, as full sentences.
    pub warnings: Vec<String>,
}

/// How the traces of a run are written.
pub struct Settings<'a> {
    /// The workspace whose code is the user's.
    pub workspace: &'a Workspace,
    /// Notes for every trace.
    pub facts: &'a [Note],
    /// Whether processes that the program started were recorded too.
    pub follow: bool,
    /// The folder where this machine's costs are kept.
    pub tool: &'a Path,
    /// Which parts of the run are kept.
    pub windows: &'a Windows,
    /// The length, in ns, below which subtrees in the last records of threads that fold are folded;
    /// `None` if they stay as they are.
    pub tail_grain: Option<u64>,
    /// Whether the process is still running, so that it uses the spool file.
    pub is_running: bool,
}

/// Whether `is_so` holds for all runtimes of the process, and there is one.
fn all_runtimes(notes: &[String], is_so: impl Fn(&Runtime) -> bool) -> bool {
    let mut runtimes = notes.iter().map(|note| Runtime::from_note(note));
    !notes.is_empty() && runtimes.all(|runtime| runtime.is_some_and(&is_so))
}

/// Facts about how the process's runtimes find tasks: that a thread may not run every task while a
/// task waits on it, unless the environment, which the process inherits from us, changes that, and
/// that the threads of a team share a queue.
fn scheduling_facts(runtimes: &[String]) -> impl Iterator<Item = Note> {
    let restrains = |runtime: &Runtime| {
        let variable = runtime.stealing_constraint;
        variable.is_some_and(|name| std::env::var(name).unwrap_or_default().trim() != "0")
    };
    let waits =
        all_runtimes(runtimes, restrains).then(|| Note::new(key::TASKS_IN_WAITS, "descendants"));
    let queue = all_runtimes(runtimes, |runtime| runtime.shared_queue)
        .then(|| Note::new(key::TASK_QUEUE, "shared"));
    waits.into_iter().chain(queue)
}

/// Writes the trace of `spool`, with the kernel's observations of its process, to `output`, a new
/// file that the caller then renames. If only parts of the run are kept, each is written to a file
/// of its own, whose name has an additional number. Returns the files with the facts about them.
///
/// # Errors
/// The spool file cannot be read or is not one; `output` cannot be written. The spool file is left
/// as it is.
pub fn finalize(
    spool: &Path,
    output: &Path,
    off_cpu: &mut OffCpu,
    settings: &Settings<'_>,
) -> anyhow::Result<Vec<(PathBuf, FinalTrace)>> {
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
    let clock = Clock::from_trace(&trace);
    let process_facts = ProcessFacts::read(&trace);
    let outside_watch = !process_facts.all(key::OUTSIDE_WATCH).is_empty();
    let mut unwatched = OffCpu::outside_watch(&process_facts.all(key::HOST).concat());
    let off_cpu = match outside_watch {
        // Its process id belongs to another process here.
        true => &mut unwatched,
        false => off_cpu,
    };
    let unseen_ns = off_cpu.add_unseen(&trace, &clock);
    let waits = Waits::from_trace(&trace);
    off_cpu.add_waits(trace.header.pid, waits.intervals(&clock));
    off_cpu.split_at_releases(&waits, &clock);
    off_cpu.add_callers(trace.header.pid, &process_facts.mappings);
    let off_cpu = &*off_cpu;
    let parts = windows.of(&trace, &clock);
    let tails = tail_grain.map_or_else(ThreadTails::default, |grain| {
        tails(&trace, clock.length(grain))
    });
    let (places, mut warnings) = process_facts.resolve(workspace);
    let costs = costs(&process_facts, &clock, tool);
    // The end of a process that the recorded program started is not known.
    let own = process_facts.number(key::PARENT_PROCESS) == u64::from(std::process::id());
    let facts = facts
        .iter()
        .filter(|note| own || !follow || note.key != EXIT_STATUS);
    warnings.extend(
        process_facts
            .still_running(trace.header.pid)
            .filter(|_| follow && !outside_watch),
    );
    let folder = workspace.root.iter();
    let folder = folder.map(|root| Note::new(key::SOURCE_FOLDER, root.to_string_lossy()));
    let notes: Vec<Note> = facts
        .cloned()
        // The folder that file names are relative to, for readers that show the sources later.
        .chain(folder)
        .chain(off_cpu.notes(process_facts.estimated))
        .chain(off_cpu.samples.notes())
        .chain(scheduling_facts(&process_facts.all(key::RUNTIME)))
        .chain((unseen_ns > 0).then(|| Note::new(key::UNSEEN_OFF_NS, unseen_ns.to_string())))
        .chain(costs)
        .collect();
    let found = TraceParts {
        trace: &trace,
        process_facts: &process_facts,
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
    let mut written: Vec<(PathBuf, FinalTrace)> = Vec::new();
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
                // Half a file takes space that later files may need. So do parts, all of which are
                // in the whole file.
                let _ = std::fs::remove_file(&output);
                for (part, _) in written.drain(..) {
                    let _ = std::fs::remove_file(part);
                }
                let message = found.keep_as_recorded(spool, &output);
                warnings.extend(message.with_context(|| unwritten(&output, spool))?);
            }
            other => other.with_context(|| unwritten(&output, spool))?,
        }
        let finalized = FinalTrace {
            tasks: process_facts.tasks,
            threads: process_facts.threads,
            rank: process_facts
                .all(key::RANK)
                .first()
                .and_then(|n| n.parse().ok()),
            name: process_facts.name(),
            started: trace.header.realtime_ns,
            process: (
                trace.header.pid,
                process_facts.number(key::PARENT_PROCESS) as u32,
            ),
            cpu_ns: off_cpu.cpu_ns(trace.header.pid),
            outside_watch,
            forked: process_facts.number(key::FORKED_CHILDREN),
            runtimes: process_facts.all(key::RUNTIME),
            libraries: process_facts
                .mappings
                .iter()
                .map(|m| m.path.clone())
                .collect(),
            warnings,
        };
        written.push((output, finalized));
        if !spool.exists() {
            break;
        }
    }
    Ok(written)
}

/// The largest size of records, in bytes, of a trace that is packed. Packing a larger one would
/// take about a fifth of a second.
const MAX_PACKED_BYTES: usize = 2 << 20;
/// Memory per thread for its last records that may still be folded, in bytes.
const TAIL_MEMORY: usize = 16 << 20;

/// The threads' last records, with subtrees shorter than this many ticks folded.
fn tails(trace: &Trace<'_>, grain: u64) -> ThreadTails {
    let options = FoldOptions {
        grain,
        max_tasks: u64::MAX,
        // The same as in the recorder.
        thieves: StealKind::TakeChildren,
        unfolded_sites: Vec::new(),
        memory: TAIL_MEMORY,
    };
    ThreadTails::fold(trace, &options)
}

fn unwritten(output: &Path, spool: &Path) -> String {
    format!(
        "{}: could not write the trace (the recording is still in {})",
        output.display(),
        spool.display()
    )
}

/// Whether an error means that there is no space on the disk, for this user, or below the limit of
/// a file's size.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// The contents of a trace.
struct TraceParts<'a> {
    trace: &'a Trace<'a>,
    process_facts: &'a ProcessFacts,
    places: &'a [PlaceEntry],
    /// Notes in addition to the process's own.
    notes: &'a [Note],
    workspace: &'a Workspace,
    off_cpu: &'a OffCpu,
    waits: &'a Waits,
    tails: &'a ThreadTails,
    is_running: bool,
}

impl TraceParts<'_> {
    /// Writes the trace, packed if that is worthwhile. Damaged parts of the recording are skipped
    /// and reported.
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

    /// Whether the trace is packed. That is the case for a small trace with folded subtrees: with
    /// folding, the user wants a small trace, and unpacking a large one would take part of the time
    /// of its report.
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
            if bytes > MAX_PACKED_BYTES {
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
            // Their contents are now in the off-CPU times and the stops.
            ChunkKind::CpuReadings,
            ChunkKind::WaitLog,
        ];
        let mut notes = self.process_facts.notes.clone();
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
                if let Some(on) = self.off_cpu.on_cpu_times(trace.header.pid) {
                    let (samples, mappings) = (&self.off_cpu.samples, &self.process_facts.mappings);
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
                notes.extend(keep_windows::notes(window, trace.header.start_ns, &cut));
            }
        }
        let samples = &self.off_cpu.samples;
        let code = (self.process_facts.mappings.as_slice(), self.workspace);
        samples.write(trace, part, code, (self.off_cpu, self.waits), &mut writer)?;
        self.write_notes(&notes, warnings, &mut writer)?;
        writer.finish()
    }

    fn write_notes<W: Write + Seek>(
        &self,
        process_notes: &[Note],
        warnings: &[String],
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        let warnings = warnings.iter().map(|w| Note::new(key::WARNING, w.clone()));
        let notes = process_notes
            .iter()
            .chain(self.notes)
            .cloned()
            .chain(warnings);
        writer.all_entries(ChunkKind::Notes, notes, Note::encode)?;
        writer.all_entries(ChunkKind::Places, self.places, |place, out| {
            place.encode(out)
        })
    }

    /// Uses the spool file as the trace, because there is no space for a copy. If there is enough
    /// space for that, adds its sites' lines and the notes. Returns the message about it.
    fn keep_as_recorded(&self, spool: &Path, output: &Path) -> io::Result<Option<String>> {
        let what = "The disk was too full to finish the trace. It is as the process left it, without samples and off-CPU times.";
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

/// Creates a new file that only its user may read, because a trace contains a program's arguments
/// and lines of its sources.
///
/// # Errors
/// The errors of opening, including that the file exists.
pub fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
