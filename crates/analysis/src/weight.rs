//! The weight of each strand (MODEL.md §2).
//!
//! For time it is end − start − descheduled − blocked − probes · probe cost, not below 0. A strand
//! has a probe at its start (none when it merely goes on after a signal) and one at its end (a
//! handoff cuts it without a probe). A
//! zero-length strand that was merged into the one before it would have weighed nothing whatever
//! its probes cost, so it adds none.
//!
//! A folded strand that a recorder made has time in it in which its thread folded: what is beyond
//! the record's work and the time between its strands ([`crate::runtime_gaps`]) is recording too.
//!
//! A folded strand weighs its record's work for work, and the heaviest path through its record for
//! paths. Off-CPU time and probes are taken out of both in proportion, which is exact only within
//! the grain (§7), unless the record was made without the probes' time.

use workspan_dag::cancel::checked;
use workspan_dag::folded::Paths;
use workspan_dag::{Dag, EndKind, Folded, OffWhy, StartKind, StrandId};

use crate::column::{Marks, NarrowVec};
use crate::options::{Error, Metric, Options};

/// Burden of a stolen edge in instructions (MODEL.md §2).
const BURDEN_IN_INSTRUCTIONS: u64 = 15_000;

/// Where a strand's ticks went, besides its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OffCpu {
    /// Preempted.
    pub descheduled: u64,
    /// Blocked.
    pub blocked: u64,
}

/// Which end of the interval an unrecorded strand's span is taken at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Estimate,
    Low,
    High,
}

/// The weights of all strands.
pub(crate) struct Weights<'a> {
    dag: &'a Dag,
    /// 32 bits are enough for all but the few that run for seconds.
    values: NarrowVec<u32>,
    folded: Marks,
    /// Burden per stolen edge.
    pub burden: u64,
    /// For the paths through unrecorded strands.
    pub side: Side,
    /// What a strand's two probes may have cost more or less than was taken out for them.
    unsure: u64,
    /// Probe time inside strands; 0 when it is left in the weights.
    pub recording: u128,
    /// Of it what was estimated, from the calibrated cost of a probe.
    pub probes: u128,
    /// Off-CPU time inside strands: preempted.
    pub descheduled: u128,
    /// Off-CPU time inside strands: blocked.
    pub blocked: u128,
    /// Folded strands of which it is not known where their threads were off the CPU.
    pub unsure_folds: Option<UnsureFolds>,
}

impl<'a> Weights<'a> {
    pub(crate) fn new(dag: &'a Dag, options: &Options) -> Result<Weights<'a>, Error> {
        let mut weights = Weights {
            dag,
            values: NarrowVec::with_capacity(dag.strands.len(), 0),
            folded: Marks::new(dag.folded.strands().iter().copied()),
            burden: 0,
            side: Side::Estimate,
            unsure: 0,
            recording: 0,
            probes: 0,
            descheduled: 0,
            blocked: 0,
            unsure_folds: None,
        };
        weights.measure_time(options);
        weights.burden = match &options.metric {
            Metric::Time => options.burden.unwrap_or(dag.meta.burden),
            Metric::Counter(name) => {
                weights.use_counter(name)?;
                let usual = if name == "instructions" {
                    BURDEN_IN_INSTRUCTIONS
                } else {
                    0
                };
                options.burden.unwrap_or(usual)
            }
        };
        Ok(weights)
    }

    fn measure_time(&mut self, options: &Options) {
        let dag = self.dag;
        let probe_cost = if options.raw { 0 } else { dag.meta.probe_cost };
        if options.metric == Metric::Time {
            self.unsure = probe_cost.saturating_mul(14) / 10;
        }
        let mut offs = OffCursor::new(dag);
        let mut folds = dag.folded.along();
        for s in checked(0..dag.strands.len()) {
            let off = offs.inside(s as StrandId);
            let fold = folds.of(s as StrandId);
            let between = fold.map_or(0, |f| f.between);
            let probes = probe_ticks(dag, s, fold, probe_cost);
            let length = dag.strands.end[s] - dag.strands.start[s];
            let pause = match fold {
                Some(fold) if !options.raw => fold_pause(dag, fold, length),
                None if !options.raw => recorder_within(dag, s as StrandId),
                _ => 0,
            };
            // The thread was off the CPU between the tasks and while it folded, too.
            let off_ticks = off.descheduled + off.blocked;
            let split = fold.and_then(|fold| offs.split(s as StrandId, fold, (pause, off_ticks)));
            let off_between = split.map_or(0, |split| split.between);
            let recorded = match split {
                Some(split) => pause.saturating_sub(split.folding),
                None => pause,
            };
            let between = between.saturating_sub(off_between);
            let on_cpu = on_cpu(dag, s, off).saturating_sub(between);
            self.recording += u128::from(probes.saturating_add(recorded).min(on_cpu));
            self.probes += u128::from(probes.min(on_cpu));
            self.descheduled += u128::from(off.descheduled);
            self.blocked += u128::from(off.blocked);
            let counted = if options.count_blocked {
                off.blocked
            } else {
                0
            };
            let taken_out = off.descheduled + (off.blocked - counted);
            let known = if fold.is_none() { pause } else { 0 };
            let gross = fold.map_or(length, |f| f.work.saturating_add(f.probes));
            let taken_out = match split {
                Some(split) => {
                    let inside = split.tasks.scaled(taken_out, off_ticks);
                    self.unsure_off(s as StrandId, &inside);
                    inside.likely
                }
                None => taken_out.saturating_add(known),
            };
            let weight = gross.saturating_sub(taken_out).saturating_sub(probes);
            self.values.push(weight);
        }
    }

    #[cold]
    fn unsure_off(&mut self, s: StrandId, inside: &OffSplit) {
        let apart = (inside.likely - inside.least).max(inside.most - inside.likely);
        let unsure = self.unsure_folds.get_or_insert_default();
        unsure.ticks += u128::from(apart);
        if apart > unsure.most {
            (unsure.strand, unsure.most) = (s, apart);
        }
    }

    fn use_counter(&mut self, name: &str) -> Result<(), Error> {
        let counters = &self.dag.counters;
        let Some(counter) = counters.iter().find(|c| c.name == name) else {
            let names = counters.iter().map(|c| c.name.clone()).collect();
            return Err(Error::NoSuchCounter(name.to_owned(), names));
        };
        let mut counted = counter.values.iter().peekable();
        self.values = NarrowVec::with_capacity(self.dag.strands.len(), 0);
        for s in 0..self.dag.strands.len() as StrandId {
            let value = counted.next_if(|v| v.0 == s).map_or(0, |v| v.1);
            self.values.push(value);
        }
        Ok(())
    }

    /// What strand `s` adds to the work.
    pub(crate) fn work(&self, s: StrandId) -> u64 {
        self.values.get(s as usize)
    }

    /// What strand `s` adds to a path through it, when each burdened edge on the way costs
    /// `burden`.
    pub(crate) fn path(&self, s: StrandId, burden: u64) -> u128 {
        let weight = self.values.get(s as usize);
        if !self.folded.has(s) {
            return self.unsure(u128::from(weight));
        }
        let bounds = self.dag.bounds_of(s);
        match (self.side, bounds) {
            (Side::Low, Some(bounds)) => u128::from(bounds.span.0.min(weight)),
            (Side::High, Some(bounds)) => u128::from(bounds.span.1.min(weight)),
            _ => self.unsure(path_weight(self.dag, s, weight, burden)),
        }
    }

    /// A path whose probes may have cost more or less than was taken out for them.
    #[inline]
    fn unsure(&self, path: u128) -> u128 {
        match self.side {
            Side::Estimate => path,
            Side::Low => path.saturating_sub(u128::from(self.unsure)),
            Side::High => path + u128::from(self.unsure),
        }
    }

    /// The same, in floating point, when all of the strand's own weight (and of what is folded into
    /// it) is multiplied by `factor`.
    pub(crate) fn path_scaled(&self, s: StrandId, burden: u64, factor: f64) -> f64 {
        let weight = self.values.get(s as usize);
        let folded = self.folded.has(s);
        match folded.then(|| self.dag.folded.paths_of(s)).flatten() {
            None => weight as f64 * factor,
            Some(fold) => {
                let part = match fold.work() {
                    0 => 0.0,
                    work => weight as f64 / work as f64 * factor,
                };
                let points = fold.envelope().iter();
                points
                    .map(|&(w, edges)| w as f64 * part + f64::from(edges) * burden as f64)
                    .reduce(f64::max)
                    .unwrap_or(fold.span() as f64 * part)
            }
        }
    }

    /// What `ticks` of the work inside of strand `s`, with its record `fold`, weigh: what was taken
    /// out of the strand is taken out of all inside in proportion.
    pub(crate) fn inside(&self, s: StrandId, fold: &Folded, ticks: u64) -> u128 {
        let weight = self.values.get(s as usize);
        match fold.work {
            work if work == weight => u128::from(ticks),
            0 => 0,
            work => u128::from(ticks) * u128::from(weight) / u128::from(work),
        }
    }

    /// Sum over all strands.
    pub(crate) fn total(&self) -> u128 {
        self.values.total()
    }
}

/// What strand `s`, which weighs `weight`, adds to a path through it, when each burdened edge on
/// the way costs `burden`: its weight, or if it stands for a folded subtree that of the heaviest
/// path through the record.
pub fn path_weight(dag: &Dag, s: StrandId, weight: u64, burden: u64) -> u128 {
    if dag.folded.is_empty() {
        return u128::from(weight);
    }
    match dag.folded.paths_of(s) {
        None => u128::from(weight),
        Some(fold) => folded_path(&fold, weight, burden),
    }
}

/// The heaviest path through a fold whose work counts as `weight`.
fn folded_path(fold: &Paths, weight: u64, burden: u64) -> u128 {
    let work = fold.work();
    if weight == work {
        return fold.path(burden);
    }
    let scaled = |w: u64| {
        (u128::from(w) * u128::from(weight))
            .checked_div(u128::from(work))
            .unwrap_or(0)
    };
    let points = fold.envelope().iter();
    points
        .map(|&(w, edges)| scaled(w) + u128::from(edges) * u128::from(burden))
        .max()
        .unwrap_or_else(|| scaled(fold.span()))
}

/// Ticks of strand `s` on the CPU.
pub(crate) fn on_cpu(dag: &Dag, s: usize, off: OffCpu) -> u64 {
    let length = dag.strands.end[s] - dag.strands.start[s];
    length
        .saturating_sub(off.descheduled)
        .saturating_sub(off.blocked)
}

/// Ticks that the probes inside strand `s` took, at `cost` each; `fold` is its record if it is a
/// folded one. What a record has left out of its weights already is known strand by strand.
pub(crate) fn probe_ticks(dag: &Dag, s: usize, fold: Option<&Folded>, cost: u64) -> u64 {
    let probes = match fold {
        _ if cost == 0 => 0,
        Some(fold) if fold.probes > 0 => return fold.probes,
        Some(fold) => fold.strands.max(1).saturating_mul(2),
        None => u64::from(starts_with_probe(dag, s)) + u64::from(ends_with_probe(dag, s)),
    };
    probes.saturating_mul(cost)
}

/// False for a strand that goes on after a signal, as the signal's own probe ended the strand
/// before, and after a handoff, which is no probe.
pub(crate) fn starts_with_probe(dag: &Dag, s: usize) -> bool {
    !matches!(
        dag.strands.start_kind[s],
        StartKind::AfterSignal | StartKind::AfterHandoff
    )
}

/// False for a strand that ends in a handoff, which is no probe.
pub(crate) fn ends_with_probe(dag: &Dag, s: usize) -> bool {
    dag.strands.end_kind[s] != EndKind::Handoff
}

/// Folded strands whose threads were off the CPU, either in a task or while the recorder folded:
/// which is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnsureFolds {
    /// What the work is uncertain by, in ticks.
    pub ticks: u128,
    /// The strand with most of it.
    pub strand: StrandId,
    /// Its part.
    pub most: u64,
}

/// The time in which the thread of a strand of `length` ticks folded, of a strand that the recorder
/// folded; 0 for one that a reader did.
fn fold_pause(dag: &Dag, fold: &Folded, length: u64) -> u64 {
    let by_recorder = dag.meta.run.folded_below_us.is_some();
    if by_recorder && fold.probes == 0 && fold.source.is_none() {
        length
            .saturating_sub(fold.work)
            .saturating_sub(fold.between)
    } else {
        0
    }
}

/// Where the thread of a folded strand was off the CPU: in its tasks, in the runtime between them,
/// or while it folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoldOff {
    tasks: OffSplit,
    between: u64,
    folding: u64,
}

/// How much of a folded strand's time off the CPU lay in its tasks; the rest lay in the runtime
/// between them, or in its thread's folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OffSplit {
    least: u64,
    likely: u64,
    most: u64,
}

impl OffSplit {
    /// Divides `intervals` off the CPU in a folded strand. Its tasks took `tasks` ticks and its
    /// folding took `folding`, both with the intervals inside them.
    ///
    /// A thread goes on where it was preempted, so each interval lies in one of the two as a whole:
    /// one that is longer than either must lie in the other. Intervals that fit into both are
    /// divided as the time that is left, since a thread is preempted at any moment alike.
    fn new(intervals: impl Iterator<Item = u64>, tasks: u64, folding: u64) -> OffSplit {
        let mut open: Vec<u64> = intervals.collect();
        let (mut tasks, mut folding) = (tasks, folding);
        let mut in_tasks = 0u64;
        loop {
            let before = open.len();
            open.retain(|&ticks| match (ticks <= tasks, ticks <= folding) {
                (true, false) => {
                    in_tasks += ticks;
                    tasks -= ticks;
                    false
                }
                (false, true) => {
                    folding -= ticks;
                    false
                }
                _ => true,
            });
            if open.len() == before {
                break;
            }
        }
        let rest: u64 = open.iter().sum();
        OffSplit {
            least: in_tasks + rest.saturating_sub(folding).min(tasks),
            likely: in_tasks + part_of(rest, tasks, tasks.saturating_add(folding)).min(tasks),
            most: in_tasks + rest.min(tasks),
        }
    }

    /// The same of `part` of the `whole` time off the CPU.
    fn scaled(&self, part: u64, whole: u64) -> OffSplit {
        let of = |ticks| part_of(ticks, part, whole);
        OffSplit {
            least: of(self.least),
            likely: of(self.likely),
            most: of(self.most),
        }
    }
}

/// `ticks` · `part` / `whole`.
fn part_of(ticks: u64, part: u64, whole: u64) -> u64 {
    let part = u128::from(part.min(whole));
    (u128::from(ticks) * part / u128::from(whole.max(1))) as u64
}

/// Off-CPU time inside strands asked for in ascending order: linear over all of them, as the
/// strands of a thread are in time order and don't overlap.
pub(crate) struct OffCursor<'a> {
    dag: &'a Dag,
    /// Per thread: next interval that can matter, the end of the thread's intervals, and when that
    /// next one starts.
    next: Vec<(usize, usize, u64)>,
}

impl<'a> OffCursor<'a> {
    pub(crate) fn new(dag: &'a Dag) -> OffCursor<'a> {
        let mut next = vec![(0, 0, u64::MAX); dag.meta.threads as usize];
        let mut i = 0;
        while i < dag.offs.len() {
            let thread = dag.offs[i].thread;
            let count = dag.offs[i..]
                .iter()
                .take_while(|o| o.thread == thread)
                .count();
            next[thread as usize] = (i, i + count, dag.offs[i].start);
            i += count;
        }
        OffCursor { dag, next }
    }

    /// Off-CPU time within strand `s`.
    #[inline]
    pub(crate) fn inside(&mut self, s: StrandId) -> OffCpu {
        let i = s as usize;
        let strands = &self.dag.strands;
        let (start, end) = (strands.start[i], strands.end[i]);
        let thread = strands.thread[i] as usize;
        if end <= self.next[thread].2 {
            return OffCpu::default();
        }
        self.search(thread, start, end)
    }

    /// The length of each interval within strand `s`, the strand that was asked about last.
    pub(crate) fn intervals(&self, s: StrandId) -> impl Iterator<Item = u64> {
        self.within(s).map(|(_, from, to)| to - from)
    }

    /// Where the thread was off the CPU in the folded strand `s`, the strand that was asked about
    /// last: for `off` ticks, and it folded for `pause`. `None` where all of it lay in its tasks.
    fn split(&self, s: StrandId, fold: &Folded, (pause, off): (u64, u64)) -> Option<FoldOff> {
        let beside = fold.between.saturating_add(pause);
        if beside == 0 || off == 0 {
            return None;
        }
        let gross = fold.work.saturating_add(fold.probes);
        let tasks = OffSplit::new(self.intervals(s), gross, beside);
        let rest = off.saturating_sub(tasks.likely);
        let between = part_of(rest, fold.between, beside);
        Some(FoldOff {
            tasks,
            between,
            folding: rest - between,
        })
    }

    /// The time on the CPU in which the thread ran the runtime between the tasks of the folded
    /// strand `s`. Strands are asked about in ascending order.
    pub(crate) fn runtime_gap(&mut self, s: StrandId, fold: &Folded) -> u64 {
        let i = s as usize;
        let length = self.dag.strands.end[i] - self.dag.strands.start[i];
        let off = self.inside(s);
        let pause = fold_pause(self.dag, fold, length);
        let split = self.split(s, fold, (pause, off.descheduled + off.blocked));
        let off_between = split.map_or(0, |split| split.between);
        fold.between.min(length).saturating_sub(off_between)
    }

    /// From when to when strand `s` was blocked, the strand that was asked about last.
    pub(crate) fn blocked(&self, s: StrandId) -> impl Iterator<Item = (u64, u64)> {
        let blocked = self.within(s).filter(|off| off.0 == OffWhy::Blocked);
        blocked.map(|(_, from, to)| (from, to))
    }

    /// Each interval within strand `s`, the strand that was asked about last: why, from, to.
    fn within(&self, s: StrandId) -> impl Iterator<Item = (OffWhy, u64, u64)> {
        let i = s as usize;
        let strands = &self.dag.strands;
        let (start, end) = (strands.start[i], strands.end[i]);
        let (next, last, _) = self.next[strands.thread[i] as usize];
        let offs = self.dag.offs[next..last].iter();
        offs.take_while(move |off| off.start < end)
            .map(move |off| (off.why, off.start.max(start), off.end.min(end)))
            .filter(|(_, from, to)| from < to)
    }

    fn search(&mut self, thread: usize, start: u64, end: u64) -> OffCpu {
        let offs = &self.dag.offs;
        let (next, last, begins) = &mut self.next[thread];
        while next < last && offs[*next].end <= start {
            *next += 1;
        }
        *begins = offs[..*last].get(*next).map_or(u64::MAX, |off| off.start);
        off_within(self.dag, *next..*last, start, end)
    }
}

/// Off-CPU time in [start, end) of the intervals `range` of one thread, of which none ends before
/// `start`.
fn off_within(dag: &Dag, range: std::ops::Range<usize>, start: u64, end: u64) -> OffCpu {
    let mut sum = OffCpu::default();
    for off in &dag.offs[range] {
        if off.start >= end {
            break;
        }
        let ticks = off.end.min(end).saturating_sub(off.start.max(start));
        match off.why {
            OffWhy::Preempted => sum.descheduled += ticks,
            OffWhy::Blocked => sum.blocked += ticks,
        }
    }
    sum
}

/// Ticks in which the thread ran the recorder within strand `s`.
fn recorder_within(dag: &Dag, s: StrandId) -> u64 {
    let (start, end) = (dag.strands.start[s as usize], dag.strands.end[s as usize]);
    recorder_between(dag, s, start, end)
}

/// Ticks in which the thread of strand `s` ran the recorder in [start, end), found by search.
pub(crate) fn recorder_between(dag: &Dag, s: StrandId, start: u64, end: u64) -> u64 {
    if dag.recorder_runs.is_empty() {
        return 0;
    }
    let thread = dag.strands.thread[s as usize];
    let first = dag
        .recorder_runs
        .partition_point(|run| (run.thread, run.end) <= (thread, start));
    let runs = dag.recorder_runs[first..].iter();
    runs.take_while(|run| run.thread == thread && run.start < end)
        .map(|run| run.end.min(end).saturating_sub(run.start.max(start)))
        .sum()
}

/// Off-CPU time of the thread of strand `s` within [start, end), found by search.
pub fn off_between(dag: &Dag, s: StrandId, start: u64, end: u64) -> OffCpu {
    let thread = dag.strands.thread[s as usize];
    let first = dag
        .offs
        .partition_point(|o| (o.thread, o.end) <= (thread, start));
    let last = dag.offs.partition_point(|o| o.thread <= thread);
    off_within(dag, first..last, start, end)
}

#[cfg(test)]
mod tests {
    use super::OffSplit;

    fn split(offs: &[u64], tasks: u64, folding: u64) -> (u64, u64, u64) {
        let split = OffSplit::new(offs.iter().copied(), tasks, folding);
        (split.least, split.likely, split.most)
    }

    #[test]
    fn off_cpu_time_of_a_fold_is_shared_by_its_tasks_and_its_folding() {
        // Fits into both: half of the time were tasks.
        assert_eq!(split(&[500], 800, 800), (0, 250, 500));
        // Too long for the tasks, then too long for the folding.
        assert_eq!(split(&[500], 10, 990), (0, 0, 0));
        assert_eq!(split(&[500], 990, 10), (500, 500, 500));
        // The second one only fits into what the first leaves of the folding.
        assert_eq!(split(&[400, 300], 350, 1000), (0, 110, 300));
        assert_eq!(split(&[900, 300], 350, 1000), (300, 300, 300));
        // More than both could take: what there is room for.
        assert_eq!(split(&[500, 500], 600, 300), (600, 600, 600));
        assert_eq!(split(&[], 0, 0), (0, 0, 0));
    }

    /// Threads are preempted at random while they run tasks and fold by turns. The estimate lies
    /// between the bounds, and is right on average.
    #[test]
    fn preempted_folds_are_estimated_within_their_bounds_and_without_bias() {
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let (mut truth, mut estimated) = (0u64, 0u64);
        for _ in 0..20_000 {
            let (on_tasks, on_folding) = (1 + below(400), 1 + below(400));
            let mut offs = Vec::new();
            let (mut in_tasks, mut in_folding) = (0, 0);
            for _ in 0..below(4) {
                let ticks = 1 + below(1000);
                match below(on_tasks + on_folding) < on_tasks {
                    true => in_tasks += ticks,
                    false => in_folding += ticks,
                }
                offs.push(ticks);
            }
            let (least, likely, most) = split(&offs, on_tasks + in_tasks, on_folding + in_folding);
            assert!(
                least <= in_tasks && in_tasks <= most,
                "{offs:?} {in_tasks}: {least}..{most}"
            );
            assert!(least <= likely && likely <= most);
            truth += in_tasks;
            estimated += likely;
        }
        assert!(
            truth.abs_diff(estimated) * 100 < truth,
            "{estimated} of {truth}"
        );
    }
}
