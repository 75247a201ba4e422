//! Delay between the strands inside of folded ones, where the thread runs the runtime.

use workspan_dag::NONE;

use super::grain::Grain;
use super::ledger::Book;
use super::ready_strand::whole_site;
use super::{Cause, Costs};
use crate::runtime_gaps::RuntimeGap;

/// By cause and site, as for the strands that stood ready meanwhile: where most of the tasks inside were created, if these are small.
pub(super) fn folded_gaps(between: &[RuntimeGap], costs: Costs) -> Book {
    let mut book = Book::new();
    for b in between {
        let (work, tasks) = (u128::from(b.work), u128::from(b.tasks));
        let (cause, site) = match Grain::too_small(work, tasks, u128::from(costs.steal)) {
            true => (Cause::GrainFine, b.site),
            false => (Cause::None, NONE),
        };
        book.add(
            cause,
            whole_site(site),
            u128::from(b.ticks),
            b.strand,
            b.ticks,
        );
    }
    book
}
