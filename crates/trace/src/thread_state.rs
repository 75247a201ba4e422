//! What a thread has open at a place in its records: enough to read on from there without what
//! stands before.
//!
//! The recorder writes it at the head of chunks that may outlive those before them, and a window of
//! a trace begins with it ([`crate::window`]). It has no names of tasks: what ran before is not in
//! the trace, and a reader makes roots of it.

use crate::entry::push_varint;
use crate::event::Event;
use crate::wire::Kind;

/// A task on a thread's stack, as [`Kind::Restart`] has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TaskState {
    /// It runs.
    #[default]
    Running = 0,
    /// It waits or yielded, and says so when it goes on.
    Waiting = 1,
    /// It stopped as another began on top of it, and goes on when that one is gone.
    Interrupted = 2,
}

impl TaskState {
    /// The place of this code; other codes are of tasks that wait.
    pub fn from_code(code: u64) -> TaskState {
        match code {
            0 => TaskState::Running,
            2 => TaskState::Interrupted,
            _ => TaskState::Waiting,
        }
    }
}

/// Tasks on a stack beyond these are not kept; a stack of so many has overflowed.
const MAX_STACK_DEPTH: usize = 1 << 16;
/// Pools beyond these are not kept.
const MAX_POOLS: usize = 256;

/// A task on a thread's stack, with what a reader keeps of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnStack<F = ()> {
    /// What it does.
    pub state: TaskState,
    /// The reader's.
    pub frame: F,
}

/// A reader of a thread's records that keeps something of each task on the thread's stack.
/// [`ThreadState::pass_to`] keeps the stack, and tells it what each record does there.
pub trait StackVisitor {
    /// What is kept of a task.
    type Frame;

    /// A task begins, or goes on here. The record is `None` for the root of a thread that is no
    /// worker, and does something as part of no task. `tasks` is the number of tasks that the
    /// thread has created, by this record too; `below`, the task that was on top.
    fn begin(
        &mut self,
        record: Option<&Event<'_>>,
        tasks: u64,
        below: Option<&mut Self::Frame>,
    ) -> Self::Frame;

    /// The task on top waits or yields.
    fn stop(&mut self, _top: &mut Self::Frame, _record: &Event<'_>) {}

    /// The task on top says that it goes on after a stop.
    fn resume(&mut self, _top: &mut Self::Frame) {}

    /// The task on top ends, or leaves for another thread.
    fn end(&mut self, _ended: Self::Frame, _below: Option<&mut Self::Frame>, _record: &Event<'_>) {}
}

/// Keeps nothing.
impl StackVisitor for () {
    type Frame = ();
    fn begin(&mut self, _: Option<&Event<'_>>, _: u64, _: Option<&mut ()>) {}
}

/// A thread's counts and stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadState<F = ()> {
    /// Tasks it created so far.
    pub tasks: u64,
    /// Scopes it opened.
    pub scopes: u64,
    /// Yields it told of.
    pub yields: u64,
    /// Its stack, bottom first.
    pub stack: Vec<OnStack<F>>,
    /// The pool's worker it is: pool and index.
    pub worker: Option<(u32, u64)>,
    /// Pools it told of that have not ended: number and size.
    pub pools: Vec<(u32, u64)>,
}

impl<F> Default for ThreadState<F> {
    fn default() -> ThreadState<F> {
        ThreadState {
            tasks: 0,
            scopes: 0,
            yields: 0,
            stack: Vec::new(),
            worker: None,
            pools: Vec::new(),
        }
    }
}

impl ThreadState {
    /// Goes past a record.
    pub fn pass(&mut self, event: &Event<'_>) {
        self.pass_to(event, &mut ());
    }
}

impl<F> ThreadState<F> {
    /// True for a thread of which nothing is open and nothing was created: reading may begin with
    /// it as it is.
    pub fn is_nothing(&self) -> bool {
        (self.tasks, self.scopes, self.yields) == (0, 0, 0)
            && self.stack.is_empty()
            && self.worker.is_none()
            && self.pools.is_empty()
    }

    /// The task on top runs.
    #[inline]
    pub fn is_running(&self) -> bool {
        let top = self.stack.last();
        top.is_some_and(|top| top.state == TaskState::Running)
    }

    /// Goes past a record, and tells a reader what it does to the stack.
    #[inline(always)]
    pub fn pass_to<V: StackVisitor<Frame = F>>(&mut self, event: &Event<'_>, visitor: &mut V) {
        match event {
            Event::Root => {
                add(&mut self.tasks, 1);
                if self.stack.is_empty() {
                    self.push(Some(event), visitor);
                } else {
                    let frame = visitor.begin(Some(event), self.tasks, None);
                    let state = TaskState::Interrupted;
                    self.stack.insert(0, OnStack { state, frame });
                }
            }
            Event::Begin(_)
            | Event::Next
            | Event::ResumeYielded { .. }
            | Event::ResumeStopped(_)
            | Event::Member { .. } => self.push(Some(event), visitor),
            Event::Part { .. } => {
                add(&mut self.tasks, 1);
                self.push(Some(event), visitor);
            }
            Event::End => self.pop(event, visitor),
            Event::EndResume => {
                self.pop(event, visitor);
                self.resume(visitor);
            }
            Event::Join { .. } => {
                self.stop(event, visitor);
                add(&mut self.tasks, 2);
                self.push(Some(event), visitor);
            }
            Event::Create { .. } => {
                self.current(visitor);
                add(&mut self.tasks, 1);
            }
            Event::Scope { .. } => {
                add(&mut self.scopes, 1);
                self.current(visitor);
            }
            Event::Team { .. } => {
                add(&mut self.scopes, 1);
                self.stop(event, visitor);
            }
            Event::Wait { .. } => self.stop(event, visitor),
            Event::Resume => self.resume(visitor),
            Event::Yield { .. } => {
                add(&mut self.yields, 1);
                self.stop(event, visitor);
            }
            Event::Leave { .. } => {
                add(&mut self.yields, 1);
                self.current(visitor);
                self.pop(event, visitor);
            }
            Event::Unrecorded { .. } => {
                add(&mut self.yields, 1);
                self.current(visitor);
            }
            Event::Recorded
            | Event::Signal { .. }
            | Event::RegionBegin { .. }
            | Event::RegionEnd { .. }
            | Event::PartBegin { .. }
            | Event::PartEnd { .. } => self.current(visitor),
            Event::Worker { pool, index } => self.worker = Some((*pool, *index)),
            Event::WorkerEnd => self.worker = None,
            Event::Pool { pool, size } => {
                if self.pools.len() < MAX_POOLS {
                    self.pools.push((*pool, *size));
                }
            }
            Event::PoolEnd { pool } => self.pools.retain(|(number, _)| number != pool),
            Event::Skip { tasks, scopes } => {
                add(&mut self.tasks, *tasks);
                add(&mut self.scopes, *scopes);
            }
            Event::Restart {
                tasks,
                scopes,
                yields,
                stack,
            } => {
                // Only a thread whose beginning is missing learns from it; any other knows as much.
                if self.is_nothing() {
                    (self.tasks, self.scopes, self.yields) = (*tasks, *scopes, *yields);
                    for (_, code) in stack.iter().take(MAX_STACK_DEPTH) {
                        let state = TaskState::from_code(code);
                        let frame = visitor.begin(Some(event), self.tasks, None);
                        self.stack.push(OnStack { state, frame });
                    }
                }
            }
            Event::Depend { .. }
            | Event::Steal { .. }
            | Event::StealFailed { .. }
            | Event::Sleep
            | Event::Wake
            | Event::Off { .. }
            | Event::Recorder { .. }
            | Event::Folded(_)
            | Event::Counter { .. }
            | Event::Depends { .. }
            | Event::Readings(_)
            | Event::Sampled { .. }
            | Event::Inside { .. } => {}
        }
    }

    fn push(&mut self, event: Option<&Event<'_>>, visitor: &mut impl StackVisitor<Frame = F>) {
        let below = self.stack.last_mut().map(|top| {
            if top.state == TaskState::Running {
                top.state = TaskState::Interrupted;
            }
            &mut top.frame
        });
        let frame = visitor.begin(event, self.tasks, below);
        if self.stack.len() < MAX_STACK_DEPTH {
            let state = TaskState::Running;
            self.stack.push(OnStack { state, frame });
        }
    }

    fn pop(&mut self, event: &Event<'_>, visitor: &mut impl StackVisitor<Frame = F>) {
        let Some(ended) = self.stack.pop() else {
            return;
        };
        let below = self.stack.last_mut().map(|top| {
            if top.state == TaskState::Interrupted {
                top.state = TaskState::Running;
            }
            &mut top.frame
        });
        visitor.end(ended.frame, below, event);
    }

    fn resume(&mut self, visitor: &mut impl StackVisitor<Frame = F>) {
        if let Some(top) = self.stack.last_mut() {
            top.state = TaskState::Running;
            visitor.resume(&mut top.frame);
        }
    }

    fn stop(&mut self, event: &Event<'_>, visitor: &mut impl StackVisitor<Frame = F>) {
        self.current(visitor);
        if let Some(top) = self.stack.last_mut() {
            top.state = TaskState::Waiting;
            visitor.stop(&mut top.frame, event);
        }
    }

    /// A record that needs a running task: a thread that is no worker gets a root.
    fn current(&mut self, visitor: &mut impl StackVisitor<Frame = F>) {
        match self.stack.last_mut() {
            Some(top) => top.state = TaskState::Running,
            None if self.worker.is_none() => self.push(None, visitor),
            None => {}
        }
    }

    /// The operands of a [`Kind::Restart`] record.
    pub fn operands(&self, out: &mut Vec<u8>) {
        for count in [
            self.tasks,
            self.scopes,
            self.yields,
            self.stack.len() as u64,
        ] {
            push_varint(out, count);
        }
        for task in &self.stack {
            push_varint(out, task.state as u64);
        }
    }

    /// Records at one moment, the chunk's base: the restart, and what the thread is.
    pub fn records(&self, out: &mut Vec<u8>) {
        out.extend([Kind::Extended as u8, Kind::Restart as u8]);
        self.operands(out);
        for &(pool, size) in &self.pools {
            out.push(Kind::Pool as u8);
            push_varint(out, u64::from(pool));
            push_varint(out, size);
        }
        if let Some((pool, index)) = self.worker {
            out.push(Kind::Worker as u8);
            push_varint(out, u64::from(pool));
            push_varint(out, index);
        }
    }
}

/// What a file states may be anything.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Events;

    #[test]
    fn a_join_is_followed_from_its_create_to_its_end() {
        let mut open = ThreadState::default();
        for (event, stack) in [
            (Event::Root, "r"),
            (Event::Join { site: 1 }, "wr"),
            (Event::Join { site: 1 }, "wwr"),
            (Event::End, "ww"),
            (Event::Next, "wwr"),
            (Event::EndResume, "wr"),
            (Event::Begin((7, 3)), "wir"),
            (
                Event::Wait {
                    site: None,
                    what: crate::event::WaitFor::Children,
                },
                "wiw",
            ),
            (Event::Begin((7, 4)), "wiwr"),
            (Event::End, "wiw"),
            (Event::Resume, "wir"),
            (Event::Leave { site: None }, "wr"),
            (Event::End, "w"),
        ] {
            open.pass(&event);
            let letter = |task: &OnStack| ["r", "w", "i"][task.state as usize];
            assert_eq!(
                open.stack.iter().map(letter).collect::<String>(),
                stack,
                "{event:?}"
            );
        }
        assert_eq!((open.tasks, open.scopes, open.yields), (5, 0, 1));
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let open = ThreadState {
            tasks: 1 << 40,
            scopes: 3,
            yields: 0,
            stack: [
                TaskState::Waiting,
                TaskState::Interrupted,
                TaskState::Running,
            ]
            .map(|state| OnStack { state, frame: () })
            .to_vec(),
            worker: Some((2, 1)),
            pools: vec![(2, 4)],
        };
        let mut bytes = Vec::new();
        open.records(&mut bytes);
        let mut read = ThreadState::default();
        for (t, event) in Events::new(&bytes, 50) {
            assert_eq!(t, 50);
            read.pass(&event);
        }
        assert_eq!(read, open);
        // A thread that knows better is not told anew.
        let mut other = ThreadState {
            tasks: 1,
            ..ThreadState::default()
        };
        for (_, event) in Events::new(&bytes, 50).take(1) {
            other.pass(&event);
        }
        assert_eq!(other.tasks, 1);
    }
}
