//! The tasks and pools that a thread has open at a place in its records. With them, reading can
//! start at that place without the records before it.
//!
//! The recorder writes this state at the head of chunks that may outlive the chunks before them,
//! and a window of a trace begins with it ([`crate::window`]). It does not name tasks: the records
//! of what ran before are not in the trace, and a reader turns such tasks into roots.

use crate::entry::push_varint;
use crate::event::fast_decode::{Cursor, ROOM};
use crate::event::{Event, Events};
use crate::wire::{self, Kind};

/// The state of a task on a thread's stack, as in [`Kind::Restart`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TaskState {
    /// It runs.
    #[default]
    Running = 0,
    /// It waits or yielded; a record follows when it goes on.
    Waiting = 1,
    /// It stopped because another task began on top of it, and goes on when that task is gone.
    Interrupted = 2,
}

impl TaskState {
    /// The state with this code; unknown codes count as waiting.
    pub fn from_code(code: u64) -> TaskState {
        match code {
            0 => TaskState::Running,
            2 => TaskState::Interrupted,
            _ => TaskState::Waiting,
        }
    }
}

/// The largest number of tasks on a stack that is kept. A stack with that many has overflowed.
const MAX_STACK_DEPTH: usize = 1 << 16;
/// The largest number of pools that are kept.
const MAX_POOLS: usize = 256;

/// A task on a thread's stack, with the data that a reader keeps for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackFrame<F = ()> {
    /// The task's state.
    pub state: TaskState,
    /// The reader's data.
    pub frame: F,
}

/// A reader of a thread's records that keeps data for each task on the thread's stack.
/// [`ThreadState::pass_to`] maintains the stack and calls the visitor for each change.
pub trait StackVisitor {
    /// The data kept for a task.
    type Frame;

    /// A task begins, or goes on here. The record is `None` for the root of a thread that is not a
    /// worker and acts outside of any task. `tasks` is the number of tasks that the thread has
    /// created, including by this record. `below` is the task that was on top.
    fn begin(
        &mut self,
        record: Option<&Event<'_>>,
        tasks: u64,
        below: Option<&mut Self::Frame>,
    ) -> Self::Frame;

    /// The task on top waits or yields.
    fn stop(&mut self, _top: &mut Self::Frame, _record: &Event<'_>) {}

    /// The task on top goes on after a stop.
    fn resume(&mut self, _top: &mut Self::Frame) {}

    /// The task on top ends, or moves to another thread.
    fn end(&mut self, _ended: Self::Frame, _below: Option<&mut Self::Frame>, _record: &Event<'_>) {}
}

/// A visitor that keeps nothing.
impl StackVisitor for () {
    type Frame = ();
    fn begin(&mut self, _: Option<&Event<'_>>, _: u64, _: Option<&mut ()>) {}
}

/// The counts and the stack of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadState<F = ()> {
    /// The number of tasks it created so far.
    pub tasks: u64,
    /// The number of scopes it opened.
    pub scopes: u64,
    /// The number of yields it recorded.
    pub yields: u64,
    /// Its stack, bottom first.
    pub stack: Vec<StackFrame<F>>,
    /// The worker that the thread is: pool and index.
    pub worker: Option<(u32, u64)>,
    /// Its recorded pools that have not ended: number and size.
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
    /// Applies a record to the state.
    pub fn pass(&mut self, event: &Event<'_>) {
        self.pass_to(event, &mut ());
    }

    /// Applies all records of a chunk's payload to the state.
    ///
    /// A recorder that keeps parts of a run does this on the program's threads. The state does not
    /// depend on times, sites and names, so the operands of frequent records are skipped rather
    /// than decoded.
    pub fn pass_all(&mut self, payload: &[u8]) {
        let mut at = 0;
        loop {
            at = self.pass_frequent(payload, at);
            let Some(rest) = payload.get(at..) else {
                return;
            };
            let mut rest = Events::new(rest, 0);
            let Some((_, event)) = rest.next() else {
                return;
            };
            self.pass(&event);
            at += rest.offset();
        }
    }

    /// Applies the records from `at` on, up to the first one that is not frequent, has an unusual
    /// form, or is near the payload's end. Returns where that one begins.
    #[inline]
    fn pass_frequent(&mut self, payload: &[u8], mut at: usize) -> usize {
        while let Some(room) = payload.get(at..).and_then(<[u8]>::first_chunk::<ROOM>) {
            let mut record = Cursor::behind_head(room);
            let kind = room[0] & 31;
            if kind == Kind::Begin as u8 {
                record.skip(2);
                self.push(None, &mut ());
            } else if kind == Kind::End as u8 {
                self.pop(&Event::End, &mut ());
            } else if kind == Kind::EndResume as u8 {
                self.pop(&Event::EndResume, &mut ());
                self.resume(&mut ());
            } else if kind == Kind::Create as u8 {
                let Some(flags) = record.number() else {
                    break;
                };
                let is_scoped = flags & wire::create::SCOPED != 0;
                record.skip(if is_scoped { 3 } else { 1 });
                self.current(&mut ());
                add(&mut self.tasks, 1);
            } else if kind == Kind::Join as u8 {
                record.skip(1);
                self.stop(&Event::Join { site: 0 }, &mut ());
                add(&mut self.tasks, 2);
                self.push(None, &mut ());
            } else if kind == Kind::Next as u8 {
                self.push(None, &mut ());
            } else if kind == Kind::Resume as u8 {
                self.resume(&mut ());
            } else {
                break;
            }
            at += record.at;
        }
        at
    }
}

impl<F> ThreadState<F> {
    /// Whether nothing is open and nothing was created, so that reading may begin here without a
    /// restart record.
    pub fn is_nothing(&self) -> bool {
        (self.tasks, self.scopes, self.yields) == (0, 0, 0)
            && self.stack.is_empty()
            && self.worker.is_none()
            && self.pools.is_empty()
    }

    /// Whether the task on top runs.
    #[inline]
    pub fn is_running(&self) -> bool {
        let top = self.stack.last();
        top.is_some_and(|top| top.state == TaskState::Running)
    }

    /// Applies a record to the state, and calls the visitor for its effect on the stack.
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
                    self.stack.insert(0, StackFrame { state, frame });
                }
            }
            Event::Begin(_)
            | Event::Next
            | Event::ResumeYielded { .. }
            | Event::ResumeStopped(_)
            | Event::Member { .. } => self.push(Some(event), visitor),
            Event::StolenPart { .. } => {
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
            Event::SkipBegin { .. } => {
                add(&mut self.yields, 1);
                self.current(visitor);
            }
            Event::SkipEnd
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
                // Only a thread whose beginning is missing takes its state from the record; any
                // other thread already knows it.
                if self.is_nothing() {
                    (self.tasks, self.scopes, self.yields) = (*tasks, *scopes, *yields);
                    for (_, code) in stack.iter().take(MAX_STACK_DEPTH) {
                        let state = TaskState::from_code(code);
                        let frame = visitor.begin(Some(event), self.tasks, None);
                        self.stack.push(StackFrame { state, frame });
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
            | Event::SampleBegin { .. }
            | Event::SkippedTasks { .. } => {}
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
            self.stack.push(StackFrame { state, frame });
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

    /// Handles a record that needs a running task: a thread that is not a worker gets a root.
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

    /// Appends records for the chunk's base time: the restart, and the thread's worker and pools.
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

/// Adds with saturation, because a file may contain any number.
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
            let letter = |task: &StackFrame| ["r", "w", "i"][task.state as usize];
            assert_eq!(
                open.stack.iter().map(letter).collect::<String>(),
                stack,
                "{event:?}"
            );
        }
        assert_eq!((open.tasks, open.scopes, open.yields), (5, 0, 1));
    }

    /// A chunk is passed as its records are one by one, wherever it is cut.
    #[test]
    fn all_records_at_once_are_all_records_in_turn() {
        let mut bytes = Vec::new();
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..3_000 {
            let kinds = [
                (Kind::Begin, 2),
                (Kind::End, 0),
                (Kind::EndResume, 0),
                (Kind::Create, 4),
                (Kind::Join, 1),
                (Kind::Next, 0),
                (Kind::Resume, 0),
                (Kind::Wait, 2),
                (Kind::Yield, 1),
                (Kind::Leave, 1),
                (Kind::SkipBegin, 2),
                (Kind::Scope, 1),
            ];
            let (kind, mut operands) = kinds[random(kinds.len() as u64) as usize];
            let mut head = [0u8; 16];
            let ticks = random(1 << 20) >> random(20);
            // SAFETY: 16 bytes are more than the 9 that a head may touch.
            let end = unsafe { wire::put_head(head.as_mut_ptr(), kind, ticks) };
            bytes.extend(&head[..end as usize - head.as_ptr() as usize]);
            if kind == Kind::Create {
                let flags = random(8);
                operands = 2 + 2 * u64::from(flags & wire::create::SCOPED != 0);
                push_varint(&mut bytes, flags);
                operands -= 1;
            }
            for operand in 0..operands {
                let is_wait = kind == Kind::Wait && operand == 1;
                let number = u64::MAX >> random(64);
                push_varint(&mut bytes, if is_wait { 0 } else { number });
            }
        }
        for cut in (0..200).chain(bytes.len() - 200..=bytes.len()) {
            let payload = &bytes[..cut];
            let mut in_turn = ThreadState::default();
            for (_, event) in Events::new(payload, 0) {
                in_turn.pass(&event);
            }
            let mut at_once = ThreadState::default();
            at_once.pass_all(payload);
            assert_eq!(at_once, in_turn, "cut at {cut}");
        }
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
            .map(|state| StackFrame { state, frame: () })
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
        // A thread that already knows its state ignores the record.
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
