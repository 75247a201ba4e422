//! Measured speedups over predicted ones, as text, JSON and a table of comma-separated values.

mod json;
mod table;
mod text;

use workspan_analysis::scale::Scale;

pub use json::scale_json;
pub use table::scale_csv;
pub use text::scale_text;

/// Measured and predicted speedups, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleView<'a> {
    /// What people call the program.
    pub program: String,
    /// The command as the user gave it.
    pub command: String,
    /// What says where its work grows with the workers.
    pub stretch: String,
    /// What says whether that is the memory.
    pub bandwidth: String,
    /// What says where its time goes.
    pub report: String,
    /// The section that times and predictions are of, as `region:solve`; `None` for the whole
    /// program.
    pub section: Option<String>,
    /// What was found.
    pub scale: &'a Scale,
    /// The recorded run's region that was divided by the number of threads, where there is one.
    pub region: Option<String>,
    /// Ticks a second of the recorded run; 0 where there is none or its unit is unknown.
    pub ticks_per_second: u64,
    /// Burden, in ticks.
    pub burden: u64,
    /// The policy that was simulated.
    pub policy: Option<String>,
    /// Seeds that were simulated.
    pub seeds: u32,
    /// Each worker had a CPU of its own.
    pub pinned: bool,
    /// The CPUs in the order in which they were given.
    pub cpus: Vec<usize>,
    /// Why there is no recorded run, where there is none.
    pub unrecorded: Option<String>,
    /// The folder with the recorded runs, where they are kept.
    pub kept: Option<String>,
}

impl ScaleView<'_> {
    /// Ticks of the recorded run in ns.
    fn ns(&self, ticks: f64) -> f64 {
        ticks * 1e9 / self.ticks_per_second.max(1) as f64
    }
}
