//! The strands of the main task and of stolen tasks, worker by worker.

use std::collections::BTreeMap;

use workspan_dag::NONE;
use workspan_dag::folded::Folded;
use workspan_dag::raw::{RawEnd, RawStrand, RawTrace};

use super::deques::Role;
use super::log::{Kind, Log};

/// A task on a worker's stack.
struct Frame {
    task: u32,
    /// The start of the open strand; `None` during a wait.
    open: Option<u64>,
    /// The number of spawns and syncs of tasks that ran inside of it.
    spawns: u64,
    syncs: u64,
}

impl Frame {
    fn new(task: u32, t: u64) -> Frame {
        Frame {
            task,
            open: Some(t),
            spawns: 0,
            syncs: 0,
        }
    }

    /// Ends the open strand at `t`. A wait without an end is over where the task goes on.
    fn close(&mut self, raw: &mut RawTrace, worker: u32, t: u64, end_op: RawEnd) {
        let start = self.open.take().unwrap_or(t);
        let strand = raw.strands.len() as u32;
        let folds = self.spawns + self.syncs > 0;
        raw.strands.push(RawStrand {
            task: self.task,
            thread: worker,
            start,
            end: t.max(start),
            end_op,
            at: NONE,
            keep: folds,
        });
        if folds {
            let length = t.saturating_sub(start);
            let site = raw.tasks[self.task as usize].site;
            raw.folded.push(
                strand,
                &Folded {
                    work: length,
                    span: length,
                    envelope: vec![(length, 0)],
                    tasks: self.spawns,
                    spawns: self.spawns,
                    syncs: self.syncs,
                    strands: 1,
                    levels: u32::from(self.spawns > 0),
                    blocks: vec![(site, NONE, length)],
                    ..Folded::default()
                },
            );
        }
        (self.spawns, self.syncs) = (0, 0);
    }
}

/// Adds the strands to the trace. `roles` are those of the log's events.
pub(super) fn strands(log: &Log, roles: &[Role], raw: &mut RawTrace) {
    let mut root = Frame::new(0, 0);
    if log.events.is_empty() {
        // Only their number is known.
        root.spawns = log.spawns.len() as u64;
    }
    let mut stacks: BTreeMap<u32, Vec<Frame>> = BTreeMap::from([(0, vec![root])]);
    for (event, &role) in log.events.iter().zip(roles) {
        let (worker, t) = (event.worker, event.t);
        let stack = stacks.entry(worker).or_default();
        if let Role::Begins(task) = role {
            stack.push(Frame::new(task, t));
            continue;
        }
        let Some(top) = stack.last_mut() else {
            continue;
        };
        match role {
            Role::None | Role::Begins(_) => {}
            Role::Inlined => top.spawns += 1,
            Role::Syncs => top.syncs += 1,
            Role::Creates(task) => {
                raw.tasks[task as usize].parent = top.task;
                top.close(raw, worker, t, RawEnd::Create(task));
                top.open = Some(t);
            }
            Role::WaitsFor(task) => {
                let list = raw.wait_tasks.len() as u32;
                raw.wait_tasks.push([task]);
                top.close(raw, worker, t, RawEnd::WaitTasks(list));
                // A sync whose task has ended goes on at once.
                top.open = (event.kind == Kind::Sync).then_some(t);
            }
            Role::Stops => top.open = None,
            Role::Resumes => {
                top.open.get_or_insert(t);
            }
            Role::Ends => {
                top.close(raw, worker, t, RawEnd::End);
                stack.pop();
            }
        }
    }
    // Tasks without an end in the log end with it.
    for (&worker, stack) in &mut stacks {
        for frame in stack.iter_mut().rev() {
            frame.close(raw, worker, log.end, RawEnd::End);
        }
    }
}
