//! Recording: the probes' own time, by the site of the strands it was taken out of.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, NONE, StrandId};

use super::book::Book;
use super::{Cause, Costs};
use crate::blocks::CodeBlock;
use crate::weight::{OffCursor, on_cpu, probe_ticks};

/// Strands of which more than one part in this many are probes are too small, and the recording shows it; elsewhere
/// probes are the recorder's own affair, which a run without it doesn't have.
const PARTS: u128 = 10;

/// Probe time inside strands, by cause and site; adds up to what the weights took out.
pub(super) fn probes(dag: &Dag, costs: Costs) -> Book {
    let mut book = Book::new();
    if costs.probe == 0 {
        return book;
    }
    let mut offs = OffCursor::new(dag);
    let mut folds = dag.folded.along();
    // Ticks by site in small and in other strands, and the longest such strand.
    let mut fine = vec![(0u128, 0, NONE); dag.places.len()];
    let mut other = 0;
    for s in checked(0..dag.strands.len()) {
        let off = offs.inside(s as StrandId);
        let fold = folds.of(s as StrandId);
        let on_cpu = u128::from(on_cpu(dag, s, off));
        let probes = u128::from(probe_ticks(dag, s, fold, costs.probe)).min(on_cpu);
        if probes * PARTS <= on_cpu {
            other += probes;
            continue;
        }
        let site = dag.tasks.site[dag.strands.task[s] as usize];
        let sum = &mut fine[site as usize];
        sum.0 += probes;
        if sum.2 == NONE || probes as u64 > sum.1 {
            (sum.1, sum.2) = (probes as u64, s as StrandId);
        }
    }
    for (site, (ticks, longest, strand)) in fine.into_iter().enumerate() {
        if ticks > 0 {
            let key = CodeBlock::whole_site(site as u32);
            book.add(Cause::GrainFine, key, ticks, strand, longest);
        }
    }
    book.add(Cause::None, CodeBlock::whole_site(NONE), other, NONE, 0);
    book
}
