//! The tree of tasks, walked without recursion.

use workspan_dag::{Dag, NONE, TaskId};

/// Children of every task, as first child and next sibling.
pub(crate) struct TaskTree<'a> {
    parent: &'a [TaskId],
    first_child: Vec<TaskId>,
    next_sibling: Vec<TaskId>,
    first_root: TaskId,
}

/// A step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Enter(TaskId),
    Leave(TaskId),
}

impl<'a> TaskTree<'a> {
    pub(crate) fn new(dag: &'a Dag) -> TaskTree<'a> {
        let parent = &dag.tasks.parent;
        let mut tree = TaskTree {
            parent,
            first_child: vec![NONE; parent.len()],
            next_sibling: vec![NONE; parent.len()],
            first_root: NONE,
        };
        // In descending order, so that each list comes out ascending.
        for task in (0..parent.len()).rev() {
            let first = match parent[task] {
                NONE => &mut tree.first_root,
                p => &mut tree.first_child[p as usize],
            };
            tree.next_sibling[task] = *first;
            *first = task as TaskId;
        }
        tree
    }

    /// Enters every task before its children, and leaves it after them.
    pub(crate) fn walk(&self, mut f: impl FnMut(Step)) {
        let mut task = self.first_root;
        while task != NONE {
            f(Step::Enter(task));
            if self.first_child[task as usize] != NONE {
                task = self.first_child[task as usize];
                continue;
            }
            loop {
                f(Step::Leave(task));
                if self.next_sibling[task as usize] != NONE {
                    task = self.next_sibling[task as usize];
                    break;
                }
                task = self.parent[task as usize];
                if task == NONE {
                    break;
                }
            }
        }
    }

    /// Place of every task in the order of entering.
    pub(crate) fn preorder(&self) -> Vec<u32> {
        let mut place = vec![0; self.parent.len()];
        let mut next = 0;
        self.walk(|step| {
            if let Step::Enter(task) = step {
                place[task as usize] = next;
                next += 1;
            }
        });
        place
    }
}
