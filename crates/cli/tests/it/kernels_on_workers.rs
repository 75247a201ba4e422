//! Merge sort, n-queens and sparse LU on 1, 2 and 4 workers: the tasks of a program do not depend
//! on the number of workers, every tick of the run is accounted for, and a single worker steals
//! nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

struct Kernel {
    name: &'static str,
    arguments: &'static [&'static str],
    says: &'static str,
    /// What a line with a spawn site of its own starts with; parallel iterators split as the
    /// scheduler likes.
    spawns: &'static str,
}

const KERNELS: [Kernel; 3] = [
    Kernel {
        name: "msort",
        arguments: &["300000", "5000", "--merge", "parallel"],
        says: "sorted 300000 numbers\n",
        spawns: "rayon::join(",
    },
    Kernel {
        name: "nqueens",
        arguments: &["9", "3"],
        says: "nqueens(9) = 352\n",
        spawns: "scope.spawn(",
    },
    Kernel {
        name: "sparselu",
        arguments: &["12", "16"],
        says: "factorised 12 x 12 blocks",
        spawns: "scope.spawn(",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The report of a recorded run.
fn record(kernel: &Kernel, workers: u64) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.wspan");
    let run = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"))
        .current_dir(root())
        .env("RAYON_NUM_THREADS", workers.to_string())
        .arg("workspan")
        .arg("-o")
        .arg(&trace)
        .args(["run", "--release", "--package", "workspan-bench"])
        .args(["--bin", kernel.name, "--"])
        .args(kernel.arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    let on_error = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{on_error}");
    assert!(said.starts_with(kernel.says), "{said}");
    let json = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["report", "--json"])
        .arg(&trace)
        .output()
        .unwrap();
    assert!(json.status.success());
    serde_json::from_slice(&json.stdout).unwrap()
}

/// Instances of each site whose source line spawns one task or two by itself, by position.
fn spawned(kernel: &Kernel, report: &Value) -> BTreeMap<String, u64> {
    let sites = report["sites"].as_array().unwrap();
    let own = sites.iter().filter(|site| {
        let source = site["source"].as_str().unwrap_or("");
        source.contains(kernel.spawns)
    });
    own.map(|site| {
        let position = site["site"].as_str().unwrap().to_owned();
        (position, site["count"].as_u64().unwrap())
    })
    .collect()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

fn accounts_for_every_tick(report: &Value) {
    let breakdown = &report["breakdown"];
    let lost: u64 = [
        "descheduled",
        "blocked",
        "recording",
        "delay",
        "no_work_sched",
        "no_work_app",
    ]
    .iter()
    .map(|key| whole(&breakdown[key]))
    .sum();
    let capacity = whole(&report["workers"]) * whole(&report["elapsed"]);
    assert_eq!(whole(&breakdown["work"]) + lost, capacity, "{breakdown:#}");
    let causes = report["causes"].as_array().unwrap();
    let explained: u64 = causes.iter().map(|cause| whole(&cause["lost"])).sum();
    assert_eq!(explained, lost, "{causes:#?}");

    let (work, span) = (whole(&report["work"]), whole(&report["span"]));
    assert!(span <= work && span <= whole(&report["elapsed"]));
    let sites = report["sites"].as_array().unwrap();
    let critical: u64 = sites.iter().map(|site| whole(&site["critical_work"])).sum();
    assert_eq!(critical, span);
}

/// Queens of `n` placed in the rows so far, in all ways, down to row `grain`: the tasks of nqueens.
fn placements(n: u32, grain: u32, rows: &mut Vec<u32>) -> u64 {
    if rows.len() as u32 == grain {
        return 0;
    }
    let mut tasks = 0;
    for column in 0..n {
        let row = rows.len() as u32;
        let free = rows
            .iter()
            .enumerate()
            .all(|(other, &taken)| taken != column && taken.abs_diff(column) != row - other as u32);
        if free {
            rows.push(column);
            tasks += 1 + placements(n, grain, rows);
            rows.pop();
        }
    }
    tasks
}

#[test]
#[ignore = "builds three kernels in release and records each on 1, 2 and 4 workers"]
fn the_same_tasks_on_any_number_of_workers() {
    for kernel in &KERNELS {
        let mut known: Option<BTreeMap<String, u64>> = None;
        for workers in [1, 2, 4] {
            let report = record(kernel, workers);
            assert_eq!(whole(&report["workers"]), workers, "{}", kernel.name);
            accounts_for_every_tick(&report);
            if workers == 1 {
                assert_eq!(whole(&report["steals"]), 0, "{}", kernel.name);
            }
            let spawned = spawned(kernel, &report);
            assert!(!spawned.is_empty(), "{}", kernel.name);
            if kernel.name == "nqueens" {
                let tasks: u64 = spawned.values().sum();
                assert_eq!(tasks, placements(9, 3, &mut Vec::new()));
            }
            let first = known.get_or_insert_with(|| spawned.clone());
            assert_eq!(*first, spawned, "{} on {workers} workers", kernel.name);
        }
    }
}
