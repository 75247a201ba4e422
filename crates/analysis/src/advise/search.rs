//! The search for a small set of code blocks.

use workspan_dag::{Dag, StrandId};

use super::{AdviceStep, Change, Goal, Stop, change_kind};
use crate::blocks::{BlockTable, CodeBlock};
use crate::heaviest_paths::Burden;
use crate::limits::ShareTable;
use crate::report::Report;
use crate::weight::Weights;
use crate::what_if::{FasterPaths, Outcome, TargetWeights};

/// Maximum number of changes named.
const MAX_STEPS: usize = 12;
/// Minimum length of a part, in steals: a thief gains nothing from less. The causes use the same
/// measure for tasks that are too small.
const MIN_STEALS_PER_PART: u64 = 2;
/// Minimum speedup of a block that makes a change worthwhile.
const MIN_FACTOR: f64 = 1.5;
/// Minimum share of the path by which a change worth naming shortens it.
const MIN_GAIN: f64 = 0.01;
/// Maximum number of parts of a block per worker.
const MAX_PARTS_PER_CORE: f64 = 16.0;
/// Number of blocks that smaller sets are made of.
const MAX_CANDIDATES: usize = 8;
/// Maximum number of strands visited while trying smaller sets.
const SMALLER_SETS_BUDGET: u64 = 300_000_000;

pub(super) struct SearchResult {
    pub now: Outcome,
    pub steps: Vec<AdviceStep>,
    pub stop: Stop,
}

/// A code block with its sums.
#[derive(Debug, Clone, Copy, Default)]
struct BlockSum {
    strands: u64,
    work: u128,
    critical: u128,
    /// The speedup that it can reach.
    factor: f64,
    /// Number of threads that the region was divided among; 0 if its strands are not shares of a
    /// region.
    threads: u32,
}

/// The weight on a path that can't be spread.
#[derive(Debug, Clone, Copy, Default)]
struct SerialWeight {
    /// Weight of strands that are too fine.
    fine: f64,
    folded: f64,
    /// Weight of shares of a region that has as many threads as there are cores.
    divided: f64,
}

struct Search<'a> {
    dag: &'a Dag,
    weights: &'a Weights<'a>,
    burden: Burden,
    work: u128,
    /// The block of each strand.
    block: Vec<u32>,
    keys: Vec<CodeBlock>,
    sums: Vec<BlockSum>,
}

pub(super) fn search(dag: &Dag, weights: &Weights, report: &Report, goal: Goal) -> SearchResult {
    let search = Search::new(dag, weights, report, goal);
    let now = search.outcome(&[]);
    let reached = |outcome: &Outcome| outcome.parallelism() >= goal.parallelism;
    if reached(&now) {
        return SearchResult {
            now,
            steps: Vec::new(),
            stop: Stop::Already,
        };
    }
    let (mut set, stop) = search.greedy(&now, &reached);
    if stop == Stop::Reached {
        search.prune(&mut set, &reached);
        if let Some(smaller) = search.smaller(&set, &reached) {
            set = smaller;
        }
    }
    let steps = search.in_order(set);
    let step = |(block, outcome): (u32, Outcome)| {
        let (key, sum) = (search.keys[block as usize], search.sums[block as usize]);
        AdviceStep {
            block: key,
            change: match sum.threads {
                0 => change_kind::change(dag, &report.causes, &key),
                _ => Change::MoreThreads,
            },
            strands: sum.strands,
            work: sum.work,
            critical: sum.critical,
            factor: sum.factor,
            outcome,
        }
    };
    SearchResult {
        now,
        steps: steps.into_iter().map(step).collect(),
        stop,
    }
}

impl<'a> Search<'a> {
    fn new(dag: &'a Dag, weights: &'a Weights<'a>, report: &Report, goal: Goal) -> Search<'a> {
        let mut table: BlockTable<BlockSum> = BlockTable::new();
        let mut block = Vec::with_capacity(dag.strands.len());
        let mut longest: Vec<u64> = Vec::new();
        let shares = ShareTable::new(dag, weights);
        for s in 0..dag.strands.len() as StrandId {
            let number = table.number(CodeBlock::from_strand(dag, s));
            longest.resize(table.keys.len(), 0);
            let sum = &mut table.values[number];
            sum.strands += 1;
            sum.work += u128::from(weights.work(s));
            longest[number] = longest[number].max(weights.work(s));
            if let Some(whole) = shares.whole_of(dag, s) {
                sum.threads = sum.threads.max(shares.threads(whole));
            }
            block.push(number as u32);
        }
        let mut sums = table.values;
        // The length of a block's strands where they matter: on the path, else the longest.
        let mut on_path = vec![(0u64, 0u128); sums.len()];
        for &s in &report.work_span.critical_path {
            let weight = weights.path(s, 0);
            let number = block[s as usize] as usize;
            sums[number].critical += weight;
            on_path[number].0 += u64::from(weight > 0);
            on_path[number].1 += weight;
        }
        let part = (weights.burden.saturating_mul(MIN_STEALS_PER_PART)).max(1) as f64;
        let cores = f64::from(goal.cores).max(goal.parallelism);
        for (number, sum) in sums.iter_mut().enumerate() {
            let length = match on_path[number] {
                (0, _) => longest[number] as f64,
                (count, weight) => weight as f64 / count as f64,
            };
            // A region has as many shares as threads; how even they would be with another number is
            // not known.
            let most = match sum.threads {
                0 => MAX_PARTS_PER_CORE * cores,
                threads => f64::from(goal.cores) / f64::from(threads),
            };
            sum.factor = (length / part).min(most).max(1.0);
        }
        Search {
            dag,
            weights,
            burden: Burden::new(dag, weights.burden),
            work: weights.total(),
            block,
            keys: table.keys,
            sums,
        }
    }

    /// The weight removed from each strand when the blocks of `set` are as fast as they can become.
    fn cover(&self, set: &[u32]) -> TargetWeights {
        let mut cover = TargetWeights::none(self.dag);
        for (s, &block) in (0u32..).zip(&self.block) {
            let is_fold = self.dag.folded.has(s);
            if set.contains(&block) && !is_fold {
                let remaining = 1.0 / self.sums[block as usize].factor;
                cover.inside[s as usize] = self.weights.work(s) as f64 * (1.0 - remaining);
            }
        }
        cover
    }

    fn outcome(&self, set: &[u32]) -> Outcome {
        let cover = self.cover(set);
        let faster = self.faster(&cover, &Burden::none());
        let span = faster.span(self.dag);
        drop(faster);
        let burdened_span = if self.burden.cost == 0 {
            span
        } else {
            self.faster(&cover, &self.burden).span(self.dag)
        };
        Outcome {
            factor: 1.0,
            work: self.work,
            span,
            least_span: span,
            burdened_span: burdened_span.max(span),
        }
    }

    /// The paths after the weights of `cover` are removed.
    fn faster(&self, cover: &TargetWeights, burden: &Burden) -> FasterPaths {
        FasterPaths::new(self.dag, self.weights, cover, f64::INFINITY, burden)
    }

    fn span(&self, set: &[u32]) -> f64 {
        let cover = self.cover(set);
        self.faster(&cover, &Burden::none()).span(self.dag)
    }

    /// Repeatedly picks the block that weighs most on the critical path.
    fn greedy(&self, now: &Outcome, reached: &dyn Fn(&Outcome) -> bool) -> (Vec<u32>, Stop) {
        let (mut set, mut span) = (Vec::new(), now.span);
        loop {
            if set.len() == MAX_STEPS {
                return (set, Stop::Nothing);
            }
            let (next, left) = self.heaviest(&set);
            let Some((block, weight)) = next else {
                let stop = match left {
                    left if left.folded > 0.5 * span => Stop::Folded,
                    left if left.divided > 0.5 * span => Stop::Divided,
                    left if left.fine > 0.0 => Stop::Overhead,
                    _ => Stop::Nothing,
                };
                return (set, stop);
            };
            if weight < MIN_GAIN * span {
                let stop = match left {
                    left if left.divided > weight.max(left.fine) => Stop::Divided,
                    left if left.fine > weight => Stop::Overhead,
                    _ => Stop::Nothing,
                };
                return (set, stop);
            }
            set.push(block);
            let outcome = self.outcome(&set);
            if reached(&outcome) {
                return (set, Stop::Reached);
            }
            span = outcome.span;
        }
    }

    /// The block outside `set` that weighs most on the new path and can be spread, and the weight
    /// there that can't.
    fn heaviest(&self, set: &[u32]) -> (Option<(u32, f64)>, SerialWeight) {
        let cover = self.cover(set);
        let path = self.faster(&cover, &Burden::none()).critical_path(self.dag);
        let mut by_block = vec![0.0; self.sums.len()];
        let mut left = SerialWeight::default();
        for s in path {
            let block = self.block[s as usize];
            let weight = self.weights.path(s, 0) as f64 - cover.inside[s as usize];
            if self.dag.folded.has(s) {
                left.folded += weight;
            } else if self.is_divided(block) && self.sums[block as usize].factor < MIN_FACTOR {
                left.divided += weight;
            } else if set.contains(&block) || self.sums[block as usize].factor < MIN_FACTOR {
                left.fine += weight;
            } else {
                by_block[block as usize] += weight;
            }
        }
        let mut best: Option<(u32, f64)> = None;
        for (block, weight) in (0u32..).zip(by_block) {
            let better = |(_, most): (u32, f64)| weight > most;
            if weight > 0.0 && best.is_none_or(better) {
                best = Some((block, weight));
            }
        }
        (best, left)
    }

    fn is_divided(&self, block: u32) -> bool {
        self.sums[block as usize].threads > 0
    }

    /// Drops blocks that are not needed, the one that gained least first.
    fn prune(&self, set: &mut Vec<u32>, reached: &dyn Fn(&Outcome) -> bool) {
        for at in (0..set.len()).rev() {
            let mut without = set.clone();
            without.remove(at);
            if !without.is_empty() && reached(&self.outcome(&without)) {
                *set = without;
            }
        }
    }

    /// The best smaller set of the heaviest blocks, if one reaches the target within the search
    /// budget.
    fn smaller(&self, set: &[u32], reached: &dyn Fn(&Outcome) -> bool) -> Option<Vec<u32>> {
        let mut able: Vec<u32> = set.to_vec();
        let mut others: Vec<u32> = (0..self.sums.len() as u32).collect();
        others.retain(|b| self.sums[*b as usize].factor >= MIN_FACTOR && !set.contains(b));
        others.sort_by_key(|&b| std::cmp::Reverse((self.sums[b as usize].critical, u32::MAX - b)));
        able.extend(others);
        able.truncate(MAX_CANDIDATES);
        let mut left = SMALLER_SETS_BUDGET;
        for size in 1..set.len() {
            let mut best: Option<(f64, Vec<u32>)> = None;
            for mask in 1u32..1 << able.len() {
                if mask.count_ones() as usize != size {
                    continue;
                }
                left = left.checked_sub(self.dag.strands.len() as u64)?;
                let chosen = |i: &usize| mask & (1 << i) != 0;
                let blocks: Vec<u32> = (0..able.len()).filter(chosen).map(|i| able[i]).collect();
                let outcome = self.outcome(&blocks);
                let better = best.as_ref().is_none_or(|(span, _)| outcome.span < *span);
                if reached(&outcome) && better {
                    best = Some((outcome.span, blocks));
                }
            }
            if let Some((_, blocks)) = best {
                return Some(blocks);
            }
        }
        None
    }

    /// Orders the blocks so that each next one shortens the path most.
    fn in_order(&self, mut left: Vec<u32>) -> Vec<(u32, Outcome)> {
        let (mut done, mut order) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let mut best = (f64::INFINITY, 0);
            for (at, &block) in left.iter().enumerate() {
                done.push(block);
                let span = self.span(&done);
                done.pop();
                if span < best.0 {
                    best = (span, at);
                }
            }
            let block = left.remove(best.1);
            done.push(block);
            order.push((block, self.outcome(&done)));
        }
        order
    }
}
