//! Ready-made queries: the questions that papers of this field ask about a run.
//!
//! They are SQL that other engines understand too, because `workspan lake` asks the same: numbers
//! are not used as truth values, every selected column is in `GROUP BY`, and a limited answer is
//! ordered by all of its columns.

use crate::error::Error;

/// A ready-made query.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// Its name, for `--query`.
    pub name: &'static str,
    /// The question.
    pub about: &'static str,
    /// The SQL.
    pub sql: &'static str,
}

/// All ready-made queries.
pub const QUERIES: &[Query] = &[
    Query {
        name: "breakdown",
        about: "Where did workers x elapsed go? (Delay Spotter)",
        sql: "SELECT run, name, workers, elapsed, working, delay, no_work_sched, no_work_app, descheduled, blocked, recording
FROM runs",
    },
    Query {
        name: "work-span",
        about: "Work, span and parallelism of each run (Cilkview)",
        sql: "SELECT run, name, workers, work, span, parallelism, burdened_parallelism, tasks, spawns, average_strand FROM runs",
    },
    Query {
        name: "critical-sites",
        about: "Which spawn sites is the critical path made of? (TaskProf)",
        sql: "SELECT run, label, function, tasks, work, parallelism, critical_work, critical_percent
FROM sites WHERE tasks > 0 ORDER BY run, critical_work DESC",
    },
    Query {
        name: "critical-path",
        about: "The strands of the critical path, longest first (TaskProf, DAGViz)",
        sql: "SELECT s.run, s.strand, s.task, p.label AS site, a.label AS starts_at, b.label AS ends_at, s.start, s.time
FROM strands s JOIN sites p ON p.run = s.run AND p.site = s.site
LEFT JOIN sites a ON a.run = s.run AND a.site = s.from_site
LEFT JOIN sites b ON b.run = s.run AND b.site = s.to_site
WHERE s.critical = 1 ORDER BY s.run, s.time DESC, s.strand",
    },
    Query {
        name: "levels",
        about: "Time and strands of each level of the task tree (work time stretch profiler)",
        sql: "SELECT run, level, count(*) AS strands, sum(time) AS time, max(time) AS longest
FROM strands GROUP BY run, level ORDER BY run, level",
    },
    Query {
        name: "blocks",
        about: "Time of each code block: the strands of a site from one position to another (work time stretch profiler)",
        sql: "SELECT s.run, p.label AS site, a.label AS starts_at, s.start_kind, b.label AS ends_at, s.end_kind, count(*) AS strands,
  sum(s.time) AS time, sum(s.time * s.critical) AS critical
FROM strands s JOIN sites p ON p.run = s.run AND p.site = s.site
LEFT JOIN sites a ON a.run = s.run AND a.site = s.from_site
LEFT JOIN sites b ON b.run = s.run AND b.site = s.to_site
GROUP BY s.run, s.site, s.from_site, s.start_kind, s.to_site, s.end_kind, p.label, a.label, b.label ORDER BY s.run, time DESC",
    },
    Query {
        name: "stretch",
        about: "How much longer did each site's strands take in run 2 than in run 1? (work time stretch profiler)",
        sql: "WITH t AS (SELECT s.run, p.label, sum(s.time) AS time FROM strands s
  JOIN sites p ON p.run = s.run AND p.site = s.site GROUP BY s.run, p.label)
SELECT label, coalesce(sum(time) FILTER (WHERE run = 1), 0) AS run_1, coalesce(sum(time) FILTER (WHERE run = 2), 0) AS run_2,
  coalesce(sum(time) FILTER (WHERE run = 2), 0) - coalesce(sum(time) FILTER (WHERE run = 1), 0) AS stretch
FROM t GROUP BY label ORDER BY stretch DESC",
    },
    Query {
        name: "delay-edges",
        about: "Which kind of edge made delayed strands ready? (Delay Spotter)",
        sql: "SELECT run, edge, delay FROM delays WHERE delay > 0 ORDER BY run, delay DESC",
    },
    Query {
        name: "ready-times",
        about: "How long were strands ready before they started, by edge and site? (DAGViz: delay distributions)",
        sql: "SELECT s.run, p.label AS site, s.ready_edge AS edge, count(*) AS strands, sum(s.waited) AS waited, max(s.waited) AS longest
FROM strands s JOIN sites p ON p.run = s.run AND p.site = s.site
WHERE s.waited > 0 GROUP BY s.run, s.site, p.label, s.ready_edge ORDER BY s.run, waited DESC",
    },
    Query {
        name: "slow-thieves",
        about: "Which strands were ready longest before they started? (DAGViz: slow steals)",
        sql: "SELECT s.run, s.strand, p.label AS site, s.ready_edge AS edge, s.thread, s.ready, s.waited
FROM strands s JOIN sites p ON p.run = s.run AND p.site = s.site
WHERE s.waited > 0 ORDER BY s.waited DESC, s.run, s.strand LIMIT 50",
    },
    Query {
        name: "strand-lengths",
        about: "How long are strands? Powers of two, by site",
        sql: "SELECT s.run, p.label AS site, 1 << s.length AS from_ns, count(*) AS strands, sum(s.time) AS time FROM
  (SELECT run, site, time, CASE WHEN time < 1 THEN 0 ELSE cast(log2(time) AS INTEGER) END AS length FROM strands) s
JOIN sites p ON p.run = s.run AND p.site = s.site GROUP BY s.run, s.site, p.label, s.length ORDER BY s.run, p.label, s.length",
    },
    Query {
        name: "task-lengths",
        about: "How long are tasks with their descendants, by site? (TaskProf: granularity)",
        sql: "SELECT t.run, p.label AS site, count(*) AS tasks, min(t.work) AS shortest, avg(t.work) AS mean, max(t.work) AS longest
FROM tasks t JOIN sites p ON p.run = t.run AND p.site = t.site GROUP BY t.run, t.site, p.label ORDER BY t.run, tasks DESC",
    },
    Query {
        name: "spawn-loops",
        about: "Which tasks create the most other tasks? (thesis 2017: one task creates all others)",
        sql: "SELECT t.run, t.task, p.label AS site, t.children, t.time FROM tasks t
JOIN sites p ON p.run = t.run AND p.site = t.site WHERE t.children > 0 ORDER BY t.children DESC, t.run, t.task LIMIT 50",
    },
    Query {
        name: "threads",
        about: "What did each thread do? (WoolPlot)",
        sql: "SELECT t.run, t.thread, t.worker, t.strands, t.work, t.descheduled, t.blocked, t.steals,
  round(100.0 * t.work / r.elapsed, 1) AS busy_percent
FROM threads t JOIN runs r ON r.run = t.run ORDER BY t.run, t.thread",
    },
    Query {
        name: "ranks",
        about: "What did each process do, and how long did other ranks wait for it?",
        sql: "SELECT run, process, rank, name, workers, elapsed, work, waited, awaited,
  round(100.0 * waited / nullif(workers * elapsed, 0), 1) AS waited_percent
FROM processes ORDER BY run, process",
    },
    Query {
        name: "steal-matrix",
        about: "Who stole from whom, and how often? (WoolPlot, DAG Recorder)",
        sql: "SELECT run, thief, victim, count(*) AS steals, sum(leap) AS leapfrogs
FROM steals GROUP BY run, thief, victim ORDER BY run, thief, victim",
    },
    Query {
        name: "moves",
        about: "Which edges crossed threads? Computed from the strands, for runtimes that report no steals (DAG Recorder)",
        sql: "SELECT e.run, e.kind, a.thread AS from_thread, b.thread AS to_thread, count(*) AS edges
FROM edges e JOIN strands a ON a.run = e.run AND a.strand = e.source JOIN strands b ON b.run = e.run AND b.strand = e.target
WHERE a.thread <> b.thread GROUP BY e.run, e.kind, a.thread, b.thread ORDER BY edges DESC",
    },
    Query {
        name: "first-steals",
        about: "How long until each thread first stole something? (WoolPlot)",
        sql: "SELECT run, thief AS thread, min(t) AS first_steal, count(*) AS steals FROM steals GROUP BY run, thief ORDER BY run, thief",
    },
    Query {
        name: "leapfrogs",
        about: "Steals made while waiting for a stolen child (Wool)",
        sql: "SELECT run, thief, victim, t, task FROM steals WHERE leap = 1 ORDER BY run, t",
    },
    Query {
        name: "stolen-sites",
        about: "Tasks of which sites were stolen? (WoolPlot)",
        sql: "SELECT s.run, p.label AS site, count(*) AS steals, avg(t.work) AS mean_work FROM steals s
JOIN tasks t ON t.run = s.run AND t.task = s.task JOIN sites p ON p.run = t.run AND p.site = t.site
GROUP BY s.run, t.site, p.label ORDER BY steals DESC, s.run, p.label",
    },
    Query {
        name: "queue-depth",
        about: "Ready tasks in the threads' queues over time, if the runtime reports them (WoolPlot)",
        sql: "SELECT run, t, thread, value AS depth FROM events WHERE kind = 'queue' ORDER BY run, t",
    },
    Query {
        name: "scheduler",
        about: "Failed steals, sleeps and wakes of each thread (WoolPlot)",
        sql: "SELECT run, thread, kind, count(*) AS events FROM events GROUP BY run, thread, kind ORDER BY run, thread, kind",
    },
    Query {
        name: "off-cpu",
        about: "When were threads off the CPU, and why?",
        sql: "SELECT run, thread, why, on_what, count(*) AS times, sum(\"end\" - start) AS total FROM offs
GROUP BY run, thread, why, on_what ORDER BY run, total DESC",
    },
    Query {
        name: "waits",
        about: "What did strands wait for, where, and where was it released?",
        sql: "SELECT run, kind, function, file, line, released_file, released_line, count(*) AS times, sum(\"end\" - start) AS total FROM waits
GROUP BY run, kind, function, file, line, released_file, released_line ORDER BY run, total DESC",
    },
    Query {
        name: "counters",
        about: "Counters by site, with the rate (TaskProf2)",
        sql: "SELECT c.run, c.counter, p.label AS site, sum(c.value) AS value, round(1e3 * sum(c.value) / coalesce(nullif(sum(s.time), 0), 1), 3) AS per_us
FROM counters c JOIN strands s ON s.run = c.run AND s.strand = c.strand JOIN sites p ON p.run = s.run AND p.site = s.site
GROUP BY c.run, c.counter, s.site, p.label ORDER BY c.run, c.counter, value DESC",
    },
    Query {
        name: "regions",
        about: "How often and how long were regions and parts open? (TaskProf)",
        sql: "SELECT run, label, kind, count(*) AS times, sum(\"end\" - start) AS open FROM regions
GROUP BY run, label, kind ORDER BY run, open DESC",
    },
    Query {
        name: "hot-lines",
        about: "Where was CPU time spent inside strands, by sampled line?",
        sql: "SELECT run, function, file, line, count(*) AS samples, sum(time) AS time FROM samples
WHERE strand IS NOT NULL GROUP BY run, function, file, line
ORDER BY samples DESC, run, coalesce(function, ''), coalesce(file, ''), coalesce(line, 0) LIMIT 50",
    },
    Query {
        name: "hot-critical-lines",
        about: "Where was CPU time spent on the critical path, by sampled line?",
        sql: "SELECT m.run, m.function, m.file, m.line, count(*) AS samples, sum(m.time) AS time FROM samples m
JOIN strands s ON s.run = m.run AND s.strand = m.strand WHERE s.critical = 1
GROUP BY m.run, m.function, m.file, m.line
ORDER BY samples DESC, m.run, coalesce(m.function, ''), coalesce(m.file, ''), coalesce(m.line, 0) LIMIT 50",
    },
];

/// The ready-made query with that name.
///
/// # Errors
/// There is no such query.
pub fn named(name: &str) -> Result<&'static Query, Error> {
    let found = QUERIES.iter().find(|q| q.name == name);
    found.ok_or_else(|| Error::NoSuchQuery(name.to_owned()))
}

/// The names of all ready-made queries with their questions, one per line.
pub fn list() -> String {
    let widest = QUERIES.iter().map(|q| q.name.len()).max().unwrap_or(0);
    QUERIES
        .iter()
        .map(|q| format!("{:<widest$}  {}\n", q.name, q.about))
        .collect()
}
