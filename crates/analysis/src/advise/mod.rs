//! Advises which code to change, and in which order, to reach a target parallelism.
//!
//! The search starts like TaskProf2's. The code block that weighs most on the critical path is
//! spread over workers, all its strands together, and the path is found again. This repeats until
//! the target is reached or the rest is too fine to spread. Then blocks that turned out not to be
//! needed are dropped, and smaller sets are tried, so that the set is small. Parts of a block are
//! never smaller than two steals, below which a thief gains nothing.
//!
//! The kind of change that a block needs comes from the report's causes, so the two never disagree.

mod change_kind;
mod folded;
mod grain;
mod search;

pub use change_kind::Change;
pub use folded::{FoldedAdvice, FoldedSite};
pub use grain::{Grain, GrainAdvice, GrainChange};

use workspan_dag::Dag;

use crate::blocks::CodeBlock;
use crate::causes::Finding;
use crate::limits::Limits;
use crate::options::{Error, Metric, Options};
use crate::report::Report;
use crate::right_size::{RightSize, right_size};
use crate::weight::Weights;
use crate::what_if::Outcome;

/// The target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Parallelism to reach.
    pub parallelism: f64,
    /// Number of workers; a block is spread into at most 16 parts per worker.
    pub cores: u32,
    /// Cost of creating a task on its creator's thread, in units of the metric; `None` = the
    /// trace's cost of a probe, which has about that size.
    pub spawn_cost: Option<u64>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdviceStep {
    /// The code block.
    pub block: CodeBlock,
    /// What kind of change.
    pub change: Change,
    /// Number of strands of the block in the whole run.
    pub strands: u64,
    /// Their weight.
    pub work: u128,
    /// Their weight on the critical path before any change.
    pub critical: u128,
    /// The number of parts that the block is divided into, as if all ran at once. `outcome` comes
    /// from it; it is not the gain on a particular number of workers.
    pub factor: f64,
    /// The run after this change and the earlier ones.
    pub outcome: Outcome,
}

/// Why no further change is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The run has that parallelism already.
    Already,
    /// The changes reach it.
    Reached,
    /// The rest of the critical path is too fine to be spread: tasks would cost more than they
    /// give.
    Overhead,
    /// The rest of the critical path is folded: its code is not known.
    Folded,
    /// The rest of the critical path consists of shares of parallel regions, one per thread, and
    /// the target has no more cores.
    Divided,
    /// No further change would gain much.
    Nothing,
}

/// Which code to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The target.
    pub goal: Goal,
    /// The run without changes.
    pub now: Outcome,
    /// Limits of the run that its parallelism does not show.
    pub limits: Limits,
    /// The changes, in descending order of their gain.
    pub steps: Vec<AdviceStep>,
    /// Why there are no more changes.
    pub stop: Stop,
    /// Advice on the grain of tasks by spawn site: too fine, too coarse, or right.
    pub grain: Vec<GrainAdvice>,
    /// Losses of the run that more parallelism would not bring back (memory, scheduler, the
    /// system), as the report names them.
    pub elsewhere: Vec<Finding>,
    /// Number of workers that is enough, by simulation; `None` for a metric other than time, and if
    /// no task could be taken by another worker.
    pub right_size: Option<RightSize>,
    /// The folded part of the critical path, if it is a tenth or more.
    pub folded: Option<FoldedAdvice>,
}

/// Finds the changes for `dag`; `report` is its report with the same options. O(n) for each block
/// tried.
///
/// # Errors
/// See [`Error`].
pub fn advise(dag: &Dag, options: &Options, report: &Report, goal: Goal) -> Result<Advice, Error> {
    let weights = Weights::new(dag, options)?;
    let found = search::search(dag, &weights, report, goal);
    let grain = match options.metric {
        Metric::Time => grain::grain(dag, options, &weights, report, goal)?,
        Metric::Counter(_) => Vec::new(),
    };
    let right_size = match options.metric {
        Metric::Time => {
            let most = goal.cores.max(dag.meta.workers);
            right_size(dag, options, goal.spawn_cost, most)?
        }
        Metric::Counter(_) => None,
    };
    let findings = report.causes.findings().into_iter();
    let elsewhere = findings
        .filter(|f| change_kind::is_elsewhere(f.cause))
        .cloned();
    Ok(Advice {
        goal,
        now: found.now,
        limits: report.work_span.limits,
        steps: found.steps,
        stop: found.stop,
        grain,
        right_size,
        elsewhere: elsewhere.collect(),
        folded: folded::folded(dag, &weights, report),
    })
}
