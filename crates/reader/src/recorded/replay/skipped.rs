//! Skipped subtrees: the strands that stand for them, and their stolen parts on other threads.

use std::collections::BTreeMap;

use super::frame::Pending;
use super::{Replay, ReplayThread};
use crate::recorded::skipped::{Estimate, is_task_class};
use workspan_dag::folded::{Folded, FoldedSite};
use workspan_dag::raw::RawEnd;
use workspan_dag::skipped::SkippedBounds;
use workspan_dag::{NONE, RaggedArray, TaskKind};

/// A skipped subtree that has begun.
#[derive(Debug)]
pub(super) struct Subtree {
    /// Its index in the list of all yields.
    at: u32,
    /// Its site in the file, and its recorded level.
    class: (u32, u64),
    /// Its waits: their lists, and the times at which the task went on.
    waits: Vec<(u32, u64)>,
}

/// The largest number of waits that are kept of one subtree. The last one also joins what later
/// waits waited for.
const MAX_WAITS: usize = 1 << 16;

impl<'a> Replay<'a, '_> {
    pub(super) fn skipped(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        class: (u32, u64),
    ) {
        let at = self.counts.yields[number] + lane.yields;
        lane.yields += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let parent = lane.stack[frame].task;
        let counts = self.counts;
        let parts = counts.skipped.parts(at);
        if parts.len() == 0 {
            self.strand(lane, frame, t, RawEnd::Yield, self.places.of(class.0));
        }
        for part in parts {
            let (task, place) = (self.nth(part.nth), self.places.of(part.site));
            self.strand(lane, frame, t, RawEnd::Create(task), place);
            let created = &mut self.raw.tasks[task as usize];
            (created.parent, created.kind, created.site) = (parent, TaskKind::Deferred, place);
        }
        if lane.stack[frame].skipped != NONE {
            self.log
                .repair("Skipped subtrees inside one another, taken as one");
            return;
        }
        lane.stack[frame].skipped = self.subtrees.len() as u32;
        let waits = Vec::new();
        self.subtrees.push(Subtree { at, class, waits });
    }

    pub(super) fn recorded(&mut self, lane: &mut ReplayThread<'a>, t: u64) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let subtree = lane.stack[frame].skipped;
        let Some(open) = self.subtrees.get(subtree as usize) else {
            self.log
                .names_earlier("Ends of skipped subtrees that had not begun, left out");
            return;
        };
        let end = if self.counts.skipped.parts(open.at).len() == 0 {
            RawEnd::Yield
        } else {
            let list = self.wait_tasks(None);
            self.subtrees[subtree as usize]
                .waits
                .push((list_of(list), t));
            list
        };
        self.strand(lane, frame, t, end, NONE);
        (lane.stack[frame].skipped, lane.stack[frame].inside) = (NONE, None);
    }

    /// Adds the number of tasks that have begun in the skipped subtree that the task on top is in,
    /// since its open strand did.
    pub(super) fn inside(&mut self, lane: &mut ReplayThread<'a>, tasks: u64) {
        if let Some(top) = lane.stack.last_mut().filter(|top| top.skipped != NONE) {
            // A strand of no length stands for nothing, so the next one does.
            top.inside = Some(top.inside.unwrap_or(0).saturating_add(tasks));
        }
    }

    /// The strand that is open in the frame is about to end for a reason that its thread could not
    /// foresee. Its contents of a skipped subtree are counted with those of the strand that
    /// follows.
    pub(super) fn report_later(&self, lane: &mut ReplayThread<'a>, frame: usize) {
        let subtree = self.subtrees.get(lane.stack[frame].skipped as usize);
        if self.counts.skipped.counts && subtree.is_some_and(|s| is_task_class(s.class.1)) {
            lane.stack[frame].inside.get_or_insert(0);
        }
    }

    /// A stolen part of a subtree begins.
    pub(super) fn part(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64) {
        let task = self.nth(self.counts.tasks[number] + lane.tasks);
        lane.tasks += 1;
        self.part_ends.insert(task, (u64::MAX, u64::MAX));
        self.begin(lane, Some(task), t);
    }

    /// The task on top waits for parts. Returns the wait's list, which is filled at the end.
    pub(super) fn wait_parts(&mut self, lane: &ReplayThread<'a>) -> RawEnd {
        let list = self.wait_tasks(None);
        let subtree = lane.stack.last().map_or(NONE, |top| top.skipped);
        if let Some(open) = self.subtrees.get_mut(subtree as usize)
            && open.waits.len() < MAX_WAITS
        {
            open.waits.push((list_of(list), u64::MAX));
        }
        list
    }

    /// The task on top has gone on.
    pub(super) fn waited(&mut self, lane: &ReplayThread<'a>, t: u64) {
        let subtree = lane.stack.last().map_or(NONE, |top| top.skipped);
        if let Some(wait) = self
            .subtrees
            .get_mut(subtree as usize)
            .and_then(|open| open.waits.last_mut())
        {
            wait.1 = wait.1.min(t);
        }
    }

    /// The open strand of a task in a skipped subtree ends: it stands for the part of the subtree
    /// that ran meanwhile.
    pub(super) fn stand_for(&mut self, lane: &mut ReplayThread<'a>, frame: usize, t: u64) {
        let (subtree, start) = (lane.stack[frame].skipped, lane.stack[frame].start);
        let (Some(open), true) = (self.subtrees.get(subtree as usize), t > start) else {
            return;
        };
        let of_file = |t: u64| t.saturating_add(self.origin);
        let times = (of_file(start), of_file(t));
        let skipped = &self.counts.skipped;
        // Each task took at least a tick, whatever a trace says. It need not have run in this
        // strand: the strand ends with the wait at which a thief took a part, and a preempted thief
        // records that moment too early.
        let counted = lane.stack[frame].inside.take().map(|tasks| tasks.min(t));
        let estimate = skipped.estimate(open.class, times, counted, lane.log.index);
        let place = self.places.of(open.class.0);
        let bounds = SkippedBounds {
            site: place,
            tasks: estimate.tasks_within,
            span: estimate.span_within,
        };
        let work = (t - start).saturating_sub(estimate.cost);
        let folded = self.folded_of(&estimate, work, place);
        self.pend(
            lane,
            frame,
            Pending::SkippedSubtrees(Box::new((folded, bounds))),
        );
    }

    fn folded_of(&self, estimate: &Estimate, work: u64, place: u32) -> Folded {
        let mut sites: Vec<FoldedSite> = Vec::with_capacity(estimate.inside.len());
        for inside in &estimate.inside {
            let site = self.places.of(inside.site);
            let row = FoldedSite {
                site,
                count: inside.count,
                work: inside.work,
                span: inside.span,
                critical_work: inside.critical_work,
                lengths: inside.lengths.clone(),
            };
            // Several sites of the file may have one place.
            match sites.iter_mut().find(|s| s.site == site) {
                Some(sum) => {
                    sum.count = sum.count.saturating_add(row.count);
                    sum.work = sum.work.saturating_add(row.work).min(work);
                    sum.span = sum.span.saturating_add(row.span).min(sum.work);
                    sum.critical_work = sum.critical_work.saturating_add(row.critical_work);
                    if sum.lengths.len() < row.lengths.len() {
                        sum.lengths.resize(row.lengths.len(), 0);
                    }
                    for (sum, n) in sum.lengths.iter_mut().zip(row.lengths) {
                        *sum = sum.saturating_add(n);
                    }
                }
                None => sites.push(row),
            }
        }
        sites.sort_by_key(|s| s.site);
        Folded {
            work,
            span: estimate.path.weight,
            envelope: vec![(estimate.path.weight, estimate.path.edges)],
            tasks: estimate.tasks,
            spawns: estimate.spawns,
            syncs: estimate.waits,
            strands: 0,
            levels: estimate.levels,
            ready_integral: estimate.ready,
            probes: estimate.cost,
            between: 0,
            off_cpu: 0,
            folding_off_cpu: 0,
            source: None,
            sites,
            blocks: vec![(place, place, work)],
        }
    }

    /// Adds each part to the list of the first wait that went on after the part's end.
    pub(super) fn join_parts(&mut self) {
        let mut lists: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for subtree in &self.subtrees {
            for part in self.counts.skipped.parts(subtree.at) {
                let task = self.nth(part.nth);
                let (start, end) = self.part_ends.get(&task).copied().unwrap_or_default();
                let is_over =
                    |at: u64| at >= end || at >= start && at.saturating_add(self.late) >= end;
                // A part that outlives the subtree, where a scope in the middle cut it in two, is
                // joined by no wait.
                if let Some(&(list, _)) = subtree.waits.iter().find(|w| is_over(w.1)) {
                    lists.entry(list).or_default().push(task);
                }
            }
        }
        if lists.is_empty() {
            return;
        }
        let recorded = std::mem::take(&mut self.raw.wait_tasks);
        let mut all = RaggedArray::default();
        for i in 0..recorded.len() {
            let parts = lists.remove(&(i as u32)).unwrap_or_default();
            all.push(recorded.get(i).iter().copied().chain(parts));
        }
        self.raw.wait_tasks = all;
    }
}

fn list_of(wait: RawEnd) -> u32 {
    match wait {
        RawEnd::WaitTasks(list) => list,
        _ => NONE,
    }
}
