//! The analyses: pure functions from `&Dag` and [`Options`] to plain structs. None prints; report, viewer and exports
//! only format what is here, so a number can't differ between them. Formulas: MODEL.md, section named at each item.

use workspan_dag::{Dag, EdgeKind, PlaceId, StrandId, TaskId, ThreadId};

/// What the weight of a strand is (MODEL.md §2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Metric {
    /// Time on the CPU.
    #[default]
    Time,
    /// A counter of the trace, by name.
    Counter(String),
}

/// How to measure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The weight.
    pub metric: Metric,
    /// Burden per stolen edge, in units of the metric; `None` = the trace's own (15,000 for instructions).
    pub burden: Option<u64>,
    /// Leave the probes' own cost in the weights.
    pub raw: bool,
    /// Count blocked time as work.
    pub count_blocked: bool,
}

/// Work, span and what follows from them (MODEL.md §2), in units of the metric.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkSpan {
    /// T1.
    pub work: u128,
    /// T∞.
    pub span: u128,
    /// The burden used.
    pub burden: u64,
    /// Burdened span.
    pub burdened_span: u128,
    /// All tasks, those inside folded parts included.
    pub tasks: u64,
    /// Deferred creates.
    pub spawns: u64,
    /// Waits.
    pub syncs: u64,
    /// Strands started by another pool thread than the one that made them ready (§5).
    pub steals: u64,
    /// Work with blocked time counted (equal to `work` when nothing was blocked); the span likewise.
    pub work_with_blocked: u128,
    /// See `work_with_blocked`.
    pub span_with_blocked: u128,
    /// The critical path's strands, first to last (§3, with its tie rule).
    pub critical_path: Vec<StrandId>,
}

impl WorkSpan {
    /// T1 / T∞; 1 when there is no time at all.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span)
    }
    /// T1 / burdened span.
    pub fn burdened_parallelism(&self) -> f64 {
        ratio(self.work, self.burdened_span)
    }
    /// T1 / (1 + 2·spawns + syncs).
    pub fn average_maximal_strand(&self) -> f64 {
        self.work as f64 / (1.0 + 2.0 * self.spawns as f64 + self.syncs as f64)
    }
    /// Bounds of the speedup on `p` workers: (lower, upper), Cilkview's with δ = 0.85.
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        speedup_bounds(self.work, self.span, self.burdened_span, p)
    }
}

/// Bounds of the speedup on `p` workers (MODEL.md §2): (lower, upper).
pub fn speedup_bounds(work: u128, span: u128, burdened_span: u128, p: u32) -> (f64, f64) {
    let (t1, p) = (work as f64, f64::from(p.max(1)));
    let upper = p.min(ratio(work, span));
    if work == 0 {
        return (1.0, 1.0);
    }
    let lower = t1 / (t1 / p + 2.0 * 0.85 * (1.0 - 1.0 / p) * burdened_span as f64);
    (lower, upper)
}

fn ratio(a: u128, b: u128) -> f64 {
    if b == 0 { 1.0 } else { a as f64 / b as f64 }
}

/// One spawn site (MODEL.md §3).
#[derive(Debug, Clone, PartialEq)]
pub struct SiteRow {
    /// The place.
    pub site: PlaceId,
    /// Task instances.
    pub count: u64,
    /// Work of the outermost instances with all their descendants.
    pub work: u128,
    /// Σ of the heaviest path inside each outermost instance.
    pub span: u128,
    /// Weight of the critical path's strands that belong to tasks of this site.
    pub critical_work: u128,
    /// `critical_work` in percent of the span.
    pub critical_percent: f64,
    /// Code blocks of the site's tasks, most work first.
    pub blocks: Vec<BlockRow>,
}

/// A code block: the strands of one site that go from one position to another.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockRow {
    /// Where its strands start (`NONE` = unknown; for a first strand the spawn site).
    pub from: PlaceId,
    /// Why they start there.
    pub from_kind: workspan_dag::StartKind,
    /// Where they end (`NONE` = unknown or the task's end).
    pub to: PlaceId,
    /// How they end.
    pub to_kind: workspan_dag::EndKind,
    /// Number of strands.
    pub count: u64,
    /// Their weight.
    pub work: u128,
    /// Their weight on the critical path.
    pub critical_work: u128,
}

/// Where W · elapsed went (MODEL.md §5), in worker-ticks; the sum of all but `oversubscribed` is W · elapsed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Breakdown {
    /// First start and last end.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// W.
    pub workers: u32,
    /// Working.
    pub work: u128,
    /// Preempted inside strands.
    pub descheduled: u128,
    /// Blocked inside strands.
    pub blocked: u128,
    /// The probes' own time.
    pub recording: u128,
    /// Strand time beyond W (not part of the sum).
    pub oversubscribed: u128,
    /// Free workers while strands were ready.
    pub delay: u128,
    /// `delay` by the edge that made the strand ready, indexed by `EdgeKind as usize`.
    pub delay_by_edge: [u128; 7],
    /// Part of `delay` on strands *buried* under an unrelated task on their own thread.
    pub delay_buried: u128,
    /// Free workers and nothing ready, during the ready path's scheduler delay.
    pub no_work_sched: u128,
    /// The rest of no-work: the program gave nothing to do.
    pub no_work_app: u128,
    /// Number of buried waits, and the time they stood ready.
    pub buried: u64,
    /// See `buried`.
    pub buried_ticks: u128,
    /// The ready path.
    pub ready_path: ReadyPath,
}

impl Breakdown {
    /// Last end − first start.
    pub fn elapsed(&self) -> u64 {
        self.end - self.begin
    }
    /// Everything but work.
    pub fn lost(&self) -> u128 {
        self.descheduled + self.blocked + self.recording + self.delay + self.no_work_sched + self.no_work_app
    }
}

/// The ready path (MODEL.md §5): from the strand that ended last, always to the predecessor that ended last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadyPath {
    /// Ticks in which a strand of the path ran.
    pub work: u64,
    /// Ticks in a gap with no worker free.
    pub busy_delay: u64,
    /// Ticks in a gap with some worker free.
    pub scheduler_delay: u64,
    /// Its strands, first to last, with the kind of edge each was reached by (`None` for the first).
    pub strands: Vec<(StrandId, Option<EdgeKind>)>,
}

/// Running and ready over time, in equal bins (mean numbers), for the report's strip and for plots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Start of the first bin and end of the last.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Mean number of running strands per bin.
    pub running: Vec<f64>,
    /// Mean number of ready strands per bin, by edge kind.
    pub ready: Vec<[f64; 7]>,
    /// Mean of running over the whole run.
    pub mean_running: f64,
}

/// A time in which few strands ran.
#[derive(Debug, Clone, PartialEq)]
pub struct LowParallelism {
    /// Start.
    pub begin: u64,
    /// End.
    pub end: u64,
    /// Free worker-ticks in it: Σ (W − running).
    pub lost: u128,
    /// `lost` in percent of all worker-ticks that were not work.
    pub lost_percent: f64,
    /// The strands that ran in it, longest (inside it) first, at most 8.
    pub strands: Vec<LowStrand>,
}

/// A strand that ran while parallelism was low.
#[derive(Debug, Clone, PartialEq)]
pub struct LowStrand {
    /// The strand.
    pub strand: StrandId,
    /// Its task.
    pub task: TaskId,
    /// Its thread.
    pub thread: ThreadId,
    /// Ticks it ran inside the interval.
    pub ticks: u64,
    /// Of those, ticks in which it was the only one running.
    pub alone: u64,
}

/// A region's work (MODEL.md §4), each on its own and outermost only.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionRow {
    /// Index into `dag.labels`.
    pub label: u32,
    /// Times it was opened.
    pub count: u64,
    /// Weight inside.
    pub work: u128,
}

/// Everything `workspan report` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Work, span, bounds.
    pub work_span: WorkSpan,
    /// Spawn sites by critical percent, the root first.
    pub sites: Vec<SiteRow>,
    /// Where the time went.
    pub breakdown: Breakdown,
    /// Running over time.
    pub profile: Profile,
    /// Longest intervals of low parallelism, most lost first, at most 10.
    pub low_parallelism: Vec<LowParallelism>,
    /// Regions, by label's first opening.
    pub regions: Vec<RegionRow>,
    /// What makes a number doubtful, each a full sentence; the trace's own warnings come first.
    pub warnings: Vec<String>,
}

/// Why an analysis can't be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The metric is no counter of this trace; the counters it has.
    NoSuchCounter(String, Vec<String>),
}

/// All of it.
///
/// # Errors
/// See [`Error`].
pub fn report(dag: &Dag, options: &Options) -> Result<Report, Error> {
    let _ = (dag, options);
    Err(Error::NoSuchCounter(String::new(), Vec::new()))
}
