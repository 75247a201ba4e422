//! A thread's stack: tasks begin on top of each other, run, and end.

use super::frame::Frame;
use super::{Replay, ReplayThread, State};
use workspan_dag::raw::{RawEnd, RawStrand, RawTask};
use workspan_dag::{NONE, ROOT_PLACE, TaskKind};

impl<'a> Replay<'a, '_> {
    /// The index of the frame of the task that runs on this thread. A task that was interrupted by
    /// one on top of it goes on. A thread without a task that is not a worker gets a root.
    pub(super) fn current(&mut self, lane: &mut ReplayThread<'a>, t: u64) -> Option<usize> {
        let Some(top) = lane.stack.last_mut() else {
            if lane.log.is_worker() {
                self.log
                    .repair("Records of a worker that ran no task, left out");
                return None;
            }
            self.begin(lane, None, t);
            return Some(lane.stack.len() - 1);
        };
        if top.stopped {
            if !top.interrupted {
                self.log.repair("Tasks that went on without a resume");
            }
            if self.states[top.task as usize] == State::Stopped {
                (top.stopped, top.interrupted, top.start) = (false, false, t);
                self.states[top.task as usize] = State::Running;
            } else {
                // It went on elsewhere; what happens here belongs to another task.
                self.begin(lane, None, t);
            }
        }
        Some(lane.stack.len() - 1)
    }

    /// Ends the open strand of a frame, and begins the next one at the same tick.
    pub(super) fn strand(
        &mut self,
        lane: &mut ReplayThread<'a>,
        frame: usize,
        t: u64,
        end_op: RawEnd,
        at: u32,
    ) -> u32 {
        if std::mem::take(&mut lane.stack[frame].due) {
            self.wait_for_chunks(lane, frame, end_op);
        }
        if lane.stack[frame].skipped != NONE {
            self.stand_for(lane, frame, t);
        }
        let frame = &mut lane.stack[frame];
        let index = self.raw.strands.len() as u32;
        let end = t.max(frame.start);
        let mut strand = RawStrand {
            task: frame.task,
            thread: lane.log.index,
            start: frame.start,
            end,
            end_op,
            at,
            keep: false,
        };
        if frame.pending {
            frame.pending = false;
            strand.keep = self.settle(&mut lane.pending, frame.task, index);
        }
        lane.log.busy(frame.start, end);
        frame.start = end;
        self.raw.strands.push(strand);
        index
    }

    /// Begins a task on top of the stack; `None` for an unknown task, which becomes a root.
    pub(super) fn begin(&mut self, lane: &mut ReplayThread<'a>, task: Option<u32>, t: u64) {
        let task = match task {
            Some(task) if self.states[task as usize] == State::Created => task,
            other => {
                match other {
                    Some(_) => self.log.repair("Tasks that began twice, made roots"),
                    None => self
                        .log
                        .names_earlier("Tasks that nobody in the trace created, made roots"),
                }
                let number = self.raw.tasks.len() as u64;
                self.raw.tasks.push(RawTask {
                    number,
                    parent: NONE,
                    kind: TaskKind::Root,
                    site: ROOT_PLACE,
                    scope: NONE,
                });
                self.states.push(State::Created);
                number as u32
            }
        };
        if let Some(top) = lane.stack.last_mut()
            && !top.stopped
        {
            let frame = lane.stack.len() - 1;
            self.interrupt(lane, frame, t);
        }
        self.states[task as usize] = State::Running;
        lane.stack.push(Frame::new(task, t));
    }

    /// The running task of a frame stops because another task begins on top of it.
    pub(super) fn interrupt(&mut self, lane: &mut ReplayThread<'a>, frame: usize, t: u64) {
        self.report_later(lane, frame);
        self.strand(lane, frame, t, RawEnd::Yield, NONE);
        let frame = &mut lane.stack[frame];
        (frame.stopped, frame.interrupted) = (true, true);
        self.states[frame.task as usize] = State::Stopped;
    }

    pub(super) fn end_task(&mut self, lane: &mut ReplayThread<'a>, t: u64) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let (task, start) = (lane.stack[frame].task, lane.stack[frame].start);
        let last = self.strand(lane, frame, t, RawEnd::End, NONE);
        self.states[task as usize] = State::Ended;
        self.shut_all(task, last, t);
        self.siblings.remove(&task);
        self.open_trees.remove(&task);
        self.of_chunks.remove(&task);
        if !self.part_ends.is_empty()
            && let Some(end) = self.part_ends.get_mut(&task)
        {
            *end = (start, t);
        }
        lane.stack.pop();
        if let Some(below) = lane.stack.last_mut()
            && below.interrupted
            && self.states[below.task as usize] == State::Stopped
        {
            (below.stopped, below.interrupted, below.start) = (false, false, t);
            self.states[below.task as usize] = State::Running;
        }
    }

    pub(super) fn root(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64) {
        let task = self.nth(self.counts.tasks[number] + lane.tasks);
        lane.tasks += 1;
        if lane.stack.is_empty() {
            self.begin(lane, Some(task), t);
        } else {
            // It goes to the bottom, below the running task.
            let mut frame = Frame::new(task, t);
            (frame.stopped, frame.interrupted) = (true, true);
            self.stop_task(lane, task, t);
            self.states[task as usize] = State::Stopped;
            lane.stack.insert(0, frame);
        }
    }

    /// Adds a strand of no length for a task that was stopped before its first known strand: it
    /// needs one from which to go on.
    pub(super) fn stop_task(&mut self, lane: &ReplayThread<'a>, task: u32, t: u64) {
        self.raw.strands.push(RawStrand {
            task,
            thread: lane.log.index,
            start: t,
            end: t,
            end_op: RawEnd::Yield,
            at: NONE,
            keep: false,
        });
    }
}
