//! One run, reduced to the values that are compared.

use std::collections::HashMap;

use workspan_dag::{Dag, Place, PlaceId};

use crate::blocks::CodeBlock;
use crate::ready::Readiness;
use crate::report::Report;

/// A quantity of a run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Elapsed time, in ns.
    Elapsed,
    /// T1, in ns.
    Work,
    /// T∞, in ns.
    Span,
    /// T1/T∞.
    Parallelism,
    /// T1 / burdened span.
    BurdenedParallelism,
    /// Mean number of busy workers.
    MeanBusy,
    /// Delay, in worker-ns, like the following ones (MODEL.md §5).
    Delay,
    /// No work because of the scheduler.
    NoWorkScheduler,
    /// No work because of the program.
    NoWorkProgram,
    /// Time descheduled.
    Descheduled,
    /// Time blocked.
    Blocked,
    /// Time that recording took.
    Recording,
    /// Number of tasks.
    Tasks,
    /// Number of strands that another worker started than the one that made them ready.
    Steals,
    /// Average maximal strand, in ns.
    AverageStrand,
}

impl Quantity {
    /// All quantities, in the order in which they are shown.
    pub const ALL: [Quantity; 15] = [
        Quantity::Elapsed,
        Quantity::Work,
        Quantity::Span,
        Quantity::Parallelism,
        Quantity::BurdenedParallelism,
        Quantity::MeanBusy,
        Quantity::Delay,
        Quantity::NoWorkScheduler,
        Quantity::NoWorkProgram,
        Quantity::Descheduled,
        Quantity::Blocked,
        Quantity::Recording,
        Quantity::Tasks,
        Quantity::Steals,
        Quantity::AverageStrand,
    ];

    /// The parts of W · elapsed that are lost.
    pub const LOST: [Quantity; 6] = [
        Quantity::Delay,
        Quantity::NoWorkScheduler,
        Quantity::NoWorkProgram,
        Quantity::Descheduled,
        Quantity::Blocked,
        Quantity::Recording,
    ];

    /// A stable key for programs.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Elapsed => "elapsed",
            Quantity::Work => "work",
            Quantity::Span => "span",
            Quantity::Parallelism => "parallelism",
            Quantity::BurdenedParallelism => "burdened_parallelism",
            Quantity::MeanBusy => "mean_busy",
            Quantity::Delay => "delay",
            Quantity::NoWorkScheduler => "no_work_sched",
            Quantity::NoWorkProgram => "no_work_app",
            Quantity::Descheduled => "descheduled",
            Quantity::Blocked => "blocked",
            Quantity::Recording => "recording",
            Quantity::Tasks => "tasks",
            Quantity::Steals => "steals",
            Quantity::AverageStrand => "average_maximal_strand",
        }
    }

    /// True for times; the others are ratios and counts.
    pub fn is_time(self) -> bool {
        !matches!(
            self,
            Quantity::Parallelism
                | Quantity::BurdenedParallelism
                | Quantity::MeanBusy
                | Quantity::Tasks
                | Quantity::Steals
        )
    }
}

/// A spawn site of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteMeasure {
    /// Index into [`RunMeasures::places`].
    pub site: PlaceId,
    /// Number of task instances.
    pub count: u64,
    /// Work of its tasks' own strands, in ns: the values of all sites add up to the work.
    pub own_work: f64,
    /// Critical work, in ns: the values of all sites add up to the span.
    pub critical_work: f64,
    /// Time for which its tasks' strands were ready, in ns.
    pub ready: f64,
}

/// A code block of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockMeasure {
    /// The block; its places are indices into [`RunMeasures::places`].
    pub block: CodeBlock,
    /// Number of strands.
    pub count: u64,
    /// Weight, in ns.
    pub work: f64,
    /// Weight on the critical path, in ns.
    pub critical_work: f64,
}

/// The regions of one label of one run (MODEL.md §4). Each moment counts only in the outermost
/// region.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionMeasure {
    /// The label.
    pub label: String,
    /// How often the region was opened.
    pub count: u64,
    /// Weight inside, in ns.
    pub work: f64,
    /// Weight inside on the critical path, in ns.
    pub critical_work: f64,
}

/// One run, reduced to the values that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMeasures {
    /// The name shown to people: the run's file.
    pub label: String,
    /// The section of the run, for instance `region:solve`; `None` for the whole run.
    pub section: Option<String>,
    /// W: the number of workers.
    pub workers: u32,
    /// The runtime.
    pub runtime: Option<String>,
    /// Values, indexed by [`Quantity`].
    quantities: [f64; Quantity::ALL.len()],
    /// Work, span and burdened span, in ns.
    pub work_span: (f64, f64, f64),
    /// Its positions.
    pub places: Vec<Place>,
    /// Its spawn sites.
    pub sites: Vec<SiteMeasure>,
    /// Its code blocks.
    pub blocks: Vec<BlockMeasure>,
    /// The regions that the program marked.
    pub regions: Vec<RegionMeasure>,
    /// The code blocks that ran alone, in descending order of that time, in ns.
    pub solo_blocks: Vec<(CodeBlock, f64)>,
    /// Delay by the edge that made the strand ready, in worker-ns, indexed by `EdgeKind as usize`.
    pub delay_by_edge: [f64; 7],
}

impl RunMeasures {
    /// The value of `quantity`.
    pub fn get(&self, quantity: Quantity) -> f64 {
        self.quantities[quantity as usize]
    }

    /// W · elapsed, in ns.
    pub fn total(&self) -> f64 {
        f64::from(self.workers) * self.get(Quantity::Elapsed)
    }

    /// The share of W · elapsed in which the system ran something else.
    pub fn descheduled_share(&self) -> f64 {
        let total = self.total();
        if total > 0.0 {
            self.get(Quantity::Descheduled) / total
        } else {
            0.0
        }
    }
}

/// Nanoseconds per tick of the trace.
pub(crate) fn ns_per_tick(dag: &Dag) -> f64 {
    1e9 / dag.meta.tick_rate() as f64
}

/// Reduces a run; `label` is its name shown to people. `report` must be of the metric *time*.
pub fn measure(dag: &Dag, report: &Report, label: String) -> RunMeasures {
    let tick = ns_per_tick(dag);
    let ns = |ticks: u128| ticks as f64 * tick;
    let (ws, b) = (&report.work_span, &report.breakdown);
    let elapsed = b.elapsed();
    let busy = b.work as f64 / elapsed.max(1) as f64;
    let mut quantities = [0.0; Quantity::ALL.len()];
    for quantity in Quantity::ALL {
        quantities[quantity as usize] = match quantity {
            Quantity::Elapsed => ns(elapsed.into()),
            Quantity::Work => ns(ws.work),
            Quantity::Span => ns(ws.span),
            Quantity::Parallelism => ws.parallelism(),
            Quantity::BurdenedParallelism => ws.burdened_parallelism(),
            Quantity::MeanBusy => busy,
            Quantity::Delay => ns(b.delay),
            Quantity::NoWorkScheduler => ns(b.no_work_sched),
            Quantity::NoWorkProgram => ns(b.no_work_app),
            Quantity::Descheduled => ns(b.descheduled),
            Quantity::Blocked => ns(b.blocked),
            Quantity::Recording => ns(b.recording),
            Quantity::Tasks => ws.tasks as f64,
            Quantity::Steals => ws.steals as f64,
            Quantity::AverageStrand => ws.average_maximal_strand() * tick,
        };
    }
    let ready = ready_by_site(dag);
    let sites = report.sites.iter().map(|row| SiteMeasure {
        site: row.site,
        count: row.count,
        own_work: ns(row.blocks.iter().map(|block| block.work).sum()),
        critical_work: ns(row.critical_work),
        ready: ns(ready.get(&row.site).copied().unwrap_or(0)),
    });
    let blocks = report.sites.iter().flat_map(|row| {
        row.blocks.iter().map(move |block| BlockMeasure {
            block: block.block,
            count: block.count,
            work: ns(block.work),
            critical_work: ns(block.critical_work),
        })
    });
    let regions = report.regions.iter().map(|row| RegionMeasure {
        label: dag.labels[row.label as usize].clone(),
        count: row.count,
        work: ns(row.work),
        critical_work: ns(row.critical_work),
    });
    RunMeasures {
        label,
        section: dag.meta.section.as_ref().map(|section| section.argument()),
        workers: b.workers,
        runtime: dag.meta.runtime.clone(),
        quantities,
        work_span: (ns(ws.work), ns(ws.span), ns(ws.burdened_span)),
        places: dag.places.clone(),
        sites: sites.collect(),
        blocks: blocks.collect(),
        regions: regions.collect(),
        solo_blocks: report
            .solo_blocks
            .iter()
            .map(|row| (row.block, row.ticks as f64 * tick))
            .collect(),
        delay_by_edge: b.delay_by_edge.map(ns),
    }
}

fn ready_by_site(dag: &Dag) -> HashMap<PlaceId, u128> {
    let mut sites: HashMap<PlaceId, u128> = HashMap::new();
    for waiting in Readiness::new(dag).waiting {
        let i = waiting.strand as usize;
        let site = dag.tasks.site[dag.strands.task[i] as usize];
        *sites.entry(site).or_default() += u128::from(dag.strands.start[i] - waiting.ready);
    }
    sites
}
