//! What recording or skipping a task costs in OpenMP and oneTBB: one constant per runtime.
//!
//! The constants are near the middle of what was measured in libgomp, libomp and oneTBB
//! (docs/measured/budget.md), with Fibonacci numbers whose tasks do nothing else. Skipping a task
//! costs instructions alone, so its cost is a time. Recording one reads the clock, so its cost is a
//! multiple of the probe that [`crate::calibrate`] finds on the machine.

use serde::Serialize;

/// Probes of a task that is created and waited for. It creates and waits in its turn, so it has
/// three strands.
const PROBES_PER_TASK: f64 = 6.0;

/// How a runtime's `runtime` note begins, what skipping a task takes in nanoseconds, and how many
/// calibrated probes one probe of a task costs: a runtime that a tool listens to is slower itself.
const RUNTIMES: [(&str, f64, f64); 4] = [
    ("GNU OpenMP", 16.0, 2.0),
    ("LLVM OpenMP", 33.0, 3.3),
    ("Intel OpenMP", 33.0, 3.3),
    ("oneTBB", 17.5, 2.3),
];

/// What a task costs under the recorder, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TaskCost {
    /// The runtime, as `runtime` notes begin.
    pub runtime: &'static str,
    /// Added to a task that is skipped to stay inside the overhead budget.
    #[serde(rename = "left_out_ns")]
    pub skip_ns: f64,
    /// Added to the three strands of a task that is recorded.
    pub recorded_ns: f64,
}

impl TaskCost {
    /// The costs in every runtime, on a machine where a probe takes `probe_ns`.
    pub fn for_runtimes(probe_ns: f64) -> impl Iterator<Item = TaskCost> {
        RUNTIMES
            .into_iter()
            .map(move |(runtime, skip_ns, probes)| TaskCost {
                runtime,
                skip_ns,
                recorded_ns: PROBES_PER_TASK * probes * probe_ns,
            })
    }
}
