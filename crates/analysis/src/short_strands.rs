//! Strands that are short compared with the cost of scheduling (MODEL.md §2).

use crate::options::{Metric, Options};
use crate::work_span::WorkSpan;

/// Cilkview's rule: with fewer instructions in the average maximal strand than this, the overhead
/// of scheduling dominates even where nothing is stolen.
pub const MIN_STRAND_INSTRUCTIONS: u64 = 500;

/// The threshold that the average maximal strand is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrandRule {
    /// [`MIN_STRAND_INSTRUCTIONS`]: creating and joining tasks outweighs their work.
    Instructions,
    /// The cost of a steal: moving a strand outweighs it.
    Steal,
}

impl StrandRule {
    /// A stable key for programs.
    pub fn key(self) -> &'static str {
        match self {
            StrandRule::Instructions => "instructions",
            StrandRule::Steal => "steal",
        }
    }
}

/// The average maximal strand is short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortStrands {
    /// T1 / (1 + 2·spawns + syncs).
    pub average: f64,
    /// The threshold that it is below, in units of the metric.
    pub threshold: u64,
    /// The rule that sets the threshold.
    pub rule: StrandRule,
}

/// Whether the strands of a run are short: fewer than 500 instructions where these are counted,
/// else less than a steal costs. `None` if they are not short, if nothing was spawned, or if
/// neither value is known.
pub fn short_strands(work_span: &WorkSpan, options: &Options) -> Option<ShortStrands> {
    let average = work_span.average_maximal_strand();
    let short = |threshold: u64, rule| {
        let is = average < threshold as f64;
        is.then_some(ShortStrands {
            average,
            threshold,
            rule,
        })
    };
    if work_span.spawns == 0 || work_span.work == 0 {
        return None;
    }
    let counted = matches!(&options.metric, Metric::Counter(name) if name == "instructions");
    let rule = counted.then(|| short(MIN_STRAND_INSTRUCTIONS, StrandRule::Instructions));
    rule.flatten()
        .or_else(|| short(work_span.burden, StrandRule::Steal))
}
