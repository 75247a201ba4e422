//! Work in regions (MODEL.md §4).
//!
//! At any moment a task's own time lies in at most one region: the outermost open one. That is the
//! tree region that the task was created in, if any; otherwise the first of its own regions that is
//! still open. A tree region also covers the tasks created while it is open; among several open
//! tree regions, the one opened first counts.
//!
//! A strand wholly inside a region counts with its weight. A strand partly inside counts with its
//! on-CPU time there, minus the probe at each of its ends that lies inside. A counter counts with
//! the share of on-CPU time inside, rounded down.

use std::collections::BTreeSet;

use workspan_dag::{Dag, NONE, Region, StartKind, StrandId, TaskId};

use crate::off_cpu::{off_between, recorder_between};
use crate::options::{Metric, Options};
use crate::site_span::strands_backwards;
use crate::weight::{Weights, ends_with_probe, starts_with_probe};
use crate::what_if::{Outcome, outcomes_of_labels};

/// Work of the regions of one label (MODEL.md §4), each by itself and outermost ones only.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionRow {
    /// Index into `dag.labels`.
    pub label: u32,
    /// How often it was opened.
    pub count: u64,
    /// Weight inside.
    pub work: u128,
    /// Weight inside on the critical path.
    pub critical_work: u128,
    /// The outcomes if only this region is faster, for the factors of MODEL.md §4. Empty beyond the
    /// `MAX_WHAT_IF_LABELS` (64) labels with most work.
    pub what_if: Vec<Outcome>,
}

/// Maximum number of labels with outcomes. Each outcome takes a pass over the whole run, so a label
/// for every step of a loop would take time quadratic in the steps.
pub const MAX_WHAT_IF_LABELS: usize = 64;

/// One row per label, in the order of their first opening (ties: by name).
pub(crate) fn regions(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    critical_path: &[StrandId],
) -> Vec<RegionRow> {
    if dag.regions.is_empty() {
        return Vec::new();
    }
    let mut on_path = critical_path.to_vec();
    on_path.sort_unstable();
    let mut work: Vec<(u128, u128)> = vec![(0, 0); dag.labels.len()];
    each_part(dag, weights, options, |part| {
        let (all, critical) = &mut work[part.label as usize];
        let weight = u128::from(part.weight);
        *all += weight;
        if on_path.binary_search(&part.strand).is_ok() {
            *critical += weight.min(weights.path(part.strand, 0));
        }
    });
    let mut rows = rows(dag, &work);
    let mut heaviest: Vec<usize> = (0..rows.len()).collect();
    // Ties: the ones opened first.
    heaviest.sort_by_key(|&row| std::cmp::Reverse(rows[row].work));
    heaviest.truncate(MAX_WHAT_IF_LABELS);
    let labels: Vec<u32> = heaviest.iter().map(|&row| rows[row].label).collect();
    let outcomes = outcomes_of_labels(dag, weights, options, &labels);
    for (row, what_if) in heaviest.into_iter().zip(outcomes) {
        rows[row].what_if = what_if;
    }
    rows
}

/// The part of a strand inside the region that counts there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StrandPart {
    /// The region's label.
    pub label: u32,
    pub strand: StrandId,
    /// Weight inside, at most the strand's.
    pub weight: u64,
    /// Start and end of the time inside.
    pub time: (u64, u64),
    /// Whether the region also covers what the strand's task created meanwhile.
    pub tree: bool,
}

/// Calls `f` for every strand in a region, once for each stretch inside.
pub(crate) fn each_part(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    f: impl FnMut(StrandPart),
) {
    if dag.regions.is_empty() {
        return;
    }
    let mut parts = Parts {
        dag,
        weights,
        options,
        last_whole: NONE,
        f,
    };
    let around = around(dag);
    let mut strands = Vec::new();
    for task in 0..dag.tasks.len() as TaskId {
        if around[task as usize] != NONE {
            let label = dag.regions[around[task as usize] as usize].label;
            for s in strands_backwards(dag, task) {
                parts.add_whole(label, true, s);
            }
            continue;
        }
        let own = of_task(dag, task);
        if !own.is_empty() {
            strands.clear();
            strands.extend(strands_backwards(dag, task));
            strands.reverse();
            parts.add_own(own, &strands);
        }
    }
}

fn rows(dag: &Dag, work: &[(u128, u128)]) -> Vec<RegionRow> {
    let mut seen: Vec<Option<(u64, u64)>> = vec![None; dag.labels.len()];
    for region in &dag.regions {
        let (first, count) = seen[region.label as usize].get_or_insert((region.begin.1, 0));
        *first = (*first).min(region.begin.1);
        *count += 1;
    }
    let opened = seen
        .iter()
        .enumerate()
        .filter_map(|(i, s)| s.map(|(first, count)| (first, i, count)));
    let mut opened: Vec<(u64, usize, u64)> = opened.collect();
    opened.sort_by_key(|&(first, i, _)| (first, &dag.labels[i]));
    let row = |(_, i, count): (u64, usize, u64)| RegionRow {
        label: i as u32,
        count,
        work: work[i].0,
        critical_work: work[i].1,
        what_if: Vec::new(),
    };
    opened.into_iter().map(row).collect()
}

/// The regions that a task opened, in opening order.
fn of_task(dag: &Dag, task: TaskId) -> &[Region] {
    let first = dag.regions.partition_point(|r| r.task < task);
    let count = dag.regions[first..].partition_point(|r| r.task == task);
    &dag.regions[first..first + count]
}

/// By task: the outermost tree region that it lies in, as an index into `dag.regions`.
fn around(dag: &Dag) -> Vec<u32> {
    let mut around = vec![NONE; dag.tasks.len()];
    if !dag.regions.iter().any(|r| r.tree) {
        return around;
    }
    created_inside(dag, &mut around);
    // Strands are in topological order, so parents come before their children.
    for (s, &kind) in dag.strands.start_kind.iter().enumerate() {
        let task = dag.strands.task[s] as usize;
        let parent = dag.tasks.parent[task];
        if kind == StartKind::Begin && parent != NONE && around[parent as usize] != NONE {
            around[task] = around[parent as usize];
        }
    }
    around
}

/// Sets for every task the outermost tree region of its own parent that was open where it was
/// created.
fn created_inside(dag: &Dag, around: &mut [u32]) {
    let mut has_tree = vec![false; dag.tasks.len()];
    for region in dag.regions.iter().filter(|r| r.tree) {
        has_tree[region.task as usize] = true;
    }
    let tasks = &dag.tasks;
    let is_in_tree = |&t: &usize| tasks.parent[t] != NONE && has_tree[tasks.parent[t] as usize];
    let created = (0..tasks.len()).filter(is_in_tree);
    let place = |t: usize| (tasks.parent[t], (tasks.creator[t], tasks.create_rank[t]), t);
    let mut created: Vec<(TaskId, (StrandId, u32), usize)> = created.map(place).collect();
    created.sort_unstable();
    for children in created.chunk_by(|a, b| a.0 == b.0) {
        let first = dag.regions.partition_point(|r| r.task < children[0].0);
        let mut changes = Vec::new();
        for (i, r) in (first..).zip(of_task(dag, children[0].0)) {
            if r.tree {
                changes.push(((r.begin.0, r.begin_creates_before), false, i));
                changes.push(((r.end.0, r.end_creates_before), true, i));
            }
        }
        changes.sort_unstable();
        let mut changes = changes.into_iter().peekable();
        let mut open = BTreeSet::new();
        for &(_, create, child) in children {
            while let Some((_, closes, i)) = changes.next_if(|c| c.0 <= create) {
                if closes {
                    open.remove(&i)
                } else {
                    open.insert(i)
                };
            }
            around[child] = open.first().map_or(NONE, |&i| i as u32);
        }
    }
}

struct Parts<'a, F> {
    dag: &'a Dag,
    weights: &'a Weights<'a>,
    options: &'a Options,
    /// The last strand that was added as a whole.
    last_whole: StrandId,
    f: F,
}

/// A position in a task: the index of the strand, and the time.
type Position = (usize, u64);

impl<F: FnMut(StrandPart)> Parts<'_, F> {
    fn add_whole(&mut self, label: u32, tree: bool, strand: StrandId) {
        (self.f)(StrandPart {
            label,
            strand,
            weight: self.weights.work(strand),
            time: (
                self.dag.strands.start[strand as usize],
                self.dag.strands.end[strand as usize],
            ),
            tree,
        });
    }

    /// Adds the time of a task that lies in no other task's region; `strands` are the task's, in
    /// order.
    fn add_own(&mut self, own: &[Region], strands: &[StrandId]) {
        let position = |(s, t): (StrandId, u64)| (strands.binary_search(&s).unwrap_or(0), t);
        let mut changes: Vec<(Position, bool, usize)> = Vec::with_capacity(2 * own.len());
        for (i, region) in own.iter().enumerate() {
            changes.push((position(region.begin), false, i));
            changes.push((position(region.end), true, i));
        }
        changes.sort_unstable();
        let mut open = BTreeSet::new();
        let mut since = (0, 0);
        for (at, closes, i) in changes {
            if let Some(&outermost) = open.first() {
                let region: &Region = &own[outermost];
                self.add_stretch(region, strands, since, at);
            }
            since = at;
            if closes {
                open.remove(&i)
            } else {
                open.insert(i)
            };
        }
    }

    /// Adds a task's time between two positions.
    fn add_stretch(&mut self, region: &Region, strands: &[StrandId], from: Position, to: Position) {
        for (i, &s) in strands.iter().enumerate().take(to.0 + 1).skip(from.0) {
            let (start, end) = (
                self.dag.strands.start[s as usize],
                self.dag.strands.end[s as usize],
            );
            let begin = if i == from.0 {
                from.1.clamp(start, end)
            } else {
                start
            };
            let stop = if i == to.0 {
                to.1.clamp(start, end)
            } else {
                end
            };
            self.add_part(region, s, begin, stop);
        }
    }

    fn add_part(&mut self, region: &Region, s: StrandId, begin: u64, stop: u64) {
        let i = s as usize;
        let (start, end) = (self.dag.strands.start[i], self.dag.strands.end[i]);
        if (begin, stop) == (start, end) {
            // A strand that takes no time lies in every stretch that touches it, and counts in the
            // first.
            if self.last_whole == s {
                return;
            }
            self.last_whole = s;
            return self.add_whole(region.label, region.tree, s);
        }
        if begin >= stop {
            return;
        }
        (self.f)(StrandPart {
            label: region.label,
            strand: s,
            weight: weight_between(self.dag, self.weights, self.options, s, begin, stop),
            time: (begin, stop),
            tree: region.tree,
        });
    }
}

/// The weight of strand `s` between two times inside it; `begin` is before `stop`.
pub(crate) fn weight_between(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    s: StrandId,
    begin: u64,
    stop: u64,
) -> u64 {
    let i = s as usize;
    let (start, end) = (dag.strands.start[i], dag.strands.end[i]);
    let counted = |begin, end| {
        let off = off_between(dag, s, begin, end);
        let blocked = if options.count_blocked {
            0
        } else {
            off.blocked
        };
        let recorder = if options.raw {
            0
        } else {
            recorder_between(dag, s, begin, end)
        };
        (end - begin).saturating_sub(off.descheduled + blocked + recorder)
    };
    let inside = counted(begin, stop);
    let weight = weights.work(s);
    match options.metric {
        Metric::Time => {
            let probe_cost = if options.raw { 0 } else { dag.meta.probe_cost };
            let at_start = begin == start && starts_with_probe(dag, i);
            let at_end = stop == end && ends_with_probe(dag, i);
            let probes = u64::from(at_start) + u64::from(at_end);
            inside
                .saturating_sub(probe_cost.saturating_mul(probes))
                .min(weight)
        }
        Metric::Counter(_) => {
            let all = u128::from(counted(start, end)).max(1);
            (u128::from(weight) * u128::from(inside) / all) as u64
        }
    }
}
