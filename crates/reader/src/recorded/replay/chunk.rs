//! Chunks of loops and sections. In the model each is a task; in the program what they create are
//! children of the implicit task that ran them, which a later taskwait there waits for, and which
//! are siblings to dependences.

use super::{Lane, Replay};
use workspan_dag::raw::{RawEnd, RawStrand};
use workspan_dag::{NONE, TaskKind};

impl<'a> Replay<'a, '_> {
    /// The task whose children, to the program, are those of this one: its parent for a chunk, else
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

    /// Keeps a task just created by a chunk for the waits of the chunk's owner.
    pub(super) fn note_chunk_child(&mut self, task: u32, parent: u32) {
        let owner = self.owner(parent);
        if owner != parent && self.raw.tasks[task as usize].kind != TaskKind::Detached {
            self.of_chunks.entry(owner).or_default().push(task);
        }
    }

    /// The first strand after a wait for the children of this frame's task ends: before it, it
    /// waited for those of its chunks as well, unless an adapter tells of that itself, in a wait
    /// for tasks that follows.
    pub(super) fn wait_for_chunks(&mut self, lane: &Lane<'a>, frame: usize, end: RawEnd) {
        let task = lane.stack[frame].task;
        let Some(tasks) = self.of_chunks.remove(&task) else {
            return;
        };
        if !matches!(end, RawEnd::WaitTasks(_)) {
            self.raw.wait_tasks.push(tasks);
            let list = self.raw.wait_tasks.len() as u32 - 1;
            let start = lane.stack[frame].start;
            // Not by `strand`: what is pending belongs to the strand that ends now.
            self.raw.strands.push(RawStrand {
                task,
                thread: lane.told.index,
                start,
                end: start,
                end_op: RawEnd::WaitTasks(list),
                at: NONE,
                keep: false,
            });
        }
    }
}
