//! A section of a run as a run of its own: its description, and the clock that stands still while
//! no section is open.

use crate::dag::{Dag, NONE, Region, StrandId, TaskId, TaskKind};
use crate::only::Stretch;

/// What opens and closes a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// Regions of one name.
    Region,
    /// Labelled parts of one name.
    Part,
    /// The tasks created at a spawn site, with all below them.
    Site,
}

impl SectionKind {
    /// The word on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SectionKind::Region => "region",
            SectionKind::Part => "part",
            SectionKind::Site => "site",
        }
    }
}

/// Which section of the recorded run a [`Dag`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The kind of section.
    pub kind: SectionKind,
    /// The region's or part's name, or the site as the user gave it.
    pub name: String,
    /// How often it was opened: the number of times the region or part was entered, or the number
    /// of tasks of the site.
    pub count: u64,
    /// Number of tasks inside, in part or in whole. Tasks in folded records are left out here and
    /// in the next two fields.
    pub tasks: u64,
    /// Number of deferred creates inside.
    pub spawns: u64,
    /// Number of waits inside.
    pub syncs: u64,
    /// Ticks of strands outside the section while it was open.
    pub elsewhere: u128,
    /// Number of tasks of the site that were left out because they are in folded records with
    /// others.
    pub folded: u64,
}

impl Section {
    /// The command-line form, for instance `region:solve`.
    pub fn argument(&self) -> String {
        format!("{}:{}", self.kind.name(), self.name)
    }
}

/// Counts tasks, spawns and syncs inside `stretches`, which do not overlap within a strand. O(n log
/// n).
///
/// A task is inside from the first of its strands that is; a spawn is inside if its task begins
/// there, a sync if its task continues there, or waits while one of the regions `marked` is open.
pub fn counts_inside(dag: &Dag, stretches: &[Stretch], marked: &[Region]) -> (u64, u64, u64) {
    let mut tasks: Vec<TaskId> = Vec::new();
    let mut begins = vec![false; dag.strands.len()];
    for &(strand, from, to) in stretches {
        let i = strand as usize;
        tasks.push(dag.strands.task[i]);
        let (start, end) = (dag.strands.start[i], dag.strands.end[i]);
        begins[i] |= from <= start && (to > start || end == start);
    }
    tasks.sort_unstable();
    tasks.dedup();
    let spawned = |&&task: &&TaskId| {
        let first = dag.tasks.first[task as usize];
        dag.tasks.kind[task as usize] == TaskKind::Deferred && begins[first as usize]
    };
    let spawns = tasks.iter().filter(spawned).count();
    let mut marked: Vec<(TaskId, StrandId, StrandId)> = marked
        .iter()
        .map(|r| (r.task, r.begin.0, r.end.0))
        .collect();
    marked.sort_unstable();
    let joined = |&&after: &&StrandId| {
        let (task, before) = (
            dag.strands.task[after as usize],
            dag.strands.prev[after as usize],
        );
        let own = &marked[marked.partition_point(|m| m.0 < task)..];
        let mut own = own.iter().take_while(|m| m.0 == task);
        begins[after as usize] || own.any(|&(_, begin, end)| begin <= before && after <= end)
    };
    let syncs = dag.waits.after.iter().filter(joined).count();
    (tasks.len() as u64, spawns as u64, syncs as u64)
}

/// A clock that runs only during given intervals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionClock {
    /// The start and end of each interval, and the clock's value at its start; ascending, without
    /// overlap.
    open: Vec<(u64, u64, u64)>,
}

impl SectionClock {
    /// A clock that runs in the union of `intervals`.
    pub fn new(mut intervals: Vec<(u64, u64)>) -> SectionClock {
        intervals.retain(|i| i.0 < i.1);
        intervals.sort_unstable();
        let mut open: Vec<(u64, u64, u64)> = Vec::new();
        for (from, to) in intervals {
            match open.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                last => {
                    let shown = last.map_or(0, |l| l.2 + (l.1 - l.0));
                    open.push((from, to, shown));
                }
            }
        }
        SectionClock { open }
    }

    /// The clock's value at `t`. Never decreases.
    pub fn at(&self, t: u64) -> u64 {
        let after = self.open.partition_point(|o| o.0 <= t);
        match after.checked_sub(1) {
            Some(last) => {
                let (from, to, shown) = self.open[last];
                shown + (t.min(to) - from)
            }
            None => 0,
        }
    }

    /// Whether the clock runs at `t`.
    pub fn runs_at(&self, t: u64) -> bool {
        let after = self.open.partition_point(|o| o.0 <= t);
        after.checked_sub(1).is_some_and(|i| t < self.open[i].1)
    }
}

impl Dag {
    /// Replaces every time by the value that `clock` shows. Whatever happened while the clock stood
    /// still is left out, except strands: events, samples, times off the CPU, regions that are not
    /// wholly inside. O(n log m) for m intervals.
    pub fn take_times(&mut self, clock: &SectionClock) {
        let at = |t: &mut u64| *t = clock.at(*t);
        self.strands.start.iter_mut().for_each(at);
        self.strands.end.iter_mut().for_each(at);
        for off in &mut self.offs {
            (off.start, off.end) = (clock.at(off.start), clock.at(off.end));
        }
        self.offs.retain(|off| off.start < off.end);
        for run in &mut self.recorder_runs {
            (run.start, run.end) = (clock.at(run.start), clock.at(run.end));
        }
        self.recorder_runs.retain(|run| run.start < run.end);
        for regions in [&mut self.regions, &mut self.parts] {
            let strand = |s: u32| s != NONE;
            regions.retain(|r| strand(r.begin.0) && strand(r.end.0));
            // A region that began before or ended later is not part of the section.
            let length = |r: &Region| clock.at(r.end.1) - clock.at(r.begin.1);
            regions.retain(|r| length(r) == r.end.1.saturating_sub(r.begin.1));
            for region in regions.iter_mut() {
                at(&mut region.begin.1);
                at(&mut region.end.1);
            }
        }
        self.steals.retain(|steal| clock.runs_at(steal.t));
        self.steals.iter_mut().for_each(|steal| at(&mut steal.t));
        self.thread_events.retain(|event| clock.runs_at(event.0));
        self.thread_events
            .iter_mut()
            .for_each(|event| at(&mut event.0));
        for pool in &mut self.pools.list {
            (pool.from, pool.to) = (clock.at(pool.from), clock.at(pool.to));
        }
        for member in &mut self.pools.members {
            (member.from, member.to) = (clock.at(member.from), clock.at(member.to));
        }
        let samples = &mut self.samples;
        samples.others.retain(|other| clock.runs_at(other.0));
        samples.others.iter_mut().for_each(|other| at(&mut other.0));
        let runs: Vec<bool> = samples.t.iter().map(|&t| clock.runs_at(t)).collect();
        keep(&mut samples.t, &runs);
        keep(&mut samples.thread, &runs);
        keep(&mut samples.stack, &runs);
        keep(&mut samples.strand, &runs);
        samples.t.iter_mut().for_each(at);
        // Handoffs refer to stops by number, so all stops stay.
        for stop in &mut samples.stops {
            let from = clock.at(stop.t);
            let until = |ticks: u64| clock.at(stop.t.saturating_add(ticks)) - from;
            let ticks = until(stop.ticks);
            if let Some(wait) = &mut stop.wait {
                wait.held = match wait.held > stop.ticks {
                    true => ticks + 1,
                    false => until(wait.held),
                };
            }
            (stop.t, stop.ticks) = (from, ticks);
        }
    }
}

fn keep<T: Copy>(column: &mut Vec<T>, retained: &[bool]) {
    let mut i = 0;
    column.retain(|_| {
        i += 1;
        retained[i - 1]
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_in_its_intervals_alone() {
        let clock = SectionClock::new(vec![(50, 60), (10, 20), (15, 30), (60, 61), (70, 70)]);
        let shown = [0, 10, 20, 30, 49, 50, 60, 61, 100].map(|t| clock.at(t));
        assert_eq!(shown, [0, 0, 10, 20, 20, 20, 30, 31, 31]);
        let runs = [9, 10, 29, 30, 50, 60, 61, 70].map(|t| clock.runs_at(t));
        assert_eq!(runs, [false, true, true, false, true, true, false, false]);
    }
}
