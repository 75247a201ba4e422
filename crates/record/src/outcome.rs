//! After the run: finalises and names the processes' traces, and prints the report of the main one,
//! or the reason why there is none.

mod messages;
pub(crate) mod missed_runtime;
mod processes;
mod rename;
mod trace_size;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_symbols::Workspace;
use workspan_trace::entry::Note;
use workspan_trace::note_keys::WARNING;

use crate::kernel::off_cpu::OffCpu;
use crate::lake::Lake;
use crate::launch::runner::UNRECORDED;
use crate::launch::signals::WritePhase;
use crate::options::keep_windows::Windows;
use crate::options::max_overhead::MaxOverhead;
use crate::progress::Progress;
use crate::trace_file::finalize::{FinalTrace, Settings, finalize};
use crate::trace_file::run_folder;

use crate::say;

pub use messages::shown;
use messages::{relative, where_it_is, without_line_tables};
use processes::Unrecorded;
use rename::moved;
use trace_size::{TraceSize, trace_size};

/// Prints the report of the trace at a path.
pub type PrintReport = fn(&Path) -> anyhow::Result<()>;

/// Prints a table of the traces at these paths, each of one test or benchmark.
pub type PrintTable = fn(&[PathBuf]) -> anyhow::Result<()>;

/// A run that has ended.
pub struct Outcome<'a> {
    /// The folder in which the processes leave their spool files.
    pub spool: &'a Path,
    /// The handling of signals meanwhile.
    pub writing: &'a WritePhase,
    /// The folder for traces.
    pub folder: &'a Path,
    /// The file for the main trace, if the user named one.
    pub output: Option<&'a Path>,
    /// The workspace whose code is the user's.
    pub workspace: Workspace,
    /// Notes for every trace.
    pub facts: Vec<Note>,
    /// The folder in which the tool is unpacked.
    pub tool: &'a Path,
    /// Prints the report of the main trace; `None` for no report.
    pub report: Option<PrintReport>,
    /// Prints the table of all tests or benchmarks, if each was recorded in a process of its own;
    /// `None` otherwise, and if there is no report.
    pub each: Option<PrintTable>,
    /// Whether processes that the program started were recorded too.
    pub follow: bool,
    /// Whether all processes become one trace.
    pub as_one: bool,
    /// Which parts of the run are kept.
    pub windows: &'a Windows,
    /// The same as [`Settings::tail_grain`].
    pub tail_grain: Option<u64>,
    /// The requested limit.
    pub max_overhead: Option<MaxOverhead>,
    /// The lake that the runs are added to.
    pub lake: Option<&'a Lake>,
}

/// A finalised trace that has no name of its own yet.
struct UnnamedTrace {
    half: PathBuf,
    trace: FinalTrace,
    size: TraceSize,
}

impl Outcome<'_> {
    /// Finalises, names and reports the traces, and reports errors. The exit code is the program's,
    /// whatever happens to its trace. `nothing` explains why no process, or no process with a task,
    /// was recorded, given the recorded ones; it returns `None` if no explanation is needed.
    pub fn conclude(&self, nothing: impl Fn(&[&FinalTrace]) -> Option<String>) {
        let concluded = catch_unwind(AssertUnwindSafe(|| self.try_conclude(nothing)));
        match concluded {
            Ok(Ok(())) => {}
            Ok(Err(error)) => say!("workspan: {error:#}"),
            // The panic message has the location.
            Err(_) => say!(
                "workspan: this is a bug in workspan, not in the program; the recording is in {}",
                if self.spool.exists() {
                    self.spool
                } else {
                    self.folder
                }
                .display()
            ),
        }
    }

    /// # Errors
    /// A trace could not be written. The recording stays in the spool directory, and the message
    /// says so.
    fn try_conclude(
        &self,
        nothing: impl Fn(&[&FinalTrace]) -> Option<String>,
    ) -> anyhow::Result<()> {
        let progress = Progress::new("workspan: writing the trace …");
        let (mut recorded, unrecorded) = self.finalize_all()?;
        let mut of_one_run = Vec::new();
        let mut alone = None;
        if self.as_one && !self.windows.keep_parts() {
            recorded = self.bundle(recorded, &mut of_one_run)?;
            alone = processes::launcher_alone(&recorded);
        }
        if recorded.len() > 1 {
            for one in &mut recorded {
                one.size = trace_size(&one.half);
            }
        }
        drop(progress);
        // Among equals, the one that started first.
        recorded.sort_by_key(|one| one.trace.started);
        let main = (0..recorded.len())
            .rev()
            .max_by_key(|&at| recorded[at].size);
        let Some(main) = main else {
            self.remove_spool();
            if let Some(why) = nothing(&[]) {
                say!("workspan: {why}");
            }
            return Ok(());
        };
        let (recorded, main, serial) = if self.follow || self.each.is_some() {
            processes::without_serial(recorded, main)
        } else {
            (recorded, main, 0)
        };
        let traces: Vec<FinalTrace> = recorded.iter().map(|one| one.trace.clone()).collect();
        let tasks: Vec<u64> = recorded.iter().map(|one| one.size.tasks).collect();
        let named = self.name_all(recorded, main);
        self.remove_spool();
        let paths = named?;
        let place = where_it_is(&paths, &traces, &tasks, main);
        self.writing.written(Some(place.clone()));
        let parallel = traces.iter().any(|trace| trace.tasks > 0);
        // Ranks that are serial programs still run in parallel with each other.
        let parallel = parallel || !of_one_run.is_empty();
        let mut why = nothing(&traces.iter().collect::<Vec<_>>()).filter(|_| !parallel);
        // There is a report about its threads.
        if traces[main].threads
            && let Some(why) = why.take()
        {
            say!("workspan: {why}");
        }
        match why {
            Some(why) => say!("workspan: {why}"),
            // A user who sent a signal does not wait for it.
            None if self.writing.is_ending() => {}
            None if self.report.is_some() => match self.each.filter(|_| paths.len() > 1) {
                Some(table) => print_table(table, &paths),
                None => self.print_report(&relative(&paths[main])),
            },
            // The report's title names them.
            None if !traces[main].runtimes.is_empty() => {
                say!("workspan: recorded {}", traces[main].runtimes.join(" + "));
            }
            None => {}
        }
        match self.each.filter(|_| paths.len() > 1) {
            Some(_) => say!(
                "workspan: {} traces are in {}",
                paths.len(),
                shown(self.folder)
            ),
            None => say!("{place}"),
        }
        self.writing.written(None);
        if let Some(lake) = self.lake {
            lake.add(&paths);
        }
        let runtimes = &traces[main].runtimes;
        if let Some(text) = self.max_overhead.and_then(|most| most.unheeded(runtimes)) {
            say!("workspan: {text}");
        }
        if serial > 0 {
            say!("workspan: {}", processes::left_out(serial));
        }
        if !of_one_run.is_empty() {
            say!("workspan: {}", processes::describe(&of_one_run));
        }
        if let Some(text) = alone {
            say!("workspan: {text}");
        }
        if self.follow {
            let all = match of_one_run.is_empty() {
                true => &traces,
                false => &of_one_run,
            };
            for text in processes::bare_children(all) {
                say!("workspan: {text}");
            }
            if let Some(text) = unrecorded.describe() {
                say!("workspan: {text}");
            }
        }
        Ok(())
    }

    /// Writes the processes of the run as one trace. `of_run` are the facts about each.
    fn bundle(
        &self,
        recorded: Vec<UnnamedTrace>,
        of_run: &mut Vec<FinalTrace>,
    ) -> anyhow::Result<Vec<UnnamedTrace>> {
        let (run, others) = processes::of_run(recorded);
        for one in others {
            // A file that cannot be removed is only an additional trace.
            let _ = std::fs::remove_file(&one.half);
        }
        if run.len() < 2 {
            return Ok(run);
        }
        let bundle = self.spool.join("run");
        let trace = processes::bundle(&run, &bundle)?;
        of_run.extend(run.into_iter().map(|one| one.trace));
        Ok(vec![UnnamedTrace {
            half: bundle,
            trace,
            size: TraceSize::default(),
        }])
    }

    /// Discards the recording since the last part that was kept.
    pub fn discard(&self, parts: usize) {
        let files = std::fs::read_dir(self.spool)
            .into_iter()
            .flatten()
            .flatten();
        for file in files {
            // A file that cannot be removed stays in the folder of spool files, which then stays
            // too.
            let _ = std::fs::remove_file(file.path());
        }
        self.remove_spool();
        match parts {
            0 => say!("workspan: the run ended without a trigger, so no part of it was kept"),
            1 => say!("workspan: the run ended; one part of it is kept"),
            n => say!("workspan: the run ended; {n} parts of it are kept"),
        }
    }

    fn print_report(&self, trace: &Path) {
        let Some(print) = self.report else {
            return;
        };
        let _progress = Progress::new("workspan: reading the trace …");
        if let Err(error) = print(trace) {
            say!("workspan: no report: {error:#}");
        }
    }

    /// The traces of all recorded processes, and what the others did.
    fn finalize_all(&self) -> anyhow::Result<(Vec<UnnamedTrace>, Unrecorded)> {
        let mut spools: Vec<PathBuf> = std::fs::read_dir(self.spool)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        spools.retain(|spool| {
            let extension = spool.extension();
            extension.is_some_and(|extension| extension == "spool")
        });
        spools.sort();
        let mut off_cpu = OffCpu::take(self.spool);
        let mut recorded = Vec::new();
        let mut failed = None;
        for (number, spool) in spools.iter().enumerate() {
            // In the spool directory, which belongs to this run only and is the only thing left
            // behind if this process is killed.
            let half = self.spool.join(format!("trace-{number}"));
            let settings = Settings {
                workspace: &self.workspace,
                facts: &self.facts,
                follow: self.follow,
                tool: self.tool,
                windows: self.windows,
                tail_grain: self.tail_grain,
                is_running: false,
            };
            match finalize(spool, &half, &mut off_cpu, &settings) {
                Ok(traces) => {
                    // The report shows them too.
                    let known = self.facts.iter().filter(|note| note.key == WARNING);
                    let known = known
                        .map(|note| &note.value)
                        .filter(|_| recorded.is_empty());
                    let last_warnings = traces.last().map(|(_, trace)| &trace.warnings);
                    let last_warnings = last_warnings.into_iter().flatten();
                    if self.report.is_none() {
                        for warning in without_line_tables(last_warnings.chain(known)) {
                            say!("workspan: {warning}");
                        }
                    }
                    match std::fs::remove_file(spool) {
                        // There was no space for a copy, so the spool file is the trace now.
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            return Err(error).with_context(|| spool.display().to_string());
                        }
                        _ => {}
                    }
                    recorded.extend(traces.into_iter().map(|(half, trace)| UnnamedTrace {
                        half,
                        trace,
                        size: TraceSize::default(),
                    }));
                }
                Err(error) => {
                    // Half a file is useless; the spool file is complete.
                    let _ = std::fs::remove_file(&half);
                    failed = failed.or(Some(error));
                }
            }
        }
        match failed {
            Some(error) if recorded.is_empty() => return Err(error),
            Some(error) => say!("workspan: {error:#}"),
            None => {}
        }
        let unrecorded = Unrecorded::among(off_cpu.cpu_ns_by_process(), &recorded);
        Ok((recorded, unrecorded))
    }

    /// Removes the spool directory, unless a recording or an unnamed trace is in it.
    fn remove_spool(&self) {
        for file in [
            UNRECORDED,
            workspan_recorder::SIGNALS,
            workspan_recorder::CALLS,
        ] {
            let _ = std::fs::remove_file(self.spool.join(file));
        }
        let _ = std::fs::remove_dir(self.spool);
    }

    fn name_all(&self, recorded: Vec<UnnamedTrace>, main: usize) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = Vec::with_capacity(recorded.len());
        for (at, one) in recorded.into_iter().enumerate() {
            let named = match self.output {
                Some(output) if at == main => moved(&one.half, output).map(|()| output.to_owned()),
                _ => run_folder::put(&one.half, self.folder, &one.trace.name),
            };
            paths.push(named.with_context(|| {
                format!(
                    "{}: the trace could not be given its name",
                    one.half.display()
                )
            })?);
        }
        Ok(paths)
    }
}

fn print_table(table: PrintTable, traces: &[PathBuf]) {
    let _progress = Progress::new("workspan: reading the traces …");
    if let Err(error) = table(traces) {
        say!("workspan: no report: {error:#}");
    }
}
