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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TaskState {
    /// It runs.
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

/// A thread's counts and stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadState {
    /// Tasks it created so far.
    pub tasks: u64,
    /// Scopes it opened.
    pub scopes: u64,
    /// Yields it told of.
    pub yields: u64,
    /// Its stack, bottom first.
    pub stack: Vec<TaskState>,
    /// The pool's worker it is: pool and index.
    pub worker: Option<(u32, u64)>,
    /// Pools it told of that have not ended: number and size.
    pub pools: Vec<(u32, u64)>,
}

impl ThreadState {
    /// True for a thread of which nothing is open and nothing was created: reading may begin with
    /// it as it is.
    pub fn is_nothing(&self) -> bool {
        *self == ThreadState::default()
    }

    /// Goes past a record.
    pub fn pass(&mut self, event: &Event<'_>) {
        match event {
            Event::Root => {
                add(&mut self.tasks, 1);
                if self.stack.is_empty() {
                    self.push();
                } else {
                    self.stack.insert(0, TaskState::Interrupted);
                }
            }
            Event::Begin(_)
            | Event::Next
            | Event::ResumeYielded { .. }
            | Event::ResumeStopped(_)
            | Event::Member { .. } => self.push(),
            Event::Part { .. } => {
                add(&mut self.tasks, 1);
                self.push();
            }
            Event::End => self.pop(),
            Event::EndResume => {
                self.pop();
                self.set(TaskState::Running);
            }
            Event::Join { .. } => {
                add(&mut self.tasks, 2);
                self.current();
                self.set(TaskState::Waiting);
                self.push();
            }
            Event::Create { .. } => {
                add(&mut self.tasks, 1);
                self.current();
            }
            Event::Scope { .. } => {
                add(&mut self.scopes, 1);
                self.current();
            }
            Event::Team { .. } => {
                add(&mut self.scopes, 1);
                self.current();
                self.set(TaskState::Waiting);
            }
            Event::Wait { .. } => {
                self.current();
                self.set(TaskState::Waiting);
            }
            Event::Resume => self.set(TaskState::Running),
            Event::Yield { .. } => {
                add(&mut self.yields, 1);
                self.current();
                self.set(TaskState::Waiting);
            }
            Event::Leave { .. } => {
                add(&mut self.yields, 1);
                self.current();
                self.pop();
            }
            Event::Unrecorded { .. } => {
                add(&mut self.yields, 1);
                self.current();
            }
            Event::Recorded
            | Event::Signal { .. }
            | Event::RegionBegin { .. }
            | Event::RegionEnd { .. }
            | Event::PartBegin { .. }
            | Event::PartEnd { .. } => self.current(),
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
                    let places = stack.iter().map(|(_, code)| TaskState::from_code(code));
                    self.stack.extend(places.take(MAX_STACK_DEPTH));
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

    fn push(&mut self) {
        if let Some(top) = self.stack.last_mut()
            && *top == TaskState::Running
        {
            *top = TaskState::Interrupted;
        }
        if self.stack.len() < MAX_STACK_DEPTH {
            self.stack.push(TaskState::Running);
        }
    }

    fn pop(&mut self) {
        self.stack.pop();
        if let Some(top) = self.stack.last_mut()
            && *top == TaskState::Interrupted
        {
            *top = TaskState::Running;
        }
    }

    fn set(&mut self, place: TaskState) {
        if let Some(top) = self.stack.last_mut() {
            *top = place;
        }
    }

    /// A record that needs a running task: one that is no worker gets a root.
    fn current(&mut self) {
        match self.stack.last_mut() {
            Some(top) => *top = TaskState::Running,
            None if self.worker.is_none() => self.stack.push(TaskState::Running),
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
        for &place in &self.stack {
            push_varint(out, place as u64);
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
            let letter = |place: &TaskState| ["r", "w", "i"][*place as usize];
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
            stack: vec![
                TaskState::Waiting,
                TaskState::Interrupted,
                TaskState::Running,
            ],
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
