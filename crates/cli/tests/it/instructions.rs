//! `record --count instructions`: exact and the same in every run, on machines without counters.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::native;

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

fn workspan(arguments: &[&str], path: Option<&Path>) -> Output {
    let mut command = Command::new(WORKSPAN);
    command.args(arguments);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = workspan(arguments, None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn instructions_are_counted_without_counters_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let include = format!("-I{}", include.display());
    let Some(compiler) = native::openmp_compilers("instruction counts")
        .into_iter()
        .next()
    else {
        return;
    };
    let program = native::compile(
        &compiler,
        "known_instructions.c",
        folder.path(),
        &[&include],
    );
    let program = program.to_str().unwrap();
    let traces = ["one.wspan", "two.wspan"].map(|name| folder.path().join(name));
    let traces = traces.each_ref().map(|trace| trace.to_str().unwrap());
    for trace in traces {
        let words = [
            "record",
            "--count",
            "instructions",
            "--no-report",
            "-o",
            trace,
            "--",
            program,
        ];
        let output = workspan(&words, None);
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("apt-get install") || said.contains("only on x86-64") {
            return native::skipped("instruction counts", said.trim());
        }
        assert!(output.status.success(), "{said}");
    }
    let query = "select c.value from strands s join counters c using (strand)
                 join tasks t using (task) where t.parent is not null order by s.strand";
    let of_tasks = traces.map(|trace| {
        let rows = workspan(&["sql", trace, query, "--format", "csv"], None);
        let said = String::from_utf8_lossy(&rows.stderr);
        assert!(rows.status.success(), "{said}");
        let rows = String::from_utf8(rows.stdout).unwrap();
        let counts = rows.lines().skip(1).map(|row| row.parse::<u64>().unwrap());
        counts.collect::<Vec<u64>>()
    });
    let [_, short, long] = of_tasks[0][..] else {
        panic!("three tasks: {of_tasks:?}");
    };
    // 100,000 more rounds of two instructions.
    // The recorder's own path between two readings differs by a few.
    assert!((long - short).abs_diff(200_000) < 50, "{of_tasks:?}");
    assert!((2_000..3_000).contains(&short), "{of_tasks:?}");
    let pairs = of_tasks[0].iter().zip(&of_tasks[1]);
    let apart = pairs.map(|(a, b)| a.abs_diff(*b)).max();
    assert!(apart < Some(50), "two runs: {of_tasks:?}");
    // Commands with that metric work.
    for command in [&["report"][..], &["whatif", "--site", "root"], &["advise"]] {
        let metric = ["--metric", "instructions", "--json", traces[0]];
        let said = json(&[command, &metric].concat());
        assert!(said.is_object(), "{command:?}: {said}");
    }
    let report = json(&["report", "--metric", "instructions", "--json", traces[0]]);
    assert_eq!(report["metric"], "instructions");
    assert!(report["work"].as_u64().unwrap() >= 204_000, "{report}");
    assert!(
        report["warnings"].to_string().contains("emulator"),
        "{report}"
    );
}

#[test]
fn what_is_missing_for_it_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let words = ["record", "--count", "instructions", "--", "/bin/true"];
    let output = workspan(&words, Some(empty.path()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let remedy = "--count instructions: it needs valgrind, which is not here; sudo apt-get install";
    assert!(
        said.contains(remedy) || said.contains("only on x86-64"),
        "{said}"
    );
    let words = ["record", "--count", "cycles", "--", "/bin/true"];
    let output = workspan(&words, None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("instructions"),
        "{said}"
    );
}
