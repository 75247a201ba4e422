//! Tasks that take longer while others run than alone: a sign of false sharing, of full caches, or
//! of memory that is slower for two.
//!
//! One run shows it if leaf tasks of one site and one level, which do the same, ran both ways: most
//! while others ran, and some while nothing else ran.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, PlaceId, StrandId, TaskKind};

use crate::weight::Weights;

/// Tasks of one site and one level of the tree of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencySlowdown {
    /// Where they were created.
    pub site: PlaceId,
    /// The tasks during which nothing else ran: their number and their median weight.
    pub alone: (u64, u64),
    /// The tasks during which others ran: their number and their median weight.
    pub concurrent: (u64, u64),
}

impl ConcurrencySlowdown {
    /// The ratio of the two medians.
    pub fn ratio(&self) -> f64 {
        self.concurrent.1 as f64 / self.alone.1.max(1) as f64
    }

    fn extra(&self) -> u128 {
        u128::from(self.concurrent.1 - self.alone.1) * u128::from(self.concurrent.0)
    }
}

/// Minimum number of tasks of a kind for a comparison.
const MIN_TASKS: usize = 8;
/// Minimum ratio that is worth a sentence: two hyperthreads of one core are about as slow.
const MIN_RATIO: f64 = 1.5;
/// Minimum length of a task in microseconds; shorter tasks are mostly probes and noise.
const MIN_TASK_US: u64 = 5;
/// Maximum mean number of running strands that counts as alone.
const MAX_ALONE_RUNNING: f64 = 1.05;
const BESIDE: f64 = 1.8;
/// Maximum number of strands of a run: for larger ones it would cost as much as the rest of the
/// report.
const MAX_STRANDS: usize = 500_000;

/// The site where it costs most. O(n log n).
pub(crate) fn concurrency_slowdown(dag: &Dag, weights: &Weights) -> Option<ConcurrencySlowdown> {
    let strands = &dag.strands;
    if strands.len() > MAX_STRANDS || dag.meta.workers < 2 || !dag.folded.is_empty() {
        return None;
    }
    let running = RunningCount::new(dag);
    let mut has_child = vec![false; dag.tasks.len()];
    let mut levels = vec![0u32; dag.tasks.len()];
    for task in 0..dag.tasks.len() {
        let parent = dag.tasks.parent[task];
        if parent != NONE {
            has_child[parent as usize] = true;
            // Tasks are in the order of creation.
            levels[task] = levels[parent as usize] + 1;
        }
    }
    // By site and level: weights of tasks that ran alone, and of tasks while others ran.
    let mut kinds: BTreeMap<(PlaceId, u32), [Vec<u64>; 2]> = BTreeMap::new();
    for task in 0..dag.tasks.len() {
        let strand = dag.tasks.first[task];
        let is_one = strand == dag.tasks.last[task];
        if has_child[task] || !is_one || dag.tasks.kind[task] == TaskKind::Root {
            continue;
        }
        let weight = weights.work(strand as StrandId);
        let mean = running.mean(strands.start[strand as usize], strands.end[strand as usize]);
        let side = match mean {
            Some(mean) if mean <= MAX_ALONE_RUNNING => 0,
            Some(mean) if mean >= BESIDE => 1,
            _ => continue,
        };
        let kind = kinds.entry((dag.tasks.site[task], levels[task]));
        kind.or_default()[side].push(weight);
    }
    let least = MIN_TASK_US.saturating_mul(dag.meta.tick_rate() / 1_000_000);
    let found = kinds
        .into_iter()
        .filter_map(|((site, _), [alone, concurrent])| {
            let (alone, concurrent) = (
                Quartiles::from_values(alone)?,
                Quartiles::from_values(concurrent)?,
            );
            let found = ConcurrencySlowdown {
                site,
                alone: (alone.count, alone.median),
                concurrent: (concurrent.count, concurrent.median),
            };
            let is_apart = alone.upper < concurrent.lower && alone.median >= least;
            (is_apart && found.ratio() >= MIN_RATIO).then_some(found)
        });
    found.max_by_key(ConcurrencySlowdown::extra)
}

struct Quartiles {
    count: u64,
    lower: u64,
    median: u64,
    upper: u64,
}

impl Quartiles {
    fn from_values(mut values: Vec<u64>) -> Option<Quartiles> {
        values.sort_unstable();
        let count = values.len();
        (count >= MIN_TASKS).then(|| Quartiles {
            count: count as u64,
            lower: values[count / 4],
            median: values[count / 2],
            upper: values[3 * count / 4],
        })
    }
}

/// The number of running strands over time.
struct RunningCount {
    /// The start of each step, the number of strands, and the sum of their ticks before it.
    steps: Vec<(u64, u64, u128)>,
}

impl RunningCount {
    fn new(dag: &Dag) -> RunningCount {
        let strands = &dag.strands;
        let mut changes: Vec<(u64, bool)> = Vec::with_capacity(2 * strands.len());
        for (&start, &end) in strands.start.iter().zip(&strands.end) {
            if start < end {
                changes.extend([(start, true), (end, false)]);
            }
        }
        changes.sort_unstable();
        let mut steps: Vec<(u64, u64, u128)> = Vec::new();
        let (mut count, mut sum, mut last) = (0u64, 0u128, 0u64);
        for (t, starts) in changes {
            sum += u128::from(t - last) * u128::from(count);
            last = t;
            count = if starts { count + 1 } else { count - 1 };
            match steps.last_mut() {
                Some(step) if step.0 == t => *step = (t, count, sum),
                _ => steps.push((t, count, sum)),
            }
        }
        RunningCount { steps }
    }

    fn until(&self, t: u64) -> u128 {
        let after = self.steps.partition_point(|step| step.0 <= t);
        let Some(step) = after.checked_sub(1).map(|i| self.steps[i]) else {
            return 0;
        };
        step.2 + u128::from(t - step.0) * u128::from(step.1)
    }

    /// The mean between two moments; `None` for an empty interval.
    fn mean(&self, from: u64, to: u64) -> Option<f64> {
        let ticks = to.checked_sub(from).filter(|&ticks| ticks > 0)?;
        Some((self.until(to) - self.until(from)) as f64 / ticks as f64)
    }
}
