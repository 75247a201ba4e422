//! What recording and stealing cost on this machine: the numbers that `workspan calibrate` prints
//! and `record` stores in the trace, so that the analyses can take probes out of the weights and
//! put the burden on stolen edges (MODEL.md §2).
//!
//! A probe's cost is the least of many short batches, as noise of a shared machine only ever adds;
//! a steal's is the median of many that are forced, as a thief is found looking for work earlier or
//! later.

mod left_out;
mod library;
mod openmp;
mod probe;
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
    /// What a record costs where it is written, clock included, by what it is.
    pub records: Vec<RecordCost>,
    /// What one probe adds to the strands around it: half a record's cost, as a record ends one
    /// strand and starts the next, and the model counts a probe for each (`probe_cost` of the text
    /// trace).
    pub probe_ns: f64,
    /// What a bare join of Rayon's takes its thread when nobody steals it.
    #[serde(default)]
    pub join_ns: Option<f64>,
    /// What a join of Rayon's takes more for being left out to stay inside the overhead budget;
    /// `None` where that can't be told from nothing.
    #[serde(default)]
    pub left_out_join_ns: Option<f64>,
    /// What a steal costs, by runtime: the burden. None of a runtime where no second CPU may be
    /// used, or the machine was too busy.
    pub steals: Vec<Steals>,
    /// CPUs this was measured with.
    pub cpus: u32,
}

/// The cost of one kind of record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordCost {
    /// `join`, `end`, `next`, `begin`, `create`, `wait`, `resume`.
    pub record: String,
    /// Nanoseconds, into memory that is in the cache.
    pub ns: f64,
}

/// Measures for about a third of a second.
pub fn calibrate() -> Calibration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let probes = probe::measure();
    let joins = left_out::joins_of_rayon();
    let steals = (cpus > 1).then(steal::of_rayon).flatten();
    // A join's three timed records are what nearly every Rayon strand is bounded by.
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
