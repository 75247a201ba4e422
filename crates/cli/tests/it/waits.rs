//! Programs in C whose tasks wait in one way each: the report names the line of the wait, and for
//! a lock or a condition where another thread ended it.

use std::fs;
use std::path::Path;

use crate::native::{compile, openmp_compilers, skipped};
use crate::project::{WORKSPAN, bare, said, trace_of};
use serde_json::Value;

const SOURCE: &str = include_str!("../fixtures/native/waits.c");

fn line(what: &str) -> u64 {
    let at = SOURCE.lines().position(|line| line.contains(what));
    at.unwrap() as u64 + 1
}

fn report(folder: &Path, how: &str) -> Value {
    let output = bare(WORKSPAN)
        .current_dir(folder)
        .args(["record", "--no-report", "--", "./waits", how])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, folder);
    let output = bare(WORKSPAN)
        .args(["report", "--json"])
        .arg(&trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    fs::remove_file(trace).unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the cause took of the workers' time, in percent.
fn share(json: &Value, cause: &str) -> f64 {
    let causes = json["causes"].as_array().unwrap();
    let lost = causes.iter().find(|c| c["id"] == cause);
    let lost = lost.map_or(0.0, |c| c["lost"].as_f64().unwrap());
    let elapsed = json["elapsed"].as_f64().unwrap() * json["workers"].as_f64().unwrap();
    100.0 * lost / elapsed
}

const CASES: [(&str, &str, &str); 5] = [
    ("lock", "lock", "releases"),
    ("critical", "lock", ""),
    ("condition", "channel", "signals"),
    ("sleep", "sleep", ""),
    ("io", "io", ""),
];

#[test]
#[cfg(target_arch = "x86_64")]
fn the_line_of_a_wait_and_of_its_end_are_named() {
    let test = "the_line_of_a_wait_and_of_its_end_are_named";
    for compiler in openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["-fno-omit-frame-pointer", "-fopenmp", "-pthread"];
        compile(&compiler, "waits.c", folder.path(), &flags);
        for (how, cause, end) in CASES {
            // On a busy machine only one task may run at a time, so that none waits.
            let json = (0..5)
                .map(|_| report(folder.path(), how))
                .find(|json| share(json, cause) >= 10.0)
                .unwrap_or_else(|| report(folder.path(), how));
            if share(&json, cause) < 10.0 {
                assert!(matches!(how, "lock" | "critical"), "{how}: {json:#}");
                skipped(test, "nobody waited for the lock");
                continue;
            }
            let findings = json["findings"].as_array().unwrap();
            let Some(found) = findings.iter().find(|f| f["id"] == cause) else {
                panic!("{compiler}, {how}: {json:#}");
            };
            let at = &found["blocked_in"];
            let context = format!("{compiler}, {how}: {found:#}");
            if how == "critical" && at.is_null() {
                continue;
            }
            assert!(
                at["file"].as_str().unwrap().ends_with("waits.c"),
                "{context}"
            );
            assert_eq!(at["line"], line(&format!("waits: {how}")), "{context}");
            if !end.is_empty() {
                assert_eq!(at["holder"]["released_at"]["line"], line(end), "{context}");
            }
        }
        let json = report(folder.path(), "apart");
        for (_, cause, _) in CASES {
            assert!(share(&json, cause) < 5.0, "{compiler}, {cause}: {json:#}");
        }
    }
}
