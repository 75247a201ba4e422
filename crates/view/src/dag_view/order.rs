//! Tasks in the order of the tree. With the size of each subtree, this is all that is stored of it.

use workspan_analysis::Column;
use workspan_dag::{Dag, NONE, TaskId};

/// Tasks in preorder, siblings in the order of creation: a task and its descendants are adjacent.
#[derive(Debug)]
pub(super) struct Order {
    tasks: Vec<TaskId>,
    /// The index of each task in that order.
    place: Vec<u32>,
}

impl Order {
    pub(super) fn new(dag: &Dag) -> Order {
        let (children, begins) = children(dag);
        preorder(&children, &begins, dag.tasks.len())
    }

    /// The task and all its descendants; `counts` has the size of each task's subtree.
    pub(super) fn with_descendants(&self, counts: &Column, task: TaskId) -> &[TaskId] {
        let first = self.place[task as usize] as usize;
        &self.tasks[first..first + counts.get(task as usize) as usize]
    }

    /// The children of a task, in the order of creation.
    pub(super) fn children<'a>(
        &'a self,
        counts: &'a Column,
        task: TaskId,
    ) -> impl Iterator<Item = TaskId> + 'a {
        let (_, below) = self.with_descendants(counts, task).split_at(1);
        siblings(below, counts)
    }

    /// Tasks without a creator.
    pub(super) fn roots<'a>(&'a self, counts: &'a Column) -> impl Iterator<Item = TaskId> + 'a {
        siblings(&self.tasks, counts)
    }
}

/// The outermost tasks of a range of the order.
fn siblings<'a>(mut tasks: &'a [TaskId], counts: &'a Column) -> impl Iterator<Item = TaskId> + 'a {
    std::iter::from_fn(move || {
        let &task = tasks.first()?;
        let size = counts.get(task as usize) as usize;
        tasks = tasks.get(size.max(1)..).unwrap_or_default();
        Some(task)
    })
}

/// Tasks sorted by parent and then by creation, the roots last; and where the children of each task
/// begin.
fn children(dag: &Dag) -> (Vec<TaskId>, Vec<u32>) {
    let tasks = &dag.tasks;
    let count = tasks.len();
    let slot = |task: usize| match tasks.parent[task] {
        NONE => count,
        parent => parent as usize,
    };
    let mut begins = vec![0u32; count + 2];
    for task in 0..count {
        begins[slot(task) + 1] += 1;
    }
    for i in 1..begins.len() {
        begins[i] += begins[i - 1];
    }
    let mut next = begins.clone();
    let mut children = vec![0; count];
    for task in 0..count {
        let at = &mut next[slot(task)];
        children[*at as usize] = task as TaskId;
        *at += 1;
    }
    begins.pop();
    let created = |t: &TaskId| {
        let i = *t as usize;
        (tasks.creator[i], tasks.create_rank[i], *t)
    };
    for parent in 0..count {
        let own = &mut children[begins[parent] as usize..begins[parent + 1] as usize];
        if !own.is_sorted_by_key(created) {
            own.sort_unstable_by_key(created);
        }
    }
    (children, begins)
}

/// The preorder of the tasks, siblings in the order of creation, and the index of each task in it.
fn preorder(children: &[TaskId], begins: &[u32], count: usize) -> Order {
    let mut tasks = Vec::with_capacity(count);
    let mut place = vec![0; count];
    let roots = begins.last().map_or(0, |&b| b as usize);
    let mut stack: Vec<TaskId> = children[roots..].iter().rev().copied().collect();
    while let Some(task) = stack.pop() {
        let i = task as usize;
        place[i] = tasks.len() as u32;
        tasks.push(task);
        let own = &children[begins[i] as usize..begins[i + 1] as usize];
        stack.extend(own.iter().rev());
    }
    Order { tasks, place }
}
