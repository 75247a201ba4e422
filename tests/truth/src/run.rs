//! Records one program once, and checks the result.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;

use crate::check::Run;
use crate::compile::{Kind, Program};
use crate::stated::{Stated, comparable};
use crate::{Case, lock, same};

/// Seconds after which a program counts as hanging. A bare run takes less than one second.
pub const TIMEOUT_SECONDS: &str = "120";

/// The outcome of one recording.
#[derive(Default)]
pub struct Outcome {
    /// The defects that were found.
    pub wrong: Vec<String>,
    /// The errors of work and span, as shares.
    pub work_off: Option<f64>,
    pub span_off: Option<f64>,
    /// The trace, if it was kept.
    pub kept: Option<PathBuf>,
}

/// Records the case once, as the `number`th recording, and checks it. The trace is deleted if
/// everything was right.
pub fn once(tool: &Path, folder: &Path, case: &Case, number: usize) -> Outcome {
    let name = case.program.name.replace('/', "-");
    let trace = folder.join(format!(
        "{name}.{}.{number}.{}.wspan",
        case.threads,
        std::process::id()
    ));
    let mut outcome = match case.program.kind {
        Kind::Same => same::once(tool, &case.program, &trace),
        Kind::Truth => judged(tool, case, &trace),
    };
    if outcome.wrong.is_empty() {
        let _ = fs::remove_file(&trace);
    } else if trace.exists() {
        outcome.kept = Some(trace);
    }
    outcome
}

fn judged(tool: &Path, case: &Case, trace: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    if let Err(why) = judge(tool, case, trace, &mut outcome) {
        outcome.wrong.push(why);
    }
    outcome
}

fn judge(tool: &Path, case: &Case, trace: &Path, outcome: &mut Outcome) -> Result<(), String> {
    let Bare {
        printed: expected,
        other_us,
    } = bare(case)?;
    let mut record = timed(tool.as_os_str());
    record.args(["record", "--no-report", "-o"]).arg(trace);
    record.arg("--").arg(&case.program.start);
    let output = with_threads(&mut record, case.threads)
        .output()
        .map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if ended(&output) != 0 || comparable(&printed) != expected {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().next_back().unwrap_or_default();
        return Err(format!(
            "recorded it ended with {} and printed `{printed}`; bare `{expected}`; {last}",
            ended(&output)
        ));
    }
    let stated = Stated::read(&printed)?;
    let mut report = timed(tool.as_os_str());
    report.args(["report", "--json"]).arg(trace);
    let output = report.output().map_err(|e| e.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("no report: {e}: {said}")
    })?;
    let source = case.program.source.display().to_string();
    let run = Run {
        report: &report,
        stated: &stated,
        threads: case.threads,
        other_us,
        cpus: std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64),
        source: case.program.own_tasks.then_some(source.as_str()),
    };
    let found = run.check();
    outcome.wrong = found.wrong;
    outcome.work_off = found.work_off;
    outcome.span_off = found.span_off;
    Ok(())
}

/// The program's bare run.
#[derive(Clone)]
struct Bare {
    /// The program's output, without the parts that differ from run to run.
    printed: String,
    /// CPU time in addition to the spins, in microseconds.
    other_us: f64,
}

/// Runs the program bare, once for each number of threads.
fn bare(case: &Case) -> Result<Bare, String> {
    static PRINTED: OnceLock<Mutex<HashMap<(String, usize), Bare>>> = OnceLock::new();
    let printed = PRINTED.get_or_init(Mutex::default);
    let key = (case.program.name.clone(), case.threads);
    if let Some(known) = lock(printed).get(&key) {
        return Ok(known.clone());
    }
    let Program { start, .. } = &case.program;
    let mut command = timed(start.as_ref());
    let output = with_threads(&mut command, case.threads)
        .output()
        .map_err(|e| format!("{start}: {e}"))?;
    if ended(&output) != 0 {
        return Err(format!("bare it ended with {}", ended(&output)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let stated = Stated::read(&text)?;
    let used = |word| stated.get(word).unwrap_or(0.0);
    let bare = Bare {
        printed: comparable(&text),
        other_us: (used("cpu_us") - used("spun_us") - used("start_us")).max(0.0),
    };
    lock(printed).insert(key, bare.clone());
    Ok(bare)
}

/// A command that kills the program if it hangs.
pub fn timed(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=5", TIMEOUT_SECONDS])
        .arg(program);
    command
}

/// The exit code, or the code by which a shell reports a signal.
pub fn ended(output: &Output) -> i32 {
    let signal = output.status.signal().map(|signal| 128 + signal);
    output.status.code().or(signal).unwrap_or(-1)
}

fn with_threads(command: &mut Command, threads: usize) -> &mut Command {
    for name in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "TRUTH_THREADS"] {
        command.env(name, threads.to_string());
    }
    command
}
