//! Records the runs for the page's tests and pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::workspace::{cargo_workspan, output, root, target, workspan};

/// Records the runs for the tests, and returns their folder: the merge sort with its serial and its
/// parallel merge, on one worker, cut short, recursions with very short tasks, and programs in C
/// and C++ if there is a compiler for them.
pub fn record(profile: &str) -> Result<PathBuf> {
    let folder = target().join("workspan/page-runs");
    fs::create_dir_all(&folder)?;
    let rayon = [
        ("before", "serial", None),
        ("after", "parallel", None),
        ("one-worker", "serial", Some("1")),
    ];
    for (name, merge, workers) in rayon {
        let trace = folder.join(format!("{name}.wspan"));
        // `-o` never overwrites a file, so these runs are removed first.
        let _ = fs::remove_file(&trace);
        let mut record = cargo_workspan(profile)?;
        record.arg("--no-report").arg("-o").arg(&trace).args([
            "run",
            "--release",
            "--package",
            "workspan-bench",
            "--bin",
            "msort",
            "--",
            "--merge",
            merge,
        ]);
        if let Some(workers) = workers {
            record.env("RAYON_NUM_THREADS", workers);
        }
        output(&mut record)?;
    }
    let whole = fs::read(folder.join("before.wspan"))?;
    fs::write(
        folder.join("truncated.wspan"),
        &whole[..whole.len() * 6 / 10],
    )?;
    // Eight workers on any machine, never preempted.
    let simulated = folder.join("simulated.jsonl");
    let _ = fs::remove_file(&simulated);
    let mut simulate = workspan(profile);
    simulate.args(["simulate", "--workers", "8", "-o"]);
    output(
        simulate
            .arg(&simulated)
            .arg(folder.join("one-worker.wspan")),
    )?;
    short_tasks(profile, &folder)?;
    native(profile, &folder)?;
    Ok(folder)
}

/// Runs of a recursion with very short tasks: the trace, the options of the recording, and
/// arguments. One has some megabytes, which are shown before they are read; one is within an
/// overhead budget; one was folded while it was recorded, and is folded further when it is read.
const SHORT_TASKS: [(&str, &[&str], [&str; 2]); 3] = [
    ("large", &["--max-overhead", "off"], ["28", "2"]),
    ("budget", &["--max-overhead", "5%"], ["32", "0"]),
    (
        "twice",
        &["--fold", "2us", "--max-overhead", "off"],
        ["27", "2"],
    ),
];

fn short_tasks(profile: &str, folder: &Path) -> Result<()> {
    for (name, flags, arguments) in SHORT_TASKS {
        let trace = folder.join(format!("{name}.wspan"));
        let _ = fs::remove_file(&trace);
        let mut record = cargo_workspan(profile)?;
        record.arg("--no-report").args(flags).arg("-o").arg(&trace);
        record.args(["run", "--release", "--package", "workspan-bench"]);
        output(record.args(["--bin", "fib", "--"]).args(arguments))?;
    }
    Ok(())
}

/// A run of a C or C++ program.
struct Native {
    name: &'static str,
    compiler: &'static str,
    source: &'static str,
    flags: &'static [&'static str],
    threads: &'static str,
    arguments: &'static [&'static str],
}

/// A tree of OpenMP tasks; 20,000 sibling tasks, most of them stolen; a pool that names its
/// regions; tasks that wait for another thread's signal.
const NATIVE: [Native; 4] = [
    Native {
        name: "openmp",
        compiler: "gcc",
        source: "examples/treesum.c",
        flags: &["-fopenmp"],
        threads: "",
        arguments: &[],
    },
    Native {
        name: "broad",
        compiler: "g++",
        source: "bench/tp/queue.cpp",
        flags: &["-std=c++11", "-DTP_OPENMP", "-fopenmp"],
        threads: "4",
        arguments: &[],
    },
    Native {
        name: "regions",
        compiler: "gcc",
        source: "examples/pool.c",
        flags: &["-std=c99", "-D_GNU_SOURCE", "-pthread"],
        threads: "",
        arguments: &[],
    },
    Native {
        name: "waits",
        compiler: "gcc",
        source: "crates/cli/tests/fixtures/native/waits.c",
        flags: &["-fopenmp", "-pthread"],
        threads: "",
        arguments: &["condition"],
    },
];

/// Records these runs; none without a compiler.
fn native(profile: &str, folder: &Path) -> Result<()> {
    for native in NATIVE {
        let Native { name, compiler, .. } = native;
        let source = root().join(native.source);
        let program = folder.join(source.file_stem().unwrap_or_default());
        let mut build = Command::new(compiler);
        build.args(["-O2", "-g"]).args(native.flags);
        build.arg("-I").arg(root().join("include"));
        if !build
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .status()
            .is_ok_and(|s| s.success())
        {
            println!(
                "no {name}.wspan: {compiler} could not build {}",
                source.display()
            );
            continue;
        }
        let trace = folder.join(format!("{name}.wspan"));
        let _ = fs::remove_file(&trace);
        let mut record = workspan(profile);
        record.args(["record", "--no-report", "-o"]).arg(&trace);
        if !native.threads.is_empty() {
            record.env("OMP_NUM_THREADS", native.threads);
        }
        output(record.arg("--").arg(&program).args(native.arguments))?;
    }
    Ok(())
}
