//! `workspan timeline`: a range of the run in the terminal.

use anyhow::bail;
use workspan_analysis::binned_timeline;
use workspan_dag::Dag;
use workspan_export::{Cells, TimelineOptions, timeline_bins, timeline_text};

use crate::output::{Color, charset, print};
use crate::trace::TraceArgs;
use workspan_record::progress::Progress;
use workspan_record::units::{ParseError, percent, time};

/// What a thread's row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum RowContent {
    /// The share of the time in which the thread worked
    #[default]
    Load,
    /// The spawn site whose strands it ran longest, as a letter
    Site,
}

/// Draws a part of the run in the terminal: one row per thread, running and ready strands above
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan timeline run.wspan
  workspan timeline run.wspan --from 20ms --to 35ms --width 160
  workspan timeline run.wspan --from 90% --by site      # the last tenth, by spawn site")]
pub struct TimelineArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Start of the range: a time after the run's start, or a percentage of the run
    #[arg(long, value_name = "TIME|N%", value_parser = moment)]
    from: Option<Moment>,
    /// End of the range
    #[arg(long, value_name = "TIME|N%", value_parser = moment)]
    to: Option<Moment>,
    /// Width in columns
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(60..=1000))]
    width: u16,
    /// What a thread's row shows
    #[arg(long, value_enum, default_value_t)]
    by: RowContent,
    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,
}

/// A moment of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    /// Nanoseconds after its start.
    Ns(f64),
    /// A share of its length.
    Share(f64),
}

/// `workspan timeline`.
///
/// # Errors
/// The trace can't be read, the range is empty, or stdout can't be written.
pub fn run(args: &TimelineArgs) -> anyhow::Result<()> {
    let progress = Progress::new("workspan: reading the trace …");
    let dag = args.trace.open()?;
    let begin = dag.strands.start.iter().copied().min().unwrap_or(0);
    let end = dag.strands.end.iter().copied().max().unwrap_or(0);
    let from = args.from.map_or(begin, |m| ticks(&dag, (begin, end), m));
    let to = args.to.map_or(end, |m| ticks(&dag, (begin, end), m));
    if from >= to && begin < end {
        bail!("the range is empty: --from must be before --to, and both inside the run");
    }
    let width = usize::from(args.width);
    let timeline = binned_timeline(&dag, (from, to), timeline_bins(width));
    drop(progress);
    let stdout = std::io::stdout();
    let options = TimelineOptions {
        width,
        color: args.color.applies(&stdout),
        charset: charset(args.ascii, &stdout),
        cells: match args.by {
            RowContent::Load => Cells::Load,
            RowContent::Site => Cells::Site,
        },
    };
    print(&timeline_text(&dag, &timeline, &options))
}

fn ticks(dag: &Dag, (begin, end): (u64, u64), moment: Moment) -> u64 {
    let after = match moment {
        Moment::Share(share) => (end - begin) as f64 * share,
        Moment::Ns(ns) => ns * ticks_per_second(dag) / 1e9,
    };
    // A cast from f64 saturates.
    begin.saturating_add(after.round() as u64).min(end)
}

fn ticks_per_second(dag: &Dag) -> f64 {
    match dag.meta.ticks_per_second {
        0 => 1e9,
        rate => rate as f64,
    }
}

fn moment(text: &str) -> Result<Moment, ParseError> {
    if !text.trim().ends_with('%') {
        return time(text).map(Moment::Ns);
    }
    match percent(text)? {
        share if share <= 1.0 => Ok(Moment::Share(share)),
        _ => Err(ParseError::new(text, "a share of the run", "0% to 100%")),
    }
}
