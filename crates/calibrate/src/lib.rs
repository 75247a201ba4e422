//! Measures the costs of recording and stealing on this machine. `workspan calibrate` prints these
//! numbers, and `record` stores them in the trace, so that the analyses can take probes out of the
//! weights and put the burden on stolen edges (MODEL.md §2).
//!
//! A probe's cost is the minimum of many short batches, as noise of a shared machine only adds
//! time. A steal's cost is the median of many forced steals, because a thief may be at any point of
//! its search for work.

mod library;
mod openmp;
mod probe;
mod skipped_join;
mod steal;
mod task_cost;
mod tbb;

pub use steal::{Steals, steals_of};
pub use task_cost::TaskCost;

use serde::{Deserialize, Serialize};

/// Costs in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// One reading of the recorder's clock.
    pub clock_ns: f64,
    /// Cost of writing a record, clock included, by kind of record.
    pub records: Vec<RecordCost>,
    /// Cost that one probe adds to the strands around it: half a record's cost, as a record ends
    /// one strand and starts the next, and the model counts a probe for each (`probe_cost` of the
    /// text trace).
    pub probe_ns: f64,
    /// Time that a bare Rayon join takes its thread if it is not stolen.
    #[serde(default)]
    pub join_ns: Option<f64>,
    /// Additional time of a Rayon join that is skipped to stay within the overhead budget; `None`
    /// if it can't be distinguished from zero.
    #[serde(default)]
    pub left_out_join_ns: Option<f64>,
    /// Cost of a steal by runtime: the burden. A runtime is missing if no second CPU may be used,
    /// or if the machine was too busy.
    pub steals: Vec<Steals>,
    /// Number of CPUs in the measurement.
    pub cpus: u32,
}

/// The cost of one kind of record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordCost {
    /// `join`, `end`, `next`, `begin`, `create`, `wait`, `resume`.
    pub record: String,
    /// Time in nanoseconds, for writing into cached memory.
    pub ns: f64,
}

/// Measures everything, which takes about a third of a second.
pub fn calibrate() -> Calibration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let probes = probe::measure();
    let joins = skipped_join::joins_of_rayon();
    let steals = (cpus > 1).then(steal::of_rayon).flatten();
    // Nearly every Rayon strand begins and ends with one of a join's three timed records.
    let timed: Vec<f64> = probes
        .records
        .iter()
        .filter(|r| matches!(r.record.as_str(), "join" | "end"))
        .map(|r| r.ns)
        .collect();
    let record = timed.iter().sum::<f64>() / timed.len().max(1) as f64;
    Calibration {
        clock_ns: probes.clock_ns,
        records: probes.records,
        probe_ns: record / 2.0,
        join_ns: joins.map(|joins| joins.bare_ns),
        left_out_join_ns: joins.and_then(|joins| joins.left_out_ns),
        steals: steals.into_iter().collect(),
        cpus,
    }
}
