//! The code block that weighs most on the critical path. It limits the program on more workers, and
//! on a machine whose CPUs other programs used: load changes times, but not which strand waits for
//! which.

use workspan_dag::{Dag, ROOT_PLACE, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::causes::{Cause, Evidence, Finding};
use crate::weight::Weights;
use crate::work_span::WorkSpan;

/// The code that the critical path spends most in.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalBlock {
    /// The block.
    pub block: CodeBlock,
    /// Its heaviest strand on the critical path.
    pub strand: StrandId,
    /// Its strands on the critical path.
    pub strands: u64,
    /// Their weight.
    pub critical: u128,
    /// The span they are a part of.
    pub span: u128,
    /// Whether the program has work for all workers in spite of it: parallelism of twice their
    /// number, or nearly as many even shares as there are workers.
    pub is_enough: bool,
}

impl CriticalBlock {
    /// Its share of the critical path, in percent.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.critical, self.span)
    }

    /// The same as something that everything waits for; `None` where it is what tasks do whose
    /// parallelism is enough.
    pub(crate) fn as_finding(&self) -> Option<Finding> {
        let whole_tasks = self.block.site != ROOT_PLACE && self.block.is_whole_task();
        (!self.is_enough || !whole_tasks).then(|| Finding {
            cause: Cause::SerialStrand,
            block: self.block,
            strand: self.strand,
            lost: 0,
            evidence: Evidence::default(),
        })
    }
}

/// Strands of a block on the critical path.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    strands: u64,
    weight: u128,
    /// The heaviest strand with its weight.
    heaviest: (u128, StrandId),
}

/// A program has work for its workers with so many times their number as parallelism.
const ENOUGH_PARALLELISM_PER_WORKER: f64 = 2.0;

/// Shares of this part of their number in parallelism are even.
const EVEN_SHARES: f64 = 0.75;

/// Whether the critical path lies in even shares of as many threads as there are workers, or more.
fn has_even_shares(work_span: &WorkSpan, workers: f64) -> bool {
    let shares = work_span.limits.shares;
    shares.is_some_and(|shares| {
        let are_most = 2 * shares.critical > work_span.span;
        let threads = f64::from(shares.threads);
        are_most && threads >= workers && work_span.parallelism() >= EVEN_SHARES * workers
    })
}

/// `None` for a run without a span.
pub(crate) fn critical_block(
    dag: &Dag,
    weights: &Weights,
    work_span: &WorkSpan,
) -> Option<CriticalBlock> {
    if work_span.span == 0 {
        return None;
    }
    let mut table: BlockTable<Sum> = BlockTable::new();
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
    }
    let most =
        (0..table.keys.len()).max_by_key(|&i| (table.values[i].weight, std::cmp::Reverse(i)))?;
    let (block, sum) = (table.keys[most], table.values[most]);
    let workers = f64::from(dag.meta.workers.max(1));
    Some(CriticalBlock {
        block,
        strand: sum.heaviest.1,
        strands: sum.strands,
        critical: sum.weight,
        span: work_span.span,
        is_enough: work_span.parallelism() >= ENOUGH_PARALLELISM_PER_WORKER * workers
            || has_even_shares(work_span, workers),
    })
}
