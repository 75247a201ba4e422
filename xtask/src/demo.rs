//! `cargo xtask demo`: the tool on a real program, as a user runs it.

use std::fs;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::workspace::{build_release, cargo_workspan, output, succeed, target, workspan};

/// Records the merge sort with both merges, leaves trace, text and JSON reports under target/workspan/demo, prints the
/// one of the serial merge, and checks that it names the merge while the other does not. (The HTML report joins them
/// with the viewer.)
pub fn run() -> Result<()> {
    build_release()?;
    let folder = target().join("workspan/demo");
    fs::create_dir_all(&folder)?;
    for merge in ["serial", "parallel"] {
        let trace = folder.join(format!("msort-{merge}.wspan"));
        // `-o` never overwrites; the demo's own files are made anew.
        let _ = fs::remove_file(&trace);
        let mut record = cargo_workspan()?;
        record.arg("--no-report").arg("-o").arg(&trace).args([
            "run",
            "--release",
            "--package",
            "workspan-bench",
        ]);
        succeed(record.args(["--bin", "msort", "--", "--merge", merge]))?;
        let text = output(workspan().arg("report").arg(&trace))?;
        let json = output(workspan().args(["report", "--json"]).arg(&trace))?;
        fs::write(folder.join(format!("msort-{merge}.txt")), &text)?;
        fs::write(folder.join(format!("msort-{merge}.json")), &json)?;
        if merge == "serial" {
            succeed(workspan().arg("report").arg(&trace))?;
        }
        let alone = alone_after_sort(&serde_json::from_str(&json)?);
        match (merge, alone) {
            ("serial", None) => {
                bail!("the report of the serial merge does not name the strand after the join")
            }
            ("parallel", Some(percent)) if percent > 25.0 => {
                bail!(
                    "the report of the parallel merge blames a strand after the join for {percent} % of the loss"
                )
            }
            _ => {}
        }
    }
    println!("Reports and traces of both merges: {}", folder.display());
    Ok(())
}

/// The share of the loss of the strands after msort's own join that ran alone, when the verdict is about a serial strand.
fn alone_after_sort(report: &Value) -> Option<f64> {
    let verdict = &report["verdict"];
    if verdict["limit"] != "serial_strand" {
        return None;
    }
    let first = verdict["serial"].get(0)?;
    let from = &first["from"];
    let named = from["primitive"] == "join" && from["file"].as_str()?.ends_with("msort.rs");
    if named {
        first["lost_percent"].as_f64()
    } else {
        None
    }
}
