//! Real programs, recorded for the tests of the lake: each run adds itself to one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::{cargo, root, succeed, target, workspan};

/// Runs that are recorded.
const RUNS: usize = 200;

/// A program of `examples/`.
struct Program {
    name: &'static str,
    /// Compiler, its arguments and the source.
    compile: &'static [&'static str],
    /// The program's argument in a run: the least, and how many there are.
    sizes: (usize, usize),
    /// What one size counts.
    unit: usize,
}

/// On OpenMP, oneTBB, and a pool written by hand.
const PROGRAMS: [Program; 5] = [
    Program {
        name: "treesum",
        compile: &["gcc", "-g", "-O2", "-fopenmp", "examples/treesum.c"],
        sizes: (10, 4),
        unit: 1,
    },
    Program {
        name: "mandelbrot",
        compile: &["g++", "-g", "-O2", "-fopenmp", "examples/mandelbrot.cpp"],
        sizes: (5, 4),
        unit: 20,
    },
    Program {
        name: "knapsack",
        compile: &[
            "g++",
            "-g",
            "-O2",
            "-std=c++11",
            "-Iinclude",
            "-DTP_OPENMP",
            "-fopenmp",
            "examples/knapsack.cpp",
        ],
        sizes: (14, 4),
        unit: 1,
    },
    Program {
        name: "pool",
        compile: &[
            "gcc",
            "-g",
            "-O2",
            "-std=c99",
            "-D_GNU_SOURCE",
            "-Iinclude",
            "-pthread",
            "examples/pool.c",
        ],
        sizes: (1, 1),
        unit: 1,
    },
    // The last one: where oneTBB is missing, others take its runs.
    Program {
        name: "quicksort",
        compile: &["g++", "-g", "-O2", "examples/quicksort.cpp", "-ltbb"],
        sizes: (2, 4),
        unit: 10_000,
    },
];

impl Program {
    /// Compiles it into `folder`; false if that fails.
    fn build(&self, folder: &Path) -> Result<bool> {
        let mut compile = Command::new(self.compile[0]);
        compile.current_dir(root()).args(&self.compile[1..]);
        let output = compile.arg("-o").arg(folder.join(self.name)).output();
        Ok(output
            .with_context(|| format!("{compile:?}"))?
            .status
            .success())
    }
}

/// A folder with recorded runs of small programs, on 1 to 4 threads and of several sizes, and with
/// `lake`, to which each was added when it was recorded. It is made anew where it is not complete.
pub fn recorded() -> Result<PathBuf> {
    let folder = target().join("lake-runs");
    let complete = folder.join("complete");
    if complete.exists() {
        return Ok(folder);
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    succeed(cargo().args(["build", "--quiet", "--package", "workspan"]))?;
    let mut build = super::lake_cargo();
    build.args(["build", "--quiet", "--features", "cluster"]);
    succeed(build.args(super::MANIFEST))?;
    let mut programs = Vec::new();
    for program in &PROGRAMS {
        if program.build(&folder)? {
            programs.push(program);
        }
    }
    ensure!(programs.len() > 2, "the examples could not be compiled");
    for run in 0..RUNS {
        record(&folder, programs[run % programs.len()], run)?;
    }
    std::fs::write(complete, "")?;
    Ok(folder)
}

fn record(folder: &Path, program: &Program, run: usize) -> Result<()> {
    let trace = folder.join(format!("{run}.wspan"));
    let mut record = workspan("debug");
    record
        .args(["record", "--no-report", "--lake"])
        .arg(folder.join("lake"))
        .args(["--tag", &format!("commit=c{}", run / 20), "-o"])
        .arg(&trace)
        .arg("--")
        .arg(folder.join(program.name))
        .arg(((program.sizes.0 + run / 5 % program.sizes.1) * program.unit).to_string())
        .env("OMP_NUM_THREADS", (1 + run / 3 % 4).to_string())
        .env("PATH", with_lake());
    let output = record.output().with_context(|| format!("{record:?}"))?;
    ensure!(
        output.status.success() && trace.exists(),
        "{record:?}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// A search path with the lake's program in it.
fn with_lake() -> OsString {
    let mut path = super::lake_target().join("debug").into_os_string();
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}
