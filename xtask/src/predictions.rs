//! `cargo xtask bench predictions`: the tables of docs/predictions.md.

use anyhow::Result;

use crate::workspace::{build_release, cargo, succeed};

/// Builds and runs the tool and `bench/predictions`, which predicts and measures.
pub fn run(flags: &[&str]) -> Result<()> {
    build_release(true)?;
    let run = ["run", "--release", "--quiet", "--package"];
    let run = run.into_iter().chain(["workspan-predictions", "--"]);
    succeed(cargo().args(run).args(flags))
}
