//! `workspan export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::trace::TraceArgs;

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The text trace: JSON Lines that every command reads back.
    Text,
    /// A SQLite database, as `workspan sql --schema` describes it; an existing one gets the run as a further one.
    Sqlite,
}

/// Writes a trace in another format
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan export --format text run.wspan > run.jsonl
  workspan export --format text run.wspan -o run.jsonl
  workspan export --format sqlite -o runs.db run.wspan
  workspan export --format text run.wspan | grep '\"ev\":\"steal\"' | wc -l")]
pub struct ExportArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// The format
    #[arg(long, value_enum)]
    format: Format,
    /// Where to write (default: stdout)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// `workspan export`.
///
/// # Errors
/// The trace can't be read, or the output not written.
pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let dag = args.trace.open()?;
    match &args.output {
        None if args.format == Format::Sqlite => {
            bail!("a database is a file; name it with -o");
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            workspan_dag::text::write(&dag, &mut out)?;
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
                return crate::sql::export(dag, &args.trace.file, path);
            }
            let name = || format!("{}: can't be written", path.display());
            let mut out = BufWriter::new(File::create(path).with_context(name)?);
            workspan_dag::text::write(&dag, &mut out).with_context(name)?;
            out.flush().with_context(name)?;
        }
    }
    Ok(())
}
