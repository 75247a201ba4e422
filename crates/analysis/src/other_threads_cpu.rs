//! CPU time of the process on threads that the trace has no records of: it is in none of the report's numbers.

use workspan_dag::Dag;
use workspan_dag::facts::{CPU_TIME, CPU_TIME_OF_OTHERS};

use crate::breakdown::Breakdown;
use crate::causes::cpu_ticks;
use crate::sample_profile::{HotFunction, hottest_of_stacks};

/// What such threads took.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherThreadsCpu {
    /// CPU time of the process, in ticks.
    pub cpu: u128,
    /// CPU time that these threads used, in ticks.
    pub others: u128,
    /// Where they were most, by their samples.
    pub hottest: Option<HotFunction>,
}

/// Less than this share of the CPU time, in percent, is not worth a word.
const WORTH_SAYING: f64 = 3.0;
/// Less than this share of the elapsed time, in percent, is not worth a word either.
const WORTH_OF_ELAPSED: f64 = 1.0;

impl OtherThreadsCpu {
    /// The share of the process's CPU time that is theirs, in percent.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.others, self.cpu)
    }
}

/// `None` where it is little, or not known.
pub(crate) fn other_threads_cpu(dag: &Dag, breakdown: &Breakdown) -> Option<OtherThreadsCpu> {
    let others = u128::from(dag.meta.ticks_of(CPU_TIME_OF_OTHERS)?);
    let stacks = dag.samples.others.iter().map(|&(_, stack)| stack);
    let outside = OtherThreadsCpu {
        // From the same source, so that it is a share.
        cpu: (dag.meta.ticks_of(CPU_TIME)).map_or_else(|| cpu_ticks(dag, breakdown), u128::from),
        others,
        hottest: hottest_of_stacks(dag, stacks),
    };
    // Of a program that does next to nothing it would be most of it.
    let is_some = crate::warnings::percent(others, breakdown.elapsed().into()) > WORTH_OF_ELAPSED;
    (is_some && outside.percent() > WORTH_SAYING).then_some(outside)
}
