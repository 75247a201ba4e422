//! `workspan calibrate`: what recording and stealing cost on this machine.

use std::fmt::Write;

use workspan_calibrate::Calibration;

use crate::output::print;
use crate::{embedded, record::calibration};

/// Measures what recording and stealing cost on this machine, and keeps it for the traces to come
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Measures what recording and stealing cost on this machine, and keeps it for the traces to come.

`record` does it by itself the first time; do it again when the machine was busy then. A trace keeps the costs it was \
recorded with: probes are taken out of the times of strands, and a steal's cost is the burden.",
    after_help = "\
Examples:
  workspan calibrate
  workspan calibrate --json | jq .steal_ns"
)]
pub struct CalibrateArgs {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// `workspan calibrate`.
///
/// # Errors
/// The tool's own folder can't be made, or stdout can't be written.
pub fn run(args: &CalibrateArgs) -> anyhow::Result<()> {
    let tools = embedded::unpack(None)?;
    let (calibration, kept) = calibration::measure(&tools.folder);
    if args.json {
        return print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&calibration)?
        ));
    }
    print(&text(&calibration))?;
    match kept {
        Some(file) => eprintln!("workspan: kept in {}", file.display()),
        None => eprintln!(
            "workspan: not kept: no steal came about; try again when the machine is less busy"
        ),
    }
    Ok(())
}

fn text(c: &Calibration) -> String {
    let mut out = String::new();
    let mut line = |what: &str, ns: f64, note: &str| {
        let _ = writeln!(out, "{what:<24}{ns:>9.1} ns{note}");
    };
    line("one clock reading", c.clock_ns, "");
    for record in &c.records {
        line(&format!("record `{}`", record.record), record.ns, "");
    }
    line(
        "one probe of a strand",
        c.probe_ns,
        "   taken out of the weights, two a strand",
    );
    match (c.steal_ns, c.steal_quartiles_ns) {
        (Some(steal), Some((low, high))) => {
            let note = format!(
                "   the burden; median of {}, middle half {low:.0} to {high:.0}",
                c.steals
            );
            line("a Rayon steal", steal, &note);
        }
        _ => {
            let why = if c.cpus < 2 {
                "one CPU"
            } else {
                "the machine is too busy"
            };
            let _ = writeln!(out, "{:<24}not measured: {why}", "a Rayon steal");
        }
    }
    out
}
