//! The cause of no work while a strand of the ready path ran: the kind of strand that everything
//! waited for.

use workspan_dag::{Dag, EdgeKind, NONE, StartKind, StrandId, TaskId};

use super::Cause;
use super::book::Entry;
use super::grain::Grain;
use super::spawn_loop::SpawnLoops;
use crate::blocks::CodeBlock;
use crate::predecessors::joined_tasks;

/// Classifies strands of the ready path in the order of the path.
pub(super) struct PathStrands<'a> {
    dag: &'a Dag,
    path: &'a [(StrandId, Option<EdgeKind>)],
    /// The last queried task, and the number of tasks of the phase that it ended.
    last: Option<(TaskId, Option<u64>)>,
}

impl<'a> PathStrands<'a> {
    pub(super) fn new(dag: &'a Dag, path: &'a [(StrandId, Option<EdgeKind>)]) -> Self {
        PathStrands {
            dag,
            path,
            last: None,
        }
    }

    /// The cause of having nothing ready while strand `at` of the path ran.
    pub(super) fn cause(&mut self, at: usize, grain: &Grain, loops: &SpawnLoops) -> Entry {
        let s = self.path[at].0;
        let task = self.dag.strands.task[s as usize];
        if let Some(run) = loops.of(self.dag, s) {
            return run.entry();
        }
        if grain.is_leaf(task) {
            let ended = match self.last {
                Some((last, ended)) if last == task => ended,
                _ => self.phase_ended_by(at, task),
            };
            self.last = Some((task, ended));
            if let Some(tasks) = ended {
                let key = CodeBlock::whole_site(self.dag.tasks.site[task as usize]);
                return Entry {
                    tasks: Some(tasks),
                    ..Entry::new(Cause::GrainCoarse, key)
                };
            }
        }
        Entry::new(Cause::SerialStrand, CodeBlock::from_strand(self.dag, s))
    }

    /// Whether the creator of `task` ran for half as long as `task` or more, from its create to the
    /// wait before `next`. Not so for a thread: a program starts one for something else than half
    /// of its own work.
    fn has_other_half(&self, task: TaskId, next: StrandId) -> bool {
        let (dag, strands) = (self.dag, &self.dag.strands);
        let creator = dag.tasks.creator[task as usize];
        let before = strands.prev[next as usize];
        if creator == NONE
            || before == NONE
            || dag.is_thread_task(task)
            || strands.task[creator as usize] != strands.task[next as usize]
        {
            return false;
        }
        let until = strands.end[before as usize];
        let half = until.saturating_sub(strands.end[creator as usize]);
        let first = strands.start[dag.tasks.first[task as usize] as usize];
        let own = strands.end[dag.tasks.last[task as usize] as usize] - first;
        u128::from(half) * 2 >= u128::from(own)
    }

    /// The number of tasks of the phase that `task` ended, if there is more than one; `at` is the
    /// index of one of its strands on the path. A phase consists of the tasks that one wait joins,
    /// or of the children of one parent that no task joins. `task` must be on the path up to its
    /// end, and no other task of its phase may start later. A task may create a single child and do
    /// a similar amount of work itself before it waits, as halved loops and divide and conquer do.
    /// Then its own half counts as the second task.
    fn phase_ended_by(&self, at: usize, task: TaskId) -> Option<u64> {
        let (dag, strands) = (self.dag, &self.dag.strands);
        let of_task = |p: &&(StrandId, _)| strands.task[p.0 as usize] == task;
        let last = at + self.path[at..].iter().take_while(of_task).count() - 1;
        if self.path[last].0 != dag.tasks.last[task as usize] {
            return None;
        }
        let (mut tasks, mut last_started) = (0, 0);
        let mut add = |member: TaskId| {
            let first = dag.tasks.first[member as usize] as usize;
            tasks += 1;
            last_started = last_started.max(strands.start[first]);
        };
        match self.path.get(last + 1) {
            Some(&(next, _)) => {
                if strands.start_kind[next as usize] != StartKind::AfterWait {
                    return None;
                }
                let members = dag.waits.tasks.get(dag.waits.index_of(next)?);
                if members.binary_search(&task).is_err() {
                    return None;
                }
                members.iter().for_each(|&m| add(m));
                tasks += u64::from(tasks == 1 && self.has_other_half(task, next));
            }
            None => {
                let parent = dag.tasks.parent[task as usize];
                if parent == NONE {
                    return None;
                }
                let joined = joined_tasks(dag);
                let same = |t: &usize| !joined[*t] && dag.tasks.parent[*t] == parent;
                (0..dag.tasks.len())
                    .filter(same)
                    .for_each(|t| add(t as TaskId));
            }
        }
        let end = strands.end[dag.tasks.last[task as usize] as usize];
        (tasks > 1 && last_started < end).then_some(tasks)
    }
}
