//! Creates, scopes, waits, and the continuations after them.

use crate::leaf_join::NewChild;
use crate::section::{Group, Heaviest, Waits};
use crate::{Fold, StealKind};
use workspan_trace::event::WaitFor;
use workspan_trace::wire::create;

/// The largest number of tasks that a wait may name.
const MAX_NAMED_TASKS: u64 = 16;

impl Fold {
    #[inline]
    pub(crate) fn is_kept(&self, site: u32) -> bool {
        self.options.unfolded_sites.binary_search(&site).is_ok()
    }

    /// Whether everything that the section on top created has been joined and no scope is open.
    /// Forgets groups that are over.
    pub(crate) fn all_joined(&mut self) -> bool {
        let Some(section) = self.sections.last() else {
            return false;
        };
        let (children, groups) = (section.children as usize, section.groups as usize);
        let over = self.groups.since(groups).iter().all(Group::is_over);
        if over {
            self.groups.truncate(groups);
        }
        over && self.children.end() == children
    }

    /// Whether everything is joined except scopes that were opened in the open strand.
    pub(crate) fn all_joined_before(&self) -> bool {
        let Some(section) = self.sections.last() else {
            return false;
        };
        let Some((_, scopes)) = section.opened else {
            return false;
        };
        let mine = self.groups.since(section.groups as usize);
        let fresh = |g: &Group| g.scope.is_some() && g.open == 0 && g.heaviest.is_none();
        self.children.end() == section.children as usize
            && mine.len() as u64 == scopes
            && mine.iter().all(fresh)
    }

    /// Makes the heaviest path of the task on top, up to now, a node from which others can
    /// continue.
    fn fork(&mut self) {
        let depth = self.frames.len().saturating_sub(1) as u32;
        if let (Some(top), Some(section)) = (self.frames.last(), self.sections.last_mut()) {
            let site = top.site.unwrap_or(u32::MAX);
            self.paths.close(&mut section.end, site, depth);
        }
    }

    /// Handles [`workspan_trace::wire::Kind::Join`], whose record has been written.
    pub(crate) fn join(&mut self, site: u32, t: u64) {
        let seq = self.tasks;
        self.tasks += 2;
        self.waits_outside(seq);
        if self.is_kept(site) {
            self.give_up();
        }
        if let Some(top) = self.frames.last_mut() {
            (top.waits, top.next) = (Waits::Group(u32::MAX), Some((seq, site)));
        }
        if !self.sections.is_empty() {
            self.fork();
            if let Some(group) = self.groups.push() {
                (group.join, group.apart, group.open) = (true, true, 2);
            }
            if let Some(top) = self.frames.last_mut() {
                top.waits = Waits::Group(self.groups.end() as u32 - 1);
            }
        }
        self.fresh = Some(NewChild {
            seq: seq + 1,
            site,
            deferred: false,
            start: t,
        });
    }

    /// Handles [`workspan_trace::wire::Kind::Next`].
    pub(crate) fn next(&mut self, t: u64) {
        match self.frames.last_mut().and_then(|top| top.next.take()) {
            Some((seq, site)) => {
                self.waits_no_more();
                self.fresh = Some(NewChild {
                    seq,
                    site,
                    deferred: true,
                    start: t,
                });
            }
            None => self.begin((u32::MAX, 0), t),
        }
    }

    /// Handles [`workspan_trace::wire::Kind::Create`], whose record has been written.
    pub(crate) fn create(&mut self, kind: u64, site: u32, scope: Option<(u32, u64)>, t: u64) {
        let seq = self.tasks;
        self.tasks += 1;
        self.waits_outside(seq);
        let detached = kind == create::DETACHED;
        let deferred = kind != create::INLINE && !detached;
        let chunk = kind == create::INLINE && scope.is_some();
        let Some(top) = self.frames.last_mut() else {
            return self.give_up();
        };
        let continuations = self.options.thieves == StealKind::TakeContinuations;
        top.mergeable = !(continuations && deferred);
        top.barred |= top.chunk;
        let (barred, member_of) = (top.barred, top.member_of);
        if let Some(scope) = scope.filter(|_| deferred) {
            self.members.created(seq, site, scope);
        }
        if detached || barred || self.is_kept(site) {
            self.outside(detached);
            return;
        }
        let group = match scope {
            Some((thread, count)) => {
                let own = (thread == self.thread).then(|| self.scoped(count));
                own.flatten()
                    .or_else(|| (scope == member_of).then(|| self.outward())?)
            }
            None if kind == create::INLINE => self.alone(seq),
            None => self.unscoped(),
        };
        let Some(group) = group.filter(|_| !self.sections.is_empty()) else {
            return self.outside(false);
        };
        self.fork();
        let Some(section) = self.sections.last_mut() else {
            return;
        };
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.open += 1;
        }
        // A child has room for eight corners, but hardly ever has more than one. Only the corners
        // in use are written.
        let Some(child) = self.children.push() else {
            return;
        };
        (child.seq, child.site, child.scope) = (seq, site, scope);
        (child.deferred, child.chunk, child.group) = (deferred, chunk, group);
        (child.created, child.through, child.end) = (t, section.through, section.end);
        child.envelope.copy(&section.envelope);
        if deferred && continuations {
            section.envelope.add(0, 1);
        } else if deferred {
            child.envelope.add(0, 1);
        }
    }

    /// The task on top created a task that no section can hold.
    fn outside(&mut self, detached: bool) {
        self.give_up();
        if let Some(top) = self.frames.last_mut() {
            top.dirty |= !detached;
        }
    }

    /// The section's group for a scope of this thread.
    fn scoped(&self, count: u64) -> Option<u32> {
        let from = self.sections.last()?.groups as usize;
        let mine = self.groups.since(from);
        let at = mine
            .iter()
            .rposition(|g| g.scope == Some(count) && !g.closed)?;
        Some((from + at) as u32)
    }

    /// The section's group for tasks created into no named scope: the innermost tree, or none.
    fn unscoped(&mut self) -> Option<u32> {
        let from = self.sections.last()?.groups as usize;
        let mine = self.groups.since(from);
        let tree = mine.iter().rposition(|g| g.tree && !g.closed);
        let none = || mine.iter().position(|g| g.scope.is_none() && !g.apart);
        if let Some(at) = tree.or_else(none) {
            return Some((from + at) as u32);
        }
        self.groups.push()?;
        Some(self.groups.end() as u32 - 1)
    }

    /// A group for this task alone, which no other thread may take: a wait names it after its end.
    /// In a tree, the task is also a member of the tree.
    fn alone(&mut self, seq: u64) -> Option<u32> {
        let from = self.sections.last()?.groups as usize;
        if self.groups.since(from).iter().any(|g| g.tree && !g.closed) {
            return self.unscoped();
        }
        let group = self.groups.push()?;
        (group.apart, group.alone) = (true, Some(seq));
        Some(self.groups.end() as u32 - 1)
    }

    /// Handles [`workspan_trace::wire::Kind::Scope`], whose record has not been written yet.
    pub(crate) fn scope(&mut self, tree: bool) {
        let count = self.scopes;
        self.scopes += 1;
        let clean = self.all_joined();
        let mark = self.out.mark();
        let Some(section) = self.sections.last_mut() else {
            return;
        };
        section.sum.scopes += 1;
        match &mut section.opened {
            Some((_, scopes)) => *scopes += 1,
            none if clean => *none = Some((mark, 1)),
            _ => {}
        }
        if let Some(group) = self.groups.push() {
            (group.scope, group.tree) = (Some(count), tree);
        }
    }

    /// Handles [`workspan_trace::wire::Kind::Wait`]. The strand before has ended.
    pub(crate) fn wait(&mut self, what: WaitFor<'_>) {
        let dirty = self.frames.last().is_some_and(|top| top.dirty);
        self.members.waited(&what);
        let waits = match what {
            WaitFor::Children => {
                if dirty {
                    self.give_up();
                }
                Waits::Children
            }
            WaitFor::Scope(thread, count) => {
                let own = thread == self.thread;
                let group = self.scoped(count).filter(|_| own);
                group.map_or(Waits::Other, Waits::Group)
            }
            WaitFor::Tasks(list) if list.len() <= MAX_NAMED_TASKS => {
                let to = self.groups.end() as u32;
                if let Some(group) = self.groups.push() {
                    group.apart = true;
                }
                let all = list.iter().all(|name| self.name(name, to).is_some());
                if all { Waits::Group(to) } else { Waits::Other }
            }
            _ => Waits::Other,
        };
        if waits == Waits::Other {
            self.give_up();
        }
        if let Some(top) = self.frames.last_mut() {
            top.waits = waits;
        }
    }

    /// A wait names a task, which moves to the wait's group.
    fn name(&mut self, (thread, seq): (u32, u64), to: u32) -> Option<()> {
        if thread != self.thread {
            return None;
        }
        let from = self.sections.last()?.children as usize;
        let mine = self.children.since_mut(from);
        let near = mine.iter_mut().rev().take(MAX_NAMED_TASKS as usize);
        let Some(child) = near.into_iter().find(|c| c.seq == seq && !c.ended) else {
            return self.name_ended(seq, to);
        };
        let old = std::mem::replace(&mut child.group, to);
        let old = self.groups.get_mut(old as usize)?;
        old.open = old.open.checked_sub(1)?;
        self.groups.get_mut(to as usize)?.open += 1;
        Some(())
    }

    /// A wait names a task that has ended and was alone in its group.
    fn name_ended(&mut self, seq: u64, to: u32) -> Option<()> {
        let from = self.sections.last()?.groups as usize;
        let mine = self.groups.since_mut(from).iter_mut();
        let mut near = mine.rev().take(MAX_NAMED_TASKS as usize);
        let group = near.find(|g| g.alone == Some(seq) && g.open == 0)?;
        let (path, last_end) = (group.heaviest.take()?, group.last_end);
        let envelope = group.envelope;
        let to = self.groups.get_mut(to as usize)?;
        to.open += 1;
        to.ended(path, &envelope, last_end)
    }

    /// The task on top continues, and the record of that has been written.
    pub(crate) fn resume(&mut self, t: u64) {
        let Some(top) = self.frames.last_mut() else {
            return self.give_up();
        };
        let (waits, stopped) = (top.waits, top.start);
        (top.waits, top.start, top.next) = (Waits::No, t, None);
        top.dirty &= waits != Waits::Children;
        let joined = match waits {
            Waits::Children => {
                let section = self.sections.last();
                section.map(|s| s.groups as usize..self.groups.end())
            }
            Waits::Group(at) => {
                let at = at as usize;
                (at < self.groups.end()).then_some(at..at + 1)
            }
            _ => None,
        };
        let goes_on =
            joined.and_then(|groups| self.joined(groups, waits != Waits::Children, stopped, t));
        if goes_on.is_none() {
            self.give_up();
        }
        self.strand_begins(t);
    }

    /// The wait for these groups is over. If `closes`, no other wait covers them.
    fn joined(
        &mut self,
        groups: std::ops::Range<usize>,
        closes: bool,
        stopped: u64,
        t: u64,
    ) -> Option<()> {
        let last = self.add_wait_path(groups, closes, stopped)?;
        let section = self.sections.last_mut()?;
        section.sum.syncs += 1;
        section.sum.ready = section.sum.ready.saturating_add(t.saturating_sub(last));
        Some(())
    }

    /// Adds the paths through the tasks of these groups, which have all ended, to the section's.
    /// Returns the time of the last end, or `stopped` if that is later.
    pub(crate) fn add_wait_path(
        &mut self,
        groups: std::ops::Range<usize>,
        closes: bool,
        stopped: u64,
    ) -> Option<u64> {
        let section = self.sections.last_mut()?;
        if groups.start < section.groups as usize {
            return None;
        }
        let (mut through, mut chosen) = (section.through, None);
        let mut last = stopped;
        for group in self
            .groups
            .since_mut(groups.start)
            .iter_mut()
            .take(groups.len())
        {
            if group.open > 0 {
                return None;
            }
            if let Some(path) = group.heaviest.take() {
                let earlier = chosen.is_some_and(|known: Heaviest| path.seq < known.seq);
                if path.weight > through || path.weight == through && earlier {
                    (through, chosen) = (path.weight, Some(path));
                }
                // The paths of a join's children count from the join, where the task still is.
                if group.join {
                    section.envelope.then(&group.envelope)?;
                } else {
                    section.envelope.or(&group.envelope)?;
                }
            }
            last = last.max(group.last_end);
            group.closed |= closes || group.scope.is_none();
        }
        section.through = through;
        if let Some(mut path) = chosen {
            self.paths.close(&mut path.end, path.site, path.depth);
            section.end = path.end;
        }
        Some(last)
    }
}
