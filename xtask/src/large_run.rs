//! The part of `cargo xtask bench` about reading: time and memory of a run's report, and the speed
//! of decoding records.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{cargo, output, succeed, workspan};

/// Argument of fib: fib(33) by joins has 11.4 million tasks.
pub const N: &str = "33";

/// The cost of a report.
pub struct Cost {
    /// Elapsed seconds.
    pub clock: f64,
    processor: f64,
    /// `VmHWM`, if the kernel provides it.
    pub peak_kib: Option<f64>,
}

/// Measures a trace of more than 10^7 tasks: the cost of its report, and the stages of reading it.
pub fn measure(trace: &Path) -> Result<()> {
    println!("\na run of fib({N}) in full detail:");
    let (tasks, report) = trace_size(trace)?;
    let full = cost(
        workspan("release")
            .args(["report", "--json", "--full"])
            .arg(trace),
    )?;
    for (how, cost) in [("through the fold", &report), ("each task", &full)] {
        let of_ten_million = 1e7 / tasks;
        println!(
            "scaled to 10^7 tasks, {how}: {:.2} s on the clock (limit 3 s on two idle CPUs), {:.2} s of processor time, {} (limit 1.5 GB)",
            cost.clock * of_ten_million,
            cost.processor * of_ten_million,
            match cost.peak_kib {
                Some(kib) => format!("{:.2} GB", kib * 1024.0 * of_ten_million / 1e9),
                None => "memory not known".into(),
            }
        );
    }
    // All targets take the same passes over the strands, whatever they contain.
    let asked = ["whatif", "--site", "root"];
    let what_if = cost(workspan("release").args(asked).arg(trace))?;
    println!(
        "what-if of one target, eight factors, with the reading: {:.2} s on the clock, {:.2} s of processor time",
        what_if.clock, what_if.processor
    );
    println!("its stages, processor time and, in brackets, time on the clock:");
    let example = ["run", "--release", "--quiet", "-p", "workspan-reader"];
    let mut speed = cargo();
    speed
        .args(example)
        .args(["--example", "read_speed"])
        .arg(trace);
    succeed(&mut speed)
}

/// Argument of fib: fib(28) by joins has a million tasks.
pub const MILLION: &str = "28";

/// Measures the simulation of a run on 64 workers, including reading it.
pub fn simulated(trace: &Path) -> Result<()> {
    let mut simulate = workspan("release");
    simulate.args(["simulate", "--workers", "64", "--seeds", "1", "--json"]);
    let cost = cost(simulate.arg(trace))?;
    println!(
        "fib({MILLION}), a million tasks, simulated on 64 workers with its report: {:.2} s on the clock (limit 5 s)",
        cost.clock
    );
    Ok(())
}

/// Prints the trace's bytes per task, and the cost of its report. Returns the number of tasks and
/// that cost.
pub fn trace_size(trace: &Path) -> Result<(f64, Cost)> {
    let info: Value = serde_json::from_str(&output(
        workspan("release").args(["info", "--json"]).arg(trace),
    )?)?;
    let (Some(bytes), Some(tasks)) = (info["bytes"].as_f64(), info["tasks"].as_f64()) else {
        bail!("workspan info said no size")
    };
    println!(
        "the last trace: {tasks} tasks in {bytes} bytes, {:.1} bytes a task",
        bytes / tasks
    );
    let report = ["report", "--json", "--no-index"];
    let cost = cost(workspan("release").args(report).arg(trace))?;
    let memory = match cost.peak_kib {
        Some(kib) => format!(
            "{:.0} MiB at most, {:.0} bytes a task",
            kib / 1024.0,
            kib * 1024.0 / tasks
        ),
        None => "the kernel does not say how much memory".into(),
    };
    println!(
        "its report: {memory}, {:.2} s on the clock, {:.2} s of processor time",
        cost.clock, cost.processor
    );
    Ok((tasks, cost))
}

/// Runs a command to its end. Its memory is the last `VmHWM` before that, which is read every few
/// ms.
pub fn cost(command: &mut Command) -> Result<Cost> {
    let (started, before) = (Instant::now(), children_time());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{command:?}"))?;
    let file = format!("/proc/{}/status", child.id());
    let mut peak_kib = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        peak_kib = now.or(peak_kib);
        std::thread::sleep(Duration::from_millis(2));
    };
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(Cost {
        clock: started.elapsed().as_secs_f64(),
        processor: children_time() - before,
        peak_kib,
    })
}

/// CPU time of the children that have ended: cutime and cstime of proc(5) stat, in hundredths of a
/// second.
fn children_time() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / 100.0
}
