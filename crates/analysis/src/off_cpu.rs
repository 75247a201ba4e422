//! Where threads were off the CPU, or ran the recorder, within strands.

use workspan_dag::{Dag, Folded, OffCpuReason, StrandId};

/// Ticks in which the thread of a strand, or of a part of one, was off the CPU (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OffCpu {
    /// Preempted.
    pub descheduled: u64,
    /// Blocked.
    pub blocked: u64,
}

/// Ticks in which the thread folded within a folded strand of `length` ticks; 0 if a reader folded
/// it.
pub(crate) fn fold_pause(dag: &Dag, fold: &Folded, length: u64) -> u64 {
    let by_recorder = dag.meta.run.folded_below_us.is_some();
    if by_recorder && fold.probes == 0 && fold.source.is_none() {
        length
            .saturating_sub(fold.work)
            .saturating_sub(fold.between)
            .saturating_sub(fold.off_cpu)
    } else {
        0
    }
}

/// Where the thread of a folded strand was off the CPU: in its tasks, in the runtime between them,
/// or while it folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoldOffCpu {
    pub tasks: OffCpuShare,
    pub between: u64,
    pub folding: u64,
}

/// How much of a folded strand's time off the CPU lay in its tasks; the rest lay in the runtime
/// between them, or in its thread's folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffCpuShare {
    pub least: u64,
    pub likely: u64,
    pub most: u64,
}

impl OffCpuShare {
    /// Divides the times `intervals` off the CPU in a folded strand. Its tasks took `tasks` ticks,
    /// and the thread's other activities took `untasked`, both including the intervals inside them.
    ///
    /// A thread continues where it was preempted, so each interval lies completely in one of the
    /// two: one that is longer than either must lie in the other. Intervals that fit into both are
    /// divided in proportion to the remaining time, since a thread is equally likely to be
    /// preempted at any moment.
    fn new(intervals: impl Iterator<Item = u64>, tasks: u64, untasked: u64) -> OffCpuShare {
        let mut open: Vec<u64> = intervals.collect();
        let (mut tasks, mut untasked) = (tasks, untasked);
        let mut in_tasks = 0u64;
        loop {
            let before = open.len();
            open.retain(|&ticks| match (ticks <= tasks, ticks <= untasked) {
                (true, false) => {
                    in_tasks += ticks;
                    tasks -= ticks;
                    false
                }
                (false, true) => {
                    untasked -= ticks;
                    false
                }
                _ => true,
            });
            if open.len() == before {
                break;
            }
        }
        let rest: u64 = open.iter().sum();
        OffCpuShare {
            least: in_tasks + rest.saturating_sub(untasked).min(tasks),
            likely: in_tasks + part_of(rest, tasks, tasks.saturating_add(untasked)).min(tasks),
            most: in_tasks + rest.min(tasks),
        }
    }

    /// The split for `part` of the `whole` time off the CPU.
    pub(crate) fn scaled(&self, part: u64, whole: u64) -> OffCpuShare {
        let scale = |ticks| part_of(ticks, part, whole);
        OffCpuShare {
            least: scale(self.least),
            likely: scale(self.likely),
            most: scale(self.most),
        }
    }
}

/// `ticks` · `part` / `whole`.
pub(crate) fn part_of(ticks: u64, part: u64, whole: u64) -> u64 {
    let part = u128::from(part.min(whole));
    (u128::from(ticks) * part / u128::from(whole.max(1))) as u64
}

/// Off-CPU time inside strands, for queries in ascending order. Linear over all queries, as the
/// strands of a thread are in time order and don't overlap.
pub(crate) struct OffCpuCursor<'a> {
    dag: &'a Dag,
    /// By thread: the next interval that can matter, the end of the thread's intervals, and the
    /// start of that next interval.
    next: Vec<(usize, usize, u64)>,
}

impl<'a> OffCpuCursor<'a> {
    pub(crate) fn new(dag: &'a Dag) -> OffCpuCursor<'a> {
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
        OffCpuCursor { dag, next }
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

    /// The length of each interval within strand `s`, the last queried strand.
    pub(crate) fn intervals(&self, s: StrandId) -> impl Iterator<Item = u64> {
        self.within(s).map(|(_, from, to)| to - from)
    }

    /// Where the thread was off the CPU in the folded strand `s`, the last queried strand: it was
    /// off for `off` ticks, and folded for `pause`.
    pub(crate) fn split(&self, s: StrandId, fold: &Folded, (pause, off): (u64, u64)) -> FoldOffCpu {
        let recorded = fold.off_cpu.saturating_add(fold.folding_off_cpu);
        if recorded > 0 {
            return self.split_rest(fold, (pause, off), recorded);
        }
        let untasked = fold.between.saturating_add(pause);
        if untasked == 0 || off == 0 {
            let all = OffCpuShare {
                least: off,
                likely: off,
                most: off,
            };
            return FoldOffCpu {
                tasks: all,
                between: 0,
                folding: 0,
            };
        }
        let gross = fold.work.saturating_add(fold.probes);
        let tasks = OffCpuShare::new(self.intervals(s), gross, untasked);
        let rest = off.saturating_sub(tasks.likely);
        let between = part_of(rest, fold.between, untasked);
        FoldOffCpu {
            tasks,
            between,
            folding: rest - between,
        }
    }

    /// The split if the record reports `recorded` ticks, which are not part of its weights. Time
    /// beyond these may be anywhere.
    fn split_rest(&self, fold: &Folded, (pause, off): (u64, u64), recorded: u64) -> FoldOffCpu {
        let rest = off.saturating_sub(recorded);
        let gross = fold.work.saturating_add(fold.probes);
        let folding = pause.saturating_sub(fold.folding_off_cpu);
        let untasked = fold.between.saturating_add(folding);
        let mut tasks = OffCpuShare::new(std::iter::once(rest), gross, untasked);
        // By its switches, the thread ran during some of the time that was taken out: the work may
        // be larger.
        tasks.most = tasks.most.saturating_add(fold.off_cpu.saturating_sub(off));
        let left = rest - tasks.likely.min(rest);
        let between = part_of(left, fold.between, untasked);
        // The time that was reported as off the CPU although the switches show none was spent on
        // folding.
        let folding_off = off.min(recorded).saturating_sub(fold.off_cpu);
        FoldOffCpu {
            tasks,
            between,
            folding: folding_off.saturating_add(left - between),
        }
    }

    /// The time on the CPU in which the thread ran the runtime between the tasks of the folded
    /// strand `s`. Queries must be in ascending order.
    pub(crate) fn runtime_gap(&mut self, s: StrandId, fold: &Folded) -> u64 {
        let length = self.length(s);
        let (_, off) = self.of_folded(s, fold);
        fold.between.min(length).saturating_sub(off.between)
    }

    /// The time on the CPU in which the thread folded within the folded strand `s`. Queries must be
    /// in ascending order.
    pub(crate) fn folding(&mut self, s: StrandId, fold: &Folded) -> u64 {
        let (pause, off) = self.of_folded(s, fold);
        pause.saturating_sub(off.folding)
    }

    /// The time off the CPU within the tasks of the folded strand `s`, at its most likely. Queries
    /// must be in ascending order.
    pub(crate) fn in_tasks(&mut self, s: StrandId, fold: &Folded) -> OffCpu {
        let (_, split) = self.of_folded(s, fold);
        let off = self.inside(s);
        let part = |ticks| {
            let all = off.descheduled.saturating_add(off.blocked);
            split.tasks.scaled(ticks, all).likely
        };
        OffCpu {
            descheduled: part(off.descheduled),
            blocked: part(off.blocked),
        }
    }

    fn length(&self, s: StrandId) -> u64 {
        let strands = &self.dag.strands;
        strands.end[s as usize] - strands.start[s as usize]
    }

    /// How long the thread folded within the folded strand `s`, and where in it the thread was off
    /// the CPU.
    fn of_folded(&mut self, s: StrandId, fold: &Folded) -> (u64, FoldOffCpu) {
        let pause = fold_pause(self.dag, fold, self.length(s));
        let off = self.inside(s);
        let split = self.split(s, fold, (pause, off.descheduled + off.blocked));
        (pause, split)
    }

    /// The intervals in which strand `s`, the last queried strand, was blocked.
    pub(crate) fn blocked(&self, s: StrandId) -> impl Iterator<Item = (u64, u64)> {
        let blocked = self.within(s).filter(|off| off.0 == OffCpuReason::Blocked);
        blocked.map(|(_, from, to)| (from, to))
    }

    /// The intervals within strand `s`, the last queried strand: reason, start, end.
    fn within(&self, s: StrandId) -> impl Iterator<Item = (OffCpuReason, u64, u64)> {
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

/// Off-CPU time in `[start, end)` of the intervals `range` of one thread; none of them ends before
/// `start`.
fn off_within(dag: &Dag, range: std::ops::Range<usize>, start: u64, end: u64) -> OffCpu {
    let mut sum = OffCpu::default();
    for off in &dag.offs[range] {
        if off.start >= end {
            break;
        }
        let ticks = off.end.min(end).saturating_sub(off.start.max(start));
        match off.why {
            OffCpuReason::Preempted => sum.descheduled += ticks,
            OffCpuReason::Blocked => sum.blocked += ticks,
        }
    }
    sum
}

/// Ticks on the CPU in which the thread ran the recorder within strand `s`.
pub(crate) fn recorder_within(dag: &Dag, s: StrandId) -> u64 {
    let (start, end) = (dag.strands.start[s as usize], dag.strands.end[s as usize]);
    recorder_between(dag, s, start, end)
}

/// Ticks on the CPU in which the thread of strand `s` ran the recorder in `[start, end)`, found by
/// search.
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
    use super::OffCpuShare;

    fn split(offs: &[u64], tasks: u64, folding: u64) -> (u64, u64, u64) {
        let split = OffCpuShare::new(offs.iter().copied(), tasks, folding);
        (split.least, split.likely, split.most)
    }

    #[test]
    fn off_cpu_time_of_a_fold_is_shared_by_its_tasks_and_its_folding() {
        // The interval fits into both: half of the time were tasks.
        assert_eq!(split(&[500], 800, 800), (0, 250, 500));
        // Too long for the tasks, then too long for the folding.
        assert_eq!(split(&[500], 10, 990), (0, 0, 0));
        assert_eq!(split(&[500], 990, 10), (500, 500, 500));
        // The second one only fits into what the first leaves of the folding.
        assert_eq!(split(&[400, 300], 350, 1000), (0, 110, 300));
        assert_eq!(split(&[900, 300], 350, 1000), (300, 300, 300));
        // More than both could take: as much as there is room for.
        assert_eq!(split(&[500, 500], 600, 300), (600, 600, 600));
        assert_eq!(split(&[], 0, 0), (0, 0, 0));
    }

    /// Threads are preempted at random while they alternate between running tasks and folding. The
    /// estimate lies between the bounds, and is right on average.
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
