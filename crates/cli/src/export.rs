//! `workspan export`.

use std::io::{BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::read::GzDecoder;
use workspan_analysis::Options;
use workspan_dag::Dag;
use workspan_export::profile::{self, Profile};
use workspan_export::{DotColors, DotOptions};

use crate::output_file;
use crate::trace::TraceArgs;

/// What the colours of a dot file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum ColorBy {
    /// Whether it is on the critical path
    #[default]
    Critical,
    /// The task's level: the number of creations from the root
    Level,
}

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The text trace: JSON Lines that every command reads back.
    Text,
    /// A SQLite database (see `workspan sql --schema`); a run is added to an existing one.
    Sqlite,
    /// For Perfetto (ui.perfetto.dev): threads as tracks, strands as slices, steals as flows,
    /// numbers of running and ready strands as counters.
    Perfetto,
    /// The same in the Chrome JSON format, for chrome://tracing and others.
    Chrome,
    /// The DAG for Graphviz; tasks are collapsed if there are too many.
    Dot,
    /// Parallelism and critical share of each spawn site as CSV, like TaskProf's
    /// parallelism_profile.csv.
    Taskprof,
    /// A folder of files for TaskProf2's analysis (gentprof); only for series-parallel runs without
    /// folded tasks.
    TaskprofInput,
    /// A DAG Recorder .dag file, version 1.24, for dag2any and DAGViz; only for series-parallel
    /// runs.
    DagRecorder,
    /// Threads and tasks in the text format of otf2-print -A for Score-P's OTF2 archives.
    Otf2Print,
    /// The samples with their logical stacks for pprof, compressed with gzip: `go tool pprof
    /// run.pb.gz`.
    Pprof,
    /// The same for speedscope (www.speedscope.app), JSON.
    Speedscope,
    /// The same for the Firefox Profiler (profiler.firefox.com), JSON.
    Firefox,
}

impl Format {
    /// True if `start` is the beginning of a file of this format, as written here.
    fn begins(self, start: &[u8]) -> bool {
        let beginning: &[u8] = match self {
            Format::Text => b"{\"workspan_trace\"",
            Format::Sqlite => b"SQLite format 3",
            Format::Chrome => b"{\"displayTimeUnit\":",
            Format::Dot => b"digraph workspan",
            Format::DagRecorder => b"DAG_RECORDER FORMAT VERSION",
            Format::Taskprof => b"Source file,Line number,Parallelism",
            // This format is never a single file.
            Format::TaskprofInput => return false,
            Format::Otf2Print => b"\n=== OTF2-PRINT ===",
            Format::Speedscope => b"{\"$schema\":\"https://www.speedscope.app/",
            Format::Firefox => b"{\"meta\":{\"categories\":",
            // A file that begins like this after inflation: a type of samples, two small numbers.
            Format::Pprof => {
                let mut inflated = [0u8; 5];
                let read = GzDecoder::new(start).read_exact(&mut inflated);
                return read.is_ok() && inflated[..3] == [0x0a, 0x04, 0x08] && inflated[4] == 0x10;
            }
            // A short packet (field 1) whose first field is the sequence's flags or its number:
            // text does not continue like that.
            Format::Perfetto => {
                return start.first() == Some(&0x0a)
                    && start.get(1).is_some_and(|length| *length < 0x80)
                    && start.get(2) == Some(&0x50);
            }
        };
        start.starts_with(beginning)
    }

    /// Whether the format contains only samples.
    fn needs_samples(self) -> bool {
        matches!(self, Format::Pprof | Format::Speedscope | Format::Firefox)
    }

    /// Whether the format is binary.
    fn is_binary(self) -> bool {
        matches!(self, Format::Perfetto | Format::Pprof | Format::DagRecorder)
    }
}

/// Writes a trace in another format
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan export --format text run.wspan > run.jsonl
  workspan export --format text run.wspan -o run.jsonl
  workspan export --format sqlite -o runs.db run.wspan
  workspan export --format perfetto -o run.pftrace run.wspan   # open it at ui.perfetto.dev
  workspan export --format chrome -o run.json run.wspan
  workspan export --format dot --nodes 200 run.wspan | dot -Tsvg > dag.svg
  workspan export --format dot --levels 3 --color-by level run.wspan | dot -Tsvg > levels.svg
  workspan export --format dag-recorder -o run.dag run.wspan
  workspan export --format taskprof -o parallelism_profile.csv run.wspan
  workspan export --format taskprof-input -o input run.wspan   # then: cd input && gentprof
  workspan export --format otf2-print -o run.otf2.txt run.wspan
  workspan export --format pprof -o run.pb.gz run.wspan        # then: go tool pprof -http=: run.pb.gz
  workspan export --format speedscope -o run.speedscope.json run.wspan
  workspan export --format firefox -o run.firefox.json run.wspan
  workspan export --format text --redact -o shared.jsonl run.wspan   # without names, paths, arguments, host
  workspan export --format text run.wspan | grep '\"ev\":\"steal\"' | wc -l")]
pub struct ExportArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// The format
    #[arg(long, value_enum)]
    format: Format,
    /// Output file (default: stdout)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Maximum number of nodes in a dot file; the heaviest tasks are expanded, others collapsed
    #[arg(long, value_name = "N", default_value_t = workspan_export::DOT_NODES)]
    nodes: usize,
    /// Maximum number of levels of tasks that a dot file expands; deeper ones stay collapsed
    #[arg(long, value_name = "N")]
    levels: Option<u32>,
    /// What the colours of a dot file mean: critical or level
    #[arg(long, value_enum, default_value_t)]
    color_by: ColorBy,
    /// Replace the names of the program, its files, functions, regions and the host; leave out
    /// arguments, paths, source lines and warnings (docs/export.md lists what stays)
    #[arg(long)]
    redact: bool,
}

/// `workspan export`.
///
/// # Errors
/// The trace can't be read, or the output not written.
pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let mut dag = args.trace.open_each_task()?;
    if args.format.needs_samples() {
        crate::flame::need_samples(&dag, &args.trace.file)?;
    }
    if args.redact {
        workspan_export::redact(&mut dag);
    }
    if args.format == Format::TaskprofInput {
        let Some(folder) = &args.output else {
            bail!("the format is several files; name a folder for them with -o");
        };
        return taskprof_input(&dag, folder);
    }
    match &args.output {
        None if args.format == Format::Sqlite => {
            bail!("a database is a file; name it with -o");
        }
        None if args.format.is_binary() && std::io::stdout().is_terminal() => {
            bail!("the format is binary; name a file with -o");
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(args, &dag, &mut out)?;
            out.flush()?;
        }
        Some(path) => {
            let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
            if same(path, &args.trace.file) {
                bail!(
                    "{}: would be written over itself; choose another name",
                    path.display()
                );
            }
            if args.format == Format::Sqlite {
                let trace = if args.redact {
                    Path::new("trace")
                } else {
                    &args.trace.file
                };
                return crate::sql::export(dag, trace, path);
            }
            let is_new = !path.exists();
            let file = output_file::create(path, |start| args.format.begins(start))?;
            let mut out = BufWriter::new(file);
            let written = write(args, &dag, &mut out).and_then(|()| Ok(out.flush()?));
            if written.is_err() && is_new {
                // A partial or an empty file would pass for a complete one.
                let _ = std::fs::remove_file(path);
            }
            written.with_context(|| format!("{}: can't be written", path.display()))?;
        }
    }
    Ok(())
}

/// Writes the files of TaskProf2's analysis into a folder that contains no others.
fn taskprof_input(dag: &Dag, folder: &Path) -> anyhow::Result<()> {
    let files = workspan_export::taskprof_input(dag, &Options::default())?;
    let in_folder = || format!("{}: can't be written", folder.display());
    std::fs::create_dir_all(folder).with_context(in_folder)?;
    for entry in std::fs::read_dir(folder).with_context(in_folder)? {
        let name = entry.with_context(in_folder)?.file_name();
        if !files.iter().any(|file| name == *file.name) {
            bail!(
                "{}: has other files, such as {}; name an empty folder",
                folder.display(),
                name.display()
            );
        }
    }
    for file in &files {
        std::fs::write(folder.join(&file.name), &file.text).with_context(in_folder)?;
    }
    Ok(())
}

/// Writes the run in any single-file format but a database.
fn write(args: &ExportArgs, dag: &Dag, out: &mut impl Write) -> anyhow::Result<()> {
    let options = Options::default();
    match args.format {
        Format::Text | Format::Sqlite => workspan_reader::text::write(dag, out)?,
        Format::Perfetto => workspan_export::perfetto(dag, &options)?.write(out)?,
        Format::Chrome => workspan_export::chrome(dag, &options)?.write(out)?,
        Format::Dot => {
            let drawn = DotOptions {
                nodes: args.nodes,
                levels: args.levels,
                colors: match args.color_by {
                    ColorBy::Critical => DotColors::Critical,
                    ColorBy::Level => DotColors::Level,
                },
            };
            out.write_all(workspan_export::dot(dag, &options, drawn)?.as_bytes())?
        }
        Format::DagRecorder => workspan_export::dag_recorder(dag, out)?,
        Format::TaskprofInput => bail!("the format is several files"),
        Format::Taskprof => {
            let report = workspan_analysis::report(dag, &options)?;
            out.write_all(workspan_export::taskprof_csv(dag, &report).as_bytes())?;
        }
        Format::Otf2Print => out.write_all(workspan_export::otf2_print(dag).as_bytes())?,
        Format::Pprof => profile::pprof(&Profile::new(dag, &options)?, out)?,
        Format::Speedscope => profile::speedscope(&Profile::new(dag, &options)?, out)?,
        Format::Firefox => profile::firefox(&Profile::new(dag, &options)?, out)?,
    }
    Ok(())
}
