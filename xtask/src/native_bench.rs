//! The part of `cargo xtask bench` about C++: the cost of a recorded task on each runtime, and the
//! cost of sampling.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{root, target, workspan};

const ROUNDS: usize = 9;

/// A runtime: its name, compilers to try, and flags.
pub(crate) struct Runtime {
    pub name: &'static str,
    compilers: &'static [&'static str],
    flags: &'static [&'static str],
}

pub(crate) const RUNTIMES: [Runtime; 3] = [
    Runtime {
        name: "libgomp",
        compilers: &["g++"],
        flags: &["-DTP_OPENMP", "-fopenmp"],
    },
    Runtime {
        name: "libomp",
        compilers: &[
            "clang++",
            "clang++-19",
            "clang++-18",
            "clang++-17",
            "clang++-16",
            "clang++-15",
            "clang++-14",
        ],
        flags: &["-DTP_OPENMP", "-fopenmp"],
    },
    Runtime {
        name: "oneTBB",
        compilers: &["g++"],
        flags: &["-DTP_TBB", "-ltbb"],
    },
];

/// (label, N, grain): fib without a cutoff, where a task does nothing else, and with one. Half a
/// million and 28,000 tasks take tens of milliseconds and more; a run of five milliseconds would be
/// as long as one time slice of another process.
const SIZES: [(&str, u64, u64); 2] = [("uncut", 28, 2), ("cut", 39, 18)];

/// Builds the kernel for every available runtime, and measures it bare and recorded, by turns.
pub fn run() -> Result<()> {
    println!(
        "\nfib in C++ (bench/tp/fib.cpp), ns a task; {ROUNDS} runs of each variant, taking turns"
    );
    println!(
        "{:<9}{:<8}{:<9}{:>9}{:>12}{:>12}{:>12}{:>12}{:>22}",
        "runtime",
        "tasks",
        "threads",
        "count",
        "bare, min",
        "recorded",
        "added",
        "min / bare",
        "med / bare (spread)"
    );
    let folder = target().join("workspan/bench");
    std::fs::create_dir_all(&folder)?;
    let mut for_samples = None;
    for runtime in &RUNTIMES {
        let program = match build(runtime, &folder) {
            Ok(program) => program,
            Err(why) => {
                println!("not measured: {}: {why:#}", runtime.name);
                continue;
            }
        };
        for (label, n, grain) in SIZES {
            for threads in ["1", "2"] {
                measure(runtime, &program, &folder, (label, n, grain), threads)?;
            }
        }
        for_samples.get_or_insert(program);
    }
    match for_samples {
        Some(program) => samples(&program, &folder),
        None => Ok(()),
    }
}

/// Measures only the cost of samples.
pub fn of_samples() -> Result<()> {
    crate::workspace::build_release(true)?;
    let folder = target().join("workspan/bench");
    std::fs::create_dir_all(&folder)?;
    samples(&build(&RUNTIMES[0], &folder)?, &folder)
}

pub(crate) fn build(runtime: &Runtime, folder: &Path) -> Result<PathBuf> {
    let program = folder.join(format!("fib-{}", runtime.name));
    let mut last = String::from("no compiler");
    for compiler in runtime.compilers {
        let mut command = Command::new(compiler);
        command
            .args(["-std=c++17", "-O2", "-g", "-fno-omit-frame-pointer", "-I"])
            .arg(root().join("include"))
            .arg(root().join("bench/tp/fib.cpp"))
            .arg("-o")
            .arg(&program)
            .args(runtime.flags);
        match command.output() {
            Ok(done) if done.status.success() => return Ok(program),
            Ok(done) => last = String::from_utf8_lossy(&done.stderr).into_owned(),
            Err(_) => {}
        }
    }
    bail!("{}", last.lines().next().unwrap_or("the compiler failed"))
}

/// Number of creates of fib(n) with a cutoff at `grain`: each call of n >= grain creates one.
fn tasks(n: u64, grain: u64) -> u64 {
    if n < grain {
        0
    } else {
        1 + tasks(n - 1, grain) + tasks(n - 2, grain)
    }
}

fn measure(
    runtime: &Runtime,
    program: &Path,
    folder: &Path,
    (label, n, grain): (&str, u64, u64),
    threads: &str,
) -> Result<()> {
    let arguments = [n.to_string(), grain.to_string()];
    let (mut bare, mut recorded) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(seconds(Command::new(program), &arguments, threads)?);
        recorded.push(seconds(record(program, folder, &[]), &arguments, threads)?);
    }
    let count = tasks(n, grain);
    let ns = |runs: &[f64]| runs[0] * 1e9 / count as f64;
    bare.sort_by(f64::total_cmp);
    recorded.sort_by(f64::total_cmp);
    let (low, high) = (ns(&bare), ns(&recorded));
    let middle = bare[ROUNDS / 2];
    let (first, half, last) = (recorded[0], recorded[ROUNDS / 2], recorded[ROUNDS - 1]);
    println!(
        "{:<9}{label:<8}{threads:<9}{count:>9}{low:>12.1}{high:>12.1}{:>12.1}{:>12.3}{:>22}",
        runtime.name,
        high - low,
        high / low,
        format!(
            "{:.2} ({:.2}-{:.2})",
            half / middle,
            first / middle,
            last / middle
        ),
    );
    Ok(())
}

/// Minimum length in seconds of the run that shows the cost of samples.
const MIN_SAMPLED_SECONDS: f64 = 1.0;
/// Maximum N: no kernel is so fast that it would need a larger one.
const MAX_N: u64 = 50;
/// Calls below N − this number are one task, with milliseconds of work.
const TASKS_DEEP: u64 = 12;
/// Samples per second in the runs that show their cost. At the default rate, the cost is less than
/// the difference between runs on any machine that does something else too; a sample costs the same
/// at any rate.
const MANY_HERTZ: u32 = 10_000;

/// Measures the same program recorded without samples, with the default rate and with many more, by
/// turns.
fn samples(program: &Path, folder: &Path) -> Result<()> {
    let sized = |n: u64| [n.to_string(), (n - TASKS_DEEP).to_string()];
    let mut n = 38;
    while n < MAX_N && seconds(Command::new(program), &sized(n), "1")? < MIN_SAMPLED_SECONDS {
        n += 1;
    }
    let arguments = sized(n);
    let often = MANY_HERTZ.to_string();
    let flags: [&[&str]; 3] = [&["--sample", "off"], &["--sample", &often], &[]];
    let mut runs: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (flags, runs) in flags.iter().zip(&mut runs) {
            runs.push(seconds(record(program, folder, flags), &arguments, "1")?);
        }
    }
    let default = default_rate(&folder.join("fib.wspan"))?;
    for runs in &mut runs {
        runs.sort_by(f64::total_cmp);
    }
    let [without, many, with] = &runs;
    let percent = |a: f64, b: f64| (b / a - 1.0) * 100.0;
    // A run that takes t seconds without the samples has (rate · t) of them.
    let each = |at: usize| (many[at] / without[at] - 1.0) / f64::from(MANY_HERTZ);
    println!(
        "\nsamples, one thread, {:.0} ms without them; limit 1 %:\n  \
         at {MANY_HERTZ} a second: {:.2} us a sample by minima of {ROUNDS}, {:.2} by medians: {:.2} % and {:.2} % at the default rate, \
         which `record` chose to be {default} Hz here\n  \
         at the default rate itself: {:.2} % by minima, {:.2} % by medians, where runs without samples differ by {:.1} %",
        without[0] * 1e3,
        each(0) * 1e6,
        each(ROUNDS / 2) * 1e6,
        each(0) * default * 100.0,
        each(ROUNDS / 2) * default * 100.0,
        percent(without[0], with[0]),
        percent(without[ROUNDS / 2], with[ROUNDS / 2]),
        percent(without[0], without[ROUNDS - 1]),
    );
    Ok(())
}

/// Samples per second according to the trace.
fn default_rate(trace: &Path) -> Result<f64> {
    let mut command = workspan("release");
    let output = command.args(["info", "--json"]).arg(trace).output()?;
    let info: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let rows = info["captured"].as_array().map(Vec::as_slice);
    let row = rows.unwrap_or_default().iter();
    row.filter(|row| row["what"] == "samples of the running code")
        .find_map(|row| row["note"].as_str()?.split(' ').next()?.parse().ok())
        .context("no samples were taken")
}

fn record(program: &Path, folder: &Path, flags: &[&str]) -> Command {
    let trace = folder.join("fib.wspan");
    let _ = std::fs::remove_file(&trace);
    let mut command = workspan("release");
    command.args(["record", "--no-report", "--max-overhead", "off"]);
    command.args(flags);
    command.arg("-o").arg(trace).arg("--").arg(program);
    command
}

/// Seconds that the kernel prints for its work.
pub(crate) fn seconds(mut command: Command, arguments: &[String], threads: &str) -> Result<f64> {
    command
        .args(arguments)
        .args(["--workers", threads, "--time", "yes"]);
    let run = command.output().with_context(|| format!("{command:?}"))?;
    let text = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() {
        bail!("{command:?}: {}: {text}", run.status);
    }
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("kernel took "));
    let ns: Option<f64> = line.and_then(|line| line.strip_suffix(" ns")?.parse().ok());
    ns.map(|ns| ns / 1e9)
        .with_context(|| format!("{command:?} said no time"))
}
