//! Chunks of loops and sections. In the model each chunk is a task. In the program, the tasks that
//! it creates are children of the implicit task that ran it: a later taskwait there waits for them,
//! and they are siblings for dependences.

use super::{Replay, ReplayThread};
use workspan_dag::raw::{RawEnd, RawStrand};
use workspan_dag::{NONE, TaskKind};

impl<'a> Replay<'a, '_> {
    /// The task whose children these are in the program: the parent of a chunk, otherwise the task
    /// itself.
    pub(super) fn owner(&self, task: u32) -> u32 {
        let raw = &self.raw.tasks[task as usize];
        if raw.kind != TaskKind::Inline || raw.scope == NONE || raw.parent == NONE {
            return task;
        }
        let primitive = self.places.list[raw.site as usize].primitive.as_deref();
        if matches!(primitive, Some("loop" | "section")) {
            raw.parent
        } else {
            task
        }
    }

    /// Remembers a task that a chunk just created, for the waits of the chunk's owner.
    pub(super) fn note_chunk_child(&mut self, task: u32, parent: u32) {
        let owner = self.owner(parent);
        if owner != parent && self.raw.tasks[task as usize].kind != TaskKind::Detached {
            self.of_chunks.entry(owner).or_default().push(task);
        }
    }

    /// The first strand after a wait for the children of this frame's task ends. Before the strand,
    /// the task also waited for the children of its chunks, unless an adapter records that itself
    /// by a wait for tasks that follows.
    pub(super) fn wait_for_chunks(&mut self, lane: &ReplayThread<'a>, frame: usize, end: RawEnd) {
        let task = lane.stack[frame].task;
        let Some(tasks) = self.of_chunks.remove(&task) else {
            return;
        };
        if !matches!(end, RawEnd::WaitTasks(_)) {
            self.raw.wait_tasks.push(tasks);
            let list = self.raw.wait_tasks.len() as u32 - 1;
            let start = lane.stack[frame].start;
            // Not by `strand`: pending data belong to the strand that ends now.
            self.raw.strands.push(RawStrand {
                task,
                thread: lane.log.index,
                start,
                end: start,
                end_op: RawEnd::WaitTasks(list),
                at: NONE,
                keep: false,
            });
        }
    }
}
