//! Attributes the time of idle workers to the code that ran meanwhile.

use workspan_dag::Dag;

use crate::ready::Readiness;
use crate::ready_path::{Gaps, ready_path};
use crate::sweep::{Moment, Observer, sweep};

/// For each of the given times, ascending: the number of workers idle because of the program
/// (no-work-app, MODEL.md §5) per busy strand at that time. The sum over the busy strands is the
/// no-work-app at that time. O(n log n).
pub(crate) fn no_work_shares(dag: &Dag, times: &[u64]) -> Vec<f64> {
    let path = ready_path(dag);
    let mut finder = Shares {
        workers: u64::from(dag.meta.workers.max(1)),
        gaps: Gaps::new(dag, &path),
        times,
        shares: Vec::with_capacity(times.len()),
    };
    sweep(dag, &Readiness::new(dag), &mut finder);
    finder.shares.resize(times.len(), 0.0);
    finder.shares
}

struct Shares<'a> {
    workers: u64,
    gaps: Gaps<'a>,
    times: &'a [u64],
    shares: Vec<f64>,
}

impl Observer for Shares<'_> {
    fn moment(&mut self, moment: &Moment) {
        let free = moment.free(self.workers);
        let idle = free.saturating_sub(moment.ready);
        let in_gap = self.gaps.contain(moment.begin);
        let share = if idle == 0 || in_gap || moment.working == 0 {
            0.0
        } else {
            idle as f64 / moment.working as f64
        };
        while let Some(&time) = self.times.get(self.shares.len())
            && time < moment.end
        {
            self.shares
                .push(if time < moment.begin { 0.0 } else { share });
        }
    }
}
