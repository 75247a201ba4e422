//! The report as JSON: stable keys (TEXT_TRACE.md, "The report as JSON"), whole numbers kept whole.

mod checks;
mod code;
mod findings;
mod low_parallelism;
mod pools;
mod processes;
mod regions;
mod sites;
mod standstill;
mod tasks;
mod workers;

use serde::{Serialize, Serializer};
use workspan_analysis::statistics::Statistics;
use workspan_analysis::{Metric, Options, Report, Suggestion};
use workspan_dag::{Dag, TimeUnit};

use crate::limits::limits_json;
use crate::section::section_json;
use crate::statistics::json::StatisticsJson;
use crate::text::shown_workers;
use crate::what_if::command;
use crate::what_if::json::outcome;

/// A ratio with four decimals, which is as precise as its inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio(pub(crate) f64);

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_finite() {
            return serializer.serialize_none();
        }
        let rounded = (self.0 * 1e4).round() / 1e4;
        serializer.serialize_f64(if rounded.is_finite() { rounded } else { self.0 })
    }
}

/// The estimated part of the run (docs/budget.md).
#[derive(Serialize)]
struct EstimatedJson {
    unrecorded_work: u128,
    unrecorded_strands: u64,
    tasks_low: u64,
    tasks_high: u64,
    span_low: u128,
    span_high: u128,
}

#[derive(Serialize)]
struct Root<'a> {
    workspan_report: u32,
    metric: &'a str,
    metric_unit: &'a str,
    ticks_per_second: u64,
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    section: serde_json::Value,
    workers: u32,
    elapsed: u64,
    work: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_uncertainty: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_error: Option<u128>,
    span: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_uncertainty: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_error: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated: Option<EstimatedJson>,
    parallelism: Ratio,
    burden: u64,
    burdened_span: u128,
    burdened_parallelism: Ratio,
    largest_speedup: Ratio,
    tasks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks_error: Option<u64>,
    spawns: u64,
    syncs: u64,
    average_maximal_strand: Ratio,
    short_strands: Option<tasks::ShortStrandsJson>,
    told_by: Vec<tasks::ReporterTasksJson>,
    steals: u64,
    mean_busy: Ratio,
    work_with_blocked: u128,
    span_with_blocked: u128,
    speedup: Vec<Speedup>,
    limits: serde_json::Value,
    breakdown: BreakdownJson,
    delay_by_edge: Edges,
    ready_path: ReadyPathJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<UnreadJson>,
    verdict: findings::VerdictJson,
    findings: Vec<findings::FindingJson<'a>>,
    causes: Vec<findings::CauseJson>,
    alone: Vec<findings::AloneJson<'a>>,
    sites: Vec<sites::SiteJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<code::SamplesJson<'a>>,
    regions: Vec<regions::RegionJson<'a>>,
    parts: Vec<regions::PartJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pools: Vec<pools::PoolJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processes: Vec<processes::ProcessJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clocks: Vec<processes::ClockJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standstill: Option<standstill::StandstillJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<findings::QuietJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<findings::OutsideJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<SuggestionJson>,
    low_parallelism: Vec<low_parallelism::LowParallelismJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<StatisticsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_as_one: Option<ReadFoldingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<checks::CpuJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<workers::IdleJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slower_beside: Option<workers::ConcurrencySlowdownJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<checks::CheckJson>,
    warnings: Vec<String>,
}

/// The part of the trace that could not be read: all measures hold for the rest only.
#[derive(Serialize)]
struct UnreadJson {
    damaged: u64,
    threads: u64,
    dropped: u64,
    off_cpu: bool,
}

/// The folding that was done while the trace was read.
#[derive(Serialize)]
struct ReadFoldingJson {
    /// Subtrees shorter than this were folded, in ticks.
    grain: u64,
    subtrees: u64,
}

#[derive(Serialize)]
struct Speedup {
    workers: u32,
    lower: Ratio,
    upper: Ratio,
}

#[derive(Serialize)]
struct BreakdownJson {
    work: u128,
    descheduled: u128,
    blocked: u128,
    recording: u128,
    oversubscribed: u128,
    delay: u128,
    delay_buried: u128,
    no_work_sched: u128,
    no_work_app: u128,
    /// Only where a part of the trace could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<u128>,
}

#[derive(Serialize)]
struct Edges {
    create: u128,
    create_continuation: u128,
    wait_continuation: u128,
    yield_continuation: u128,
    end: u128,
    depend: u128,
    signal: u128,
}

#[derive(Serialize)]
struct ReadyPathJson {
    work: u64,
    busy_delay: u64,
    scheduler_delay: u64,
}

/// The code of a finding made twice as fast.
#[derive(Serialize)]
struct SuggestionJson {
    finding: usize,
    options: Vec<String>,
    what_if: serde_json::Value,
}

/// The report of `report`, made from `dag` with the options `measured`, as one JSON object,
/// followed by a newline.
pub fn report_json(dag: &Dag, report: &Report, measured: &Options) -> String {
    report_json_with(dag, report, measured, None)
}

/// The report with the key `statistics`, if there are statistics.
pub fn report_json_with(
    dag: &Dag,
    report: &Report,
    measured: &Options,
    statistics: Option<&Statistics>,
) -> String {
    report_json_of(dag, report, measured, statistics, &RowLimits::default())
}

/// How much of a report is written, for readers that can't take any number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimits {
    /// Maximum number of spawn sites, from the first on.
    pub sites: usize,
    /// Maximum number of code blocks of all sites together.
    pub blocks: usize,
    /// Maximum number of code blocks of one site.
    pub blocks_each: usize,
}

impl Default for RowLimits {
    /// No limits.
    fn default() -> Self {
        RowLimits {
            sites: usize::MAX,
            blocks: usize::MAX,
            blocks_each: usize::MAX,
        }
    }
}

impl RowLimits {
    /// The number of blocks to write for a site that has `count`. `written` is the number written
    /// for earlier sites, and is increased.
    pub fn blocks_of(&self, count: usize, written: &mut usize) -> usize {
        let blocks = count
            .min(self.blocks_each)
            .min(self.blocks.saturating_sub(*written));
        *written = written.saturating_add(blocks);
        blocks
    }
}

/// The report limited to `most`.
pub fn report_json_of(
    dag: &Dag,
    report: &Report,
    measured: &Options,
    statistics: Option<&Statistics>,
    most: &RowLimits,
) -> String {
    let mut root = root(dag, report, measured, most);
    root.statistics = statistics.map(|s| StatisticsJson::new(dag, s));
    document(&root)
}

/// A JSON document, followed by a newline. It contains only strings, numbers and lists, so
/// serializing it cannot fail.
pub(crate) fn document(root: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(root).unwrap_or_default();
    text.push('\n');
    text
}

fn root<'a>(dag: &'a Dag, report: &'a Report, measured: &'a Options, most: &RowLimits) -> Root<'a> {
    let mut written_blocks = 0;
    let (meta, ws, b) = (&dag.meta, &report.work_span, &report.breakdown);
    let (metric, metric_unit) = match &measured.metric {
        Metric::Counter(name) => (name.as_str(), "count"),
        Metric::Time => ("time", unit(meta.time_unit)),
    };
    let texts = report.warnings.iter().map(|w| w.text.clone());
    let mut warnings: Vec<String> = texts.collect();
    if report.parts.iter().any(|p| p.span.is_none()) {
        warnings.push(
            "The span of some parts is not available: too many of them lie inside each other."
                .into(),
        );
    }
    let elapsed = b.end.saturating_sub(b.begin);
    let quiet = findings::quiet(dag, report);
    let has_quiet = quiet.is_some();
    let uncertainty = report
        .uncertainty()
        .filter(|_| measured.metric == Metric::Time);
    let errors = report.errors(&measured.metric);
    Root {
        workspan_report: 1,
        metric,
        metric_unit,
        ticks_per_second: meta.ticks_per_second,
        section: section_json(meta),
        workers: b.workers,
        elapsed,
        work: ws.work,
        work_uncertainty: uncertainty.map(|u| u.0),
        work_error: errors.work,
        span: ws.span,
        span_uncertainty: uncertainty.map(|u| u.1),
        span_error: errors.span,
        estimated: ws.estimated.map(|e| EstimatedJson {
            unrecorded_work: e.work,
            unrecorded_strands: e.strands,
            tasks_low: e.tasks.0,
            tasks_high: e.tasks.1,
            span_low: e.span.0,
            span_high: e.span.1,
        }),
        parallelism: Ratio(ws.parallelism()),
        burden: ws.burden,
        burdened_span: ws.burdened_span,
        burdened_parallelism: Ratio(ws.burdened_parallelism()),
        largest_speedup: Ratio(ws.largest_speedup()),
        tasks: ws.tasks,
        tasks_error: errors.tasks,
        spawns: ws.spawns,
        syncs: ws.syncs,
        average_maximal_strand: Ratio(ws.average_maximal_strand()),
        short_strands: tasks::short(ws, measured),
        told_by: tasks::reporters(dag, report),
        steals: ws.steals,
        mean_busy: Ratio(b.mean_busy()),
        work_with_blocked: ws.work_with_blocked,
        span_with_blocked: ws.span_with_blocked,
        speedup: shown_workers(b.workers)
            .into_iter()
            .map(|workers| {
                let (lower, upper) = ws.speedup(workers);
                Speedup {
                    workers,
                    lower: Ratio(lower),
                    upper: Ratio(upper),
                }
            })
            .collect(),
        limits: limits_json(dag, &ws.limits),
        breakdown: BreakdownJson {
            work: b.work,
            descheduled: b.descheduled,
            blocked: b.blocked,
            recording: b.recording,
            oversubscribed: b.oversubscribed,
            delay: b.delay,
            delay_buried: b.delay_buried,
            no_work_sched: b.no_work_sched,
            no_work_app: b.no_work_app,
            unread: dag.meta.unread.map(|_| b.unread),
        },
        delay_by_edge: edges(b.delay_by_edge),
        ready_path: ReadyPathJson {
            work: b.ready_path.work,
            busy_delay: b.ready_path.busy_delay,
            scheduler_delay: b.ready_path.scheduler_delay,
        },
        unread: dag.meta.unread.map(|part| UnreadJson {
            damaged: part.damaged,
            threads: part.threads,
            dropped: part.dropped,
            off_cpu: part.off_cpu,
        }),
        verdict: findings::verdict(report),
        findings: findings::findings(dag, report),
        causes: findings::causes(report),
        alone: findings::alone(dag, report),
        sites: report
            .sites
            .iter()
            .take(most.sites)
            .map(|row| {
                sites::site(
                    dag,
                    row,
                    most.blocks_of(row.blocks.len(), &mut written_blocks),
                )
            })
            .collect(),
        samples: code::samples(report),
        regions: report
            .regions
            .iter()
            .map(|row| regions::region(dag, row))
            .collect(),
        parts: report
            .parts
            .iter()
            .map(|row| regions::part(dag, row))
            .collect(),
        pools: pools::pools(dag, report),
        processes: processes::processes(dag, report),
        clocks: processes::clocks(dag),
        standstill: report
            .standstill
            .as_ref()
            .map(|s| standstill::standstill(dag, s)),
        quiet,
        outside: findings::outside(report),
        suggestion: report
            .suggestion
            .as_ref()
            .filter(|s| s.finding < report.causes.findings().len() || has_quiet)
            .map(|s| suggestion(dag, s, measured)),
        low_parallelism: report
            .low_parallelism
            .iter()
            .map(|i| low_parallelism::low(dag, i))
            .collect(),
        statistics: None,
        read_as_one: meta.read_folding.as_ref().map(|short| ReadFoldingJson {
            grain: short.grain,
            subtrees: short.records,
        }),
        cpu: meta
            .cpu
            .as_ref()
            .map(|cpu| checks::cpu(cpu, report.cpu.as_ref())),
        idle: report.idle.as_ref().map(workers::idle),
        slower_beside: report
            .concurrency_slowdown
            .map(|slower| workers::concurrency_slowdown(dag, &slower)),
        checks: report.checks.iter().map(checks::check).collect(),
        warnings,
    }
}

pub(crate) fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Ns => "ns",
        TimeUnit::Us => "us",
        TimeUnit::Ms => "ms",
        TimeUnit::Cycles => "cycles",
    }
}

fn edges(by: [u128; 7]) -> Edges {
    let [
        create,
        create_continuation,
        wait_continuation,
        yield_continuation,
        end,
        depend,
        signal,
    ] = by;
    Edges {
        create,
        create_continuation,
        wait_continuation,
        yield_continuation,
        end,
        depend,
        signal,
    }
}

fn suggestion(dag: &Dag, suggestion: &Suggestion, measured: &Options) -> SuggestionJson {
    SuggestionJson {
        finding: suggestion.finding,
        options: command(dag, "", suggestion, measured).split_off(2),
        what_if: outcome(&suggestion.outcome, &[]),
    }
}
