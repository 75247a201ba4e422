//! The code block that weighs most on the critical path. It limits the program on more workers. It
//! is also right on a machine whose CPUs other programs used: load changes times, but not which
//! strand waits for which.

use workspan_dag::{Dag, ROOT_PLACE, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::causes::{Cause, Evidence, Finding};
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
    /// twice their number.
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
            evidence: Evidence::default(),
        })
    }
}

/// Strands of a block on the critical path.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    strands: u64,
    weight: u128,
    /// The heaviest strand, with its weight.
    heaviest: (u128, StrandId),
}

/// Minimum parallelism per worker at which a program has work for all of them.
const ENOUGH_PARALLELISM_PER_WORKER: f64 = 2.0;

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
        is_enough: work_span.parallelism() >= ENOUGH_PARALLELISM_PER_WORKER * workers,
    })
}
