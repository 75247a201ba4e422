//! CPU time of threads that the trace has no records of. No other number of the report includes it.

use workspan_dag::Dag;

use crate::breakdown::Breakdown;
use crate::causes::cpu_ticks;
use crate::sample_profile::{HotFunction, hottest_of_stacks};

/// The CPU time of such threads.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherThreadsCpu {
    /// CPU time of the process, in ticks.
    pub cpu: u128,
    /// CPU time that these threads used, in ticks.
    pub others: u128,
    /// The function with most of it, by samples.
    pub hottest: Option<HotFunction>,
}

/// Minimum share of the CPU time, in percent, that is worth a sentence.
const MIN_PERCENT_OF_CPU: f64 = 3.0;
/// Minimum share of the elapsed time, in percent, that is worth a sentence.
const MIN_PERCENT_OF_ELAPSED: f64 = 1.0;

impl OtherThreadsCpu {
    /// The share of the process's CPU time that is theirs, in percent.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.others, self.cpu)
    }
}

/// `None` if it is little, or not known.
pub(crate) fn other_threads_cpu(dag: &Dag, breakdown: &Breakdown) -> Option<OtherThreadsCpu> {
    let others = u128::from(dag.meta.run.cpu_time_of_others?);
    let stacks = dag.samples.others.iter().map(|&(_, stack)| stack);
    let outside = OtherThreadsCpu {
        // Both values must come from the same source, so that the quotient is a share.
        cpu: dag
            .meta
            .run
            .cpu_time
            .map_or_else(|| cpu_ticks(dag, breakdown), u128::from),
        others,
        hottest: hottest_of_stacks(dag, stacks),
    };
    // For a program that does almost nothing, it would be most of the CPU time.
    let is_some =
        crate::warnings::percent(others, breakdown.elapsed().into()) > MIN_PERCENT_OF_ELAPSED;
    (is_some && outside.percent() > MIN_PERCENT_OF_CPU).then_some(outside)
}
