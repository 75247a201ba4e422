//! Tasks that create into the scope that they are members of, and end before what they created
//! there.
//!
//! In Rayon that is how a scope's tasks go on: each spawns into the scope that all of them are in,
//! nobody waits but the scope's opener, and a thread runs last what was spawned first. So a task
//! and all that comes of it run one after the other on a thread, unless some of it is stolen. They
//! all end at the scope's wait: the last end is the one exit of the subtree, and its records become
//! a strand of the task from its start to that end.
//!
//! The task stays on the stack until then: it *lingers*. What it created has to begin next, on top
//! of it; anything else gives it up.

use crate::Fold;
use crate::section::{Group, Waits};
use workspan_trace::event::{Event, WaitFor};

/// Tasks that may linger on top of each other.
const LINGERING: u32 = 64;
/// Tasks of scopes that are remembered until they begin. Those that are stolen never do.
const REMEMBERED: usize = 512;

/// Which scopes tasks are members of.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Tasks on the stack that linger.
    pub lingering: u32,
    /// Created by this thread and not yet begun: count, site, scope. By their counts.
    waiting: Vec<(u64, u32, (u32, u64))>,
    /// Something waits for tasks otherwise than by their scope: a task and what it created into its
    /// scope may be waited for by two.
    mixed: bool,
}

impl Members {
    /// The thread's create of this count was one into a scope.
    pub(crate) fn created(&mut self, seq: u64, site: u32, scope: (u32, u64)) {
        if self.waiting.len() >= REMEMBERED {
            self.waiting.drain(..REMEMBERED / 2);
        }
        self.waiting.push((seq, site, scope));
    }

    /// It begins on this thread: its site and scope, where remembered.
    pub(crate) fn begun(&mut self, seq: u64) -> Option<(u32, (u32, u64))> {
        let at = self.waiting.binary_search_by_key(&seq, |w| w.0).ok()?;
        let (_, site, scope) = self.waiting.remove(at);
        Some((site, scope))
    }

    /// A task waits.
    pub(crate) fn waited(&mut self, what: &WaitFor<'_>) {
        self.mixed |= !matches!(what, WaitFor::Scope(..) | WaitFor::Signals(_));
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.waiting.len() * size_of::<(u64, u32, (u32, u64))>()
    }
}

impl Fold {
    /// The section's group of what its task creates into the scope that it is itself a member of.
    pub(crate) fn outward(&mut self) -> Option<u32> {
        let from = self.sections.last()?.groups as usize;
        if self.members.mixed {
            return None;
        }
        if let Some(at) = self.groups.since(from).iter().position(|g| g.outward) {
            return Some((from + at) as u32);
        }
        let group = self.groups.push()?;
        (group.outward, group.apart) = (true, true);
        Some(self.groups.end() as u32 - 1)
    }

    /// The task on top ends: true where nothing of it is left but what it created into its own
    /// scope, and that may run next.
    pub(crate) fn lingers(&mut self, t: u64) -> bool {
        let Some(section) = self.sections.last() else {
            return false;
        };
        // Whom it interrupted goes on at once, and who waits for all children waits for it alone.
        let below = self.frames.iter().nth_back(1).map(|f| f.waits);
        let stands = !matches!(
            below,
            Some(Waits::No | Waits::Interrupted | Waits::Children)
        );
        let groups = self.groups.since(section.groups as usize);
        let over = groups.iter().all(|g| g.is_over() || g.outward);
        let children = self.children.since(section.children as usize);
        let outward = |group: u32| {
            let at = (group as usize).checked_sub(section.groups as usize);
            at.and_then(|at| groups.get(at)).is_some_and(|g| g.outward)
        };
        let all = children.iter().all(|c| outward(c.group));
        let few = self.members.lingering < LINGERING;
        let lingers = stands && over && all && few && !self.members.mixed;
        if let Some(top) = self.frames.last_mut().filter(|_| lingers) {
            (top.waits, top.start) = (Waits::Lingers, t);
            self.members.lingering += 1;
        }
        lingers
    }

    /// True while the task on top lingers.
    pub(crate) fn lingers_on_top(&self) -> bool {
        self.frames.last().map(|top| top.waits) == Some(Waits::Lingers)
    }

    /// Gives up all sections; no task lingers any more.
    pub(crate) fn abandon(&mut self) {
        self.give_up();
        while self.members.lingering > 0 && self.drop_ended() {}
    }

    /// A record comes while the task on top lingers, and is no task's beginning.
    #[cold]
    pub(crate) fn not_next(&mut self, t: u64, event: &Event<'_>) {
        let nothing =
            matches!(event, Event::Readings(list) if list.is_empty() && t == self.out.mark().last);
        if !nothing && self.lingers_on_top() {
            self.abandon();
        }
    }

    /// Pops the task on top if it lingers; it goes into nothing.
    fn drop_ended(&mut self) -> bool {
        let lingers = self.lingers_on_top();
        if lingers {
            self.frames.pop();
            self.members.lingering -= 1;
        }
        lingers
    }

    /// A task has ended and was popped: those below that only waited for it to end are over, and
    /// folded.
    pub(crate) fn settle(&mut self, t: u64) {
        while self.lingers_on_top() {
            let Some(section) = self.sections.last() else {
                self.drop_ended();
                continue;
            };
            let from = section.groups as usize;
            if self.children.end() > section.children as usize {
                return;
            }
            let groups = self.groups.since(from).iter();
            let own = groups.clone().position(|g: &Group| g.outward);
            let through = own.and_then(|at| self.goes_through(from + at..from + at + 1, true, t));
            if through.is_none() {
                return self.abandon();
            }
            self.close_after_task_end(t);
            self.members.lingering -= 1;
            self.leave(t);
        }
    }
}
