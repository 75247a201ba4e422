//! `workspan lake history`: a quantity of runs over time, and where it changed.

pub mod change_points;
mod plot;
pub mod series;

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::json;

use crate::command::{Outcome, runtime};
use crate::engine::Engine;
use crate::output::print;
use crate::root::Root;
use crate::say;
use crate::sql::MEMORY;
use change_points::{Change, change_points};
use series::{Point, Quantity, Selection, points};

/// Shows a quantity of a lake's runs over time, and the commits at which it changed
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Shows a quantity of a lake's runs over time, and the commits at which it changed.

Runs stand in the order they were recorded, together by commit (the tag `commit`). A change is a commit from which on the values \
differ by more than they vary: binary segmentation by the sum of squares, each change with fewer than 1 in 100 shuffles of the runs \
that separate as well.",
    after_help = "\
Examples:
  workspan lake history ~/lake --project sort --quantity span
  workspan lake history ~/lake --site sort.rs:42 --quantity work --plot work.svg
  workspan lake history ~/lake --same branch=main --same workers=8 --format json"
)]
pub struct HistoryArgs {
    /// The lake
    #[arg(value_name = "ROOT")]
    root: String,
    /// Which runs
    #[command(flatten)]
    selection: Selection,
    /// Of the tasks of this spawn site: its label or a part of it
    #[arg(long, value_name = "SITE")]
    site: Option<String>,
    /// What is shown
    #[arg(long, value_enum, default_value_t)]
    quantity: Quantity,
    /// The smallest change that counts, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    min_change: f64,
    /// Most runs: the latest
    #[arg(long, value_name = "N", default_value_t = 1000)]
    last: usize,
    /// Draw it into this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: HistoryFormat,
}

/// How a history is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum HistoryFormat {
    /// A line for each commit, for people
    #[default]
    Text,
    /// One object with stable keys
    Json,
}

/// Adjacent runs of one commit.
pub(crate) struct Commit<'a> {
    pub points: &'a [Point],
    /// Index of the commit's first run.
    pub from: usize,
    /// The change at the commit's first run.
    pub change: Option<&'a Change>,
}

/// Runs `workspan lake history`.
///
/// # Errors
/// The lake does not exist, or no run is selected.
pub fn run(args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let root = Root::open(&args.root)?;
    let (points, outcome) = runtime()?.block_on(async {
        let mut engine = Engine::open(root, MEMORY).await?;
        let points = points(
            &mut engine,
            &args.selection,
            args.site.as_deref(),
            args.quantity,
            args.last,
        )
        .await?;
        let mut outcome = Outcome::Done;
        for damage in engine.left_out() {
            outcome = Outcome::Failed;
            say!("{}: {}; its run is left out", damage.file, damage.why);
        }
        anyhow::Ok((points, outcome))
    })?;
    if points.is_empty() {
        bail!(
            "no run of {} has it; `workspan lake sql {} --query runs` lists the runs, `--query slowest-sites` sites",
            args.root,
            args.root
        );
    }
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let borders: Vec<bool> = (0..points.len())
        .map(|i| i > 0 && (points[i].commit.is_empty() || points[i].commit != points[i - 1].commit))
        .collect();
    let changes = change_points(&values, &borders, args.min_change / 100.0);
    let commits = commits(&points, &changes);
    if let Some(file) = &args.plot {
        let title = match &args.site {
            Some(site) => format!("{} of {site}", args.quantity.title()),
            None => args.quantity.title().to_owned(),
        };
        let svg = plot::svg(&title, args.quantity, &commits, points.len(), &changes);
        std::fs::write(file, svg).with_context(|| file.display().to_string())?;
        say!("wrote {}", file.display());
    }
    match args.format {
        HistoryFormat::Text => print(&text(args, &commits, &points, &changes))?,
        HistoryFormat::Json => print(&format!("{:#}\n", as_json(args, &points, &changes)))?,
    }
    Ok(outcome)
}

fn commits<'a>(points: &'a [Point], changes: &'a [Change]) -> Vec<Commit<'a>> {
    let mut from = 0;
    let parts = points.chunk_by(|a, b| a.commit == b.commit);
    parts
        .map(|points| {
            let here = from..from + points.len();
            from = here.end;
            Commit {
                points,
                from: here.start,
                change: changes.iter().find(|change| here.contains(&change.at)),
            }
        })
        .collect()
}

fn text(
    args: &HistoryArgs,
    commits: &[Commit<'_>],
    points: &[Point],
    changes: &[Change],
) -> String {
    let of = |value: f64| args.quantity.shown(value);
    let mut text = format!(
        "{:<12}  {:<10}  {:>4}  {:>12}  {:>12}\n",
        "commit", "day", "runs", "mean", "deviation"
    );
    for commit in commits {
        let values = Values::from_runs(commit.points.iter().map(|point| point.value));
        let name: String = commit.points[0].commit.chars().take(12).collect();
        let deviation = values.deviation.map(of).unwrap_or_default();
        let changed = commit.change.map(|change| {
            format!(
                "  {:+.1} % from here on: {} before, {} after",
                100.0 * (change.after / change.before - 1.0),
                of(change.before),
                of(change.after)
            )
        });
        text.push_str(&format!(
            "{:<12}  {:<10}  {:>4}  {:>12}  {:>12}{}\n",
            if name.is_empty() { "(none)" } else { &name },
            commit.points[0].day,
            values.runs,
            of(values.mean),
            deviation,
            changed.unwrap_or_default()
        ));
    }
    text.push_str(&match changes {
        [] => format!("No significant change in {} runs.\n", points.len()),
        [_] => format!("One change in {} runs.\n", points.len()),
        many => format!("{} changes in {} runs.\n", many.len(), points.len()),
    });
    text
}

fn as_json(args: &HistoryArgs, points: &[Point], changes: &[Change]) -> serde_json::Value {
    let runs = points.iter().map(|point| {
        json!({"run": point.run, "recorded_at": point.recorded_at, "day": point.day, "commit": point.commit, "value": point.value})
    });
    let changes = changes.iter().map(|change| {
        let point = &points[change.at];
        json!({"run": point.run, "commit": point.commit, "before": change.before, "after": change.after, "p": change.p})
    });
    json!({
        "quantity": args.quantity.key(),
        "site": args.site,
        "runs": runs.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

/// Statistics of several runs' values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    /// Number of runs.
    pub runs: usize,
    /// Mean of the values; 0 if there are none.
    pub mean: f64,
    /// Standard deviation of the sample; `None` if there are fewer than two runs.
    pub deviation: Option<f64>,
}

impl Values {
    /// Computes the statistics of `values`.
    pub fn from_runs(values: impl Iterator<Item = f64>) -> Values {
        let values: Vec<f64> = values.collect();
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs.max(1) as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Values {
            runs,
            mean,
            deviation: (runs > 1).then(|| (squares / (runs - 1) as f64).sqrt()),
        }
    }
}
