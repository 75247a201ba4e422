//! Measured and predicted speedups, as text, as JSON and as a table of comma-separated values.

mod json;
mod table;
mod text;

use workspan_analysis::scale::Scale;

pub use json::scale_json;
pub use table::scale_csv;
pub use text::scale_text;

/// Measured and predicted speedups, and how they were obtained.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleView<'a> {
    /// The name of the program shown to people.
    pub program: String,
    /// The command as the user gave it.
    pub command: String,
    /// The command that shows where its work grows with the workers.
    pub stretch: String,
    /// The command that shows whether memory is the reason.
    pub bandwidth: String,
    /// The command that shows where its time is spent.
    pub report: String,
    /// The section of the times and predictions, for instance `region:solve`; `None` for the whole
    /// program.
    pub section: Option<String>,
    /// The results.
    pub scale: &'a Scale,
    /// The recorded run's region that was divided by the number of threads, if there is one.
    pub region: Option<String>,
    /// Ticks per second of the recorded run; 0 if there is no such run or its unit is unknown.
    pub ticks_per_second: u64,
    /// Burden, in ticks.
    pub burden: u64,
    /// The simulated policy.
    pub policy: Option<String>,
    /// Number of simulated seeds.
    pub seeds: u32,
    /// Whether each worker had a CPU of its own.
    pub pinned: bool,
    /// The CPUs in the order in which they were assigned.
    pub cpus: Vec<usize>,
    /// Why there is no recorded run, if there is none.
    pub unrecorded: Option<String>,
    /// The folder with the recorded runs, if they are kept.
    pub kept_folder: Option<String>,
}

impl ScaleView<'_> {
    /// Ticks of the recorded run in nanoseconds.
    fn ns(&self, ticks: f64) -> f64 {
        ticks * 1e9 / self.ticks_per_second.max(1) as f64
    }
}
