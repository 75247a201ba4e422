//! Runtime gaps: time between the strands inside a folded strand (MODEL.md §5, §7).
//!
//! Between two strands of a folded subtree, a thread runs the runtime. Its worker is free then, and
//! the next strand is ready, because everything before it ran on this thread and has ended. So a
//! gap is always delay and never no-work. A sweep takes a folded strand to run all the time; the
//! gaps are moved from work to delay after it.

use crate::off_cpu::OffCpuCursor;
use workspan_dag::{Dag, NONE, PlaceId, StrandId};

/// The runtime gaps of a folded strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuntimeGap {
    pub strand: StrandId,
    /// Time on the CPU, in ticks, at most the strand's length.
    pub ticks: u64,
    /// Number of tasks inside, their work, and the place where most of them were created.
    pub tasks: u64,
    pub work: u64,
    pub site: PlaceId,
}

/// The folded strands with gaps, ascending. O(folded strands).
pub(crate) fn runtime_gaps(dag: &Dag) -> Vec<RuntimeGap> {
    let mut folds = dag.folded.cursor();
    let mut offs = OffCpuCursor::new(dag);
    let gap = |&strand: &StrandId| {
        let fold = folds.record(strand).filter(|fold| fold.between > 0)?;
        let most = fold.sites.iter().max_by_key(|site| site.count);
        Some(RuntimeGap {
            strand,
            ticks: offs.runtime_gap(strand, fold),
            tasks: fold.tasks,
            work: fold.work,
            site: most.map_or(NONE, |site| site.site),
        })
    };
    dag.folded.strands().iter().filter_map(gap).collect()
}

/// The sum of all gaps.
pub(crate) fn total_ticks<'a>(between: impl IntoIterator<Item = &'a RuntimeGap>) -> u128 {
    let ticks = between.into_iter().map(|b| u128::from(b.ticks));
    ticks.sum()
}

/// The share of `ticks`, spread evenly over `[start, end)`, that falls into `[from, to)`. Shares of
/// adjacent intervals add up exactly.
pub fn share_within(ticks: u64, (start, end): (u64, u64), (from, to): (u64, u64)) -> u64 {
    if ticks == 0 || start >= end {
        return 0;
    }
    let before = |t: u64| {
        let inside = u128::from(t.clamp(start, end) - start);
        (u128::from(ticks) * inside / u128::from(end - start)) as u64
    };
    before(to) - before(from)
}

#[cfg(test)]
mod tests {
    use super::share_within;

    #[test]
    fn parts_add_up_however_it_is_cut() {
        for ticks in [1, 7, 100, u64::MAX / 3] {
            for cuts in [1, 2, 3, 17] {
                let at = |i: u64| 10 + i * 90 / cuts;
                let sum: u64 = (0..cuts)
                    .map(|i| share_within(ticks, (10, 100), (at(i), at(i + 1))))
                    .sum();
                assert_eq!(sum, ticks);
            }
        }
        assert_eq!(share_within(50, (10, 20), (0, 15)), 25);
        assert_eq!(share_within(50, (10, 10), (0, 15)), 0);
    }
}
