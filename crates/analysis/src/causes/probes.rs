//! Recording: the probes' own time, by the site of the strands that it was taken out of.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, NONE, PlaceId, StrandId};

use super::book::Book;
use super::task_size::by_lengths;
use super::{Cause, Costs};
use crate::blocks::CodeBlock;
use crate::off_cpu::OffCpuCursor;
use crate::weight::{on_cpu, probe_ticks};

/// The tasks of a site are too small if more than one part in this many of their time is probes.
/// Elsewhere probes are a cost of the recorder, which a run without it does not have.
const PROBE_SHARE_DIVISOR: u128 = 10;

/// Sums over the strands of a site's tasks. Strands inside folded ones count, so that the result
/// does not depend on how the trace was read.
#[derive(Debug, Clone, Copy)]
struct SiteProbes {
    probes: u128,
    on_cpu: u128,
    /// The largest probe time of one strand; `strand` is that strand.
    longest: u64,
    strand: StrandId,
}

/// Probe time inside strands, by cause and site; adds up to what the weights took out.
pub(super) fn probes(dag: &Dag, costs: Costs) -> Book {
    let mut book = Book::new();
    if costs.probe == 0 {
        return book;
    }
    let mut offs = OffCpuCursor::new(dag);
    let mut folds = dag.folded.cursor();
    let nothing = SiteProbes {
        probes: 0,
        on_cpu: 0,
        longest: 0,
        strand: NONE,
    };
    let mut sites = vec![nothing; dag.places.len()];
    let mut add = |strand: StrandId, site: PlaceId, probes: u64, on_cpu: u64| {
        let sum = &mut sites[site as usize];
        sum.probes += u128::from(probes);
        sum.on_cpu += u128::from(on_cpu);
        if sum.strand == NONE || probes > sum.longest {
            (sum.longest, sum.strand) = (probes, strand);
        }
    };
    for s in checked(0..dag.strands.len()) {
        let off = offs.inside(s as StrandId);
        let fold = folds.record(s as StrandId);
        let on_cpu = on_cpu(dag, s, off);
        let probes = probe_ticks(dag, s, fold, costs.probe).min(on_cpu);
        let own = dag.tasks.site[dag.strands.task[s] as usize];
        let Some(fold) = fold else {
            add(s as StrandId, own, probes, on_cpu);
            continue;
        };
        // All tasks are taken to have the same number of probes.
        let (mut tasks, mut before) = (0u128, 0);
        let all: u128 = fold.sites.iter().map(|s| u128::from(s.count)).sum();
        let in_tasks = on_cpu.saturating_sub(fold.between);
        for (site, count, ticks) in by_lengths(fold, own, in_tasks) {
            tasks += u128::from(count);
            let share = u128::from(probes) * tasks;
            let to = share.checked_div(all).map_or(probes, |to| to as u64);
            add(s as StrandId, site, to - before, ticks);
            before = to;
        }
    }
    let mut other = 0;
    for (sum, site) in sites.into_iter().zip(0..) {
        if sum.probes * PROBE_SHARE_DIVISOR <= sum.on_cpu {
            other += sum.probes;
        } else {
            let key = CodeBlock::whole_site(site);
            book.add(Cause::GrainFine, key, sum.probes, sum.strand, sum.longest);
        }
    }
    book.add(Cause::None, CodeBlock::whole_site(NONE), other, NONE, 0);
    book
}
