//! Matches the tasks of the serial run with those of the parallel run.

use std::collections::HashMap;

use workspan_dag::{Dag, NONE, PlaceId, RaggedArray, TaskId};

use crate::stretch::{Pair, convert};
use crate::weight::Weights;

/// How much of each run's work was matched in which way, in ticks of the parallel run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matched {
    /// Work in tasks matched by path.
    pub path: Pair,
    /// Work in other tasks whose spawn site and level also occur among the other run's unmatched
    /// tasks.
    pub site_and_level: Pair,
    /// Work in other tasks whose spawn site occurs among the other run's unmatched tasks on other
    /// levels.
    pub site: Pair,
    /// Work in tasks without a counterpart in the other run.
    pub none: Pair,
}

impl Matched {
    /// The share of both runs' work without a counterpart.
    pub fn unmatched_share(&self) -> f64 {
        let both = |p: Pair| (p.serial + p.parallel) as f64;
        let all = both(self.path) + both(self.site_and_level) + both(self.site) + both(self.none);
        if all > 0.0 {
            both(self.none) / all
        } else {
            0.0
        }
    }
}

/// Tasks matched by path: the roots in their order. Below two tasks that match, their children
/// match in program order if both have the same number of children, from the same sites and of the
/// same kinds.
pub(super) struct Pairs {
    /// (serial task, parallel task), parents before children.
    pub pairs: Vec<(TaskId, TaskId)>,
}

impl Pairs {
    pub(super) fn new(dags: [&Dag; 2], maps: &[Vec<PlaceId>; 2]) -> Pairs {
        let children = dags.map(Children::new);
        let roots = [&children[0].roots, &children[1].roots];
        let mut pairs: Vec<(TaskId, TaskId)> = if roots[0].len() == roots[1].len() {
            roots[0]
                .iter()
                .copied()
                .zip(roots[1].iter().copied())
                .collect()
        } else {
            // More threads entered the runtime in one of the runs. The main thread is the first
            // root.
            let first = roots.map(|r| r.first().copied());
            first[0].zip(first[1]).into_iter().collect()
        };
        let mut next = 0;
        while let Some(&(s, p)) = pairs.get(next) {
            next += 1;
            let (a, b) = (children[0].of(s), children[1].of(p));
            let like = |side: usize, task: TaskId| {
                let tasks = &dags[side].tasks;
                let site = tasks.site[task as usize];
                (maps[side].get(site as usize), tasks.kind[task as usize])
            };
            let alike =
                a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| like(0, a) == like(1, b));
            if alike {
                pairs.extend(a.iter().copied().zip(b.iter().copied()));
            }
        }
        Pairs { pairs }
    }

    /// How much of the work lies in tasks matched in each way.
    pub(super) fn matched(
        &self,
        dags: [&Dag; 2],
        maps: &[Vec<PlaceId>; 2],
        weights: &[Weights; 2],
        rates: [f64; 2],
    ) -> Matched {
        let mut by_path = dags.map(|dag| vec![false; dag.tasks.len()]);
        for &(s, p) in &self.pairs {
            by_path[0][s as usize] = true;
            by_path[1][p as usize] = true;
        }
        let mut path = [0u128; 2];
        // Work of tasks not matched by path, by (site, level).
        let mut rest: [HashMap<(PlaceId, u32), u128>; 2] = Default::default();
        for side in 0..2 {
            let dag = dags[side];
            for s in 0..dag.strands.len() as u32 {
                let task = dag.strands.task[s as usize] as usize;
                let work = u128::from(weights[side].work(s));
                if by_path[side][task] {
                    path[side] += work;
                } else {
                    let site = maps[side][dag.tasks.site[task] as usize];
                    *rest[side].entry((site, dag.tasks.level[task])).or_default() += work;
                }
            }
        }
        let mut sums = [[0u128; 3]; 2];
        for side in 0..2 {
            let other = &rest[1 - side];
            let mut sites: Vec<PlaceId> = other.keys().map(|k| k.0).collect();
            sites.sort_unstable();
            #[allow(clippy::iter_over_hash_type, reason = "sums don't depend on the order")]
            for (key, work) in &rest[side] {
                let how = if other.contains_key(key) {
                    0
                } else if sites.binary_search(&key.0).is_ok() {
                    1
                } else {
                    2
                };
                sums[side][how] += work;
            }
        }
        let pair = |ticks: [u128; 2]| Pair {
            serial: convert(ticks[0], rates[0], rates[1]),
            parallel: ticks[1],
        };
        Matched {
            path: pair(path),
            site_and_level: pair([sums[0][0], sums[1][0]]),
            site: pair([sums[0][1], sums[1][1]]),
            none: pair([sums[0][2], sums[1][2]]),
        }
    }
}

/// The children of every task, in program order.
struct Children {
    roots: Vec<TaskId>,
    by_parent: RaggedArray,
}

impl Children {
    fn new(dag: &Dag) -> Children {
        let tasks = &dag.tasks;
        let numbered = tasks.parent.iter().copied().zip(0..);
        let roots = numbered
            .clone()
            .filter(|t| t.0 == NONE)
            .map(|t| t.1)
            .collect();
        let mut by_parent = RaggedArray::from_pairs(tasks.len(), numbered);
        let RaggedArray { offsets, items } = &mut by_parent;
        for ends in offsets.windows(2) {
            let children = &mut items[ends[0] as usize..ends[1] as usize];
            // Recorded tasks are numbered in this order already.
            children.sort_by_key(|&t| (tasks.creator[t as usize], tasks.create_rank[t as usize]));
        }
        Children { roots, by_parent }
    }

    fn of(&self, task: TaskId) -> &[TaskId] {
        self.by_parent.get(task as usize)
    }
}
