//! Records the runs for the page's tests and pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::workspace::{cargo_workspan, output, root, target, workspan};

/// Records the runs for the tests, and returns their folder: the merge sort with its serial and its
/// parallel merge, on one worker, cut short, recursions with very short tasks, two pools, programs
/// in C and C++ if there is a compiler for them, and ranks of MPI if it is installed.
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
    pools(profile, &folder)?;
    native(profile, &folder)?;
    ranks(profile, &folder)?;
    Ok(folder)
}

/// Runs for pictures: the merge sort with its parallel merge on 8 virtual workers, with its serial
/// one on 96.
pub fn simulate(profile: &str, folder: &Path) -> Result<()> {
    let runs = [
        ("simulated-after", "8", "after"),
        ("simulated-96", "96", "one-worker"),
    ];
    for (name, workers, trace) in runs {
        let to = folder.join(format!("{name}.jsonl"));
        let _ = fs::remove_file(&to);
        let mut simulate = workspan(profile);
        simulate
            .args(["simulate", "--workers", workers, "-o"])
            .arg(&to)
            .arg(folder.join(format!("{trace}.wspan")));
        output(&mut simulate)?;
    }
    Ok(())
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

/// Records a run with two pools at a time.
fn pools(profile: &str, folder: &Path) -> Result<()> {
    let trace = folder.join("pools.wspan");
    let _ = fs::remove_file(&trace);
    let mut record = cargo_workspan(profile)?;
    record.current_dir(root().join("tests/truth/rust"));
    record.arg("--no-report").arg("-o").arg(&trace);
    output(record.args(["run", "--release", "--bin", "two_pools"]))?;
    Ok(())
}

/// Records four ranks, one of which is late; records nothing without Open MPI.
fn ranks(profile: &str, folder: &Path) -> Result<()> {
    let source = root().join("crates/cli/tests/fixtures/native/late_rank.c");
    let program = folder.join("late_rank");
    let mut build = Command::new("mpicc.openmpi");
    build.args(["-O2", "-g", "-o"]).arg(&program).arg(source);
    if !build.status().is_ok_and(|status| status.success()) {
        println!("no ranks.wspan: there is no mpicc.openmpi (openmpi-bin and libopenmpi-dev)");
        return Ok(());
    }
    let trace = folder.join("ranks.wspan");
    let _ = fs::remove_file(&trace);
    let mut record = workspan(profile);
    record
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .args(["record", "--no-report", "-o"])
        .arg(&trace)
        .args(["--", "mpirun.openmpi", "--oversubscribe", "-n", "4"]);
    output(record.arg(&program))?;
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
