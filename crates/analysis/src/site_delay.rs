//! Delay by spawn site (MODEL.md §5): which ready strands the free workers did not start.

use workspan_dag::Dag;

use crate::ready::{Readiness, ReadyInterval};
use crate::runtime_gaps::runtime_gaps;
use crate::sweep::{FreeWorkerTicks, Observer, sweep};

/// Delay and buried waits of the tasks created at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SiteDelay {
    /// Worker-ticks of delay of its tasks' strands; the values of all sites add up to the run's
    /// delay.
    pub delay: u128,
    /// Number of buried waits of its tasks.
    pub buried: u64,
    /// Ticks for which the strands after these waits were ready.
    pub buried_ticks: u128,
}

/// Delays by place; places that are not spawn sites have zeros. O(n log n).
pub fn site_delays(dag: &Dag) -> Vec<SiteDelay> {
    let mut sums = Sums {
        dag,
        by_place: vec![SiteDelay::default(); dag.places.len()],
    };
    sweep(dag, &Readiness::new(dag), &mut sums);
    for b in runtime_gaps(dag) {
        if let Some(sum) = sums.by_place.get_mut(b.site as usize) {
            sum.delay += u128::from(b.ticks);
        }
    }
    sums.by_place
}

struct Sums<'a> {
    dag: &'a Dag,
    by_place: Vec<SiteDelay>,
}

impl Observer for Sums<'_> {
    fn left(&mut self, waiting: &ReadyInterval, served: FreeWorkerTicks) {
        let task = self.dag.strands.task[waiting.strand as usize];
        let sum = &mut self.by_place[self.dag.tasks.site[task as usize] as usize];
        sum.delay += u128::from(served.all);
        if waiting.buried {
            let start = self.dag.strands.start[waiting.strand as usize];
            sum.buried += 1;
            sum.buried_ticks += u128::from(start - waiting.ready);
        }
    }
}
