//! The key `statistics` of the report's JSON (docs/statistics.md).

use serde::Serialize;
use workspan_analysis::statistics::{
    DagSummary, Depth, Distribution, EdgeMatrices, ReadyTimes, SiteOverhead, SiteStatistics,
    Statistics, StealStatistics, WorkerSteals,
};
use workspan_dag::{Dag, EdgeKind, PlaceId, Reporter};

use crate::json::Ratio;
use crate::position::{label, place};
use crate::quantity::percent_of;

#[derive(Serialize)]
pub(crate) struct StatisticsJson<'a> {
    sites: Vec<SiteJson<'a>>,
    more_sites: usize,
    folded_strands: u64,
    ready_by_edge: Vec<EdgeJson<'a>>,
    ready: DepthJson<'a>,
    queues: Option<DepthJson<'a>>,
    steals: StealsJson<'a>,
    overhead: Vec<OverheadJson<'a>>,
    dag: DagJson<'a>,
}

/// The quantities of DAG Recorder's `.stat`; times in ticks.
#[derive(Serialize)]
struct DagJson<'a> {
    creates: u64,
    waits: u64,
    ends: u64,
    others: u64,
    work: u128,
    delay: u128,
    no_work: u128,
    span: u128,
    workers: u32,
    elapsed: u64,
    work_per_worker: Ratio,
    greedy_time: Ratio,
    parallelism: Option<Ratio>,
    greedy_speedup: Ratio,
    observed_speedup: Option<Ratio>,
    observed_over_greedy: Option<Ratio>,
    task_granularity: Option<Ratio>,
    interval_granularity: Option<Ratio>,
    dag_nodes: u64,
    materialized_nodes: u64,
    compression_ratio: Option<Ratio>,
    edges: Vec<EdgeMatrixJson<'a>>,
}

/// Element i, j of the matrix: the number of edges from thread i to thread j.
#[derive(Serialize)]
struct EdgeMatrixJson<'a> {
    edge: &'static str,
    matrix: Vec<&'a [u64]>,
    beyond: u64,
}

#[derive(Serialize)]
struct DistributionJson<'a> {
    count: u64,
    estimated: u64,
    sum: u128,
    mean: Option<Ratio>,
    min: Option<u64>,
    median: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    /// Element i: the number of values in [2^i, 2^(i+1)).
    histogram: &'a [u64],
}

#[derive(Serialize)]
struct SiteJson<'a> {
    id: PlaceId,
    site: &'a str,
    told_by: Option<&'static str>,
    tasks: u64,
    strand_lengths: DistributionJson<'a>,
    task_lengths: DistributionJson<'a>,
    ready: ReadyJson<'a>,
    ready_by_edge: Vec<EdgeJson<'a>>,
}

#[derive(Serialize)]
struct ReadyJson<'a> {
    starts: u64,
    steals: u64,
    /// Share of all steals, counted by the same rule.
    steals_percent: Ratio,
    times: DistributionJson<'a>,
}

#[derive(Serialize)]
struct EdgeJson<'a> {
    edge: &'static str,
    #[serde(flatten)]
    ready: ReadyJson<'a>,
}

#[derive(Serialize)]
struct DepthJson<'a> {
    begin: u64,
    end: u64,
    mean: Ratio,
    max: u64,
    bin_mean: Vec<Ratio>,
    bin_max: &'a [u64],
}

#[derive(Serialize)]
struct StealsJson<'a> {
    source: &'static str,
    count: u64,
    per_second: Ratio,
    leapfrogs: u64,
    failed: u64,
    sleeps: u64,
    asleep: u128,
    first_spawn: u64,
    time_to_first: DistributionJson<'a>,
    to_child: DistributionJson<'a>,
    to_continuation: DistributionJson<'a>,
    never_stole: u64,
    workers: Vec<WorkerJson>,
    more_workers: usize,
    matrix: &'a [Vec<u64>],
    beyond: u64,
}

#[derive(Serialize)]
struct WorkerJson {
    worker: u32,
    steals: u64,
    unknown_victim: u64,
    leapfrogs: u64,
    stolen: u64,
    first_steal: Option<u64>,
    failed: u64,
    sleeps: u64,
    asleep: u64,
    spawns: u64,
    inlined: u64,
    steal_tries: u64,
    leap_tries: u64,
    spinning: Option<u64>,
}

impl<'a> StatisticsJson<'a> {
    pub(crate) fn new(dag: &'a Dag, all: &'a Statistics) -> StatisticsJson<'a> {
        let steals = all.ready_by_edge.iter().map(|r| r.steals).sum();
        StatisticsJson {
            sites: all.sites.iter().map(|s| site(dag, s, steals)).collect(),
            more_sites: all.more_sites,
            folded_strands: all.folded_strands,
            ready_by_edge: edges(&all.ready_by_edge, steals),
            ready: depth(&all.ready),
            queues: all.queues.as_ref().map(depth),
            steals: steals_json(&all.steals),
            overhead: all.overhead.iter().map(|row| overhead(dag, row)).collect(),
            dag: dag_json(&all.dag),
        }
    }
}

#[derive(Serialize)]
struct OverheadJson<'a> {
    id: u32,
    site: &'a str,
    ticks: u64,
    create: u64,
    wait: u64,
    end: u64,
    folded: u64,
    steps: u64,
}

fn overhead<'a>(dag: &'a Dag, row: &SiteOverhead) -> OverheadJson<'a> {
    OverheadJson {
        id: row.site,
        site: label(dag, row.site),
        ticks: row.ticks(),
        create: row.create,
        wait: row.wait,
        end: row.end,
        folded: row.folded,
        steps: row.steps,
    }
}

fn dag_json(summary: &DagSummary) -> DagJson<'_> {
    DagJson {
        creates: summary.creates,
        waits: summary.waits,
        ends: summary.ends,
        others: summary.others,
        work: summary.work,
        delay: summary.delay,
        no_work: summary.no_work,
        span: summary.span,
        workers: summary.workers,
        elapsed: summary.elapsed,
        work_per_worker: Ratio(summary.work_per_worker()),
        greedy_time: Ratio(summary.greedy_time()),
        parallelism: summary.parallelism().map(Ratio),
        greedy_speedup: Ratio(summary.greedy_speedup()),
        observed_speedup: summary.observed_speedup().map(Ratio),
        observed_over_greedy: summary.observed_over_greedy().map(Ratio),
        task_granularity: summary.task_granularity().map(Ratio),
        interval_granularity: summary.interval_granularity().map(Ratio),
        dag_nodes: summary.dag_nodes,
        materialized_nodes: summary.materialized_nodes,
        compression_ratio: summary.compression_ratio().map(Ratio),
        edges: edge_matrices(&summary.edges),
    }
}

/// The kinds of edges that occur.
fn edge_matrices(matrices: &EdgeMatrices) -> Vec<EdgeMatrixJson<'_>> {
    let kinds = EdgeKind::NAMES
        .iter()
        .zip(matrices.counts.iter().zip(matrices.beyond));
    let used = kinds.filter(|(_, (counts, beyond))| *beyond > 0 || counts.iter().any(|&n| n > 0));
    let threads = matrices.threads.max(1) as usize;
    used.map(|(edge, (counts, beyond))| EdgeMatrixJson {
        edge,
        matrix: counts.chunks(threads).collect(),
        beyond,
    })
    .collect()
}

fn distribution(d: &Distribution) -> DistributionJson<'_> {
    let known = |v: u64| (d.count > 0).then_some(v);
    DistributionJson {
        count: d.count,
        estimated: d.estimated,
        sum: d.sum,
        mean: (d.count > 0).then(|| Ratio(d.mean())),
        min: known(d.minimum),
        median: known(d.median),
        p90: known(d.p90),
        p99: known(d.p99),
        max: known(d.maximum),
        histogram: &d.histogram,
    }
}

fn site<'a>(dag: &'a Dag, row: &'a SiteStatistics, steals: u64) -> SiteJson<'a> {
    SiteJson {
        id: row.site,
        site: label(dag, row.site),
        told_by: place(dag, row.site)
            .and_then(|place| place.reporter)
            .map(Reporter::name),
        tasks: row.tasks,
        strand_lengths: distribution(&row.strand_lengths),
        task_lengths: distribution(&row.task_lengths),
        ready: ready(&row.ready, steals),
        ready_by_edge: edges(&row.ready_by_edge, steals),
    }
}

fn ready(times: &ReadyTimes, steals: u64) -> ReadyJson<'_> {
    ReadyJson {
        starts: times.starts,
        steals: times.steals,
        steals_percent: Ratio(percent_of(times.steals.into(), steals.into())),
        times: distribution(&times.times),
    }
}

/// The kinds of edges that made any strand ready.
fn edges(by_edge: &[ReadyTimes; 7], steals: u64) -> Vec<EdgeJson<'_>> {
    let kinds = EdgeKind::NAMES
        .iter()
        .zip(by_edge)
        .filter(|(_, r)| r.starts > 0);
    let rows = kinds.map(|(edge, r)| EdgeJson {
        edge,
        ready: ready(r, steals),
    });
    rows.collect()
}

fn depth(depth: &Depth) -> DepthJson<'_> {
    DepthJson {
        begin: depth.begin,
        end: depth.end,
        mean: Ratio(depth.mean_all),
        max: depth.maximum_all,
        bin_mean: depth.mean.iter().map(|&m| Ratio(m)).collect(),
        bin_max: &depth.maximum,
    }
}

fn steals_json(statistics: &StealStatistics) -> StealsJson<'_> {
    StealsJson {
        source: if statistics.reported {
            "runtime"
        } else {
            "strands"
        },
        count: statistics.count,
        per_second: Ratio(statistics.per_second),
        leapfrogs: statistics.leapfrogs,
        failed: statistics.failed,
        sleeps: statistics.sleeps,
        asleep: statistics.asleep,
        first_spawn: statistics.first_spawn,
        time_to_first: distribution(&statistics.first),
        to_child: distribution(&statistics.to_child),
        to_continuation: distribution(&statistics.to_continuation),
        never_stole: statistics.never,
        workers: statistics.workers.iter().map(worker).collect(),
        more_workers: statistics.more_workers,
        matrix: &statistics.matrix,
        beyond: statistics.beyond,
    }
}

fn worker(row: &WorkerSteals) -> WorkerJson {
    WorkerJson {
        worker: row.thread,
        steals: row.steals,
        unknown_victim: row.unknown_victim,
        leapfrogs: row.leapfrogs,
        stolen: row.stolen,
        first_steal: row.first,
        failed: row.failed,
        sleeps: row.sleeps,
        asleep: row.asleep,
        spawns: row.spawns,
        inlined: row.inlined,
        steal_tries: row.steal_tries(),
        leap_tries: row.leap_tries,
        spinning: row.spinning,
    }
}
