//! What to change, and in which order, to reach a wanted parallelism.
//!
//! The search starts as TaskProf2's does: the code block that weighs most on the critical path is
//! spread over workers, all its strands together, and the path is found again, until the target is
//! reached or what is left is too fine to spread. Then blocks that turned out not to be needed are
//! dropped, and smaller sets tried, so that the set is small. A block is spread no finer than a
//! thief gains by: into parts of two steals.
//!
//! What kind of change a block needs is what the report's causes say of it, so the two never
//! disagree.

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

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Parallelism to reach.
    pub parallelism: f64,
    /// Workers it is to run on; no block is spread into more than 16 parts for each.
    pub cores: u32,
    /// What creating a task costs on its creator's thread, in units of the metric; `None` = the
    /// trace's cost of a probe, which is of that size.
    pub spawn_cost: Option<u64>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The code block.
    pub block: CodeBlock,
    /// What kind of change.
    pub change: Change,
    /// Strands of the block in the whole run.
    pub strands: u64,
    /// Their weight.
    pub work: u128,
    /// Their weight on the critical path before any change.
    pub critical: u128,
    /// How many parts it is taken to become, as if all ran at once: what `outcome` comes from, and
    /// no gain that any number of workers gives.
    pub factor: f64,
    /// The run after this change and those before it.
    pub outcome: Outcome,
}

/// Why no further change is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The run has that parallelism already.
    Already,
    /// The changes reach it.
    Reached,
    /// What is left on the critical path is too fine to be spread: tasks would cost more than they
    /// give.
    Overhead,
    /// What is left on the critical path is folded: which code it is can't be told.
    Folded,
    /// What is left on the critical path are shares of parallel regions, one a thread, and the
    /// wanted cores are no more.
    Divided,
    /// Nothing is left that a change would gain much by.
    Nothing,
}

/// What to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// What was wanted.
    pub goal: Goal,
    /// The run as it is.
    pub now: Outcome,
    /// What its parallelism says nothing about.
    pub limits: Limits,
    /// The changes, that which gains most first.
    pub steps: Vec<Step>,
    /// Why there are no more.
    pub stop: Stop,
    /// Tasks by spawn site: too fine, too coarse, or well.
    pub grain: Vec<GrainAdvice>,
    /// What the run lost that more parallelism would not bring back (memory, scheduler, the
    /// system), as the report says it.
    pub elsewhere: Vec<Finding>,
    /// How many workers are enough, by simulation; `None` for a metric that is no time, and where
    /// no task could be taken by another worker.
    pub right_size: Option<RightSize>,
    /// What folded records hide of the critical path, where that is a tenth of it or more.
    pub folded: Option<FoldedAdvice>,
}

/// Finds what to change in `dag`, of which `report` is the report with the same options. O(n) for
/// each block looked at.
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
