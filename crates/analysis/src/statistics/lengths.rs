//! Lengths of strands and of tasks, by spawn site.

use std::cmp::Reverse;

use workspan_dag::{Dag, Folded, PlaceId, StrandId};

use super::distribution::{Distribution, Groups};
use super::ready_times::{ReadyCounts, ReadyTimes, ReadyTimesBySite};
use crate::options::{Metric, Options};
use crate::ready::Readiness;
use crate::weight::Weights;

/// Maximum number of spawn sites with a row.
pub const MAX_SITES: usize = 100;

/// Statistics of the tasks created at a spawn site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteStatistics {
    /// The site; `ROOT_PLACE` for roots.
    pub site: PlaceId,
    /// Number of task instances, including those inside folded records.
    pub tasks: u64,
    /// Weights (MODEL.md §2) of the tasks' own strands, without folded ones.
    pub strand_lengths: Distribution,
    /// Weights of the tasks, each the sum of its own strands (at most 2^64 - 1). If a strand stands
    /// for a folded subtree, the outermost work of the sites inside is taken out of it. For the
    /// metric *time*, the tasks inside count by the record's histograms.
    pub task_lengths: Distribution,
    /// Ready times of the tasks' strands.
    pub ready: ReadyTimes,
    /// Ready times by kind of edge (`EdgeKind as usize`).
    pub ready_by_edge: [ReadyTimes; 7],
}

/// The rows, and the number of sites without a row.
pub(super) struct Sites {
    pub rows: Vec<SiteStatistics>,
    pub more: usize,
    pub folded_strands: u64,
}

/// The tasks of a site inside folded records.
#[derive(Clone, Default)]
struct FoldedTasks {
    tasks: u64,
    lengths: Vec<u64>,
}

impl FoldedTasks {
    fn add(&mut self, count: u64, lengths: &[u64]) {
        self.tasks = self.tasks.saturating_add(count);
        if self.lengths.len() < lengths.len() {
            self.lengths.resize(lengths.len(), 0);
        }
        for (sum, &n) in self.lengths.iter_mut().zip(lengths) {
            *sum = sum.saturating_add(n);
        }
    }
}

pub(super) fn sites(
    dag: &Dag,
    options: &Options,
    weights: &Weights,
    readiness: &Readiness,
    starts: &ReadyCounts,
) -> Sites {
    let (strands, tasks, places) = (&dag.strands, &dag.tasks, dag.places.len());
    let is_time = options.metric == Metric::Time;
    let mut own = vec![0u64; tasks.len()];
    let mut work = vec![0u128; places];
    let mut count = vec![0u64; places];
    for &site in &tasks.site {
        count[site as usize] += 1;
    }
    for s in 0..strands.len() {
        let weight = weights.work(s as StrandId);
        let task = strands.task[s] as usize;
        work[tasks.site[task] as usize] += u128::from(weight);
        own[task] = own[task].saturating_add(weight);
    }
    let mut inside = vec![FoldedTasks::default(); places];
    let mut folded_strands = 0u64;
    for (s, fold) in dag.folded.iter() {
        folded_strands = folded_strands.saturating_add(fold.strands);
        for site in &fold.sites {
            let lengths = if is_time { &site.lengths[..] } else { &[] };
            inside[site.site as usize].add(site.count, lengths);
        }
        if is_time {
            let others = inside_of(&fold).min(weights.work(s));
            let task = &mut own[strands.task[s as usize] as usize];
            *task = task.saturating_sub(others);
        }
    }
    let mut shown: Vec<usize> = (0..places)
        .filter(|&p| count[p] > 0 || inside[p].tasks > 0)
        .collect();
    shown.sort_by_key(|&p| (Reverse(work[p]), &dag.places[p].label, p));
    let more = shown.len().saturating_sub(MAX_SITES);
    shown.truncate(MAX_SITES);

    let mut folded = vec![
        false;
        if dag.folded.is_empty() {
            0
        } else {
            strands.len()
        }
    ];
    for &s in dag.folded.strands() {
        folded[s as usize] = true;
    }
    let is_folded = |s: usize| folded.get(s).is_some_and(|&f| f);
    let values = (0..strands.len()).filter(|&s| !is_folded(s)).map(|s| {
        let site = tasks.site[strands.task[s] as usize] as usize;
        (site, weights.work(s as StrandId))
    });
    let mut strand_lengths = Groups::new(places, values);
    let site_of = tasks.site.iter().map(|&site| site as usize);
    let mut task_lengths = Groups::new(places, site_of.zip(own.iter().copied()));
    let mut ready = ReadyTimesBySite::new(dag, readiness, starts);
    let rows = shown.into_iter().map(|p| {
        let (ready_by_edge, ready) = ready.of(p);
        let inside = &inside[p];
        SiteStatistics {
            site: p as PlaceId,
            tasks: count[p].saturating_add(inside.tasks),
            strand_lengths: Distribution::from_values(strand_lengths.of(p..p + 1)),
            task_lengths: Distribution::with_folded(task_lengths.of(p..p + 1), &inside.lengths),
            ready,
            ready_by_edge,
        }
    });
    Sites {
        rows: rows.collect(),
        more,
        folded_strands,
    }
}

/// Work of the tasks inside a fold: all of it except its own task's. Sites nested in each other
/// count twice, so it may exceed the total.
fn inside_of(fold: &Folded) -> u64 {
    let works = fold.sites.iter().map(|site| site.work);
    works.fold(0, u64::saturating_add)
}
