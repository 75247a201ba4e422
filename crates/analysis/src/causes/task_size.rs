//! The running time of a site's tasks, including those inside folded records, so that findings do
//! not depend on how the trace was read.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, Folded, PlaceId, StrandId};

use super::grain::{folded_time, own_time};
use crate::off_cpu::OffCpuCursor;

/// Number and running time of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TaskSize {
    pub tasks: u128,
    /// Time on the CPU in the tasks' own strands, in ticks.
    pub work: u128,
    /// The possible error of `work` in either direction. It arises because folded work is divided
    /// by lengths that are known to a factor of two.
    pub error: u128,
}

/// The sizes by spawn site. A folded record has its work and the number of tasks of each site by
/// length. The work is divided in proportion to these lengths, so it is exact if all tasks inside
/// belong to one site. Probes at `probe` ticks each are left out, as the records leave them out.
pub(super) fn by_site(dag: &Dag, probe: u64) -> Vec<TaskSize> {
    let mut sizes = vec![TaskSize::default(); dag.places.len()];
    for &site in &dag.tasks.site {
        sizes[site as usize].tasks += 1;
    }
    let mut offs = OffCpuCursor::new(dag);
    let mut folds = dag.folded.cursor();
    for s in checked(0..dag.strands.len()) {
        let own = dag.tasks.site[dag.strands.task[s] as usize];
        match folds.record(s as StrandId) {
            None => {
                let off = offs.inside(s as StrandId);
                sizes[own as usize].work += u128::from(own_time(dag, s, off, probe));
            }
            Some(fold) => {
                let off = offs.in_tasks(s as StrandId, fold);
                let work = folded_time(dag, s, fold, probe)
                    .saturating_sub(off.descheduled)
                    .saturating_sub(off.blocked);
                for (site, count, ticks) in by_lengths(fold, own, work) {
                    let size = &mut sizes[site as usize];
                    size.tasks += u128::from(count);
                    size.work += u128::from(ticks);
                    size.error += division_error(ticks, work);
                }
            }
        }
    }
    sizes
}

/// The possible error of `part` of `all` ticks if each task may be up to twice as long as assumed:
/// its share p is between p / (2 - p) and 2 p / (1 + p).
fn division_error(part: u64, all: u64) -> u128 {
    let p = part as f64 / all.max(1) as f64;
    let least = (1.0 + p).min(2.0 - p);
    (part as f64 * (1.0 - p).max(0.0) / least).round() as u128
}

/// Divides `ticks` of a folded strand, whose own task belongs to site `own`, among the sites inside
/// in proportion to the lengths of their tasks. Yields (site, tasks, ticks). The ticks add up
/// exactly.
pub(super) fn by_lengths(
    fold: &Folded,
    own: PlaceId,
    ticks: u64,
) -> impl Iterator<Item = (PlaceId, u64, u64)> {
    let weight = |lengths: &[u64]| -> f64 {
        let weights = (0..)
            .zip(lengths)
            .map(|(k, &n)| n as f64 * f64::exp2(f64::from(k)));
        weights.sum()
    };
    let all: f64 = fold.sites.iter().map(|site| weight(&site.lengths)).sum();
    let mut left = ticks;
    let mut parts: Vec<(PlaceId, u64, u64)> = Vec::with_capacity(fold.sites.len() + 1);
    for site in &fold.sites {
        let part = ticks as f64 * weight(&site.lengths) / all.max(1.0);
        let part = (part as u64).min(left);
        left -= part;
        parts.push((site.site, site.count, part));
    }
    match parts.last_mut() {
        Some(last) => last.2 += left,
        None => parts.push((own, 0, left)),
    }
    parts.into_iter()
}
