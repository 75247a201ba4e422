//! The tasks of a thread, as far as needed to find when it ran none, and whether the one that it
//! ran next was ready meanwhile.

use workspan_trace::event::{Event, WaitFor};
use workspan_trace::thread_state::{StackVisitor, ThreadState};
use workspan_trace::wire::TaskRef;

/// The reason why a task does not run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It yielded.
    Yields,
    /// It waits for tasks that it created, possibly with their descendants.
    Joins,
    /// Any other reason.
    Other,
}

/// A task on the stack.
struct LaneFrame {
    /// Its create count; [`u64::MAX`] for a task of another thread.
    seq: u64,
    /// The reason why it stopped, if it has.
    stop: Stop,
    /// The thread's create count before it began.
    before: u64,
    /// The number of tasks created since then that have run here and ended.
    ended: u64,
}

/// The thread's tasks.
pub(super) struct Stack {
    state: ThreadState<LaneFrame>,
    lane: LaneTasks,
    /// The number of tasks that are created here, or are members of regions.
    pub tasks: u64,
    /// The time since which nothing runs.
    pub since: Option<u64>,
    /// Whether tasks depend on others, so that a created task need not be ready.
    pub depends: bool,
}

/// The information from the thread's stack.
struct LaneTasks {
    thread: u32,
    /// Tasks of other threads that began here.
    taken: Vec<TaskRef>,
}

impl StackVisitor for LaneTasks {
    type Frame = LaneFrame;

    #[inline(always)]
    fn begin(
        &mut self,
        record: Option<&Event<'_>>,
        tasks: u64,
        below: Option<&mut LaneFrame>,
    ) -> LaneFrame {
        let seq = match record {
            Some(Event::Join { .. }) => tasks - 1,
            // The deferred child of the join that the task below waits for.
            Some(Event::Next) => below.map_or(u64::MAX, |below| below.before),
            Some(&Event::Begin((thread, seq))) if thread == self.thread => seq,
            Some(&Event::Begin(name)) => {
                self.taken.push(name);
                u64::MAX
            }
            _ => u64::MAX,
        };
        LaneFrame {
            seq,
            stop: Stop::Other,
            before: tasks,
            ended: 0,
        }
    }

    #[inline(always)]
    fn stop(&mut self, top: &mut LaneFrame, record: &Event<'_>) {
        top.stop = match record {
            Event::Yield { .. } => Stop::Yields,
            Event::Join { .. }
            | Event::Wait {
                what: WaitFor::Children | WaitFor::Scope(..) | WaitFor::Tasks(_),
                ..
            } => Stop::Joins,
            _ => Stop::Other,
        };
    }

    #[inline(always)]
    fn end(&mut self, ended: LaneFrame, below: Option<&mut LaneFrame>, record: &Event<'_>) {
        // A task that leaves goes on elsewhere.
        if let Some(below) = below.filter(|_| !matches!(record, Event::Leave { .. })) {
            let own = ended.seq != u64::MAX && ended.seq >= below.before;
            let ended = ended.ended.saturating_add(u64::from(own));
            below.ended = below.ended.saturating_add(ended);
        }
    }
}

impl Stack {
    /// For the thread with this number, before its first record.
    pub(super) fn new(thread: u32) -> Stack {
        let taken = Vec::new();
        Stack {
            state: ThreadState::default(),
            lane: LaneTasks { thread, taken },
            tasks: 0,
            since: None,
            depends: false,
        }
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.state.is_running()
    }

    /// Whether nothing runs and the task that `event` starts has been ready since then, because
    /// everything that it had to wait for ran on this thread before.
    #[inline(always)]
    pub(super) fn was_ready(&self, event: &Event<'_>) -> bool {
        match *event {
            Event::Next => true,
            Event::Begin((thread, seq)) => {
                thread == self.lane.thread && seq < self.state.tasks && !self.depends
            }
            Event::Resume if !self.is_running() => self.state.stack.last().is_some_and(|top| {
                let LaneFrame {
                    stop,
                    ended,
                    before,
                    ..
                } = top.frame;
                match stop {
                    Stop::Yields => true,
                    Stop::Joins => ended == self.state.tasks - before,
                    Stop::Other => false,
                }
            }),
            _ => false,
        }
    }

    /// Handles a record.
    #[inline(always)]
    pub(super) fn record(&mut self, event: &Event<'_>) {
        self.state.pass_to(event, &mut self.lane);
        match event {
            Event::Join { .. } => self.tasks += 2,
            Event::Root
            | Event::StolenPart { .. }
            | Event::Member { .. }
            | Event::Create { .. } => {
                self.tasks += 1;
            }
            Event::Skip { tasks, .. } => {
                if let Some(top) = self.state.stack.last_mut() {
                    top.frame.ended = top.frame.ended.saturating_add(*tasks);
                }
            }
            Event::Depend { .. } | Event::Depends { .. } => self.depends = true,
            _ => {}
        }
    }

    /// Tasks of other threads that began here.
    pub(super) fn into_taken(self) -> Vec<TaskRef> {
        self.lane.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_trace::entry::push_varint;
    use workspan_trace::event::Events;
    use workspan_trace::wire::{Kind, put_head};

    fn stack_before(events: &[Event<'_>]) -> Stack {
        let mut stack = Stack::new(0);
        events.iter().for_each(|event| stack.record(event));
        stack
    }

    #[test]
    fn who_waits_stands_ready_once_all_that_it_created_ended_here() {
        let create = Event::Create {
            kind: 0,
            site: 1,
            scope: None,
        };
        let wait = Event::Wait {
            site: None,
            what: WaitFor::Children,
        };
        let waits = [Event::Root, create, wait];
        let stack = stack_before(&waits);
        assert!(!stack.was_ready(&Event::Resume));
        assert!(stack.was_ready(&Event::Begin((0, 1))));
        assert!(!stack.was_ready(&Event::Begin((0, 2))), "not created");
        assert!(!stack.was_ready(&Event::Begin((7, 0))), "another's");
        let ran = |name| {
            let mut stack = stack_before(&waits);
            stack.record(&Event::Begin(name));
            stack.record(&Event::End);
            stack.was_ready(&Event::Resume)
        };
        assert!(ran((0, 1)));
        assert!(!ran((7, 0)));
    }

    #[test]
    fn absurd_counts_do_no_harm() {
        let skip = Event::Skip {
            tasks: u64::MAX,
            scopes: 0,
        };
        let join = Event::Join { site: 1 };
        let stack = stack_before(&[
            Event::Root,
            skip,
            join,
            skip,
            Event::End,
            Event::Next,
            skip,
            Event::End,
            Event::Resume,
        ]);
        assert!(stack.is_running());
        let mut restart = vec![0; 8];
        // SAFETY: a head takes 8 bytes at most.
        let end = unsafe { put_head(restart.as_mut_ptr(), Kind::Restart, 0) };
        restart.truncate(end as usize - restart.as_ptr() as usize);
        for operand in [u64::MAX, 0, 0, 0] {
            push_varint(&mut restart, operand);
        }
        let events = Events::new(&restart, 0).chain([(0, join), (0, join)]);
        let events: Vec<Event<'_>> = events.map(|e| e.1).collect();
        assert!(matches!(events[0], Event::Restart { .. }));
        assert!(stack_before(&events).is_running());
    }
}
