//! `cargo xtask bench predictions`: the tables of docs/predictions.md.

use anyhow::Result;

use crate::workspace::{build_release, succeed, workspan};

/// Builds the tool and has it predict and measure.
pub fn run() -> Result<()> {
    build_release(true)?;
    succeed(workspan("release").args(["bench", "predictions"]))
}
