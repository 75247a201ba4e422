//! `workspan plot`: figures for papers and pages.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::{Options, Report};
use workspan_dag::Dag;
use workspan_export::plot::{self, Figure, Page, PlotRun};
use workspan_reader::packed::is_run;

use crate::compare::names;
use crate::output::print;
use crate::trace::{Reading, open};
use workspan_record::progress::Progress;

/// Which figure to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Where the worker time went; one bar per trace
    Breakdown,
    /// Running and ready strands over time; one trace
    Profile,
    /// Speedup bounds from the first trace, and the speedups of all traces
    Speedup,
    /// Spawn sites by their share of the critical path and of the work; one trace
    Sites,
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Vector graphics
    Svg,
    /// A bitmap
    Png,
    /// The numbers
    Csv,
    /// A script with the numbers inside
    Gnuplot,
}

/// Draws a figure for a paper, or writes its numbers
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan plot --kind breakdown one.wspan two.wspan four.wspan -o breakdown.svg
  workspan plot --kind breakdown --percent one.wspan two.wspan --size column -o breakdown.svg
  workspan plot --kind profile run.wspan -o profile.png
  workspan plot --kind speedup one.wspan two.wspan four.wspan -o speedup.svg
  workspan plot --kind sites run.wspan --format csv")]
pub struct PlotArgs {
    /// Traces
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Which figure to draw
    #[arg(long, value_enum)]
    kind: Kind,
    /// Output file (default: stdout); its extension chooses the format
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Format (default: by OUT's extension, otherwise svg)
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Names of the traces, in order (default: the files' names)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    name: Vec<String>,
    /// Width and height in points; `column` of a paper (252x180, text of 7 points) or `slide`
    /// (960x540, text of 18)
    #[arg(long, value_name = "WxH|column|slide", default_value = "640x400", value_parser = page)]
    size: Page,
    /// With --kind breakdown: draw shares of each run's own time instead of times
    #[arg(long)]
    percent: bool,
    /// Maximum number of spawn sites to draw
    #[arg(long, value_name = "N", default_value_t = 12)]
    rows: usize,
    #[command(flatten)]
    reading: Reading,
}

/// `workspan plot`.
///
/// # Errors
/// A trace can't be read, the kind takes one trace only, or the output can't be written.
pub fn run(args: &PlotArgs) -> anyhow::Result<()> {
    let format = format(args)?;
    if matches!(args.kind, Kind::Profile | Kind::Sites) && args.files.len() > 1 {
        bail!(
            "this kind of figure is of one trace; {} were given",
            args.files.len()
        );
    }
    if !args.name.is_empty() && args.name.len() != args.files.len() {
        bail!(
            "--name has {} names for {} traces",
            args.name.len(),
            args.files.len()
        );
    }
    let progress = Progress::new("workspan: reading the traces …");
    let opening = args.reading.measured(false);
    let read = |path: &PathBuf| -> anyhow::Result<(Dag, Report)> {
        let dag = open(path, &opening)?;
        let report = workspan_analysis::report(&dag, &Options::default())
            .with_context(|| path.display().to_string())?;
        Ok((dag, report))
    };
    let read: Vec<(Dag, Report)> = args.files.iter().map(read).collect::<anyhow::Result<_>>()?;
    let sides: Vec<Vec<PathBuf>> = args.files.iter().map(|f| vec![f.clone()]).collect();
    let runs: Vec<PlotRun> = read
        .iter()
        .zip(names(&sides, &args.name))
        .map(|((dag, report), name)| PlotRun { name, dag, report })
        .collect();
    let figure = match args.kind {
        Kind::Breakdown => plot::breakdown(&runs, args.percent),
        Kind::Profile => plot::profile(&runs[0]),
        Kind::Speedup => plot::speedup(&runs),
        Kind::Sites => plot::sites(&runs[0], args.rows.max(1)),
    };
    drop(progress);
    write(args.output.as_deref(), &args.size, &figure, format)
}

/// Pixels of a bitmap per point: sharp on paper and on current screens.
pub const PIXELS_PER_POINT: f64 = 2.0;

/// Writes a figure to a file, or to stdout.
///
/// # Errors
/// The picture can't be made or is binary and meant for stdout, or the file is a trace or can't be
/// written.
pub fn write(
    output: Option<&Path>,
    page: &Page,
    figure: &Figure,
    format: Format,
) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => plot::svg(figure, page).into_bytes(),
        Format::Csv => plot::csv(figure).into_bytes(),
        Format::Gnuplot => plot::gnuplot(figure).into_bytes(),
        Format::Png => plot::png(figure, page, PIXELS_PER_POINT)
            .context("the picture could not be made; try another --size")?,
    };
    match (output, String::from_utf8(bytes)) {
        (None, Ok(text)) => print(&text),
        (None, Err(_)) => bail!("a bitmap cannot be printed to stdout; name a file with -o"),
        (Some(path), text) => {
            let bytes = match text {
                Ok(text) => text.into_bytes(),
                Err(bytes) => bytes.into_bytes(),
            };
            put(path, bytes)
        }
    }
}

/// Writes a file, but never replaces a trace.
///
/// # Errors
/// The file is a trace, or can't be written.
pub fn put(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    refuse_trace(path)?;
    std::fs::write(path, bytes).with_context(|| format!("{}: can't be written", path.display()))
}

/// Protects traces from a mixed-up argument.
fn refuse_trace(path: &Path) -> anyhow::Result<()> {
    // Enough bytes to recognise a packed trace.
    let mut start = [0; 4096];
    let read = std::fs::File::open(path).and_then(|mut f| std::io::Read::read(&mut f, &mut start));
    if read.is_ok_and(|n| is_run(&start[..n])) {
        bail!("{}: is a trace; choose another name", path.display());
    }
    Ok(())
}

fn format(args: &PlotArgs) -> anyhow::Result<Format> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    args.output.as_deref().map_or(Ok(Format::Svg), format_of)
}

/// The format for a file's ending.
///
/// # Errors
/// No format has that ending.
pub fn format_of(path: &Path) -> anyhow::Result<Format> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        Some("csv") => Ok(Format::Csv),
        Some("gnuplot" | "gp" | "plt") => Ok(Format::Gnuplot),
        _ => bail!(
            "{}: the ending says no format; use .svg, .png, .csv or .gnuplot, or --format",
            path.display()
        ),
    }
}

/// Parses a figure's size: `column`, `slide`, or width and height in points.
///
/// # Errors
/// Another text, or a size below 100 or above 5000 points.
pub fn page(text: &str) -> Result<Page, String> {
    match text {
        "column" => return Ok(Page::COLUMN),
        "slide" => return Ok(Page::SLIDE),
        _ => {}
    }
    let parsed = text.split_once('x').and_then(|(w, h)| {
        let side = |v: &str| {
            v.trim()
                .parse::<f64>()
                .ok()
                .filter(|v| (100.0..=5000.0).contains(v))
        };
        Some(Page::with_size(side(w)?, side(h)?))
    });
    parsed.ok_or_else(|| {
        format!("`{text}` is not a size; expected column, slide or 100x100 to 5000x5000")
    })
}
