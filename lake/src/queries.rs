//! The prepared queries: those of `workspan sql` that apply to many runs, and further ones over
//! runs.

use anyhow::bail;
use workspan_sql::queries::{QUERIES, Query};

/// Queries of `workspan sql` that refer to runs by number, or that compare two of them.
const OF_FEW_RUNS: &[&str] = &["stretch"];

/// Further queries, over many runs.
pub const OVER_RUNS: &[Query] = &[
    Query {
        name: "runs",
        about: "The runs, latest first",
        sql: "SELECT run, project, day, name, \"commit\", branch, host, workers, elapsed, work, span, parallelism,
  round(100.0 * lost / nullif(workers * elapsed, 0), 1) AS lost_percent
FROM runs ORDER BY recorded_at DESC, run",
    },
    Query {
        name: "commits",
        about: "Parallelism and loss by commit, in the order of their first runs",
        sql: "SELECT project, \"commit\", min(day) AS first_day, count(*) AS runs, avg(elapsed) AS elapsed, avg(work) AS work, avg(span) AS span,
  avg(parallelism) AS parallelism, round(100.0 * sum(lost) / nullif(sum(workers * elapsed), 0), 1) AS lost_percent
FROM runs GROUP BY project, \"commit\" ORDER BY project, min(recorded_at), \"commit\"",
    },
    Query {
        name: "worse-sites",
        about: "Which sites take more work, or more of the critical path, in the latest commit than before it?",
        sql: "WITH c AS (SELECT project, coalesce(\"commit\", '') AS hash, max(recorded_at) AS latest FROM runs GROUP BY project, coalesce(\"commit\", '')),
n AS (SELECT project, hash, row_number() OVER (PARTITION BY project ORDER BY latest DESC, hash) AS back FROM c),
s AS (SELECT r.project, s.label, n.back, s.own_work, s.critical_work FROM sites s JOIN runs r ON r.run = s.run
  JOIN n ON n.project = r.project AND n.hash = coalesce(r.\"commit\", '') WHERE s.tasks > 0),
m AS (SELECT project, label, avg(CASE WHEN back = 1 THEN own_work END) AS work, avg(CASE WHEN back > 1 THEN own_work END) AS work_before,
  avg(CASE WHEN back = 1 THEN critical_work END) AS critical, avg(CASE WHEN back > 1 THEN critical_work END) AS critical_before
  FROM s GROUP BY project, label)
SELECT project, label, work_before, work, critical_before, critical,
  round(100.0 * (work - work_before) / nullif(work_before, 0), 1) AS work_growth_percent,
  round(100.0 * (critical - critical_before) / nullif(critical_before, 0), 1) AS critical_growth_percent
FROM m WHERE work > 1.05 * work_before OR critical > 1.05 * critical_before
ORDER BY project, coalesce(critical - critical_before, 0) + coalesce(work - work_before, 0) DESC, label",
    },
    Query {
        name: "searching-hosts",
        about: "Which hosts burn CPU time in workers that search for work?",
        sql: "SELECT host, count(*) AS runs, sum(cpu_time) AS cpu_time, sum(cpu_time - work - recording - coalesce(other_cpu_time, 0)) AS searching,
  round(100.0 * sum(cpu_time - work - recording - coalesce(other_cpu_time, 0)) / nullif(sum(cpu_time), 0), 1) AS searching_percent
FROM runs WHERE cpu_time IS NOT NULL GROUP BY host ORDER BY searching DESC, host",
    },
    Query {
        name: "causes-by-week",
        about: "What was worker time lost to, by project and week?",
        sql: "SELECT r.project, min(r.day) AS week_of, c.cause, count(DISTINCT r.run) AS runs, sum(c.lost) AS lost,
  round(100.0 * sum(c.lost) / nullif(sum(r.workers * r.elapsed), 0), 2) AS lost_percent
FROM causes c JOIN runs r ON r.run = c.run WHERE c.lost > 0
GROUP BY r.project, floor((coalesce(r.recorded_at, 0) / 86400.0 + 3) / 7), c.cause ORDER BY r.project, min(r.day), lost DESC, c.cause",
    },
    Query {
        name: "causes",
        about: "What was worker time lost to, by project?",
        sql: "SELECT r.project, c.cause, count(DISTINCT r.run) AS runs, sum(c.lost) AS lost,
  round(100.0 * sum(c.lost) / nullif(sum(r.workers * r.elapsed), 0), 2) AS lost_percent
FROM causes c JOIN runs r ON r.run = c.run WHERE c.lost > 0 GROUP BY r.project, c.cause ORDER BY r.project, lost DESC, c.cause",
    },
    Query {
        name: "findings",
        about: "Which causes at which sites lost most worker time over all runs?",
        sql: "SELECT project, cause, label, starts_at, ends_at, count(DISTINCT run) AS runs, sum(lost) AS lost
FROM findings GROUP BY project, cause, label, starts_at, ends_at ORDER BY lost DESC, project, cause, coalesce(label, ''),
  coalesce(starts_at, ''), coalesce(ends_at, '') LIMIT 50",
    },
    Query {
        name: "slowest-sites",
        about: "Which sites hold most of the critical paths of all runs?",
        sql: "SELECT project, label, count(DISTINCT run) AS runs, sum(tasks) AS tasks, sum(own_work) AS own_work, sum(critical_work) AS critical_work
FROM sites WHERE tasks > 0 GROUP BY project, label ORDER BY critical_work DESC, project, label LIMIT 50",
    },
    Query {
        name: "odd-runs",
        about: "Which runs lost a share of their worker time that is unusual for their project and workers?",
        sql: "WITH l AS (SELECT run, project, workers, \"commit\", host, 100.0 * lost / nullif(workers * elapsed, 0) AS percent FROM runs),
u AS (SELECT project, workers, count(percent) AS runs, avg(percent) AS mean, stddev(percent) AS deviation FROM l GROUP BY project, workers)
SELECT l.run, l.project, l.workers, l.\"commit\", l.host, round(l.percent, 1) AS lost_percent, round(u.mean, 1) AS usual_percent,
  round((l.percent - u.mean) / nullif(u.deviation, 0), 1) AS deviations
FROM l JOIN u ON u.project = l.project AND u.workers = l.workers
WHERE u.runs >= 5 AND abs(l.percent - u.mean) > 2.5 * u.deviation ORDER BY abs(l.percent - u.mean) / u.deviation DESC, l.run",
    },
    Query {
        name: "speedups",
        about: "Elapsed time and work by number of workers, of each program",
        sql: "SELECT project, name, workers, count(*) AS runs, min(elapsed) AS shortest, avg(elapsed) AS elapsed, avg(work) AS work, avg(span) AS span
FROM runs GROUP BY project, name, workers ORDER BY project, name, workers",
    },
    Query {
        name: "tags",
        about: "The tags and how many runs have them",
        sql: "SELECT key, value, count(*) AS runs FROM tags GROUP BY key, value ORDER BY key, runs DESC, value",
    },
];

/// All prepared queries of a lake.
pub fn all() -> impl Iterator<Item = &'static Query> {
    let replaced = |query: &&Query| {
        OF_FEW_RUNS.contains(&query.name) || OVER_RUNS.iter().any(|own| own.name == query.name)
    };
    let of_runs = QUERIES.iter().filter(move |query| !replaced(query));
    OVER_RUNS.iter().chain(of_runs)
}

/// The prepared query with the given name.
///
/// # Errors
/// There is no such query.
pub fn ready(name: &str) -> anyhow::Result<&'static Query> {
    match all().find(|query| query.name == name) {
        Some(query) => Ok(query),
        None => bail!("there is no query `{name}`; `workspan lake sql --list` lists all queries"),
    }
}

/// The names of all prepared queries with their questions, one per line.
pub fn list() -> String {
    let widest = all().map(|query| query.name.len()).max().unwrap_or(0);
    all()
        .map(|query| format!("{:<widest$}  {}\n", query.name, query.about))
        .collect()
}
