//! The stack of tasks: their beginnings, strands and ends, and the sections that may still be
//! folded.

use std::ops::Range;

use crate::Fold;
use crate::nested_record::NestedRecord;
use crate::path::{End, START};
use crate::section::{Frame, Group, Heaviest, SiteSum, TaskLink, Waits};

impl Fold {
    /// Gives up the sections that are as long as the grain at `t`, or have too many tasks.
    #[inline]
    pub(crate) fn give_up_old(&mut self, t: u64) {
        while let Some(oldest) = self.sections.first() {
            let fits = oldest.sum.tasks <= self.options.max_tasks;
            if fits && oldest.length(t) < self.grain_of(oldest) {
                return;
            }
            self.give_up_oldest();
        }
    }

    /// Gives up all sections.
    pub(crate) fn give_up(&mut self) {
        self.inner = NestedRecord::Nothing;
        while !self.sections.is_empty() {
            self.give_up_oldest();
        }
        self.forget();
    }

    pub(crate) fn give_up_oldest(&mut self) {
        let depth = self.frames.len().saturating_sub(self.sections.len());
        let Some(section) = self.sections.first() else {
            return;
        };
        let (children, groups) = (section.children as usize, section.groups as usize);
        self.sections.give_up_lowest();
        let next = self.sections.first();
        let ends = next.map_or((self.children.end(), self.groups.end()), |n| {
            (n.children as usize, n.groups as usize)
        });
        let own = |g: &Group| !g.apart && (g.open > 0 || g.heaviest.is_some());
        let mine = self.groups.since(groups).iter();
        let left = ends.0 > children || mine.take(ends.1 - groups.min(ends.1)).any(own);
        if let Some(frame) = self.frames.get_mut(depth) {
            frame.dirty |= left;
        }
        if self.sections.is_empty() {
            self.forget();
        }
    }

    /// Clears the lists of sections that were given up.
    fn forget(&mut self) {
        self.children.clear();
        self.groups.clear();
        self.sites.clear();
        self.tally.clear();
        self.paths.clear();
    }

    /// A strand of the task on top has begun, after the last record written: a section may start
    /// there.
    pub(crate) fn strand_begins(&mut self, t: u64) {
        if let Some(top) = self.frames.last()
            && self.sections.is_empty()
            && !top.barred
        {
            self.forget();
            self.section_begins(t, 0, START, false);
        }
    }

    pub(crate) fn section_begins(&mut self, t: u64, through: u64, node: u32, whole: bool) {
        if self.over || self.cuts.off > 0 {
            return;
        }
        let mark = self.out.mark();
        let source = (self.fed, self.tasks);
        let outside = self.waiting();
        let Some(section) = self.sections.push() else {
            return;
        };
        (section.source, section.outside) = (source, outside);
        (section.since, section.mark, section.whole) = (t, mark, whole);
        section.children = self.children.end() as u32;
        section.groups = self.groups.end() as u32;
        section.sites = self.sites.len() as u32;
        section.tally = self.tally.since();
        section.nodes = self.paths.length();
        (section.entry, section.through) = (through, through);
        section.end = End { node, weight: 0 };
    }

    /// The open strand of the task on top ends at `t`, at a place (site + 1, or 0 if unknown).
    pub(crate) fn strand_ends(&mut self, t: u64, at: u32) {
        if self.frames.last().is_some_and(|top| top.waits != Waits::No) {
            self.resume_implied(t);
        }
        let Some(top) = self.frames.last_mut() else {
            return;
        };
        let length = t.saturating_sub(top.start);
        if !matches!(self.inner, NestedRecord::Nothing) {
            return self.folded_strand_ends(t, length, at);
        }
        let probes = if std::mem::take(&mut top.signalled) {
            self.probes / 2
        } else {
            self.probes
        };
        let probes = probes.min(length);
        let weight = length - probes;
        let merged = top.mergeable && length == 0;
        if let Some(section) = self.sections.last_mut() {
            if !merged {
                section.sum.strands += 1;
                self.tally.strand(top.from, at, weight);
            } else if at != 0 {
                self.tally.ends_at(at);
            }
            section.sum.work = section.sum.work.saturating_add(weight);
            section.own = section.own.saturating_add(weight);
            section.sum.probes = section.sum.probes.saturating_add(probes);
            section.through = section.through.saturating_add(weight);
            section.end.weight = section.end.weight.saturating_add(weight);
            section.envelope.add(weight, 0);
        }
        if !merged || at != 0 {
            top.from = top.site.map_or(at, |site| resumed_place(site, at));
        }
        (top.start, top.mergeable) = (t, false);
    }

    /// Opens a strand for the task on top, which has a strand that ends without a record that it
    /// began.
    #[cold]
    fn resume_implied(&mut self, t: u64) {
        if let Some(top) = self.frames.last_mut() {
            (top.waits, top.start, top.next) = (Waits::No, t, None);
        }
        self.give_up();
    }

    /// Ends a strand that stands for a folded subtree, after `length` ticks.
    #[cold]
    fn folded_strand_ends(&mut self, t: u64, length: u64, at: u32) {
        let inner = std::mem::take(&mut self.inner);
        if !self.sections.is_empty() && self.continue_folded(inner, length).is_none() {
            self.give_up();
        }
        if let Some(top) = self.frames.last_mut() {
            top.from = top.site.map_or(at, |site| resumed_place(site, at));
            (top.start, top.mergeable) = (t, false);
        }
    }

    /// Takes the pause out of the open sections if it may lie between the record before and the one
    /// at `t`.
    #[cold]
    pub(crate) fn take_pause(&mut self, before: u64, t: u64) {
        let pause = self.pause;
        self.pause_records -= 1;
        if t.saturating_sub(before) < pause {
            if self.pause_records == 0 {
                self.pause = 0;
            }
            return;
        }
        self.pause = 0;
        for section in self.sections.since_mut(0) {
            section.paused = section.paused.saturating_add(pause);
            section.pause_off = section.pause_off.saturating_add(self.pause_off);
        }
        // A waiting task adds nothing to the work anyway.
        if let Some(top) = self.frames.last_mut().filter(|top| top.waits == Waits::No) {
            top.start = top.start.saturating_add(pause);
            // If the strand stays as it is, a reader takes the pause out of it.
            self.out.put_recorder(before, pause);
        }
    }

    /// A task begins on top, after its record was written.
    pub(crate) fn push(&mut self, frame: Frame, base: Option<(u64, u32)>) {
        let t = frame.start;
        self.frames.push(frame);
        match base {
            Some((through, node)) => self.section_begins(t, through, node, true),
            None => {
                self.forget();
                self.section_begins(t, 0, START, true);
            }
        }
    }

    /// The named task begins on top.
    pub(crate) fn begin(&mut self, (thread, seq): (u32, u64), t: u64) {
        let own = thread == self.thread;
        if own {
            self.waits_no_more();
        }
        let child = if own { self.find_child(seq) } else { None };
        let mut frame = Frame::new(seq, t);
        let member = own.then(|| self.members.begin_member(seq)).flatten();
        let waits = self.frames.last().map(|f| f.waits);
        self.interrupt(t);
        let followed = !matches!(waits, None | Some(Waits::Other));
        let child = child.filter(|_| followed && !self.sections.is_empty());
        match child.and_then(|at| Some((at, self.children.get_mut(at as usize)?))) {
            Some((at, child)) => {
                child.begun = true;
                (frame.site, frame.from) = (Some(child.site), child.site.saturating_add(1));
                (frame.via, frame.chunk) = (TaskLink::Child(at), child.chunk);
                frame.member_of = child.scope;
                let base = (child.through, child.end.node);
                self.push(frame, Some(base));
            }
            None => {
                self.abandon();
                if let Some((site, scope)) = member {
                    (frame.site, frame.from) = (Some(site), site.saturating_add(1));
                    frame.member_of = Some(scope);
                }
                self.push(frame, None);
            }
        }
    }

    /// Finds the entry of a task that the section on top created and that has not begun. Tasks
    /// begin in order of creation or in the reverse order; of all others, only the last few are
    /// searched.
    pub(crate) fn find_child(&self, seq: u64) -> Option<u32> {
        const NEAR: usize = 32;
        let from = self.sections.last()?.children as usize;
        let mine = self.children.since(from);
        let waiting = |i: &usize| mine.get(*i).is_some_and(|c| c.seq == seq && !c.begun);
        let by_order = mine.partition_point(|c| c.seq < seq);
        let last = mine.len().saturating_sub(NEAR)..mine.len();
        let at = Some(by_order)
            .filter(waiting)
            .or_else(|| last.rev().find(waiting))?;
        Some((from + at) as u32)
    }

    /// The task on top has ended and its record was written. The task is popped, unless it waits
    /// for those that it created to run next.
    pub(crate) fn pop(&mut self, t: u64) {
        if !self.lingers_on_top() {
            self.leave(t);
            self.settle(t);
        }
    }

    /// Pops the task on top. If it is folded or can be folded as a whole, it becomes part of the
    /// section below.
    pub(crate) fn leave(&mut self, t: u64) {
        let depth = self.frames.len().saturating_sub(1) as u32;
        let Some(&frame) = self.frames.last() else {
            return self.give_up();
        };
        self.frames.pop();
        if self.sections.pop() {
            if self.sections.is_empty() {
                self.forget();
            } else if self.add_to_parent(&frame, depth, t).is_none() {
                self.give_up();
            }
        }
        if let Some(below) = self.frames.last_mut()
            && below.waits == Waits::Interrupted
        {
            (below.waits, below.start) = (Waits::No, t);
            self.strand_begins(t);
        }
    }

    /// The task just popped, with everything inside, becomes part of the section below. Returns
    /// `None` if that is not possible.
    fn add_to_parent(&mut self, frame: &Frame, depth: u32, t: u64) -> Option<()> {
        let site = frame.site?;
        let (inner, outer) = self.sections.popped()?;
        let outer = outer?;
        self.children.truncate(inner.children as usize);
        self.groups.truncate(inner.groups as usize);
        if !inner.whole {
            return None;
        }
        let (at, created, deferred) = match frame.via {
            TaskLink::Foreign => return None,
            TaskLink::Join { deferred } => {
                // The inline child is created by the continuation after the other child's creation.
                let children = self.options.thieves == crate::StealKind::TakeChildren;
                if deferred == children {
                    inner.envelope.add(0, 1);
                }
                let created = self.frames.last()?.start;
                (self.groups.end().checked_sub(1)?, created, deferred)
            }
            TaskLink::Child(at) => {
                let child = self.children.get_mut(at as usize)?;
                child.ended = true;
                inner.envelope.then(&child.envelope)?;
                (child.group as usize, child.created, child.deferred)
            }
        };
        if outer.groups as usize > at {
            return None;
        }
        let ready = inner.since.saturating_sub(created);
        outer.sum.add_task(&inner.sum, deferred, ready);
        self.tally.task(site, inner.own);
        let path = Heaviest {
            weight: inner.through,
            end: inner.end,
            seq: frame.seq,
            site,
            depth,
        };
        self.groups.get_mut(at)?.ended(path, &inner.envelope, t)?;
        let task = SiteSum {
            site,
            work: inner.sum.work,
            span: inner.through.saturating_sub(inner.entry),
        };
        let (outer_sites, inner_sites) = (outer.sites as usize, inner.sites as usize);
        let own = outer.children as usize;
        self.sum_sites(outer_sites, inner_sites, task);
        self.forget_ended(own);
        Some(())
    }

    /// Forgets the ended children at the end of the list, down to this index.
    #[inline]
    pub(crate) fn forget_ended(&mut self, own: usize) {
        while self.children.end() > own && self.children.last().is_some_and(|c| c.ended) {
            self.children.pop();
        }
    }

    /// Adds the sites inside a task, from `inner` on in the list, to those of the section below,
    /// from `outer` on. Instances of the task's own site among them are no longer outermost.
    fn sum_sites(&mut self, outer: usize, inner: usize, task: SiteSum) {
        let mut end = inner;
        for at in inner..self.sites.len() {
            if let Some(&sum) = self.sites.get(at)
                && sum.site != task.site
            {
                end = self.add_site(outer..inner, end, sum);
            }
        }
        end = self.add_site(outer..inner, end, task);
        self.sites.truncate(end);
    }

    /// Adds `sum` to its site in the `known` range, or appends it at `end`. Returns the new end of
    /// the list.
    #[inline]
    pub(crate) fn add_site(&mut self, known: Range<usize>, end: usize, sum: SiteSum) -> usize {
        let known = self.sites.get_mut(known).unwrap_or(&mut []);
        if let Some(known) = known.iter_mut().find(|s| s.site == sum.site) {
            known.work = known.work.saturating_add(sum.work);
            known.span = known.span.saturating_add(sum.span);
            return end;
        }
        match self.sites.get_mut(end) {
            Some(place) => *place = sum,
            None => self.sites.push(sum),
        }
        end + 1
    }
}

/// The place at which a block starts after one that ended at `at` (site + 1, or 0 if unknown), in a
/// task of this site. A block that starts at its task's own site is the one at the task's start.
/// The code after a recursion's join is another block, even if both are on one line.
#[inline]
pub(crate) fn resumed_place(site: u32, at: u32) -> u32 {
    if site.saturating_add(1) == at { 0 } else { at }
}
