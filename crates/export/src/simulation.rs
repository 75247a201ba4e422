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
    /// Limits that the bounds and the simulated runs do not show.
    pub limits: Limits,
    /// Cost of a spawn, in ticks.
    pub spawn_cost: u64,
    /// The fixes, as the user gave them.
    pub fixes: &'a [String],
    /// The results by number of workers.
    pub rows: Vec<SimulationRow>,
}

/// Simulated runs on one number of workers.
#[derive(Debug, Clone)]
pub struct SimulationRow {
    /// The setup of the first run.
    pub setup: Setup,
    /// The runs by seed.
    pub runs: Vec<Simulated>,
    /// Bounds of the speedup (MODEL.md §2).
    pub bounds: (f64, f64),
    /// The division of the worker time of the first run.
    pub breakdown: Breakdown,
}

impl SimulationRow {
    /// Speedup relative to the work: mean, minimum, maximum.
    pub fn speedup(&self, work: u128) -> (f64, f64, f64) {
        let speedup_of = |run: &Simulated| work as f64 / run.elapsed.max(1) as f64;
        let all = || self.runs.iter().map(speedup_of);
        let count = self.runs.len().max(1) as f64;
        (
            all().sum::<f64>() / count,
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        )
    }

    /// Mean elapsed time, in ticks.
    pub fn elapsed(&self) -> f64 {
        let sum: f64 = self.runs.iter().map(|r| r.elapsed as f64).sum();
        sum / self.runs.len().max(1) as f64
    }
}
