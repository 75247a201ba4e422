//! Handles one record after the other.

use std::ops::Range;

use crate::Fold;
use crate::section::{Frame, Waits};
use workspan_trace::event::Event;
use workspan_trace::thread_state::TaskState;
use workspan_trace::wire::Kind;

/// Larger counts are damage; the rest of the range keeps additions from overflowing.
const MAX_COUNT: u64 = u64::MAX >> 1;

impl Fold {
    /// Handles a record, which is this part of the current piece and whose ticks count from
    /// `before`.
    pub(crate) fn record(&mut self, before: u64, t: u64, event: Event<'_>, bytes: Range<usize>) {
        if self.members.lingering > 0 && !matches!(event, Event::Begin(_)) {
            self.not_next(t, &event);
        }
        match event {
            Event::Join { site } => {
                let site = self.site(site);
                self.strand_ends(t, site.saturating_add(1));
                self.close_section(t, false);
                self.out.copy(before, t, bytes);
                self.join(site, t);
            }
            Event::End => {
                self.ends(t, true);
                self.out.copy(before, t, bytes);
                self.pop(t);
            }
            Event::Next => {
                self.out.copy(before, t, bytes);
                self.next(before);
            }
            // The task that goes on is below those that linger: their ends come between.
            Event::EndResume if self.members.lingering > 0 => {
                self.ends(t, false);
                self.out.put(Kind::End, t);
                self.pop(t);
                if self.lingers_on_top() {
                    self.abandon();
                }
                self.out.put(Kind::Resume, t);
                self.resume(t);
            }
            Event::EndResume => {
                self.ends(t, false);
                self.out.copy(before, t, bytes);
                self.pop(t);
                self.resume(t);
            }
            Event::Begin(name) => {
                self.out.copy(before, t, bytes);
                self.begin(name, t);
            }
            Event::Resume => {
                self.out.copy(before, t, bytes);
                self.resume(t);
            }
            Event::Create { kind, site, scope } => {
                let site = self.site(site);
                self.strand_ends(t, site.saturating_add(1));
                self.close_section(t, false);
                self.out.copy(before, t, bytes);
                self.create(kind, site, scope, t);
                self.strand_begins(t);
            }
            Event::Scope { tree } => {
                self.scope(tree);
                self.out.copy(before, t, bytes);
            }
            Event::Wait { site, what } => {
                let site = site.map(|s| self.site(s));
                self.strand_ends(t, site.map_or(0, |s| s.saturating_add(1)));
                self.close_section(t, false);
                self.out.copy(before, t, bytes);
                self.wait(what);
            }
            // The record only says how late it is.
            Event::Readings(list) if list.is_empty() && t == self.out.mark().last => {}
            Event::Root => {
                self.give_up();
                self.tasks += 1;
                self.out.copy(before, t, bytes);
                if self.frames.is_empty() {
                    self.push(Frame::new(self.tasks - 1, t), None);
                } else {
                    // It goes to the bottom, below the running task.
                    let mut frame = Frame::new(self.tasks - 1, t);
                    frame.waits = Waits::Interrupted;
                    self.frames.insert(0, frame);
                }
            }
            Event::Member { .. } => {
                self.give_up();
                self.interrupt(t);
                self.out.copy(before, t, bytes);
                self.push(Frame::new(0, t), None);
            }
            Event::Team { site } => {
                self.scopes += 1;
                self.stops(before, t, Some(site), bytes);
            }
            Event::Yield { site } => self.stops(before, t, site, bytes),
            Event::Leave { site } => {
                self.stops(before, t, site, bytes);
                self.frames.pop();
            }
            Event::ResumeYielded { .. } | Event::ResumeStopped(_) => {
                self.give_up();
                self.interrupt(t);
                self.out.copy(before, t, bytes);
                let mut frame = Frame::new(0, t);
                frame.dirty = true;
                self.push(frame, None);
            }
            Event::Signal { site, .. } => {
                self.give_up();
                self.strand_ends(t, site.map_or(0, |s| s.saturating_add(1)));
                self.out.copy(before, t, bytes);
                if let Some(top) = self.frames.last_mut() {
                    top.signalled = true;
                }
                self.strand_begins(t);
            }
            // Others are estimated from this task, so it must stay as it is, and so must the
            // records of its kind that follow.
            Event::SampleBegin { .. } => {
                self.give_up();
                self.over = true;
                self.out.copy(before, t, bytes);
            }
            Event::SkippedTasks { .. } => {
                self.give_up();
                self.out.copy(before, t, bytes);
            }
            Event::SkipBegin { .. } | Event::SkipEnd => {
                self.give_up();
                self.strand_ends(t, 0);
                self.out.copy(before, t, bytes);
            }
            Event::StolenPart { .. } => {
                self.give_up();
                self.interrupt(t);
                self.tasks += 1;
                self.out.copy(before, t, bytes);
                self.push(Frame::new(self.tasks - 1, t), None);
            }
            Event::Folded(record) => {
                self.set_nested_record(record);
                self.out.copy(before, t, bytes);
            }
            Event::Skip { tasks, scopes } => {
                self.skip(tasks, scopes);
                self.tasks = self.tasks.saturating_add(tasks).min(MAX_COUNT);
                self.scopes = self.scopes.saturating_add(scopes).min(MAX_COUNT);
                self.out.copy(before, t, bytes);
            }
            Event::Restart {
                tasks,
                scopes,
                stack,
                ..
            } => {
                self.give_up();
                self.out.copy(before, t, bytes);
                if self.frames.is_empty() && (self.tasks, self.scopes) == (0, 0) {
                    (self.tasks, self.scopes) = (tasks.min(MAX_COUNT), scopes.min(MAX_COUNT));
                    self.restart(stack.iter().map(|(_, code)| TaskState::from_code(code)), t);
                }
            }
            Event::Depend { .. }
            | Event::Depends { .. }
            | Event::RegionBegin { .. }
            | Event::RegionEnd { .. }
            | Event::PartBegin { .. }
            | Event::PartEnd { .. }
            | Event::Counter { .. }
            | Event::Readings(_)
            | Event::Off { .. }
            | Event::Recorder { .. }
            | Event::Steal { .. }
            | Event::StealFailed { .. }
            | Event::Sleep
            | Event::Wake
            | Event::Worker { .. }
            | Event::WorkerEnd
            | Event::Pool { .. }
            | Event::PoolEnd { .. } => {
                self.give_up();
                self.out.copy(before, t, bytes);
            }
        }
    }

    /// Restarts with tasks whose beginning is not known. None of them is folded.
    pub(crate) fn restart(&mut self, stack: impl Iterator<Item = TaskState>, t: u64) {
        for place in stack {
            let mut frame = Frame::new(0, t);
            (frame.dirty, frame.barred) = (true, true);
            frame.waits = match place {
                TaskState::Running => Waits::No,
                TaskState::Waiting => Waits::Other,
                TaskState::Interrupted => Waits::Interrupted,
            };
            self.push(frame, None);
        }
        self.give_up();
    }

    /// The task on top ends, by a record that has not been written yet. If `lingers`, no task goes
    /// on by that.
    fn ends(&mut self, t: u64, lingers: bool) {
        self.strand_ends(t, 0);
        self.close_section(t, true);
        if !(self.all_joined() || lingers && self.lingers(t)) {
            self.abandon();
        }
    }

    /// Another task begins on top of a running one.
    pub(crate) fn interrupt(&mut self, t: u64) {
        if self.frames.last().is_some_and(|top| top.waits == Waits::No) {
            self.strand_ends(t, 0);
            if let Some(top) = self.frames.last_mut() {
                top.waits = Waits::Interrupted;
            }
        }
    }

    /// The task on top stops for something that is not followed.
    fn stops(&mut self, before: u64, t: u64, site: Option<u32>, bytes: Range<usize>) {
        self.give_up();
        self.strand_ends(t, site.map_or(0, |s| s.saturating_add(1)));
        if let Some(top) = self.frames.last_mut() {
            top.waits = Waits::Other;
        }
        self.out.copy(before, t, bytes);
    }
}
