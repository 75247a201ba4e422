//! Delay between two strands of one worker, if the worker itself made the second one ready. It is
//! the runtime's own time for the tasks that the strands create and wait for.
//!
//! A reader that keeps every task sees this time between strands; with a reader that folds it lies
//! inside folded strands. A finding must not depend on the reader, so both are judged by the sizes
//! of the whole run: where tasks are too small, the time goes to their sites by number of tasks.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, Folded, NONE, PlaceId, StrandId, TaskId};

use super::book::{Book, Group};
use super::grain::Grain;
use super::task_size::TaskSize;
use super::{Cause, Costs};
use crate::blocks::CodeBlock;
use crate::runtime_gaps::RuntimeGap;

/// The gaps of a run, by task.
pub(super) struct GapsByParent {
    /// Number of tasks by (site of the parent, site), ascending.
    children: Vec<((PlaceId, PlaceId), u64)>,
    /// By site of the parent: whether its children are too small, and the gaps that came with them.
    parents: Vec<(bool, Group)>,
}

impl GapsByParent {
    pub(super) fn new(dag: &Dag, sizes: &[TaskSize], costs: Costs) -> GapsByParent {
        let tasks = &dag.tasks;
        let mut pairs = std::collections::BTreeMap::<(PlaceId, PlaceId), u64>::new();
        let (mut last, mut count) = ((NONE, NONE), 0);
        for task in checked(0..tasks.len()) {
            let Some(&parent) = tasks.site.get(tasks.parent[task] as usize) else {
                continue;
            };
            let pair = (parent, tasks.site[task]);
            if pair != last && count > 0 {
                *pairs.entry(last).or_default() += count;
                count = 0;
            }
            (last, count) = (pair, count + 1);
        }
        if count > 0 {
            *pairs.entry(last).or_default() += count;
        }
        let children: Vec<_> = pairs.into_iter().collect();
        let mut parents = vec![(false, Group::default()); dag.places.len()];
        for of_parent in children.chunk_by(|a, b| a.0.0 == b.0.0) {
            let sites = of_parent.iter().map(|&((_, site), n)| (site, n));
            parents[of_parent[0].0.0 as usize].0 = too_small(sites, sizes, costs);
        }
        GapsByParent { children, parents }
    }

    /// Whether `task` and its siblings, those of all tasks of its parent's site, are too small on
    /// average, their own strands alone.
    pub(super) fn are_small(&self, dag: &Dag, task: TaskId) -> bool {
        let parent = dag.tasks.parent[task as usize] as usize;
        let parents = dag.tasks.site.get(parent);
        parents.is_some_and(|&site| {
            self.parents
                .get(site as usize)
                .is_some_and(|parent| parent.0)
        })
    }

    /// The group for the gaps before `strand`, if they belong to tasks that are too small.
    pub(super) fn before(&mut self, dag: &Dag, strand: StrandId) -> Option<&mut Group> {
        let strands = &dag.strands;
        let task = strands.task[strand as usize] as usize;
        let parent = match strands.prev[strand as usize] {
            NONE => dag.tasks.parent[task] as usize,
            _ => task,
        };
        let site = *dag.tasks.site.get(parent)?;
        let (is_small, group) = self.parents.get_mut(site as usize)?;
        is_small.then_some(group)
    }

    /// Divides the gaps among the sites of the tasks.
    pub(super) fn add_to(&self, book: &mut Book) {
        for of_parent in self.children.chunk_by(|a, b| a.0.0 == b.0.0) {
            let gaps = &self.parents[of_parent[0].0.0 as usize].1;
            if gaps.lost > 0 {
                let sites = of_parent.iter().map(|&((_, site), n)| (site, n));
                divide(book, gaps, sites);
            }
        }
    }
}

/// The gaps inside folded strands.
pub(super) fn folded_gaps(
    dag: &Dag,
    between: &[RuntimeGap],
    sizes: &[TaskSize],
    costs: Costs,
) -> Book {
    let mut book = Book::new();
    let mut folds = dag.folded.cursor();
    for gap in between {
        let gaps = Group {
            lost: u128::from(gap.ticks),
            strands: 1,
            ticks: gap.ticks,
            longest: gap.ticks,
            strand: gap.strand,
            ..Group::default()
        };
        let sites = |fold: &Folded| -> Vec<(PlaceId, u64)> {
            fold.sites.iter().map(|s| (s.site, s.count)).collect()
        };
        let sites = folds.record(gap.strand).map(sites).unwrap_or_default();
        if too_small(sites.iter().copied(), sizes, costs) {
            divide(&mut book, &gaps, sites.into_iter());
        } else {
            book.add(
                Cause::None,
                CodeBlock::whole_site(NONE),
                gaps.lost,
                gap.strand,
                gap.ticks,
            );
        }
    }
    book
}

/// Whether the tasks are too small, given their number at each site and the mean length of that
/// site's tasks.
fn too_small(
    sites: impl Iterator<Item = (PlaceId, u64)>,
    sizes: &[TaskSize],
    costs: Costs,
) -> bool {
    let (mut work, mut tasks) = (0, 0);
    for (site, count) in sites {
        let size = sizes[site as usize];
        let count = u128::from(count);
        work += count * size.work / size.tasks.max(1);
        tasks += count;
    }
    Grain::too_small(work, tasks, u128::from(costs.steal))
}

/// Adds `gaps` to the sites by number of tasks. Shares add up exactly.
fn divide(book: &mut Book, gaps: &Group, sites: impl Iterator<Item = (PlaceId, u64)> + Clone) {
    let all: u128 = sites.clone().map(|(_, n)| u128::from(n)).sum();
    let mut before = 0;
    for (site, count) in sites {
        let to = before + u128::from(count);
        let share = |sum: u128| sum * to / all - sum * before / all;
        let group = book.group(Cause::GrainFine, CodeBlock::whole_site(site));
        group.lost += share(gaps.lost);
        group.strands += share(u128::from(gaps.strands)) as u64;
        let ticks = share(u128::from(gaps.ticks)) as u64;
        group.ticks = group.ticks.saturating_add(ticks);
        if group.strand == NONE || gaps.longest > group.longest {
            (group.longest, group.strand) = (gaps.longest, gaps.strand);
        }
        before = to;
    }
}
