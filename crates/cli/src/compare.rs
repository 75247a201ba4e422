//! `workspan compare`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::Options;
use workspan_analysis::compare::{RunMeasures, Side, compare, measure};
use workspan_export::{CompareOptions, compare_json, compare_text};

use crate::output::{Color, charset, print, width};
use crate::section::SectionArgs;
use crate::trace::Reading;
use workspan_record::progress::Progress;

/// Compares runs: before and after a change, two runtimes, several core counts
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Compares runs: before and after a change, two runtimes, several core counts.

Each trace is one side of the comparison, and the first is the base. To tell changes from noise, give several \
runs per side, with `--` between the sides: a difference whose 95 % interval (Welch's t) contains 0 is marked as \
noise.

Positions are matched by file and line; after an edit, by the text of the source line.",
    after_help = "\
Examples:
  workspan compare before.wspan after.wspan
  workspan compare before1.wspan before2.wspan before3.wspan -- after1.wspan after2.wspan after3.wspan
  workspan compare --name 1,2,4 one.wspan two.wspan four.wspan
  workspan compare --only region:solve before.wspan after.wspan
  workspan compare --json a.wspan b.wspan | jq .quantities.elapsed.differences"
)]
pub struct CompareArgs {
    /// Traces, one per side; with `--`, the runs of the first side
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The runs of the next side; another `--` begins a further side
    #[arg(last = true, value_name = "FILE")]
    more: Vec<OsString>,
    /// Names of the sides, in order (default: the files' names)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    name: Vec<String>,
    /// Maximum number of spawn sites and of code blocks to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    looks: TextStyle,
}

/// How runs are measured.
#[derive(Debug, Clone, clap::Args)]
pub struct Measured {
    /// Do not subtract the recorder's own time
    #[arg(long)]
    raw: bool,
    /// Count blocked time (I/O, locks) as work
    #[arg(long)]
    count_blocked: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    section: SectionArgs,
}

impl Measured {
    /// The options of the analysis.
    pub fn options(&self) -> Options {
        Options {
            raw: self.raw,
            count_blocked: self.count_blocked,
            ..Options::default()
        }
    }

    /// The options for opening a trace.
    pub fn opening(&self) -> workspan_reader::OpenOptions {
        self.reading.measured(self.raw)
    }

    /// Reads the trace at `path` and reduces it to the values that are compared.
    ///
    /// # Errors
    /// The trace can't be read.
    pub fn run(&self, path: &Path) -> anyhow::Result<RunMeasures> {
        let measured = self.options();
        let dag = self.section.open(path, self.opening(), &measured)?;
        let report = workspan_analysis::report(&dag, &measured)
            .with_context(|| path.display().to_string())?;
        Ok(measure(&dag, &report, path.display().to_string()))
    }

    /// The runs of a side.
    ///
    /// # Errors
    /// See [`Measured::run`].
    pub fn side(&self, name: String, paths: &[PathBuf]) -> anyhow::Result<Side> {
        let runs = paths.iter().map(|path| self.run(path));
        let runs = runs.collect::<anyhow::Result<_>>()?;
        Ok(Side { name, runs })
    }
}

/// How text looks.
#[derive(Debug, Clone, clap::Args)]
pub struct TextStyle {
    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,
}

impl TextStyle {
    /// The options for stdout, with at most `rows` rows per table.
    pub fn options(&self, rows: usize) -> CompareOptions {
        let stdout = std::io::stdout();
        CompareOptions {
            width: width(&stdout),
            color: self.color.applies(&stdout),
            charset: charset(self.ascii, &stdout),
            rows,
        }
    }
}

/// `workspan compare`.
///
/// # Errors
/// There is only one side, a trace can't be read, or stdout can't be written.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let sides = sides(args);
    if sides.len() < 2 {
        bail!(
            "there is only one side; give at least two traces, or `--` between the runs of two sides"
        );
    }
    if !args.name.is_empty() && args.name.len() != sides.len() {
        bail!(
            "--name has {} names for {} sides",
            args.name.len(),
            sides.len()
        );
    }
    let progress = Progress::new("workspan: reading the traces …");
    let names = names(&sides, &args.name);
    let sides = sides
        .iter()
        .zip(names)
        .map(|(paths, name)| args.measured.side(name, paths))
        .collect::<anyhow::Result<Vec<Side>>>()?;
    let comparison = compare(&sides);
    drop(progress);
    if args.json {
        return print(&compare_json(&comparison));
    }
    print(&compare_text(&comparison, &args.looks.options(args.rows)))
}

fn sides(args: &CompareArgs) -> Vec<Vec<PathBuf>> {
    if args.more.is_empty() {
        return args.files.iter().map(|file| vec![file.clone()]).collect();
    }
    let more = args.more.split(|file| file == "--");
    let more = more.map(|side| side.iter().map(PathBuf::from).collect());
    let all = std::iter::once(args.files.clone()).chain(more);
    all.filter(|side: &Vec<PathBuf>| !side.is_empty()).collect()
}

/// The given names. For other sides, the first file's name without its ending, with as much of its
/// path as distinguishes it from the others.
pub(crate) fn names(sides: &[Vec<PathBuf>], given: &[String]) -> Vec<String> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let first: Vec<PathBuf> = sides
        .iter()
        .map(|side| {
            side.first()
                .map_or_else(PathBuf::new, |p| p.with_extension(""))
        })
        .collect();
    let end = |path: &Path, parts: usize| -> PathBuf {
        let all: Vec<_> = path.components().collect();
        all[all.len().saturating_sub(parts)..].iter().collect()
    };
    let parts = (1..=32).find(|&n| {
        let mut ends: Vec<PathBuf> = first.iter().map(|p| end(p, n)).collect();
        ends.sort();
        ends.dedup();
        ends.len() == first.len()
    });
    first
        .iter()
        .map(|p| end(p, parts.unwrap_or(1)).display().to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_named_by_what_tells_them_apart() {
        let of = |paths: &[&str]| {
            let sides: Vec<Vec<PathBuf>> = paths.iter().map(|p| vec![PathBuf::from(p)]).collect();
            names(&sides, &[])
        };
        assert_eq!(of(&["runs/a.wspan", "runs/b.wspan"]), ["a", "b"]);
        assert_eq!(
            of(&["x/1/sort.wspan", "x/2/sort.wspan"]),
            ["1/sort", "2/sort"]
        );
        assert_eq!(of(&["a.wspan", "a.wspan"]), ["a", "a"]);
    }
}
