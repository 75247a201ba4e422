//! `workspan calibrate`: what recording and stealing cost on this machine.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use workspan_calibrate::Calibration;

use crate::output::print;
use crate::say;
use workspan_record::costs::task_cost::{self, TaskCost};
use workspan_record::costs::{calibration, library_measurement, steals};
use workspan_record::embedded;

/// Measures what recording and stealing cost on this machine, and keeps it for the traces to come
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Measures what recording and stealing cost on this machine, and keeps it for the traces to come.

`record` does it by itself the first time; do it again when the machine was busy then. A trace keeps the costs it was \
recorded with: probes are taken out of the times of strands, and a steal's cost is the burden. Steals are measured for Rayon and \
for the OpenMP and oneTBB libraries of the system, and for the latter what a task costs that is recorded in full, or that the overhead budget leaves out; `record` measures any other \
library that a program loads the first time.",
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
    let (calibration, kept) = calibration::measure(&tools.folder);
    let mut costs = Costs {
        calibration,
        left_out_tasks: Vec::new(),
    };
    let missing = costs.of_libraries(&tools.folder);
    if args.json {
        return print(&format!("{}\n", serde_json::to_string_pretty(&costs)?));
    }
    print(&text(&costs, &missing))?;
    match kept {
        Some(file) => say!("workspan: kept in {}", file.display()),
        None => {
            say!("workspan: not kept: no steal came about; try again when the machine is less busy")
        }
    }
    Ok(())
}

/// What is said of [`TaskCost::left_out_ns`].
const LEFT_OUT: &str = "a task left out";
/// What is said of [`TaskCost::recorded_ns`].
const RECORDED: &str = "a task in full";

/// What this machine was found to cost.
#[derive(Serialize)]
struct Costs {
    #[serde(flatten)]
    calibration: Calibration,
    /// Tasks that are recorded in full or left out to stay inside the overhead budget, by runtime.
    left_out_tasks: Vec<TaskCost>,
}

/// What was not measured, and why.
struct Missing {
    what: String,
    why: String,
}

impl Costs {
    /// Adds those of the runtimes' shared libraries there are, and keeps them in the tool's folder.
    fn of_libraries(&mut self, folder: &Path) -> Vec<Missing> {
        let mut missing = Vec::new();
        for (runtime, library) in library_measurement::SHARED {
            let library = Path::new(library);
            let mut not = |what: &str, why| {
                let what = format!("{what}, {runtime}");
                missing.push(Missing { what, why });
            };
            match task_cost::measure(folder, library) {
                Ok(cost) => {
                    task_cost::keep(folder, &cost);
                    self.left_out_tasks.push(cost);
                }
                Err(why) => {
                    not(LEFT_OUT, why.clone());
                    not(RECORDED, why);
                }
            }
            if self.calibration.cpus > 1 {
                match steals::measure(library) {
                    Ok(steals) => {
                        steals::keep(folder, &steals);
                        self.calibration.steals.push(steals);
                    }
                    Err(why) => not("a steal", why),
                }
            }
        }
        missing
    }
}

fn text(costs: &Costs, missing: &[Missing]) -> String {
    let c = &costs.calibration;
    let mut out = String::new();
    let mut line = |what: &str, ns: f64, note: &str| {
        let _ = writeln!(out, "{what:<30}{ns:>9.1} ns{note}");
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
    let in_file = |library: &Option<PathBuf>| {
        let library = library.as_deref();
        library.map_or_else(String::new, |file| format!(", {}", file.display()))
    };
    for cost in &costs.left_out_tasks {
        let note = format!(
            "   the same of tasks, which take {:.1} bare{}",
            cost.bare_ns,
            in_file(&cost.library)
        );
        let what = format!("{LEFT_OUT}, {}", cost.runtime);
        line(&what, cost.left_out_ns, &note);
        let what = format!("{RECORDED}, {}", cost.runtime);
        let note = "   taken out of its three strands instead of probes, where that is more";
        line(&what, cost.recorded_ns, note);
    }
    for steals in &c.steals {
        let (low, high) = steals.quartiles_ns;
        let note = format!(
            "   the burden; median of {}, middle half {low:.0} to {high:.0}{}",
            steals.count,
            in_file(&steals.library)
        );
        line(
            &format!("a steal, {}", steals.runtime),
            steals.median_ns,
            &note,
        );
    }
    let mut not = |what: &str, why: &str| {
        let _ = writeln!(out, "{what:<30}not measured: {why}");
    };
    if c.cpus < 2 {
        not("a steal, any runtime", "one CPU");
    } else if c.steals.iter().all(|steals| steals.runtime != "Rayon") {
        not("a steal, Rayon", "the machine is too busy");
    }
    for Missing { what, why } in missing {
        not(what, why);
    }
    out
}
