//! What limits the program: which of the analyses' numbers the report says first.

use workspan_dag::{Dag, EndKind, PlaceId, StartKind, StrandId};

use crate::warnings::percent as percent_of;
use crate::{Breakdown, LowParallelism, Report};

/// Below this share of W · elapsed what was lost is not worth a cause.
const WORTH_NAMING: f64 = 5.0;

/// A serial block is named before the interval it lies in when it explains this part of what the interval lost.
const WORTH_BLAMING: f64 = 0.25;

/// The main cause of what was lost, with the numbers that show it.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// No time passed between the first start and the last end.
    NoTime,
    /// The program created no task.
    OneTask,
    /// The workers were busy; the largest power of two of workers, at most 128, that the lower bound of MODEL.md §2 still
    /// keeps three quarters busy.
    Nothing {
        /// See the variant.
        enough_for: u32,
    },
    /// Strands of one block ran alone while the other workers had nothing to do.
    Serial(SerialBlock),
    /// Fewer strands than workers, none alone for long: the interval that lost most (index into
    /// `Report::low_parallelism`), if any.
    LowParallelism(Option<usize>),
    /// Strands were ready and workers were free.
    Delay,
    /// Nothing was ready because the strand that would have made it so waited for a worker.
    Scheduler,
    /// The workers were preempted.
    Descheduled,
    /// The strands gave up the CPU.
    Blocked,
    /// The probes' own time.
    Recording,
}

/// Strands from one position to another, of the tasks of one site, that ran alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SerialBlock {
    /// Spawn site of their tasks.
    pub site: PlaceId,
    /// Where they start.
    pub from: PlaceId,
    /// Why they start.
    pub from_kind: StartKind,
    /// Where they end.
    pub to: PlaceId,
    /// How they end.
    pub to_kind: EndKind,
    /// The strands, those alone longest first.
    pub strands: Vec<StrandId>,
    /// Ticks one of them was the only strand running.
    pub alone: u64,
    /// `alone` · (W − 1) in percent of all worker-ticks lost.
    pub lost_percent: f64,
}

/// A cause and its share.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What limits this run.
    pub limit: Limit,
    /// Mean number of workers at work: work / elapsed. The measured speedup if a serial run would do the same work.
    pub mean_busy: f64,
    /// What the cause lost, in percent of all that was lost; `None` where the limit is no loss.
    pub lost_percent: Option<f64>,
    /// The second cause and its percentage, when that is at least [`ALSO_NAMED`].
    pub also: Option<(Limit, f64)>,
}

/// A second cause of at least this share of what was lost, in percent, is named too.
pub const ALSO_NAMED: f64 = 20.0;

/// Chooses the main cause from the breakdown (MODEL.md §5) and the intervals of low parallelism.
pub fn verdict(dag: &Dag, report: &Report) -> Verdict {
    let b = &report.breakdown;
    let elapsed = b.end.saturating_sub(b.begin);
    let mean_busy = if elapsed == 0 {
        0.0
    } else {
        b.work as f64 / elapsed as f64
    };
    let plain = |limit| Verdict {
        limit,
        mean_busy,
        lost_percent: None,
        also: None,
    };
    if elapsed == 0 {
        return plain(Limit::NoTime);
    }
    if report.work_span.tasks <= 1 {
        return plain(Limit::OneTask);
    }
    let all = u128::from(b.workers) * u128::from(elapsed);
    if percent_of(b.lost(), all) < WORTH_NAMING {
        return plain(Limit::Nothing {
            enough_for: enough_for(report),
        });
    }
    // The program's own lack of work comes first in a tie: it is what its author can change.
    let mut causes = [
        (b.no_work_app, Limit::LowParallelism(None)),
        (b.delay, Limit::Delay),
        (b.no_work_sched, Limit::Scheduler),
        (b.blocked, Limit::Blocked),
        (b.descheduled, Limit::Descheduled),
        (b.recording, Limit::Recording),
    ]
    .map(|(lost, limit)| (percent_of(lost, b.lost()), limit));
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let also_named = causes[1].0 >= ALSO_NAMED;
    let [first, second, ..] = causes.map(|(percent, limit)| match limit {
        Limit::LowParallelism(_) => low_parallelism(dag, report, percent),
        limit => (percent, limit),
    });
    let also = also_named.then_some((second.1, second.0));
    Verdict {
        limit: first.1,
        mean_busy,
        lost_percent: Some(first.0),
        also,
    }
}

/// The serial block behind most of the program's lack of work, or else the interval that lost most, or else the whole. Every
/// lost tick has one cause, so none of them is blamed for more than that lack, `percent` of what was lost.
fn low_parallelism(dag: &Dag, report: &Report, percent: f64) -> (f64, Limit) {
    let interval = report.low_parallelism.first().map(|i| i.lost_percent);
    if let Some(serial) = serial_blocks(dag, &report.breakdown, &report.low_parallelism)
        .into_iter()
        .next()
        && serial.lost_percent >= WORTH_NAMING
        && serial.lost_percent >= interval.unwrap_or(0.0) * WORTH_BLAMING
    {
        return (serial.lost_percent.min(percent), Limit::Serial(serial));
    }
    match interval {
        Some(share) => (share.min(percent), Limit::LowParallelism(Some(0))),
        None => (percent, Limit::LowParallelism(None)),
    }
}

/// Blocks whose strands ran alone in the intervals of low parallelism, those that lost most first.
pub fn serial_blocks(
    dag: &Dag,
    breakdown: &Breakdown,
    intervals: &[LowParallelism],
) -> Vec<SerialBlock> {
    let mut blocks: Vec<(SerialBlock, Vec<(u64, StrandId)>)> = Vec::new();
    for s in intervals
        .iter()
        .flat_map(|i| &i.strands)
        .filter(|s| s.alone > 0)
    {
        let i = s.strand as usize;
        let site = dag.tasks.site[s.task as usize];
        let (from, from_kind) = (dag.strands.from[i], dag.strands.start_kind[i]);
        let (to, to_kind) = (dag.strands.to[i], dag.strands.end_kind[i]);
        let found = blocks.iter_mut().find(|(b, _)| {
            (b.site, b.from, b.from_kind, b.to, b.to_kind) == (site, from, from_kind, to, to_kind)
        });
        match found {
            Some((block, strands)) => {
                block.alone = block.alone.saturating_add(s.alone);
                strands.push((s.alone, s.strand));
            }
            None => blocks.push((
                SerialBlock {
                    site,
                    from,
                    from_kind,
                    to,
                    to_kind,
                    strands: Vec::new(),
                    alone: s.alone,
                    lost_percent: 0.0,
                },
                vec![(s.alone, s.strand)],
            )),
        }
    }
    let free = u128::from(breakdown.workers.saturating_sub(1));
    let mut blocks: Vec<SerialBlock> = blocks
        .into_iter()
        .map(|(mut block, mut strands)| {
            strands.sort_by_key(|&(alone, strand)| (std::cmp::Reverse(alone), strand));
            block.strands = strands.into_iter().map(|(_, s)| s).collect();
            block.strands.dedup();
            block.lost_percent = percent_of(u128::from(block.alone) * free, breakdown.lost());
            block
        })
        .collect();
    blocks.sort_by_key(|b| (std::cmp::Reverse(b.alone), b.strands.first().copied()));
    blocks
}

fn enough_for(report: &Report) -> u32 {
    let bound = |p: u32| report.work_span.speedup(p).0 / f64::from(p);
    (0..=7)
        .map(|k| 1u32 << k)
        .take_while(|&p| p == 1 || bound(p) >= 0.75)
        .last()
        .unwrap_or(1)
}
