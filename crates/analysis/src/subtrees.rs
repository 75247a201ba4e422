//! Every task with all its descendants: work, span and counts in one walk over the task tree
//! (MODEL.md §3).

use workspan_dag::{Dag, TaskId};

use crate::column::Column;
use crate::heaviest_paths::Heaviest;
use crate::options::{Error, Options};
use crate::site_span::{Entries, Sources, strands_backwards};
use crate::strand_lengths::StrandLengths;
use crate::task_tree::{Step, TaskTree};
use crate::weight::Weights;

/// Columns over the tasks, each value of a task with all its descendants. Larger sums are 2^64 − 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtrees {
    /// Weight.
    pub work: Column,
    /// The heaviest path inside, from the task's first strand.
    pub span: Column,
    /// Weight on the critical path.
    pub critical_work: Column,
    /// Number of tasks, itself included; those inside folded records do not count.
    pub tasks: Column,
    /// Number of strands.
    pub strands: Column,
    /// Number of tasks whose span is only bounded, as dependences enter too many subtrees.
    pub bounded: u64,
}

/// Measures all tasks. O(n) if no edge enters subtrees from outside.
///
/// # Errors
/// See [`Error`].
pub fn subtrees(dag: &Dag, options: &Options) -> Result<Subtrees, Error> {
    let weights = Weights::new(dag, options)?;
    let heaviest = Heaviest::unburdened(dag, &weights);
    let tasks = dag.tasks.len();
    let mut critical = vec![0u64; tasks];
    for s in heaviest.critical_path(dag) {
        let own = &mut critical[dag.strands.task[s as usize] as usize];
        *own = own.saturating_add(narrow(weights.path(s, 0)));
    }
    let mut columns = Columns {
        work: vec![0; tasks],
        span: vec![0; tasks],
        critical,
        tasks: vec![0; tasks],
        strands: vec![0; tasks],
        open: Vec::new(),
    };
    let bounded = each_instance(dag, &weights, (&weights, &heaviest), &mut columns);
    drop((heaviest, weights));
    Ok(Subtrees {
        work: long(columns.work),
        span: long(columns.span),
        critical_work: long(columns.critical),
        tasks: short(columns.tasks),
        strands: short(columns.strands),
        bounded,
    })
}

fn long(values: Vec<u64>) -> Column {
    Column::new(|| values.iter().copied())
}

fn short(values: Vec<u32>) -> Column {
    Column::new(|| values.iter().map(|&v| v.into()))
}

fn narrow(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// [`Subtrees`] while they are filled; critical work is each task's own until the walk leaves it.
struct Columns {
    work: Vec<u64>,
    span: Vec<u64>,
    critical: Vec<u64>,
    tasks: Vec<u32>,
    strands: Vec<u32>,
    /// Critical work up to now of the tasks entered and not left.
    open: Vec<u128>,
}

impl Instances for Columns {
    fn enter(&mut self, task: TaskId) -> bool {
        self.open.push(self.critical[task as usize].into());
        true
    }

    fn leave(&mut self, task: TaskId, whole: Option<Whole>) {
        let critical = self.open.pop().unwrap_or(0);
        if let Some(parent) = self.open.last_mut() {
            *parent += critical;
        }
        let i = task as usize;
        self.critical[i] = narrow(critical);
        if let Some(whole) = whole {
            self.work[i] = narrow(whole.work);
            self.span[i] = narrow(whole.span);
            self.tasks[i] = whole.tasks;
            self.strands[i] = whole.strands;
        }
    }
}

/// A task with all its descendants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole {
    pub work: u128,
    pub span: u128,
    pub tasks: u32,
    pub strands: u32,
}

/// A visitor of a walk over the tasks.
pub(crate) trait Instances {
    /// Called before the descendants. Returns whether the task with its descendants is to be
    /// measured.
    fn enter(&mut self, task: TaskId) -> bool;
    /// Called after the descendants, with the measures if they were requested.
    fn leave(&mut self, task: TaskId, whole: Option<Whole>);
}

/// A task entered and not yet left.
struct OpenTask {
    is_instance: bool,
    place: u32,
    work: u128,
    strands: u32,
    /// Largest `through` in the task and its descendants up to now.
    reach: u128,
    sources: Sources,
}

/// Measures tasks with their descendants. Their spans are in the lengths that `heaviest` was made
/// of. Returns how many spans are only bounded (see [`Entries::span_inside`]).
pub(crate) fn each_instance(
    dag: &Dag,
    weights: &Weights,
    (lengths, heaviest): (&impl StrandLengths, &Heaviest),
    instances: &mut impl Instances,
) -> u64 {
    let tree = TaskTree::new(dag);
    let mut entries = Entries::new(dag, &tree);
    let mut open: Vec<OpenTask> = Vec::new();
    let mut entered = 0;
    let mut bounded = 0;
    tree.walk(|step| match step {
        Step::Enter(task) => {
            let mut top = OpenTask {
                is_instance: instances.enter(task),
                place: entered,
                work: 0,
                strands: 0,
                reach: 0,
                sources: entries.of(task),
            };
            for s in strands_backwards(dag, task) {
                top.work += u128::from(weights.work(s));
                top.reach = top.reach.max(heaviest.through(s));
                top.strands += 1;
            }
            open.push(top);
            entered += 1;
        }
        Step::Leave(task) => {
            let Some(done) = open.pop() else { return };
            if let Some(parent) = open.last_mut() {
                parent.work += done.work;
                parent.strands += done.strands;
                parent.reach = parent.reach.max(done.reach);
                parent.sources = parent.sources.join(done.sources);
            }
            if !done.is_instance {
                return instances.leave(task, None);
            }
            let first = dag.tasks.first[task as usize];
            let before = heaviest.through(first) - lengths.own(first);
            let mut span = done.reach - before;
            let set = done.place..=entered - 1;
            if done.sources.beyond(&set) {
                match entries.span_inside(dag, lengths, &set) {
                    Some(exact) => span = exact,
                    None => bounded += 1,
                }
            }
            let whole = Whole {
                work: done.work,
                span,
                tasks: entered - done.place,
                strands: done.strands,
            };
            instances.leave(task, Some(whole));
        }
    });
    bounded
}
