//! `workspan lake check`: checks whether a run is within the usual range of runs in a lake.

mod measured;
mod text;

use std::path::PathBuf;

use anyhow::bail;

use crate::command::{Outcome, runtime};
use crate::engine::Engine;
use crate::history::series::{Quantity, Selection, quoted, rows};
use crate::layout::project_name;
use crate::output::print;
use crate::root::Root;
use crate::say;
use crate::sql::MEMORY;
use crate::usual::{MIN_RUNS, UsualRange, usual};
use measured::{CheckedRuns, Site, measure};

/// Checks that a run is as runs of a lake usually are
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Checks that a run is as runs of a lake usually are: elapsed time, work, span, parallelism and lost worker time.

A quantity is out of the ordinary when the last runs, if nothing changed, would give one as bad less than once in a thousand times, \
and when it is worse by --min-change or more. Runs from before the last change point do not count. The runs compared with have the \
program's name and number of workers.

Exit codes: 0 as usual, 3 something is worse, 1 it could not be checked (fewer than 5 runs, …), 2 wrong usage.",
    after_help = "\
Examples:
  workspan lake check run.wspan --baseline-lake ~/lake --last 20 --same branch=main
  workspan lake check run1.wspan run2.wspan run3.wspan --baseline-lake s3://perf/lake --format github"
)]
pub struct CheckArgs {
    /// The run's traces; several count with their mean
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The lake
    #[arg(long, value_name = "ROOT")]
    baseline_lake: String,
    /// How many runs say what is usual: the latest
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,
    /// Which runs (default: of the project of the program's name)
    #[command(flatten)]
    selection: Selection,
    /// The smallest change that counts, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    min_change: f64,
    /// Format of the result
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormat,
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum CheckFormat {
    /// A line for each quantity, for people
    #[default]
    Text,
    /// One object with stable keys
    Json,
    /// Annotations of GitHub Actions
    Github,
}

/// The quantities that are checked, and whether a larger value is worse.
const QUANTITIES: [(Quantity, bool); 5] = [
    (Quantity::Elapsed, true),
    (Quantity::Work, true),
    (Quantity::Span, true),
    (Quantity::Parallelism, false),
    (Quantity::Lost, true),
];
/// Maximum number of sites given for a quantity that is worse.
const MAX_SITES: usize = 3;

/// A quantity, compared with its usual range.
pub(crate) struct QuantityCheck {
    pub quantity: Quantity,
    pub measured: f64,
    pub usual: UsualRange,
    /// The worst value that is still within the usual range.
    pub limit: f64,
    pub is_worse: bool,
    /// The sites to look at if the quantity is worse; those that grew most come first.
    pub sites: Vec<GrownSite>,
}

/// A site whose tasks take more time than usual.
pub(crate) struct GrownSite {
    pub site: Site,
    /// Whether the site's work grew; otherwise its critical work grew.
    pub is_of_work: bool,
    /// The measured work or critical work, in ns.
    pub measured: f64,
    pub usual: UsualRange,
}

/// Runs `workspan lake check`.
///
/// # Errors
/// A trace can't be read, or the lake has too few runs to compare with.
pub fn run(args: &CheckArgs) -> anyhow::Result<Outcome> {
    let root = Root::open(&args.baseline_lake)?;
    let measured = measure(&args.files)?;
    let checked = runtime()?.block_on(check(args, root, &measured))?;
    print(&match args.format {
        CheckFormat::Text => text::lines(&checked),
        CheckFormat::Json => text::json(&checked),
        CheckFormat::Github => text::annotations(&checked),
    })?;
    Ok(if checked.iter().any(|c| c.is_worse) {
        Outcome::Broken
    } else {
        Outcome::Done
    })
}

async fn check(
    args: &CheckArgs,
    root: Root,
    measured: &CheckedRuns,
) -> anyhow::Result<Vec<QuantityCheck>> {
    let mut engine = Engine::open(root, MEMORY).await?;
    let mut selection = args.selection.clone();
    if selection.project.is_none() {
        selection.project = measured.name.as_deref().map(project_name);
    }
    let mut condition = selection.condition();
    condition.push_str(&format!(" AND r.workers = {}", measured.workers));
    for run in &measured.runs {
        condition.push_str(&format!(" AND r.run <> {}", quoted(run)));
    }
    let values = QUANTITIES.map(|(quantity, _)| quantity.of_run()).join(", ");
    let sql = format!(
        "SELECT r.run, {values} FROM runs r WHERE {condition} ORDER BY coalesce(r.recorded_at, 0) DESC, r.run LIMIT {}",
        args.last
    );
    let mut earlier = rows(&mut engine, &sql).await?;
    for damage in engine.left_out() {
        say!("{}: {}; its run does not count", damage.file, damage.why);
    }
    if earlier.len() < MIN_RUNS {
        bail!(
            "{} has {} runs of project {} with {} workers that match; {MIN_RUNS} say what is usual (--project and --same choose them)",
            args.baseline_lake,
            earlier.len(),
            selection.project.as_deref().unwrap_or("(any)"),
            measured.workers
        );
    }
    earlier.reverse();
    let least = args.min_change / 100.0;
    let mut all = Vec::new();
    for (at, (quantity, more_is_worse)) in QUANTITIES.into_iter().enumerate() {
        let known = earlier
            .iter()
            .filter_map(|row| Some((row[0].plain(), row[at + 1].number()?)));
        let (runs, values): (Vec<String>, Vec<f64>) = known.unzip();
        let Some(usual) = usual(&values, measured.runs.len(), least) else {
            continue;
        };
        let now = measured.value(quantity);
        let limit = limit(quantity, more_is_worse, &usual);
        let is_worse = if more_is_worse {
            now > limit
        } else {
            now < limit
        };
        let sites = if is_worse {
            look_at(
                &mut engine,
                quantity,
                &runs[usual.set_aside..],
                measured,
                least,
            )
            .await?
        } else {
            Vec::new()
        };
        all.push(QuantityCheck {
            quantity,
            measured: now,
            usual,
            limit,
            is_worse,
            sites,
        });
    }
    Ok(all)
}

/// The worst usual value. The range of few or scattered runs may go beyond what a run can have;
/// the limit does not.
fn limit(quantity: Quantity, more_is_worse: bool, usual: &UsualRange) -> f64 {
    let (least, greatest) = quantity.bounds();
    if more_is_worse {
        (usual.mean + usual.half).min(greatest)
    } else {
        (usual.mean - usual.half).max(least)
    }
}

/// The sites to look at. Elapsed time grows with the critical path or with the work per worker, so
/// these are the sites of whichever grew more.
async fn look_at(
    engine: &mut Engine,
    quantity: Quantity,
    runs: &[String],
    measured: &CheckedRuns,
    least: f64,
) -> anyhow::Result<Vec<GrownSite>> {
    let is_of_work = match quantity {
        Quantity::Work => true,
        Quantity::Elapsed => {
            let work = grown(engine, true, runs, measured, least).await?;
            let path = grown(engine, false, runs, measured, least).await?;
            let growth = |sites: &[GrownSite]| -> f64 {
                sites
                    .iter()
                    .map(|site| site.measured - site.usual.mean)
                    .sum()
            };
            growth(&work) / measured.workers.max(1) as f64 > growth(&path)
        }
        _ => false,
    };
    grown(engine, is_of_work, runs, measured, least).await
}

/// The sites with more work or more critical work than usual; those that grew most come first.
async fn grown(
    engine: &mut Engine,
    is_of_work: bool,
    runs: &[String],
    measured: &CheckedRuns,
    least: f64,
) -> anyhow::Result<Vec<GrownSite>> {
    let column = if is_of_work {
        "own_work"
    } else {
        "critical_work"
    };
    let names: Vec<String> = runs.iter().map(|run| quoted(run)).collect();
    let sql = format!(
        "SELECT label, run, cast(sum({column}) AS DOUBLE) AS value FROM sites WHERE tasks > 0 AND run IN ({}) GROUP BY label, run ORDER BY label, run",
        names.join(", ")
    );
    let values = rows(engine, &sql).await?;
    let mut found = Vec::new();
    for site in &measured.sites {
        let now = if is_of_work { site.work } else { site.critical };
        let of_site = values.iter().filter(|row| row[0].plain() == site.label);
        let earlier: Vec<f64> = of_site.filter_map(|row| row[2].number()).collect();
        let usual = match usual(&earlier, measured.runs.len(), least) {
            Some(usual) if now > usual.mean + usual.half => usual,
            Some(_) => continue,
            // The lake has no runs with this site.
            None => UsualRange {
                runs: earlier.len(),
                set_aside: 0,
                mean: 0.0,
                deviation: 0.0,
                half: 0.0,
            },
        };
        found.push(GrownSite {
            site: site.clone(),
            is_of_work,
            measured: now,
            usual,
        });
    }
    found.retain(|site| site.measured > site.usual.mean);
    found.sort_by(|a, b| (b.measured - b.usual.mean).total_cmp(&(a.measured - a.usual.mean)));
    found.truncate(MAX_SITES);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_beyond_what_a_run_can_have() {
        let scattered = usual(&[1.0, 90.0, 1.0, 90.0, 90.0], 1, 0.0);
        let scattered = scattered.unwrap_or_else(|| panic!("five runs"));
        assert!(scattered.mean + scattered.half > 100.0);
        assert_eq!(limit(Quantity::Lost, true, &scattered), 100.0);
        assert_eq!(limit(Quantity::Parallelism, false, &scattered), 0.0);
        assert!(limit(Quantity::Work, true, &scattered) > 100.0);
    }
}
