//! The content of folded records on the critical path: their code is known by site, not by strand.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, PlaceId};

use crate::report::Report;
use crate::weight::Weights;

/// Minimum share of the critical path in folded records that makes another recording worthwhile.
const MIN_FOLDED_SHARE: f64 = 0.1;

/// A spawn site inside folded records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldedSite {
    /// The site.
    pub site: PlaceId,
    /// Number of its tasks inside all folded records.
    pub tasks: u64,
    /// Work of its outermost tasks with their descendants, in ticks.
    pub work: u128,
    /// Own work of its tasks on the critical path, that is, on the heaviest paths of the records on
    /// it, in ticks.
    pub critical: u128,
}

/// Folded records on the critical path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoldedAdvice {
    /// The part of the critical path that lies in folded records, in ticks.
    pub critical: u128,
    /// The sites inside, in descending order of their weight on the path. A recording that keeps
    /// these sites unfolded shows their code.
    pub sites: Vec<FoldedSite>,
    /// The code block with most of the work inside, as its start, its end and that work; a place
    /// may be unknown ([`NONE`]).
    pub block: Option<(PlaceId, PlaceId, u128)>,
}

/// `None` if less than a tenth of the path lies in folded records.
pub(super) fn folded(dag: &Dag, weights: &Weights, report: &Report) -> Option<FoldedAdvice> {
    if dag.folded.is_empty() {
        return None;
    }
    let mut sums: BTreeMap<PlaceId, FoldedSite> = BTreeMap::new();
    let nothing = |site| FoldedSite {
        site,
        tasks: 0,
        work: 0,
        critical: 0,
    };
    for (s, fold) in dag.folded.iter() {
        for site in &fold.sites {
            let sum = sums.entry(site.site).or_insert_with(|| nothing(site.site));
            sum.tasks = sum.tasks.saturating_add(site.count);
            sum.work += weights.inside(s, &fold, site.work);
        }
    }
    let (mut critical, mut blocks) = (0u128, Vec::new());
    let on_path = report.work_span.critical_path.iter();
    for (s, fold) in on_path.filter_map(|&s| Some((s, dag.fold_of(s)?))) {
        let mut own = weights.path(s, 0);
        critical += own;
        for site in &fold.sites {
            let part = weights.inside(s, &fold, site.critical_work).min(own);
            own -= part;
            let sum = sums.entry(site.site).or_insert_with(|| nothing(site.site));
            sum.critical += part;
        }
        for &(from, to, ticks) in &fold.blocks {
            blocks.push(((from, to), weights.inside(s, &fold, ticks)));
        }
    }
    if (critical as f64) < MIN_FOLDED_SHARE * report.work_span.span.max(1) as f64 {
        return None;
    }
    let mut sums: Vec<FoldedSite> = sums.into_values().filter(|s| s.critical > 0).collect();
    sums.sort_by_key(|s| (std::cmp::Reverse(s.critical), s.site));
    blocks.sort_unstable();
    let mut block: Option<(PlaceId, PlaceId, u128)> = None;
    for same in blocks.chunk_by(|a, b| a.0 == b.0) {
        let sum: u128 = same.iter().map(|b| b.1).sum();
        let (from, to) = same[0].0;
        let known = |p: PlaceId| p == NONE || (p as usize) < dag.places.len();
        if known(from) && known(to) && block.is_none_or(|most| sum > most.2) {
            block = Some((from, to, sum));
        }
    }
    Some(FoldedAdvice {
        critical,
        sites: sums,
        block,
    })
}
