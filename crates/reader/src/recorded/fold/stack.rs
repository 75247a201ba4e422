//! The tasks of a thread, as far as it takes to know when it ran none, and whether the one that it
//! ran next stood ready meanwhile.

use workspan_trace::event::{Event, WaitFor};
use workspan_trace::wire::TaskRef;

/// Survey beyond this are damage, and one can still count on from here.
const MOST: u64 = u64::MAX >> 1;

/// Why a task on the stack does not run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It runs, or would if none were on top.
    No,
    /// For nobody's sake.
    Yields,
    /// It waits for tasks that it created, with their descendants at most.
    Joins,
    /// Anything else.
    Other,
}

/// A task on the stack.
struct Frame {
    /// Its create count; [`u64::MAX`] for another thread's.
    seq: u64,
    stop: Stop,
    /// Creates of the thread before it began.
    before: u64,
    /// Of those since, how many have run here and ended.
    ended: u64,
}

/// The thread's tasks.
pub(super) struct Stack {
    thread: u32,
    frames: Vec<Frame>,
    /// Creates so far, with those that the trace does not have.
    created: u64,
    /// Tasks that are created here, or are members of regions.
    pub tasks: u64,
    /// Tasks of other threads that began here.
    pub taken: Vec<TaskRef>,
    /// Since when nothing runs.
    pub since: Option<u64>,
    pub worker: bool,
    /// Tasks depend on others, so that one that was created need not stand ready.
    pub depends: bool,
}

impl Stack {
    /// Of the thread of this number, before its first record.
    pub(super) fn new(thread: u32) -> Stack {
        Stack {
            thread,
            frames: Vec::new(),
            created: 0,
            tasks: 0,
            taken: Vec::new(),
            since: None,
            worker: false,
            depends: false,
        }
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.frames.last().is_some_and(|f| f.stop == Stop::No)
    }

    /// Nothing runs: what `event` makes run is known to have stood ready since then, as all that it
    /// had to wait for ran on this thread before.
    #[inline(always)]
    pub(super) fn stood_ready(&self, event: &Event<'_>) -> bool {
        match *event {
            Event::Next => true,
            Event::Begin((thread, seq)) => {
                thread == self.thread && seq < self.created && !self.depends
            }
            Event::Resume => self.frames.last().is_some_and(|top| match top.stop {
                Stop::Yields => true,
                Stop::Joins => top.ended == self.created - top.before,
                Stop::No | Stop::Other => false,
            }),
            _ => false,
        }
    }

    fn push(&mut self, seq: u64) {
        self.frames.push(Frame {
            seq,
            stop: Stop::No,
            before: self.created,
            ended: 0,
        });
    }

    fn pop(&mut self) {
        let ended = self.frames.pop();
        if let (Some(ended), Some(below)) = (ended, self.frames.last_mut()) {
            let own = ended.seq != u64::MAX && ended.seq >= below.before;
            let ended = ended.ended + u64::from(own);
            below.ended = below.ended.saturating_add(ended).min(MOST);
        }
    }

    /// The task on top does something; a thread without one that is no worker runs a root.
    fn current(&mut self) {
        match self.frames.last_mut() {
            Some(top) => top.stop = Stop::No,
            None if !self.worker => self.push(u64::MAX),
            None => {}
        }
    }

    fn stop(&mut self, why: Stop) {
        self.current();
        if let Some(top) = self.frames.last_mut() {
            top.stop = why;
        }
    }

    /// Takes a record that is about tasks.
    #[inline(always)]
    pub(super) fn record(&mut self, event: &Event<'_>) {
        match *event {
            Event::Join { .. } => {
                self.stop(Stop::Joins);
                self.created += 2;
                self.tasks += 2;
                self.push(self.created - 1);
            }
            Event::End => self.pop(),
            // It goes on elsewhere.
            Event::Leave { .. } => {
                self.frames.pop();
            }
            Event::EndResume => {
                self.pop();
                self.current();
            }
            Event::Root => {
                self.created += 1;
                self.tasks += 1;
                if self.frames.is_empty() {
                    self.push(u64::MAX);
                }
            }
            // The deferred child of the join that the task on top waits for.
            Event::Next => {
                let seq = self.frames.last().map_or(u64::MAX, |f| f.before);
                self.push(seq);
            }
            Event::Begin((thread, seq)) if thread == self.thread => self.push(seq),
            Event::Begin(name) => {
                self.taken.push(name);
                self.push(u64::MAX);
            }
            Event::Part { .. } => {
                self.created += 1;
                self.tasks += 1;
                self.push(u64::MAX);
            }
            Event::Member { .. } => {
                self.tasks += 1;
                self.push(u64::MAX);
            }
            Event::ResumeYielded { .. } | Event::ResumeStopped(_) => self.push(u64::MAX),
            Event::Wait { what, .. } => self.stop(match what {
                WaitFor::Children | WaitFor::Scope(..) | WaitFor::Tasks(_) => Stop::Joins,
                _ => Stop::Other,
            }),
            Event::Yield { .. } => self.stop(Stop::Yields),
            Event::Team { .. } => self.stop(Stop::Other),
            Event::Create { .. } => {
                self.current();
                self.created += 1;
                self.tasks += 1;
            }
            Event::Resume => self.current(),
            Event::Skip { tasks, .. } => {
                self.created = self.created.saturating_add(tasks).min(MOST);
                if let Some(top) = self.frames.last_mut() {
                    top.ended = top.ended.saturating_add(tasks).min(MOST);
                }
            }
            Event::Restart { tasks, .. } => self.created = self.created.max(tasks.min(MOST)),
            Event::Depend { .. } | Event::Depends { .. } => self.depends = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_trace::entry::push_varint;
    use workspan_trace::event::Events;
    use workspan_trace::wire::{Kind, put_head};

    fn told(events: &[Event<'_>]) -> Stack {
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
        let stack = told(&waits);
        assert!(!stack.stood_ready(&Event::Resume));
        assert!(stack.stood_ready(&Event::Begin((0, 1))));
        assert!(!stack.stood_ready(&Event::Begin((0, 2))), "not created");
        assert!(!stack.stood_ready(&Event::Begin((7, 0))), "another's");
        let ran = |name| {
            let mut stack = told(&waits);
            stack.record(&Event::Begin(name));
            stack.record(&Event::End);
            stack.stood_ready(&Event::Resume)
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
        let stack = told(&[
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
        assert!(told(&events).is_running());
    }
}
