//! `workspan calibrate`: what recording and stealing cost on this machine.

use std::fmt::Write;
use std::path::Path;

use workspan_calibrate::Calibration;

use crate::embedded;
use crate::output::print;
use crate::record::{calibration, steals};

/// Measures what recording and stealing cost on this machine, and keeps it for the traces to come
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Measures what recording and stealing cost on this machine, and keeps it for the traces to come.

`record` does it by itself the first time; do it again when the machine was busy then. A trace keeps the costs it was \
recorded with: probes are taken out of the times of strands, and a steal's cost is the burden. Steals are measured for Rayon and \
for the OpenMP and oneTBB libraries of the system; `record` measures any other library that a program loads the first time.",
    after_help = "\
Examples:
  workspan calibrate
  workspan calibrate --json | jq '.steals[].median_ns'"
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
    let (mut calibration, kept) = calibration::measure(&tools.folder);
    let mut others = Vec::new();
    if calibration.cpus > 1 {
        for (runtime, library) in steals::SHARED {
            match steals::measure(Path::new(library)) {
                Ok(steals) => {
                    steals::keep(&tools.folder, &steals);
                    calibration.steals.push(steals);
                }
                Err(why) => others.push((runtime, why)),
            }
        }
    }
    if args.json {
        return print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&calibration)?
        ));
    }
    print(&text(&calibration, &others))?;
    match kept {
        Some(file) => eprintln!("workspan: kept in {}", file.display()),
        None => eprintln!(
            "workspan: not kept: no steal came about; try again when the machine is less busy"
        ),
    }
    Ok(())
}

fn text(c: &Calibration, others: &[(&str, String)]) -> String {
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
    if let Some(ns) = c.left_out_join_ns {
        let note = "   taken out where the overhead budget leaves joins of Rayon out";
        line("a join left out", ns, note);
    }
    for steals in &c.steals {
        let (low, high) = steals.quartiles_ns;
        let library = steals.library.as_deref();
        let library = library.map_or_else(String::new, |file| format!(", {}", file.display()));
        let note = format!(
            "   the burden; median of {}, middle half {low:.0} to {high:.0}{library}",
            steals.count
        );
        line(
            &format!("a steal, {}", steals.runtime),
            steals.median_ns,
            &note,
        );
    }
    let mut not = |runtime: &str, why: &str| {
        let what = format!("a steal, {runtime}");
        let _ = writeln!(out, "{what:<24}not measured: {why}");
    };
    if c.cpus < 2 {
        not("any runtime", "one CPU");
    } else if c.steals.iter().all(|steals| steals.runtime != "Rayon") {
        not("Rayon", "the machine is too busy");
    }
    for (runtime, why) in others {
        not(runtime, why);
    }
    out
}
