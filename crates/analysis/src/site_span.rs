//! The heaviest path inside one task instance with its descendants, from the instance's first
//! strand (MODEL.md §3).
//!
//! If edges from outside enter that set only at its first strand, every path from the roots to a
//! strand of the set passes the first strand. Then the heaviest path inside is the largest
//! `through` in the set minus the path before the first strand, and one walk over the task tree
//! serves all instances. Edges that enter deeper (a wait for a foreign task, a signal, a handoff, a
//! dependence of a descendant) mark the instances that they enter, and the set of each of those is
//! walked by itself.

use std::ops::RangeInclusive;

use workspan_dag::{Dag, NONE, StrandId, TaskId};

use crate::strand_lengths::StrandLengths;
use crate::task_tree::TaskTree;

/// Edges that enter a task's descendants from outside the task.
pub(crate) struct Entries {
    /// Place of every task in the walk; empty if no edge could enter.
    preorder: Vec<u32>,
    /// Tasks by place; made when first needed.
    by_place: Vec<TaskId>,
    /// For each task that is entered: the range of places of the tasks that the edges come from.
    sources: Vec<Sources>,
    /// Number of strands that may still be visited for instances entered from outside.
    budget: u64,
}

/// Smallest and largest place of a set of source tasks; empty if `low > high`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources {
    low: u32,
    high: u32,
}

impl Sources {
    pub(crate) const EMPTY: Sources = Sources {
        low: u32::MAX,
        high: 0,
    };

    pub(crate) fn join(self, other: Sources) -> Sources {
        Sources {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// True if some source lies outside the places `set`.
    pub(crate) fn beyond(self, set: &RangeInclusive<u32>) -> bool {
        self.low <= self.high && (self.low < *set.start() || self.high > *set.end())
    }
}

impl Entries {
    pub(crate) fn new(dag: &Dag, tree: &TaskTree) -> Entries {
        let mut entries = Entries {
            preorder: Vec::new(),
            by_place: Vec::new(),
            sources: Vec::new(),
            budget: (dag.strands.len() as u64)
                .saturating_mul(64)
                .saturating_add(10_000_000),
        };
        for_each_entry(dag, |target, source| {
            if entries.preorder.is_empty() {
                entries.preorder = tree.preorder();
                entries.sources = vec![Sources::EMPTY; dag.tasks.len()];
            }
            let place = entries.preorder[source as usize];
            let from = Sources {
                low: place,
                high: place,
            };
            let into = &mut entries.sources[target as usize];
            *into = into.join(from);
        });
        entries
    }

    /// The sources of the edges that enter `task` itself.
    pub(crate) fn of(&self, task: TaskId) -> Sources {
        self.sources
            .get(task as usize)
            .copied()
            .unwrap_or(Sources::EMPTY)
    }

    /// The heaviest path inside the tasks at the places `set`, from the first strand of the first
    /// task. `None` if too much time was spent on such sets already (dependences into thousands of
    /// nested sites).
    pub(crate) fn span_inside(
        &mut self,
        dag: &Dag,
        lengths: &impl StrandLengths,
        set: &RangeInclusive<u32>,
    ) -> Option<u128> {
        if self.by_place.is_empty() {
            self.by_place = vec![0; self.preorder.len()];
            for (task, &place) in self.preorder.iter().enumerate() {
                self.by_place[place as usize] = task as TaskId;
            }
        }
        let mut strands = Vec::new();
        for &task in &self.by_place[*set.start() as usize..=*set.end() as usize] {
            let before = strands.len();
            strands.extend(strands_backwards(dag, task));
            self.budget = self.budget.checked_sub((strands.len() - before) as u64)?;
        }
        strands.sort_unstable();
        let mut through: Vec<u128> = Vec::with_capacity(strands.len());
        for &s in &strands {
            let mut best = 0;
            dag.for_each_predecessor(s, |p, _| {
                let from = self.preorder[dag.strands.task[p as usize] as usize];
                if set.contains(&from)
                    && let Ok(i) = strands.binary_search(&p)
                {
                    best = best.max(through[i]);
                }
            });
            through.push(best + lengths.own(s));
        }
        through.into_iter().max()
    }
}

/// The strands of a task, last to first.
pub(crate) fn strands_backwards(dag: &Dag, task: TaskId) -> impl Iterator<Item = StrandId> + '_ {
    let known = |s: StrandId| (s != NONE).then_some(s);
    let last = known(dag.tasks.last[task as usize]);
    std::iter::successors(last, move |&s| known(dag.strands.prev[s as usize]))
}

/// True if an edge from outside enters some task and those around it elsewhere than at the first
/// strand.
pub(crate) fn is_entered(dag: &Dag) -> bool {
    let mut entered = false;
    for_each_entry(dag, |_, _| entered = true);
    entered
}

/// Calls `f(task, source task)` for every edge from outside that may enter `task` and those around
/// it elsewhere than at the first strand. Edges from a task's own children are left out, as they
/// never do.
fn for_each_entry(dag: &Dag, mut f: impl FnMut(TaskId, TaskId)) {
    let tasks = &dag.tasks;
    for (wait, &after) in dag.waits.after.iter().enumerate() {
        let target = dag.strands.task[after as usize];
        for &joined in dag.waits.tasks.get(wait) {
            if tasks.parent[joined as usize] != target {
                f(target, joined);
            }
        }
        for &signal in dag.waits.signals.get(wait) {
            f(target, dag.strands.task[signal as usize]);
        }
    }
    for handoff in &dag.handoffs.list {
        let [target, source] = [handoff.to, handoff.from].map(|s| dag.strands.task[s as usize]);
        f(target, source);
    }
    for (i, &dependent) in dag.dependents.iter().enumerate() {
        // The edge enters the dependent task at its first strand, so it can only enter the tasks
        // around it elsewhere.
        let parent = tasks.parent[dependent as usize];
        if parent != NONE {
            for &on in dag.depends.get(i) {
                f(parent, on);
            }
        }
    }
}
