//! Tasks that create others into the scope that they are members of, and end before those do.
//!
//! Tasks of Rayon's scopes work like this: each spawns into the scope that all of them are in, only
//! the scope's opener waits, and a thread runs last what was spawned first. A task and all its
//! descendants thus run one after the other on a thread, unless some are stolen. They all end at
//! the scope's wait: the last end is the one exit of the subtree, and its records become one strand
//! of the task from its start to that end.
//!
//! The task stays on the stack until then: it *lingers*. The tasks that it created have to begin
//! next, on top of it; any other record gives it up.

use crate::Fold;
use crate::section::{Group, Waits};
use workspan_trace::event::{Event, WaitFor};

/// The largest number of tasks that may linger on top of each other.
const MAX_LINGERING_TASKS: u32 = 64;
/// The largest number of scope tasks that are remembered until they begin. Stolen tasks never begin
/// here.
const MAX_REMEMBERED_TASKS: usize = 512;

/// Which scopes tasks are members of.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The number of tasks on the stack that linger.
    pub lingering: u32,
    /// Tasks created by this thread that have not begun: count, site and scope, ordered by count.
    waiting: Vec<(u64, u32, (u32, u64))>,
    /// A wait names something other than a scope. A task that was created into a scope may then be
    /// waited for twice.
    mixed: bool,
}

impl Members {
    /// The thread's create of this count was into a scope.
    pub(crate) fn created(&mut self, seq: u64, site: u32, scope: (u32, u64)) {
        if self.waiting.len() >= MAX_REMEMBERED_TASKS {
            self.waiting.drain(..MAX_REMEMBERED_TASKS / 2);
        }
        self.waiting.push((seq, site, scope));
    }

    /// The task begins on this thread. Returns its site and scope, if remembered.
    pub(crate) fn begin_member(&mut self, seq: u64) -> Option<(u32, (u32, u64))> {
        let at = self.waiting.binary_search_by_key(&seq, |w| w.0).ok()?;
        let (_, site, scope) = self.waiting.remove(at);
        Some((site, scope))
    }

    /// A task waits for `what`.
    pub(crate) fn waited(&mut self, what: &WaitFor<'_>) {
        self.mixed |= !matches!(what, WaitFor::Scope(..) | WaitFor::Signals(_));
    }

    /// Memory used, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.waiting.len() * size_of::<(u64, u32, (u32, u64))>()
    }
}

impl Fold {
    /// The section's group of tasks that its task created into the scope that it is itself a member
    /// of.
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

    /// The task on top ends. Returns true if only tasks that it created into its own scope remain,
    /// and these may run next.
    pub(crate) fn lingers(&mut self, t: u64) -> bool {
        let Some(section) = self.sections.last() else {
            return false;
        };
        // A task that was interrupted goes on at once, and a wait for all children covers only this
        // task.
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
        let few = self.members.lingering < MAX_LINGERING_TASKS;
        let lingers = stands && over && all && few && !self.members.mixed;
        if let Some(top) = self.frames.last_mut().filter(|_| lingers) {
            (top.waits, top.start) = (Waits::Lingers, t);
            self.members.lingering += 1;
        }
        lingers
    }

    /// Whether the task on top lingers.
    pub(crate) fn lingers_on_top(&self) -> bool {
        self.frames.last().map(|top| top.waits) == Some(Waits::Lingers)
    }

    /// Gives up all sections, so that no task lingers any more.
    pub(crate) fn abandon(&mut self) {
        self.give_up();
        while self.members.lingering > 0 && self.drop_ended() {}
    }

    /// A record other than the beginning of a task comes while the task on top lingers.
    #[cold]
    pub(crate) fn not_next(&mut self, t: u64, event: &Event<'_>) {
        let nothing =
            matches!(event, Event::Readings(list) if list.is_empty() && t == self.out.mark().last);
        if !nothing && self.lingers_on_top() {
            self.abandon();
        }
    }

    /// Pops the task on top if it lingers, without adding it to any section.
    fn drop_ended(&mut self) -> bool {
        let lingers = self.lingers_on_top();
        if lingers {
            self.frames.pop();
            self.members.lingering -= 1;
        }
        lingers
    }

    /// A task has ended and was popped. Closes the lingering tasks below it that only waited for
    /// its end.
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
            let through = own.and_then(|at| self.add_wait_path(from + at..from + at + 1, true, t));
            if through.is_none() {
                return self.abandon();
            }
            self.close_after_task_end(t);
            self.members.lingering -= 1;
            self.leave(t);
        }
    }
}
