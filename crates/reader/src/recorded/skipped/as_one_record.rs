//! A sampled join as one folded record (MODEL.md §7). Estimates need each of its tasks. The run's
//! graph does not, and would contain little else if most subtrees were skipped.

use super::sample::Sample;
use crate::open::Grain;
use workspan_dag::folded::{Folded, FoldedSite};

/// The size of records, in bytes, from which a file's sampled joins become one strand each.
const MIN_FILE_BYTES: usize = 1 << 20;

/// Whether sampled joins become one strand each, in a file with this many bytes and this grain.
pub(in crate::recorded) fn is_requested(grain: Grain, bytes: usize) -> bool {
    match grain {
        Grain::None => false,
        Grain::Auto => bytes >= MIN_FILE_BYTES,
        Grain::Nanoseconds(_) => true,
    }
}

/// A sampled join that was measured completely.
#[derive(Debug)]
pub(in crate::recorded) struct FoldedSample {
    /// The number of its records after the one of its call, including the one of its return.
    pub records: u64,
    /// Its contents. Sites are the file's.
    pub folded: Folded,
}

impl FoldedSample {
    pub(super) fn new(sample: &Sample, records: u64) -> FoldedSample {
        let whole = &sample.whole;
        let (heaviest, longest) = (whole.paths.heaviest, whole.paths.longest);
        let mut envelope = vec![(heaviest.weight, heaviest.edges)];
        if longest.edges > heaviest.edges {
            envelope.push((longest.weight, longest.edges));
        }
        let own = sample.inside.values().map(|inside| u128::from(inside.own));
        let own: u128 = own.sum();
        let sites = sample.inside.iter().map(|(&site, inside)| FoldedSite {
            site,
            count: inside.tasks,
            work: inside.work,
            span: inside.span,
            // In proportion, because the path itself is not kept.
            critical_work: (u128::from(inside.own) * u128::from(heaviest.weight))
                .checked_div(own)
                .unwrap_or(0) as u64,
            lengths: inside.lengths.clone(),
        });
        let joins = whole.tasks / 2;
        // In blocks, 0 is an unknown place.
        let place = sample.site.saturating_add(1);
        let folded = Folded {
            work: whole.work,
            span: heaviest.weight,
            envelope,
            tasks: whole.tasks,
            spawns: joins,
            syncs: joins,
            // One strand before each join inside, and one at the end of each task.
            strands: (3 * joins).saturating_sub(1),
            levels: whole.levels,
            ready_integral: sample.ready,
            probes: whole.ticks.saturating_sub(whole.work),
            between: 0,
            off_cpu: 0,
            folding_off_cpu: 0,
            source: None,
            sites: sites.collect(),
            blocks: vec![(place, place, whole.work)],
        };
        FoldedSample { records, folded }
    }
}
