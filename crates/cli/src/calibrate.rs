//! `workspan calibrate`: the costs of recording and stealing on this machine.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use workspan_calibrate::{Calibration, TaskCost};

use crate::output::print;
use crate::say;
use workspan_record::costs::{calibration, steals};
use workspan_record::embedded;
use workspan_runtimes::Id;

/// Measures the cost of recording and stealing on this machine, and saves it for later traces
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Measures the cost of recording and stealing on this machine, and saves it for later traces.

`record` does this the first time; repeat it if the machine was busy then. A trace keeps the costs that were \
valid when it was recorded: the cost of probes is subtracted from the times of strands, and the cost of a steal \
is the burden. Steals are measured for Rayon and for the OpenMP and oneTBB libraries of the system; `record` \
measures any other library the first time a program loads it.",
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
    let (calibration, saved_file) = calibration::measure(&tools.folder);
    let tasks = TaskCost::for_runtimes(calibration.probe_ns).collect();
    let mut costs = Costs {
        calibration,
        left_out_tasks: tasks,
    };
    let missing = costs.add_library_steals(&tools.folder);
    if args.json {
        return print(&format!("{}\n", serde_json::to_string_pretty(&costs)?));
    }
    print(&text(&costs, &missing))?;
    match saved_file {
        Some(file) => say!("workspan: kept in {}", file.display()),
        None => {
            say!(
                "workspan: not saved, because no steal happened; try again when the machine is less busy"
            )
        }
    }
    Ok(())
}

/// The measured costs of this machine.
#[derive(Serialize)]
struct Costs {
    #[serde(flatten)]
    calibration: Calibration,
    /// Costs of tasks that are recorded, or skipped to stay within the overhead budget, by runtime.
    left_out_tasks: Vec<TaskCost>,
}

/// A measurement that failed.
struct FailedMeasurement {
    what: String,
    why: String,
}

impl Costs {
    /// Adds the cost of a steal for each shared library of the system, and stores it in the tool's
    /// folder.
    fn add_library_steals(&mut self, folder: &Path) -> Vec<FailedMeasurement> {
        let mut missing = Vec::new();
        if self.calibration.cpus < 2 {
            return missing;
        }
        let libraries = workspan_runtimes::ALL.iter().filter_map(|runtime| {
            let soname = runtime.library.as_ref()?.soname?;
            Some((runtime.name, soname))
        });
        for (runtime, library) in libraries {
            match steals::measure(Path::new(library)) {
                Ok(steals) => {
                    steals::keep(folder, &steals);
                    self.calibration.steals.push(steals);
                }
                Err(why) => missing.push(FailedMeasurement {
                    what: format!("a steal, {runtime}"),
                    why,
                }),
            }
        }
        missing
    }
}

fn text(costs: &Costs, missing: &[FailedMeasurement]) -> String {
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
    if let Some(ns) = c.join_ns {
        line(
            "a join, Rayon",
            ns,
            "   without the recorder, stolen by nobody",
        );
    }
    if let Some(ns) = c.left_out_join_ns {
        line(
            "a skipped join, Rayon",
            ns,
            "   taken out of skipped subtrees",
        );
    }
    let in_file = |library: &Option<PathBuf>| {
        let library = library.as_deref();
        library.map_or_else(String::new, |file| format!(", {}", file.display()))
    };
    for cost in &costs.left_out_tasks {
        line(
            &format!("a skipped task, {}", cost.runtime),
            cost.skip_ns,
            "   a constant of the runtime, taken out of skipped subtrees",
        );
        line(
            &format!("a recorded task, {}", cost.runtime),
            cost.recorded_ns,
            "   a multiple of the probe, taken out of its three strands",
        );
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
    } else if c
        .steals
        .iter()
        .all(|steals| steals.runtime != Id::Rayon.runtime().name)
    {
        not("a steal, Rayon", "the machine is too busy");
    }
    for FailedMeasurement { what, why } in missing {
        not(what, why);
    }
    out
}
