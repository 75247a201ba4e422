//! How long a site's tasks run, those inside of folded records included: what a finding says must not depend on how the trace was read.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, PlaceId, StrandId};

use super::grain::own_time;
use crate::weight::{OffCursor, on_cpu, probe_ticks};

/// Number and running time of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TaskSize {
    pub tasks: u128,
    /// On the CPU, in the tasks' own strands.
    pub work: u128,
}

/// By spawn site. A folded record tells its work and, of each site, how many tasks of what length there are: the work is divided by these
/// lengths, so it is exact where all tasks inside are of one site.
/// Probes at `probe` ticks each are left out, as the records leave them out.
pub(super) fn by_site(dag: &Dag, probe: u64) -> Vec<TaskSize> {
    let mut sizes = vec![TaskSize::default(); dag.places.len()];
    for &site in &dag.tasks.site {
        sizes[site as usize].tasks += 1;
    }
    let mut offs = OffCursor::new(dag);
    let mut folds = dag.folded.along();
    for s in checked(0..dag.strands.len()) {
        let off = offs.inside(s as StrandId);
        let own = dag.tasks.site[dag.strands.task[s] as usize];
        match folds.of(s as StrandId) {
            None => {
                let probes = probe_ticks(dag, s, None, probe);
                let ticks = on_cpu(dag, s, off).saturating_sub(probes);
                sizes[own as usize].work += u128::from(ticks);
            }
            Some(fold) => {
                let work = own_time(dag, s, off, Some(fold), probe);
                let weight = |lengths: &[u64]| -> f64 {
                    let of = (0..)
                        .zip(lengths)
                        .map(|(k, &n)| n as f64 * f64::exp2(f64::from(k)));
                    of.sum()
                };
                let all: f64 = fold.sites.iter().map(|site| weight(&site.lengths)).sum();
                let (mut left, mut last): (u64, PlaceId) = (work, own);
                for site in &fold.sites {
                    let part = work as f64 * weight(&site.lengths) / all.max(1.0);
                    let part = (part as u64).min(left);
                    let size = &mut sizes[site.site as usize];
                    (size.tasks, size.work) = (
                        size.tasks + u128::from(site.count),
                        size.work + u128::from(part),
                    );
                    (left, last) = (left - part, site.site);
                }
                sizes[last as usize].work += u128::from(left);
            }
        }
    }
    sizes
}
