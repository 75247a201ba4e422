//! Tasks and strands as they come.

use super::walk::{Frame, Lane, Walk};
use workspan_dag::{EndKind, NONE, Scope, ScopeKind, StartKind, TaskKind};

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Created,
    Running,
    Stopped,
    Ended,
}

/// How a task comes to be.
pub(super) struct Birth {
    pub parent: u32,
    pub kind: TaskKind,
    pub site: u32,
    pub level: u32,
    pub creator: u32,
    pub rank: u32,
    pub scope: u32,
}

impl<'a> Walk<'a, '_> {
    /// A new task, created by the thread in this slot.
    #[inline]
    pub(super) fn task(&mut self, slot: usize, birth: Birth) -> u32 {
        let tasks = &mut self.columns.tasks;
        let id = tasks.parent.len() as u32;
        tasks.parent.push(birth.parent);
        tasks.kind.push(birth.kind);
        tasks.site.push(birth.site);
        tasks.level.push(birth.level);
        tasks.creator.push(birth.creator);
        tasks.create_rank.push(birth.rank);
        tasks.scope.push(birth.scope);
        tasks.first.push(NONE);
        tasks.last.push(NONE);
        self.states.push(State::Created);
        self.created[slot].push(id);
        id
    }

    /// A strand of `task` starts at `t`.
    #[inline]
    pub(super) fn start_strand(&mut self, task: u32, slot: usize, t: u64) -> u32 {
        let strands = &mut self.columns.strands;
        let id = strands.task.len() as u32;
        let prev = std::mem::replace(&mut self.columns.tasks.last[task as usize], id);
        let start_kind = match prev {
            NONE => {
                self.columns.tasks.first[task as usize] = id;
                StartKind::Begin
            }
            prev => match strands.end_kind[prev as usize] {
                EndKind::Wait => StartKind::AfterWait,
                _ => StartKind::AfterYield,
            },
        };
        strands.task.push(task);
        strands.thread.push(slot as u32);
        strands.start.push(t);
        strands.end.push(t);
        strands.prev.push(prev);
        strands.start_kind.push(start_kind);
        strands.end_kind.push(EndKind::End);
        strands.to.push(NONE);
        self.states[task as usize] = State::Running;
        id
    }

    /// The open strand of the task on top ends.
    #[inline]
    pub(super) fn end_strand(&mut self, lane: &mut Lane<'a>, t: u64, kind: EndKind, to: u32) {
        let Some(top) = lane.stack.last() else { return };
        let (strands, i) = (&mut self.columns.strands, top.strand as usize);
        strands.end[i] = t;
        strands.end_kind[i] = kind;
        strands.to[i] = to;
        lane.told.busy(strands.start[i], t);
    }

    /// A task that was created and has not begun begins on top of the stack.
    #[inline]
    pub(super) fn begin(
        &mut self,
        lane: &mut Lane<'a>,
        slot: usize,
        task: u32,
        t: u64,
    ) -> Option<()> {
        if self.states[task as usize] != State::Created {
            return None;
        }
        self.push(lane, slot, task, t);
        Some(())
    }

    /// A strand of `task` starts on top of the stack; a task that runs there stops for it.
    #[inline]
    pub(super) fn push(&mut self, lane: &mut Lane<'a>, slot: usize, task: u32, t: u64) {
        if lane.stack.last().is_some_and(|top| !top.stopped) {
            self.interrupt(lane, t);
        }
        let strand = self.start_strand(task, slot, t);
        lane.stack.push(Frame {
            task,
            strand,
            stopped: false,
            interrupted: false,
            next: NONE,
            join: NONE,
        });
    }

    #[cold]
    fn interrupt(&mut self, lane: &mut Lane<'a>, t: u64) {
        self.end_strand(lane, t, EndKind::Yield, NONE);
        if let Some(top) = lane.stack.last_mut() {
            (top.stopped, top.interrupted) = (true, true);
            self.states[top.task as usize] = State::Stopped;
        }
    }

    /// The task on top, which stopped here, goes on.
    #[inline]
    pub(super) fn go_on(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64) -> Option<()> {
        let top = lane.stack.last_mut()?;
        if !top.stopped || self.states[top.task as usize] != State::Stopped {
            return None;
        }
        let join = std::mem::replace(&mut top.join, NONE);
        // A task that waits goes on where it waited.
        if join != NONE && !self.is_over(join, top) {
            return None;
        }
        (top.stopped, top.interrupted) = (false, false);
        top.strand = self.start_strand(top.task, slot, t);
        if join != NONE {
            let waits = &mut self.columns.waits;
            waits.after.push(top.strand);
            waits.scope.push(self.columns.tasks.scope[join as usize]);
            waits.plain.push(false);
            waits.tasks.items.extend([join, join + 1]);
            waits.tasks.offsets.push(waits.tasks.items.len() as u32);
        }
        Some(())
    }

    /// Both tasks of a join have ended, and nobody went on meanwhile with the one that waits for
    /// them.
    #[inline]
    fn is_over(&self, join: u32, frame: &Frame) -> bool {
        let ended = |task: u32| self.states[task as usize] == State::Ended;
        ended(join)
            && ended(join + 1)
            && self.columns.tasks.last[frame.task as usize] == frame.strand
    }

    /// The task on top creates two and waits for them; the second begins.
    #[inline]
    pub(super) fn join(
        &mut self,
        lane: &mut Lane<'a>,
        slot: usize,
        t: u64,
        site: u32,
    ) -> Option<()> {
        let place = self.places.of(site);
        self.running(lane, slot, t)?;
        self.end_strand(lane, t, EndKind::Wait, place);
        let top = lane.stack.last_mut()?;
        let (parent, strand) = (top.task, top.strand);
        let scope = self.columns.scopes.len() as u32;
        self.columns.scopes.push(Scope {
            number: u64::from(scope),
            kind: ScopeKind::Group,
            opener: parent,
            strand,
            creates_before: 0,
        });
        let birth = |kind, rank, level| Birth {
            parent,
            kind,
            site: place,
            level,
            creator: strand,
            rank,
            scope,
        };
        let level = self.columns.tasks.level[parent as usize] + 1;
        let deferred = self.task(slot, birth(TaskKind::Deferred, 0, level));
        let inline = self.task(slot, birth(TaskKind::Inline, 1, level));
        self.states[parent as usize] = State::Stopped;
        (top.stopped, top.next, top.join) = (true, deferred, deferred);
        self.begin(lane, slot, inline, t)
    }

    /// A task runs on top: one that was interrupted goes on by itself.
    #[inline]
    pub(super) fn running(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64) -> Option<()> {
        let top = lane.stack.last()?;
        match (top.stopped, top.interrupted) {
            (false, _) => Some(()),
            (true, true) => self.go_on(lane, slot, t),
            (true, false) => None,
        }
    }
}
