//! `workspan timeline`: a range of the run in the terminal.

use anyhow::bail;
use workspan_analysis::binned_timeline;
use workspan_dag::Dag;
use workspan_export::{Cells, TimelineOptions, timeline_bins, timeline_text};

use crate::output::{Color, charset, print};
use crate::trace::TraceArgs;
use workspan_record::progress::Progress;
use workspan_record::units::time;

/// What a thread's row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Show {
    /// How much of the time the thread worked
    #[default]
    Load,
    /// Whose strands it ran longest: a letter for each spawn site
    Site,
}

/// Draws a range of the run in the terminal: a row a thread, running and ready above
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan timeline run.wspan
  workspan timeline run.wspan --from 20ms --to 35ms --width 160
  workspan timeline run.wspan --from 90% --by site      # the last tenth, by spawn site")]
pub struct TimelineArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Where the range begins: a time after the run's start, or a share of the run
    #[arg(long, value_name = "TIME|N%", value_parser = moment)]
    from: Option<Moment>,
    /// Where it ends
    #[arg(long, value_name = "TIME|N%", value_parser = moment)]
    to: Option<Moment>,
    /// Columns of a line (default: 80)
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(60..=1000))]
    width: u16,
    /// What a thread's row shows
    #[arg(long, value_enum, default_value_t)]
    by: Show,
    /// Nothing but ASCII
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
            Show::Load => Cells::Load,
            Show::Site => Cells::Site,
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

fn moment(text: &str) -> Result<Moment, String> {
    match text.trim().strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(v) if (0.0..=100.0).contains(&v) => Ok(Moment::Share(v / 100.0)),
            _ => Err(format!(
                "`{text}` is no share of the run; expected 0% to 100%"
            )),
        },
        None => time(text).map(Moment::Ns),
    }
}
