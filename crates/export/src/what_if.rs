//! What-if profiles as text and as JSON, and how a target is called on the command line.

pub(crate) mod json;
mod suggestion;
mod text;

pub use json::what_if_json;
pub(crate) use suggestion::{command, measuring_options, quoted};
pub use text::what_if_text;

use workspan_analysis::{FasterSite, Limits, Options, WhatIf};
use workspan_dag::Dag;

/// A what-if profile and what it was asked for.
#[derive(Debug, Clone, Copy)]
pub struct WhatIfView<'a> {
    /// The run.
    pub dag: &'a Dag,
    /// How it was measured.
    pub measured: &'a Options,
    /// The profile.
    pub result: &'a WhatIf,
    /// By spawn site, when all targets are so many times as fast; `None` where nobody asked.
    pub sites: Option<(f64, &'a [FasterSite])>,
    /// What its bounds say nothing about.
    pub limits: &'a Limits,
    /// What each target is called, in the result's order.
    pub names: &'a [String],
    /// Numbers of workers to bound the speedup on.
    pub workers: &'a [u32],
}
