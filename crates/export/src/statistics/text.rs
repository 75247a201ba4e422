//! Formats the statistics as text, which comes after the report.

mod overhead;
mod steals;

use workspan_analysis::statistics::{
    DagSummary, Depth, Distribution, EdgeMatrices, ReadyTimes, Statistics,
};
use workspan_analysis::{Metric, Options};
use workspan_dag::{Dag, EdgeKind};

use crate::TextOptions;
use crate::page::{Page, Tone, plain, strong};
use crate::position::site_cell;
use crate::quantity::{amount, ratio, thousands};
use crate::text::busy_strip::{level, levels, resample};

/// Maximum number of characters of a strip over time.
const MAX_STRIP_MARKS: usize = 48;
/// Maximum number of workers for a matrix of numbers; with more workers it has a character for each
/// pair.
const MAX_WORKERS_IN_NUMBERS: usize = 8;
/// Formats the statistics of `dag`, which were made with the options `measured`, as lines of at
/// most
/// `options.width` columns. Shows at most `options.sites` spawn sites.
pub fn statistics_text(
    dag: &Dag,
    statistics: &Statistics,
    measured: &Options,
    options: &TextOptions,
) -> String {
    let mut page = Page::new(options.width, options.color, options.charset);
    let view = View {
        dag,
        counter: match &measured.metric {
            Metric::Time => None,
            Metric::Counter(name) => Some(name),
        },
    };
    sites(&view, &mut page, statistics, options.sites.max(1));
    edges(&view, &mut page, statistics);
    overhead::rows(&view, &mut page, &statistics.overhead, options.sites.max(1));
    over_time(&mut page, "Ready strands", &statistics.ready);
    if let Some(queues) = &statistics.queues {
        over_time(&mut page, "Tasks in queues", queues);
    }
    steals::steals(&view, &mut page, &statistics.steals);
    steals::workers(&view, &mut page, &statistics.steals);
    steals::worker_events(&view, &mut page, &statistics.steals);
    steals::matrix(&mut page, &statistics.steals);
    summary(&view, &mut page, &statistics.dag);
    edge_matrices(&mut page, &statistics.dag.edges);
    page.finish()
}

struct View<'a> {
    dag: &'a Dag,
    counter: Option<&'a str>,
}

impl View<'_> {
    fn amount(&self, v: f64) -> String {
        amount(&self.dag.meta, self.counter, v)
    }
    fn time(&self, ticks: f64) -> String {
        amount(&self.dag.meta, None, ticks)
    }
}

fn head(page: &mut Page, title: &str, width: usize, columns: &[(&str, usize)]) {
    page.blank();
    let words: String = columns.iter().map(|(c, w)| format!("{c:>w$}")).collect();
    page.line(&[strong(format!("  {title:<width$}")), (Tone::Faint, words)]);
}

const SPREAD_COLUMNS: [(&str, usize); 7] = [
    ("count", 11),
    ("min", 9),
    ("median", 9),
    ("90 %", 9),
    ("99 %", 9),
    ("max", 9),
    ("mean", 9),
];

fn sites(view: &View, page: &mut Page, statistics: &Statistics, most: usize) {
    head(page, "Lengths", 11, &SPREAD_COLUMNS);
    for row in statistics.sites.iter().take(most) {
        let room = page.width() - 2;
        let name = page.fit(&site_cell(view.dag, row.site, room), room);
        page.line(&[(Tone::Path, format!("  {name}"))]);
        let metric = |v: f64| view.amount(v);
        spread(page, "strands", &row.strand_lengths, metric);
        spread(page, "tasks", &row.task_lengths, metric);
        if row.ready.times.count > 0 {
            spread(page, "ready", &row.ready.times, |v| view.time(v));
        }
        if row.task_lengths.count > 1 {
            powers(page, &row.task_lengths, metric);
        }
    }
    let more = statistics.sites.len().saturating_sub(most) + statistics.more_sites;
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        let text = format!("  {more} more site{plural} (--sites N)");
        page.line(&[(Tone::Faint, text)]);
    }
    if statistics.folded_strands > 0 {
        let text = format!(
            "{} strands are inside folded strands; the lengths of their tasks are known by powers of two only.",
            thousands(statistics.folded_strands.into())
        );
        page.prose("  ", 2, &[(Tone::Faint, text)]);
    }
}

fn spread(page: &mut Page, name: &str, d: &Distribution, show: impl Fn(f64) -> String) {
    let mut line = format!("    {name:<9}{:>11}", thousands(d.count.into()));
    if d.count > 0 {
        let values = [d.minimum, d.median, d.p90, d.p99, d.maximum];
        for v in values.map(|v| v as f64).into_iter().chain([d.mean()]) {
            line.push_str(&format!(" {:>8}", show(v)));
        }
    }
    page.line(&[plain(line)]);
}

/// A strip with a character for each power of two from the shortest task to the longest.
fn powers(page: &mut Page, d: &Distribution, show: impl Fn(f64) -> String) {
    let first = d.histogram.iter().position(|&n| n > 0).unwrap_or(0);
    let used = &d.histogram[first..];
    let most = used.iter().copied().max().unwrap_or(0).max(1);
    let marks = levels(page);
    let strip = used.iter().map(|&n| level(n as f64 / most as f64, marks));
    let end = (d.histogram.len() as f64).exp2();
    page.line(&[
        (
            Tone::Faint,
            format!(
                "    tasks by powers of 2, {} |",
                show((first as f64).exp2())
            ),
        ),
        (Tone::Bar, strip.collect()),
        (Tone::Faint, format!("| {}", show(end))),
    ]);
}

fn edges(view: &View, page: &mut Page, statistics: &Statistics) {
    let rows = &statistics.ready_by_edge;
    if rows.iter().all(|r| r.starts == 0) {
        return;
    }
    let columns = [
        ("strands", 10),
        ("stolen", 9),
        ("waited", 10),
        ("median", 9),
        ("90 %", 9),
        ("99 %", 9),
    ];
    head(page, "Made ready by", 20, &columns);
    for (name, row) in EdgeKind::NAMES.iter().zip(rows).filter(|r| r.1.starts > 0) {
        edge(view, page, &name.replace('_', " "), row);
    }
}

fn edge(view: &View, page: &mut Page, name: &str, row: &ReadyTimes) {
    let d = &row.times;
    let stolen = thousands(row.steals.into());
    let mut line = format!(
        "  {name:<20}{:>10}{:>9}{:>10}",
        thousands(row.starts.into()),
        if row.steals == 0 { "-".into() } else { stolen },
        thousands(d.count.into()),
    );
    if d.count > 0 {
        for v in [d.median, d.p90, d.p99] {
            line.push_str(&format!(" {:>8}", view.time(v as f64)));
        }
    }
    page.line(&[plain(line)]);
}

fn over_time(page: &mut Page, what: &str, depth: &Depth) {
    if depth.mean.is_empty() {
        return;
    }
    let facts = format!(
        "  mean {}, max {}",
        ratio(depth.mean_all),
        thousands(depth.maximum_all.into())
    );
    let room = page
        .width()
        .saturating_sub(20 + facts.len())
        .min(MAX_STRIP_MARKS);
    let bins = resample(&depth.mean, room);
    let most = bins.iter().copied().fold(0.0, f64::max);
    let marks = levels(page);
    let strip = bins
        .into_iter()
        .map(|v| level(if most > 0.0 { v / most } else { 0.0 }, marks));
    page.blank();
    page.line(&[
        strong(format!("  {what:<16}  ")),
        (Tone::Bar, strip.collect()),
        plain(facts),
    ]);
}

/// Number of columns of a name and its value; there are two on a line.
const NAME_COLUMNS: usize = 22;
const VALUE_COLUMNS: usize = 14;

fn summary(view: &View, page: &mut Page, all: &DagSummary) {
    let count = |n: u64| thousands(n.into());
    let time = |ticks: f64| view.time(ticks);
    let known = |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("-".into(), show);
    let number = |value: f64| ratio(value);
    let rows = [
        ("creates", count(all.creates)),
        ("waits", count(all.waits)),
        ("ends", count(all.ends)),
        ("others", count(all.others)),
        ("work (T1)", time(all.work as f64)),
        ("span (T-inf)", time(all.span as f64)),
        ("delay", time(all.delay as f64)),
        ("no-work", time(all.no_work as f64)),
        ("workers (P)", count(all.workers.into())),
        ("elapsed", time(all.elapsed as f64)),
        ("T1/P", time(all.work_per_worker())),
        ("T1/P + T-inf", time(all.greedy_time())),
        ("T1/T-inf", known(all.parallelism(), &number)),
        ("greedy speedup", number(all.greedy_speedup())),
        ("observed speedup", known(all.observed_speedup(), &number)),
        (
            "observed/greedy",
            known(all.observed_over_greedy(), &number),
        ),
        ("task granularity", known(all.task_granularity(), &time)),
        (
            "interval granularity",
            known(all.interval_granularity(), &time),
        ),
        ("DAG nodes", count(all.dag_nodes)),
        ("materialized nodes", count(all.materialized_nodes)),
        (
            "compression ratio",
            known(all.compression_ratio(), &|r| format!("{r:.4}")),
        ),
    ];
    head(page, "DAG and greedy schedule", 24, &[]);
    for pair in rows.chunks(2) {
        let cell = |(name, value): &(&str, String)| {
            format!("{name:<NAME_COLUMNS$}{value:>VALUE_COLUMNS$}")
        };
        let cells: Vec<String> = pair.iter().map(cell).collect();
        page.line(&[plain(format!("  {}", cells.join("    ")))]);
    }
}

fn edge_matrices(page: &mut Page, edges: &EdgeMatrices) {
    let shown = edges.threads as usize;
    if shown > MAX_WORKERS_IN_NUMBERS {
        let text =
            format!("  Edges from worker to worker, {shown} by {shown}, are in the JSON (--json).");
        page.line(&[(Tone::Faint, text)]);
        return;
    }
    for kind in EDGE_KINDS {
        let used =
            |n: u32| (0..edges.threads).any(|m| edges.of(kind, n, m) + edges.of(kind, m, n) > 0);
        if !(0..edges.threads).any(used) {
            continue;
        }
        let title = format!("{}, from, to", kind.name().replace('_', " "));
        let threads: Vec<String> = (0..edges.threads).map(|t| t.to_string()).collect();
        // Fits 8 workers into 80 columns.
        let columns: Vec<(&str, usize)> = threads.iter().map(|t| (t.as_str(), 6)).collect();
        head(page, &title, 30, &columns);
        for from in 0..edges.threads {
            let mut line = format!("  {from:<30}");
            for to in 0..edges.threads {
                let cell = match edges.of(kind, from, to) {
                    0 => "-".into(),
                    n if n < 100_000 => n.to_string(),
                    n => format!("{:.0e}", n as f64),
                };
                line.push_str(&format!("{cell:>6}"));
            }
            page.line(&[plain(line)]);
        }
    }
}

/// The kinds of edges in the order of their numbers.
const EDGE_KINDS: [EdgeKind; 7] = [
    EdgeKind::Create,
    EdgeKind::CreateContinuation,
    EdgeKind::WaitContinuation,
    EdgeKind::YieldContinuation,
    EdgeKind::End,
    EdgeKind::Depend,
    EdgeKind::Signal,
];
