//! The mean number of strands that ran in an interval.

use workspan_dag::{Dag, StrandId};

use crate::random_access_sweep::SweepIndex;

/// Number of a thread's strands from one stored sum to the next.
const STRANDS_PER_SUM: usize = 256;

/// Ticks that each thread spent inside strands up to a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct BusyTime {
    /// The threads that ran something, and the sums before every [`STRANDS_PER_SUM`]th of their
    /// strands.
    threads: Vec<(u32, Vec<u64>)>,
}

impl BusyTime {
    /// O(n).
    pub fn new(dag: &Dag, index: &SweepIndex) -> BusyTime {
        let strands = &dag.strands;
        let mut threads = Vec::new();
        for thread in 0..dag.meta.threads {
            let own = index.strands_of(thread as usize);
            if own.is_empty() {
                continue;
            }
            let (mut sums, mut sum) = (Vec::with_capacity(own.len() / STRANDS_PER_SUM + 1), 0);
            for (i, &s) in own.iter().enumerate() {
                if i % STRANDS_PER_SUM == 0 {
                    sums.push(sum);
                }
                sum += strands.end[s as usize] - strands.start[s as usize];
            }
            threads.push((thread, sums));
        }
        BusyTime { threads }
    }

    /// Mean number of strands that are on the CPU in `[from, to)`, in absolute ticks (MODEL.md §5,
    /// busy; recording counts as busy). 0 for an empty interval. O(threads · log n + intervals off
    /// the CPU in that time).
    pub fn mean(&self, dag: &Dag, index: &SweepIndex, from: u64, to: u64) -> f64 {
        if from >= to {
            return 0.0;
        }
        let mut sum = 0u128;
        for (thread, sums) in &self.threads {
            let own = index.strands_of(*thread as usize);
            let inside =
                |a: u64, b: u64| until(dag, own, sums, b).saturating_sub(until(dag, own, sums, a));
            let mut busy = inside(from, to);
            let offs = &dag.offs;
            let first = offs.partition_point(|o| (o.thread, o.end) <= (*thread, from));
            let of_thread = |o: &&workspan_dag::OffCpuInterval| o.thread == *thread && o.start < to;
            for off in offs[first..].iter().take_while(of_thread) {
                busy -= inside(off.start.max(from), off.end.min(to)).min(busy);
            }
            sum += u128::from(busy);
        }
        sum as f64 / (to - from) as f64
    }
}

/// Ticks inside the strands `own`, which do not overlap, before `time`.
fn until(dag: &Dag, own: &[StrandId], sums: &[u64], time: u64) -> u64 {
    let strands = &dag.strands;
    let started = own.partition_point(|&s| strands.start[s as usize] < time);
    let Some(last) = started.checked_sub(1) else {
        return 0;
    };
    let step = last / STRANDS_PER_SUM;
    let whole = own[step * STRANDS_PER_SUM..started].iter().map(|&s| {
        let end = strands.end[s as usize].min(time);
        end - strands.start[s as usize]
    });
    sums[step] + whole.sum::<u64>()
}
