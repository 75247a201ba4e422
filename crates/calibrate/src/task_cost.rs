//! The costs of recording or skipping a task in OpenMP and oneTBB: one constant per runtime, in the
//! table of runtimes ([`Budget::Tasks`]).
//!
//! The constants are near the median of measurements in libgomp, libomp and oneTBB
//! (docs/measured/budget.md), with Fibonacci numbers whose tasks do nothing else. Skipping a task
//! only costs instructions, so its cost is a time. Recording one reads the clock, so its cost is a
//! multiple of the probe that [`crate::calibrate`] finds on the machine.

use serde::Serialize;
use workspan_runtimes::{Budget, Runtime};

/// Number of probes of a task that is created and waited for. It creates and waits itself, so it
/// has three strands.
const PROBES_PER_TASK: f64 = 6.0;

/// Cost of a task under the recorder, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TaskCost {
    /// The runtime's name.
    pub runtime: &'static str,
    /// Additional time of a task that is skipped to stay within the overhead budget.
    #[serde(rename = "left_out_ns")]
    pub skip_ns: f64,
    /// Additional time in the three strands of a task that is recorded.
    pub recorded_ns: f64,
}

impl TaskCost {
    /// The costs in every runtime, on a machine where a probe takes `probe_ns`.
    pub fn for_runtimes(probe_ns: f64) -> impl Iterator<Item = TaskCost> {
        let all = workspan_runtimes::ALL.iter();
        all.filter_map(move |runtime| TaskCost::new(runtime, probe_ns))
    }

    /// The cost in one runtime; `None` if its tasks are not skipped at a constant cost.
    pub fn new(runtime: &Runtime, probe_ns: f64) -> Option<TaskCost> {
        let Budget::Tasks { skip_ns, probes } = runtime.budget else {
            return None;
        };
        Some(TaskCost {
            runtime: runtime.name,
            skip_ns,
            recorded_ns: PROBES_PER_TASK * probes * probe_ns,
        })
    }
}
