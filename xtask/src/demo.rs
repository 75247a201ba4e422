//! `cargo xtask demo`: uses the tool on a real program like a user.

use std::fs;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::ui;
use crate::workspace::{build_release, cargo_workspan, output, succeed, target, workspan};

/// Records the merge sort with both merges. Leaves trace, text, JSON and HTML reports under
/// target/workspan/demo. Prints the report of the serial merge, and checks that it names the merge
/// while the other report does not.
pub fn run() -> Result<()> {
    println!(
        "The demo needs cargo and a C compiler, and Node 20.19 or later with npm for the HTML reports; crates and npm's packages \
         come from their registries."
    );
    let page = ui::lacking();
    match &page {
        None => ui::build()?,
        Some(why) => println!("No HTML report: {why}."),
    }
    build_release(page.is_none())?;
    let folder = target().join("workspan/demo");
    fs::create_dir_all(&folder)?;
    for merge in ["serial", "parallel"] {
        let trace = folder.join(format!("msort-{merge}.wspan"));
        // `-o` never overwrites a file, so the demo's own files are removed first.
        let _ = fs::remove_file(&trace);
        println!("== the merge sort with its {merge} merge is built and recorded");
        let mut record = cargo_workspan("release")?;
        record.arg("--no-report").arg("-o").arg(&trace).args([
            "run",
            "--release",
            "--package",
            "workspan-bench",
        ]);
        succeed(record.args(["--bin", "msort", "--", "--merge", merge]))?;
        let text = output(workspan("release").arg("report").arg(&trace))?;
        let json = output(workspan("release").args(["report", "--json"]).arg(&trace))?;
        fs::write(folder.join(format!("msort-{merge}.txt")), &text)?;
        fs::write(folder.join(format!("msort-{merge}.json")), &json)?;
        if page.is_none() {
            let html = folder.join(format!("msort-{merge}.html"));
            // An earlier report is replaced; any other file with its name is not.
            let mut report = workspan("release");
            output(report.arg("html").arg(&trace).arg("-o").arg(&html))?;
        }
        if merge == "serial" {
            succeed(workspan("release").arg("report").arg(&trace))?;
        }
        let json = serde_json::from_str(&json)?;
        let named = names_merge(&json);
        if named != (merge == "serial") {
            let not = if named { "" } else { " not" };
            let message = format!(
                "the report of the {merge} merge does{not} name the strand after the sort's join"
            );
            match descheduled(&json) {
                part if part < MIN_BUSY_SHARE => bail!("{message}"),
                part => println!(
                    "Note: {message}. Other programs had the CPUs for {:.0} % of the time; the first finding of the report is about the program all the same.",
                    part * 100.0
                ),
            }
        }
    }
    println!("Reports and traces of both merges: {}", folder.display());
    if page.is_none() {
        let html = folder.join("msort-serial.html");
        println!("The same in a browser: {}", html.display());
    }
    Ok(())
}

/// Minimum share of the workers' time lost to other programs at which the report of a one-second
/// run may be about nothing else.
const MIN_BUSY_SHARE: f64 = 0.1;

/// The share of the workers' time in which the system ran something else.
fn descheduled(report: &Value) -> f64 {
    let ticks = |value: &Value| value.as_f64().unwrap_or(0.0);
    let total = ticks(&report["workers"]) * ticks(&report["elapsed"]);
    ticks(&report["breakdown"]["descheduled"]) / total.max(1.0)
}

/// Whether a cause in the report, or the limit of the program on a quiet machine, is the strand
/// after msort's own join, which contains the last merge.
fn names_merge(report: &Value) -> bool {
    let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let serial = |finding: &&Value| finding["id"] == "serial-strand";
    let places = findings.iter().filter(serial).chain(report.get("quiet"));
    let mut places = places.map(|named| &named["place"]);
    places.any(|place| {
        let from = &place["from"];
        let msort = from["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("msort.rs"));
        msort
            && from["primitive"] == "join"
            && from["function"]
                .as_str()
                .is_none_or(|f| f.ends_with("msort"))
    })
}
