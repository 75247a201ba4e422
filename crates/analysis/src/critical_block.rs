//! What bounds the program on any machine, for a run in which the CPUs were not its own: load changes times, not who waits for whom.

use workspan_dag::{Dag, EndKind, ROOT_PLACE, StartKind, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::causes::{Cause, Causes, Evidence, Finding, Place};
use crate::weight::Weights;
use crate::work_span::WorkSpan;

/// The code that the critical path spends most in.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalBlock {
    /// Which code it is.
    pub place: Place,
    /// Its strands on the critical path.
    pub strands: u64,
    /// Their weight.
    pub critical: u128,
    /// The span they are a part of.
    pub span: u128,
    /// Whether the program has work for all workers in spite of it: parallelism of twice their number.
    pub is_enough: bool,
}

impl CriticalBlock {
    /// Its share of the critical path, in percent.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.critical, self.span)
    }

    /// The same as something that everything waits for; `None` where it is what tasks do whose parallelism is enough.
    pub(crate) fn as_finding(&self) -> Option<Finding> {
        let at = &self.place;
        let whole_tasks =
            at.site != ROOT_PLACE && (at.from_kind, at.to_kind) == (StartKind::Begin, EndKind::End);
        (!self.is_enough || !whole_tasks).then(|| Finding {
            cause: Cause::SerialStrand,
            place: self.place,
            lost: 0,
            evidence: Evidence::default(),
        })
    }
}

/// A program has work for its workers with so many times their number as parallelism.
const ENOUGH: f64 = 2.0;

/// Where what was lost was lost to preemption first of all, or such a loss is one of the findings; `None` else, and without a span.
pub(crate) fn critical_block(
    dag: &Dag,
    weights: &Weights,
    work_span: &WorkSpan,
    causes: &Causes,
) -> Option<CriticalBlock> {
    let is_load = |cause: Cause| matches!(cause, Cause::Descheduled | Cause::Oversubscribed);
    if !causes.findings().iter().any(|f| is_load(f.cause)) || work_span.span == 0 {
        return None;
    }
    let mut table = BlockTable::new();
    // Strands, weight, the heaviest strand with its weight.
    let mut blocks: Vec<(u64, u128, (u128, StrandId))> = Vec::new();
    for &s in &work_span.critical_path {
        let number = table.number(CodeBlock::of(dag, s));
        if number == blocks.len() {
            blocks.push((0, 0, (0, s)));
        }
        let (weight, block) = (weights.path(s, 0), &mut blocks[number]);
        block.0 += 1;
        block.1 += weight;
        if weight > block.2.0 {
            block.2 = (weight, s);
        }
    }
    let most = (0..blocks.len()).max_by_key(|&i| (blocks[i].1, std::cmp::Reverse(i)))?;
    let (key, (strands, critical, (_, strand))) = (table.keys[most], blocks[most]);
    let workers = f64::from(dag.meta.workers.max(1));
    Some(CriticalBlock {
        place: Place {
            site: key.site,
            from: key.from,
            from_kind: key.from_kind,
            to: key.to,
            to_kind: key.to_kind,
            strand,
        },
        strands,
        critical,
        span: work_span.span,
        is_enough: work_span.parallelism() >= ENOUGH * workers,
    })
}
