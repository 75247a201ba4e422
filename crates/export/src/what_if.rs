//! What-if profiles as text and as JSON, and the command-line names of targets.

pub(crate) mod json;
mod suggestion;
mod text;

pub use json::what_if_json;
pub(crate) use suggestion::{command, measuring_options, quoted};
pub use text::what_if_text;

use workspan_analysis::{FasterSite, Limits, Options, WhatIf};
use workspan_dag::Dag;

/// A what-if profile with its request.
#[derive(Debug, Clone, Copy)]
pub struct WhatIfView<'a> {
    /// The run.
    pub dag: &'a Dag,
    /// The options of the measurement.
    pub measured: &'a Options,
    /// The profile.
    pub result: &'a WhatIf,
    /// The factor, and the sites with all targets faster by it; `None` if that was not requested.
    pub sites: Option<(f64, &'a [FasterSite])>,
    /// Limits that its bounds do not show.
    pub limits: &'a Limits,
    /// The names of the targets, in the order of the result.
    pub names: &'a [String],
    /// Numbers of workers for the bounds of the speedup.
    pub workers: &'a [u32],
}
