//! The code block that weighs most on the critical path. It limits the program on more workers. It
//! is also right on a machine whose CPUs other programs used: load changes times, but not which
//! strand waits for which.

use workspan_dag::{Dag, ROOT_PLACE, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::causes::{Cause, Evidence, Finding};
use crate::limits::{ShareTable, ThreadShares};
use crate::weight::Weights;
use crate::work_span::WorkSpan;

/// The code block with the largest share of the critical path.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalBlock {
    /// The block.
    pub block: CodeBlock,
    /// Its heaviest strand on the critical path.
    pub strand: StrandId,
    /// Number of its strands on the critical path.
    pub strands: u64,
    /// Their weight.
    pub critical: u128,
    /// The span, of which `critical` is a part.
    pub span: u128,
    /// Whether the program has work for all workers in spite of it: its parallelism is at least
    /// twice their number, or the critical path lies in even shares of at least as many threads.
    pub is_enough: bool,
}

impl CriticalBlock {
    /// Its share of the critical path, in percent.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.critical, self.span)
    }

    /// The block as a finding that everything waits for it; `None` if it is a whole task and the
    /// parallelism is enough.
    pub(crate) fn as_finding(&self) -> Option<Finding> {
        let whole_tasks = self.block.site != ROOT_PLACE && self.block.is_whole_task();
        (!self.is_enough || !whole_tasks).then(|| Finding {
            cause: Cause::SerialStrand,
            block: self.block,
            strand: self.strand,
            lost: 0,
            undisturbed: 0.0,
            evidence: Evidence::default(),
        })
    }
}

/// Strands of a block on the critical path.
#[derive(Debug, Clone, Copy, Default)]
struct BlockSum {
    strands: u64,
    weight: u128,
    /// The heaviest strand, with its weight.
    heaviest: (u128, StrandId),
    /// Whether the strands are in shares ([`ThreadShares`]).
    shared: bool,
}

/// Minimum parallelism per worker at which a program has work for all of them.
const ENOUGH_PARALLELISM_PER_WORKER: f64 = 2.0;

/// Minimum share of the critical path at which code outside of even shares is the limit.
const NOTABLE_BESIDE_SHARES: f64 = 0.1;

/// `None` for a run without a span.
pub(crate) fn critical_block(
    dag: &Dag,
    weights: &Weights,
    work_span: &WorkSpan,
) -> Option<CriticalBlock> {
    if work_span.span == 0 {
        return None;
    }
    let shares = work_span
        .limits
        .shares
        .map(|_| ShareTable::new(dag, weights));
    let mut table: BlockTable<BlockSum> = BlockTable::new();
    for &s in &work_span.critical_path {
        let (weight, sum) = (
            weights.path(s, 0),
            table.entry(CodeBlock::from_strand(dag, s)),
        );
        if sum.strands == 0 || weight > sum.heaviest.0 {
            sum.heaviest = (weight, s);
        }
        sum.strands += 1;
        sum.weight += weight;
        sum.shared |= shares
            .as_ref()
            .is_some_and(|shares| shares.whole_of(dag, s).is_some());
    }
    let heaviest = |blocks: &mut dyn Iterator<Item = usize>| {
        blocks.max_by_key(|&i| (table.values[i].weight, std::cmp::Reverse(i)))
    };
    let workers = f64::from(dag.meta.workers.max(1));
    let has_enough = work_span.parallelism() >= ENOUGH_PARALLELISM_PER_WORKER * workers;
    let most = heaviest(&mut (0..table.keys.len()))?;
    // Where the work was shared out evenly, what limits the program is what was not.
    let shares = work_span.limits.shares.filter(ThreadShares::are_even);
    let (most, is_enough) = match shares {
        Some(shares) if table.values[most].shared => {
            let unshared =
                heaviest(&mut (0..table.keys.len()).filter(|&i| !table.values[i].shared));
            let notable = NOTABLE_BESIDE_SHARES * work_span.span as f64;
            match unshared.filter(|&i| table.values[i].weight as f64 >= notable) {
                Some(unshared) => (unshared, has_enough),
                None => (most, has_enough || f64::from(shares.threads) >= workers),
            }
        }
        _ => (most, has_enough),
    };
    let (block, sum) = (table.keys[most], table.values[most]);
    Some(CriticalBlock {
        block,
        strand: sum.heaviest.1,
        strands: sum.strands,
        critical: sum.weight,
        span: work_span.span,
        is_enough,
    })
}
