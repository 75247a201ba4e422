//! Simulated runs as text and as JSON.

mod json;
mod text;

pub use json::simulation_json;
pub use text::simulation_text;

use workspan_analysis::simulate::{Setup, Simulated};
use workspan_analysis::{Breakdown, Limits};
use workspan_dag::Dag;

/// Simulated runs on several numbers of workers.
#[derive(Debug, Clone)]
pub struct SimulationView<'a> {
    /// The run that was simulated.
    pub dag: &'a Dag,
    /// Its work, without costs of spawns.
    pub work: u128,
    /// Its span.
    pub span: u128,
    /// What bounds and simulated runs say nothing about.
    pub limits: Limits,
    /// What a spawn cost, in ticks.
    pub spawn_cost: u64,
    /// Fixes as they were given.
    pub fixes: &'a [String],
    /// By number of workers.
    pub rows: Vec<SimulationRow>,
}

/// Simulated runs on one number of workers.
#[derive(Debug, Clone)]
pub struct SimulationRow {
    /// The first.
    pub setup: Setup,
    /// By seed.
    pub runs: Vec<Simulated>,
    /// Bounds of the speedup (MODEL.md §2).
    pub bounds: (f64, f64),
    /// Where the workers' time went in the first.
    pub breakdown: Breakdown,
}

impl SimulationRow {
    /// Speedup over the work: mean, least, most.
    pub fn speedup(&self, work: u128) -> (f64, f64, f64) {
        let of = |run: &Simulated| work as f64 / run.elapsed.max(1) as f64;
        let all = || self.runs.iter().map(of);
        let count = self.runs.len().max(1) as f64;
        (
            all().sum::<f64>() / count,
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        )
    }

    /// Mean elapsed ticks.
    pub fn elapsed(&self) -> f64 {
        let sum: f64 = self.runs.iter().map(|r| r.elapsed as f64).sum();
        sum / self.runs.len().max(1) as f64
    }
}
