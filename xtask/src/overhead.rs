//! `cargo xtask bench overhead`: measures the cost of recording by the length of strands, from zero
//! to a millisecond, on every runtime: bare, recorded in full, folded while recording (`--fold`),
//! within the overhead budget (`--max-overhead`). Published results of DAG Recorder and TaskProf2
//! are listed for comparison. Then the estimates of budgeted runs are compared with known values.

mod estimates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::bench::{BUILD, executable};
use crate::native_bench::{RUNTIMES, build, seconds};
use crate::workspace::{build_release, cargo, cargo_workspan, output, target, workspan};

/// Time limit of measuring, which ends with a complete round; the first round does not count.
/// Builds come before it, and estimates, which take a minute, after it.
const LIMIT: Duration = Duration::from_secs(400);
/// Number of rounds that is enough.
pub const ROUNDS: usize = 9;
/// Maximum length of a bare run, in ns, approximately.
const RUN_NS: f64 = 60e6;
/// Maximum length of a bare run with strands short enough for a budget, in ns, so that the budget
/// governs most of it.
const BUDGETED_RUN_NS: f64 = 120e6;
/// Amounts of work in every strand, in ns.
const STRANDS: [f64; 10] = [0.0, 20.0, 50.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5, 1e6];

/// The budget of the budgeted variant.
const BUDGET: &str = "5%";
/// The grain of the folded variant.
const GRAIN: &str = "10us";

/// The variants of a run.
const VARIANTS: [&str; 4] = ["bare", "full", "folded", "budgeted"];

/// Published costs of other tools, in ns per task, on their authors' machines.
const PEERS: [(&str, f64); 2] = [("DAG Recorder", 415.0), ("TaskProf2", 35_000.0)];

/// Fibonacci numbers without a cutoff, with one runtime.
struct Program {
    runtime: &'static str,
    bare: PathBuf,
    recorded: PathBuf,
    rust: bool,
    /// Rounds of work per ns.
    rounds: f64,
    /// Time of a create without work, in ns.
    create: f64,
}

/// A length of strands with a number of workers.
struct Cell {
    program: usize,
    strand: f64,
    workers: &'static str,
    n: u64,
    rounds: u64,
    /// Nanoseconds per create, by variant.
    runs: [Vec<f64>; 4],
    /// Size of the last trace in bytes, by variant.
    bytes: [u64; 4],
}

/// Number of creates of fib(n) without a cutoff.
fn creates(n: u64) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    for _ in 2..=n {
        (a, b) = (b, 1.0 + a + b);
    }
    b
}

/// Measures everything, in at most `most` rounds.
pub fn run(most: usize) -> Result<()> {
    build_release(true)?;
    let folder = target().join("workspan/bench");
    fs::create_dir_all(&folder)?;
    let trace = folder.join("overhead.wspan");
    let folds = offers("--fold")?;
    if !folds {
        println!("not measured: folded: this workspan has no --fold");
    }
    let programs = programs(&folder)?;
    let mut cells = Vec::new();
    for (program, built) in programs.iter().enumerate() {
        for workers in ["1", "2"] {
            cells.extend(STRANDS.map(|strand| built.cell(program, strand, workers)));
        }
    }
    let started = Instant::now();
    let mut rounds = 0;
    let mut longest = Duration::ZERO;
    while rounds == 0 || (rounds < most && started.elapsed() + longest < LIMIT) {
        let round = Instant::now();
        for cell in &mut cells {
            let program = &programs[cell.program];
            for turn in 0..VARIANTS.len() {
                // Each variant comes first in turn.
                let variant = (turn + rounds) % VARIANTS.len();
                if variant == 2 && !folds {
                    continue;
                }
                let ns = program.measure(cell, variant, &trace)?;
                cell.runs[variant].push(ns);
                cell.bytes[variant] = fs::metadata(&trace).map_or(0, |file| file.len());
            }
        }
        longest = longest.max(round.elapsed());
        rounds += 1;
        eprintln!("round {rounds}: {:.0} s", round.elapsed().as_secs_f64());
    }
    print(&programs, &cells, rounds);
    for program in programs.iter().filter(|p| p.rust) {
        estimates::print(program, &trace)?;
    }
    let _ = fs::remove_file(&trace);
    Ok(())
}

/// Whether `workspan record` has that flag.
fn offers(flag: &str) -> Result<bool> {
    Ok(output(workspan("release").args(["record", "--help"]))?.contains(flag))
}

/// The programs that can be built on this machine.
fn programs(folder: &Path) -> Result<Vec<Program>> {
    let bare = executable(cargo().args(["build"]).args(BUILD))?;
    let recorded = executable(cargo_workspan("release")?.args(["build"]).args(BUILD))?;
    let work = output(Command::new(&bare).args(["--work", "10000"]))?;
    let ns: f64 = work.trim().parse().context("joins --work")?;
    let mut programs = vec![Program {
        runtime: "Rayon",
        bare,
        recorded,
        rust: true,
        rounds: 10_000.0 / ns,
        create: 12.0,
    }];
    for runtime in &RUNTIMES {
        let program = match build(runtime, folder) {
            Ok(program) => program,
            Err(why) => {
                println!("not measured: {}: {why:#}", runtime.name);
                continue;
            }
        };
        let rounds = 10_000_000;
        let arguments = ["1", "2", &rounds.to_string()].map(String::from);
        let mut least = f64::INFINITY;
        for _ in 0..5 {
            least = least.min(seconds(Command::new(&program), &arguments, "1")?);
        }
        programs.push(Program {
            runtime: runtime.name,
            bare: program.clone(),
            recorded: program,
            rust: false,
            rounds: f64::from(rounds) / (least * 1e9),
            create: 80.0,
        });
    }
    Ok(programs)
}

impl Program {
    fn cell(&self, program: usize, strand: f64, workers: &'static str) -> Cell {
        // A create has two strands of work: its own and the one that continues.
        let each = self.create + 2.0 * strand;
        let run = match strand {
            strand if strand < 1e3 => BUDGETED_RUN_NS,
            _ => RUN_NS,
        };
        let n = (5..40).rev().find(|&n| creates(n) * each <= run);
        Cell {
            program,
            strand,
            workers,
            n: n.unwrap_or(5),
            rounds: (strand * self.rounds).round() as u64,
            runs: Default::default(),
            bytes: [0; 4],
        }
    }

    /// Measures one run, in ns per create.
    fn measure(&self, cell: &Cell, variant: usize, trace: &Path) -> Result<f64> {
        let (n, rounds) = (cell.n.to_string(), cell.rounds.to_string());
        let _ = fs::remove_file(trace);
        let command = match variant {
            0 => Command::new(&self.bare),
            _ => {
                let mut command = workspan("release");
                command.args(["record", "--no-report", "--max-overhead"]);
                command.arg(if variant == 3 { BUDGET } else { "off" });
                if variant == 2 {
                    command.args(["--fold", GRAIN]);
                }
                command.arg("-o").arg(trace).arg("--").arg(&self.recorded);
                command
            }
        };
        if !self.rust {
            let arguments = [n, "2".to_owned(), rounds];
            return Ok(seconds(command, &arguments, cell.workers)? * 1e9 / creates(cell.n));
        }
        let mut command = command;
        command.env("RAYON_NUM_THREADS", cell.workers);
        let run = command.args([&n, "1", &rounds]).output();
        let run = run.with_context(|| format!("{command:?}"))?;
        let text = String::from_utf8_lossy(&run.stdout);
        let first = text.split_whitespace().next().and_then(|w| w.parse().ok());
        first.with_context(|| format!("{command:?} printed `{text}`: {}", run.status))
    }
}

pub(crate) fn sorted(runs: &[f64]) -> Vec<f64> {
    let mut runs = runs.to_vec();
    runs.sort_by(f64::total_cmp);
    runs
}

/// A length in a readable form.
fn length(ns: f64) -> String {
    match ns {
        0.0 => "none".into(),
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.0} µs", ns / 1e3),
        ns => format!("{:.0} ms", ns / 1e6),
    }
}

fn print(programs: &[Program], cells: &[Cell], rounds: usize) {
    println!(
        "\ntime / bare time by the work in every strand of an uncut fib, {rounds} rounds in which all took turns\n\
         minimum / bare minimum, in brackets the least and the greatest run / bare median; MB: the trace\n\
         full: --max-overhead off; folded: and --fold {GRAIN}; budgeted: --max-overhead {BUDGET}\n\
         DAG Recorder (415 ns a task) and TaskProf2 (35 µs): computed from what was published, not measured here"
    );
    for (at, program) in programs.iter().enumerate() {
        for workers in ["1", "2"] {
            println!("\n{}, {workers} of the machine's workers", program.runtime);
            println!(
                "{:<8}{:>9}{:>12}{:>24}{:>24}{:>24}{:>15}{:>11}  {:>22}",
                "strand",
                "creates",
                "bare, ns",
                VARIANTS[1],
                VARIANTS[2],
                VARIANTS[3],
                PEERS[0].0,
                PEERS[1].0,
                "MB"
            );
            let is_of_program = |c: &&Cell| c.program == at && c.workers == workers;
            for cell in cells.iter().filter(is_of_program) {
                row(cell);
            }
        }
    }
}

fn row(cell: &Cell) {
    let bare = sorted(&cell.runs[0]);
    let (low, middle) = (bare[0], bare[bare.len() / 2]);
    let ratio = |runs: &[f64]| {
        let runs = sorted(runs);
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return "-".into();
        };
        let (least, from, to) = (first / low, first / middle, last / middle);
        format!("{least:.3} ({from:.2}-{to:.2})")
    };
    let peers = PEERS.map(|(_, ns)| format!("{:.2}", 1.0 + ns / low));
    let megabytes = cell.bytes[1..].iter().map(|&b| match b {
        0 => "-".into(),
        bytes => format!("{:.2}", bytes as f64 / 1e6),
    });
    println!(
        "{:<8}{:>9}{low:>12.1}{:>24}{:>24}{:>24}{:>15}{:>11}  {:>22}",
        length(cell.strand),
        creates(cell.n),
        ratio(&cell.runs[1]),
        ratio(&cell.runs[2]),
        ratio(&cell.runs[3]),
        peers[0],
        peers[1],
        megabytes.collect::<Vec<String>>().join(" "),
    );
}
