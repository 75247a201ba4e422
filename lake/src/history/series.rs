//! A quantity of selected runs, in the order of their recording.

use anyhow::bail;

use crate::add::tag;
use crate::engine::Engine;
use crate::print::Value;

/// Which runs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Selection {
    /// Runs of this project alone
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Runs alone that have this tag, host, name, runtime or number of workers (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    pub same: Vec<(String, String)>,
}

/// Columns of `runs` that can be used like tags to select runs.
const COLUMNS: [&str; 5] = ["host", "name", "runtime", "workers", "cpus"];

impl Selection {
    /// The selection as an SQL condition on `runs`, whose alias is `r`.
    pub fn condition(&self) -> String {
        let mut all = vec!["1 = 1".to_owned()];
        let project = self.project.as_deref();
        all.extend(project.map(|project| format!("r.project = {}", quoted(project))));
        all.extend(self.same.iter().map(|(key, value)| {
            if COLUMNS.contains(&key.as_str()) {
                format!("cast(r.{key} AS VARCHAR) = {}", quoted(value))
            } else {
                format!(
                    "r.run IN (SELECT run FROM tags WHERE key = {} AND value = {})",
                    quoted(key),
                    quoted(value)
                )
            }
        }));
        all.join(" AND ")
    }
}

/// `text` as an SQL string literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A quantity of a run, or of a site in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Quantity {
    /// Wall-clock time (runs alone)
    Elapsed,
    /// Work; of a site that of its tasks' own strands
    #[default]
    Work,
    /// The critical path; of a site what its tasks have on it
    Span,
    /// Work / span
    Parallelism,
    /// Worker time that was lost, in percent (runs alone)
    Lost,
    /// Tasks
    Tasks,
}

impl Quantity {
    /// The quantity's name for people.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Elapsed => "Elapsed time",
            Quantity::Work => "Work",
            Quantity::Span => "Span",
            Quantity::Parallelism => "Parallelism",
            Quantity::Lost => "Lost worker time, percent",
            Quantity::Tasks => "Tasks",
        }
    }

    /// The quantity's key for programs.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Elapsed => "elapsed",
            Quantity::Work => "work",
            Quantity::Span => "span",
            Quantity::Parallelism => "parallelism",
            Quantity::Lost => "lost_percent",
            Quantity::Tasks => "tasks",
        }
    }

    /// A value with its unit.
    pub fn shown(self, value: f64) -> String {
        match self {
            Quantity::Elapsed | Quantity::Work | Quantity::Span => time(value),
            Quantity::Parallelism => format!("{value:.2}"),
            Quantity::Lost => format!("{value:.1} %"),
            Quantity::Tasks => format!("{value:.0}"),
        }
    }

    /// The least and the greatest value that a run can have.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Quantity::Lost => (0.0, 100.0),
            _ => (0.0, f64::INFINITY),
        }
    }

    /// The quantity as an SQL expression on `runs`, whose alias is `r`.
    pub fn of_run(self) -> &'static str {
        match self {
            Quantity::Elapsed => "cast(r.elapsed AS DOUBLE)",
            Quantity::Work => "cast(r.work AS DOUBLE)",
            Quantity::Span => "cast(r.span AS DOUBLE)",
            Quantity::Parallelism => "r.parallelism",
            Quantity::Lost => "100.0 * r.lost / nullif(r.workers * r.elapsed, 0)",
            Quantity::Tasks => "cast(r.tasks AS DOUBLE)",
        }
    }

    fn of_site(self) -> anyhow::Result<&'static str> {
        Ok(match self {
            Quantity::Work => "cast(sum(s.own_work) AS DOUBLE)",
            Quantity::Span => "cast(sum(s.critical_work) AS DOUBLE)",
            Quantity::Parallelism => "max(s.parallelism)",
            Quantity::Tasks => "cast(sum(s.tasks) AS DOUBLE)",
            Quantity::Elapsed | Quantity::Lost => bail!(
                "a site has no `{}`; --site goes with work, span, parallelism or tasks",
                match self {
                    Quantity::Lost => "lost",
                    _ => self.key(),
                }
            ),
        })
    }
}

/// A time in ns, formatted for people.
pub fn time(ns: f64) -> String {
    match ns.abs() {
        t if t >= 1e9 => format!("{:.3} s", ns / 1e9),
        t if t >= 1e6 => format!("{:.2} ms", ns / 1e6),
        t if t >= 1e3 => format!("{:.2} us", ns / 1e3),
        _ => format!("{ns:.0} ns"),
    }
}

/// The value of a quantity in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The run's name.
    pub run: String,
    /// Time of the recording, in seconds since 1970; 0 if unknown.
    pub recorded_at: i64,
    /// The day of the recording.
    pub day: String,
    /// The run's tag `commit`, or an empty text.
    pub commit: String,
    /// The quantity's value.
    pub value: f64,
}

/// The quantity's values in the latest `last` selected runs, the oldest first. Runs of one commit
/// are adjacent, at the time of the commit's first run.
///
/// # Errors
/// The query fails, or the quantity is not defined for sites.
pub async fn points(
    engine: &mut Engine,
    selection: &Selection,
    site: Option<&str>,
    quantity: Quantity,
    last: usize,
) -> anyhow::Result<Vec<Point>> {
    let head =
        "SELECT r.run, coalesce(r.recorded_at, 0) AS t, r.day, coalesce(r.\"commit\", '') AS hash";
    let condition = selection.condition();
    let sql = match site {
        None => format!(
            "{head}, {} AS value FROM runs r WHERE {condition} ORDER BY t DESC, r.run LIMIT {last}",
            quantity.of_run()
        ),
        Some(site) => format!(
            "{head}, {} AS value FROM runs r JOIN sites s ON s.run = r.run WHERE {condition} AND strpos(s.label, {}) > 0
GROUP BY r.run, r.recorded_at, r.day, r.\"commit\" ORDER BY t DESC, r.run LIMIT {last}",
            quantity.of_site()?,
            quoted(site)
        ),
    };
    let rows = rows(engine, &sql).await?;
    let mut points: Vec<Point> = rows
        .iter()
        .filter_map(|row| {
            Some(Point {
                run: row[0].plain(),
                recorded_at: row[1].number()? as i64,
                day: row[2].plain(),
                commit: row[3].plain(),
                value: row[4].number().filter(|v| v.is_finite())?,
            })
        })
        .collect();
    points.reverse();
    // Later runs of an old commit are moved to that commit's earlier ones.
    let mut first = std::collections::BTreeMap::new();
    for point in &points {
        first
            .entry(point.commit.clone())
            .or_insert(point.recorded_at);
    }
    points.sort_by_key(|point| {
        let is_known = !point.commit.is_empty();
        let of_commit = first.get(&point.commit).filter(|_| is_known);
        let commit = point.commit.clone();
        (
            of_commit.copied().unwrap_or(point.recorded_at),
            commit,
            point.recorded_at,
        )
    });
    Ok(points)
}

/// The rows of a query that has few of them.
///
/// # Errors
/// The query fails.
pub async fn rows(engine: &mut Engine, sql: &str) -> anyhow::Result<Vec<Vec<Value>>> {
    loop {
        let batches = engine.query(sql).await?.collect().await;
        match batches {
            Ok(batches) => {
                let rows = batches.iter().flat_map(|batch| {
                    (0..batch.num_rows()).map(|row| {
                        let columns = batch.columns().iter();
                        columns.map(|column| Value::at(column, row)).collect()
                    })
                });
                return Ok(rows.collect());
            }
            Err(error) => {
                if !engine.leave_out_damaged().await? {
                    return Err(error.into());
                }
            }
        }
    }
}
