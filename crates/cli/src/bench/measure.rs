//! Runs one kernel's programs by turns, bare and recorded, and reads the traces.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use workspan_analysis::causes::{Cause, Causes, WORTH_NAMING};
use workspan_analysis::named_section::{named_section, section_name};
use workspan_analysis::{Options, Report};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_runtimes::thread_count_variables;

use super::kernels::Kernel;
use super::result::{Group, Parts, Recorded, Row};
use super::runtime::Runtime;
use crate::trace;

/// The reason why there is no breakdown.
pub(super) const UNSEEN: &str = "nothing parallel was seen in it";

/// The programs of a kernel for one runtime.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The runtime.
    pub runtime: Runtime,
    /// The program for bare runs.
    pub bare: PathBuf,
    /// The program for recorded runs.
    pub recorded: PathBuf,
}

/// The parameters of a measurement.
pub struct Plan<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of workers to request.
    pub workers: usize,
    /// Number of runs of each variant.
    pub repeat: usize,
    /// Whether to record too.
    pub record: bool,
    /// The folder for traces.
    pub folder: &'a Path,
    /// Called before each run; true stops the measurement.
    pub stop: &'a dyn Fn() -> bool,
}

/// Runs the variants by turns, so that a slow moment of the machine affects all of them. A variant
/// that fails keeps its results and adds a warning. `None` if it was stopped.
pub fn measure(plan: &Plan, variants: &[Variant], warnings: &mut Vec<String>) -> Option<Group> {
    let mut rows: Vec<Row> = Vec::new();
    let mut traces: Vec<Vec<(u64, Result<Recorded, String>)>> = vec![Vec::new(); variants.len()];
    let mut failed = vec![false; variants.len()];
    let mut printed: Option<String> = None;
    rows.extend(variants.iter().map(|variant| Row {
        runtime: variant.runtime,
        bare: Vec::new(),
        recorded: Vec::new(),
        trace: Err("not recorded".into()),
    }));
    for _ in 0..plan.repeat {
        for (i, variant) in variants.iter().enumerate() {
            let mut once = || -> anyhow::Result<()> {
                let run = run(plan, &variant.bare, None)?;
                agree(&mut printed, run.printed)?;
                rows[i].bare.push(run.took);
                if plan.record && !(plan.stop)() {
                    let file = plan.folder.join("trace.wspan");
                    // `record` never overwrites a file; this one is ours.
                    let _ = std::fs::remove_file(&file);
                    let run = self::run(plan, &variant.recorded, Some(&file))?;
                    agree(&mut printed, run.printed)?;
                    rows[i].recorded.push(run.took);
                    let result = read(&file, Extent::Whole).and_then(|trace| {
                        // If there is only the main thread's root, the runtime that ran the tasks
                        // is not recorded.
                        let blind = trace.tasks <= 1 && variant.runtime != Runtime::Serial;
                        if blind { Err(UNSEEN.into()) } else { Ok(trace) }
                    });
                    traces[i].push((run.took, result));
                }
                Ok(())
            };
            if failed[i] {
                continue;
            }
            if let Err(error) = once() {
                if (plan.stop)() {
                    return None;
                }
                failed[i] = true;
                let title = variant.runtime.title();
                warnings.push(format!("{} on {title}: {error:#}.", plan.kernel.name));
            }
            if (plan.stop)() {
                return None;
            }
        }
    }
    for (row, mut traces) in rows.iter_mut().zip(traces) {
        row.bare.sort_unstable();
        row.recorded.sort_unstable();
        traces.sort_by_key(|t| t.0);
        // The run that other programs disturbed least.
        if let Some((_, trace)) = traces.into_iter().next() {
            row.trace = trace;
        }
    }
    rows.retain(|row| !row.bare.is_empty());
    Some(Group {
        kernel: plan.kernel,
        workers: plan.workers,
        rows,
    })
}

/// Checks that all runs print the same; otherwise the measured work is wrong.
pub(super) fn agree(printed: &mut Option<String>, line: String) -> anyhow::Result<()> {
    match printed {
        Some(first) if *first != line => bail!("it printed `{line}`, the first one `{first}`"),
        _ => *printed = Some(line),
    }
    Ok(())
}

/// A run of a program.
pub(super) struct Run {
    /// The kernel's own time, in ns.
    pub took: u64,
    /// CPU time of the child processes, in ns, with a resolution of a hundredth of a second.
    pub cpu: u64,
    /// Its result line.
    pub printed: String,
}

/// A program with its arguments.
pub(super) struct Call<'a> {
    pub program: &'a Path,
    pub arguments: &'a [&'a str],
    pub workers: usize,
    /// Maximum time of a run.
    pub limit: Option<Duration>,
}

/// The parameters of a recorded run: further options, and the path of the trace.
pub(super) struct Recording<'a> {
    pub options: &'a [&'a str],
    pub trace: &'a Path,
}

fn run(plan: &Plan, program: &Path, trace: Option<&Path>) -> anyhow::Result<Run> {
    let call = Call {
        program,
        arguments: plan.kernel.arguments,
        workers: plan.workers,
        limit: None,
    };
    let options = &["--max-overhead", "off"];
    call.run(trace.map(|trace| Recording { options, trace }))
}

impl Call<'_> {
    /// Runs the program, bare or recorded.
    ///
    /// # Errors
    /// The program can't be started, fails, does not print how long it took, or took longer than
    /// the limit and was ended.
    pub(super) fn run(&self, recording: Option<Recording>) -> anyhow::Result<Run> {
        let mut command = match recording {
            None => Command::new(self.program),
            Some(Recording { options, trace }) => {
                let mut record = Command::new(std::env::current_exe()?);
                record.args(["record", "--no-report"]).args(options);
                record.arg("-o").arg(trace).arg("--").arg(self.program);
                record
            }
        };
        let workers = self.workers.to_string();
        command
            .args(self.arguments)
            .args(["--workers", &workers, "--time", "yes"]);
        command.envs(thread_count_variables().map(|name| (name, &workers)));
        command.stdin(Stdio::null());
        let before = cpu_time_of_children();
        let output = output_within(&mut command, self.limit)
            .with_context(|| self.program.display().to_string())?;
        let cpu = cpu_time_of_children() - before;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let last = said.lines().last().unwrap_or("it says nothing");
            bail!("it ended with {}: {last}", output.status);
        }
        let took = said.lines().find_map(|line| {
            line.strip_prefix("kernel took ")?
                .strip_suffix(" ns")?
                .parse()
                .ok()
        });
        Ok(Run {
            took: took.context("it did not say how long it took")?,
            cpu,
            printed: String::from_utf8_lossy(&output.stdout).trim().to_string(),
        })
    }
}

/// Maximum time for a program to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);

/// Runs `command` to its end. One that takes longer than `limit` is asked to end, then killed.
fn output_within(command: &mut Command, limit: Option<Duration>) -> anyhow::Result<Output> {
    let Some(limit) = limit else {
        return Ok(command.output()?);
    };
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, has_ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    let signal = |signal| pid.map(|pid| kill_process(pid, signal));
    if let Ok(output) = has_ended.recv_timeout(limit) {
        return Ok(output?);
    }
    // `record` passes the first signal on, and its child ends.
    signal(Signal::TERM);
    if has_ended.recv_timeout(GRACE).is_err() {
        signal(Signal::KILL);
        // Processes started by a killed `record` may live on and keep the pipes open, so the wait
        // is limited.
        let _ = has_ended.recv_timeout(GRACE);
    }
    bail!("it did not end within {} s, and was ended", limit.as_secs())
}

/// CPU time of child processes that have ended, in ns: `cutime` and `cstime` of proc(5), in
/// hundredths of a second.
fn cpu_time_of_children() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name, in parentheses, may contain spaces.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let numbers = fields.split_whitespace().skip(13).take(2);
    let hundredths: u64 = numbers.filter_map(|n| n.parse::<u64>().ok()).sum();
    hundredths * 10_000_000
}

/// The part that the suite's programs mark as measured.
pub(super) const MEASURED: &str = "part:measured";

/// The part of a trace that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The whole run, and its first finding.
    Whole,
    /// The section [`MEASURED`] only, without input and check; its first finding that is not about
    /// load.
    Measured,
}

/// The results from a trace; or the reason why there are none, as part of a sentence.
pub(super) fn read(file: &Path, extent: Extent) -> Result<Recorded, String> {
    if !file.exists() {
        return Err(UNSEEN.into());
    }
    let options = Options::default();
    let dag = trace::open(file, &OpenOptions::default()).map_err(|e| format!("{e:#}"))?;
    let cpu = dag.meta.run.cpu_time;
    let mut window = None;
    let dag = match extent {
        Extent::Whole => dag,
        Extent::Measured => {
            window = window_of_parts(&dag);
            let name = section_name(MEASURED)?;
            named_section(&dag, &name, &options).map_err(|e| e.to_string())?
        }
    };
    let report = workspan_analysis::report(&dag, &options).map_err(|e| e.to_string())?;
    let (b, ws) = (&report.breakdown, &report.work_span);
    let ns = |ticks: u128| nanos(&dag, ticks);
    let found = report.causes.findings();
    let first = found.iter().position(|finding| match extent {
        Extent::Whole => true,
        Extent::Measured => !finding.cause.is_load(),
    });
    Ok(Recorded {
        parts: Parts {
            workers: b.workers,
            elapsed: ns(u128::from(b.elapsed())),
            work: ns(b.work),
            delay: ns(b.delay),
            no_work_sched: ns(b.no_work_sched),
            no_work_app: ns(b.no_work_app),
            descheduled: ns(b.descheduled),
            blocked: ns(b.blocked),
            recording: ns(b.recording),
            oversubscribed: ns(b.oversubscribed),
        },
        work: ns(ws.work),
        span: ns(ws.span),
        tasks: ws.tasks,
        spawns: ws.spawns,
        steals: ws.steals,
        delay_create: ns(b.delay_by_edge[0]),
        delay_buried: ns(b.delay_buried),
        runtime: dag.meta.runtime.clone().unwrap_or_default(),
        cpu: cpu.map(|ticks| ns(u128::from(ticks))),
        window,
        cause: first.map(|i| found[i].cause.id().into()),
        lost_to_load: ns(lost_to_load(&report.causes)),
        says: match (first, extent) {
            (None, Extent::Measured) => nothing_to_mend(&report.causes),
            _ => outcome_text(&dag, &report, first),
        },
    })
}

/// The time from the first begin to the last end of the marked parts, in ticks of the run.
fn window_of_parts(dag: &Dag) -> Option<[u64; 2]> {
    let from = dag.parts.iter().map(|part| part.begin.1).min()?;
    let to = dag.parts.iter().map(|part| part.end.1).max()?;
    Some([from, to])
}

/// Worker-ticks lost to other programs, or to more threads than CPUs.
fn lost_to_load(causes: &Causes) -> u128 {
    let load = Cause::ALL.into_iter().filter(|cause| cause.is_load());
    load.map(|cause| causes.by_cause[cause as usize]).sum()
}

/// The text for a measured part without a finding of its own: the loss, with the loss to the
/// machine's load separately.
fn nothing_to_mend(causes: &Causes) -> String {
    let percent = |ticks: u128| 100.0 * ticks as f64 / causes.total.max(1) as f64;
    let load = lost_to_load(causes);
    let own = causes.lost.saturating_sub(load);
    let little = percent(own) < WORTH_NAMING;
    let mut text = format!(
        "{}: {:.1} % of the worker time lost",
        if little {
            "nothing to mend"
        } else {
            "no cause stands out"
        },
        percent(own)
    );
    if load > 0 {
        let _ = write!(text, ", and {:.1} % to the machine's load", percent(load));
    }
    text
}

/// The title of a finding; the verdict if there is none.
fn outcome_text(dag: &Dag, report: &Report, finding: Option<usize>) -> String {
    let summary = workspan_export::summary(dag, report, &Options::default());
    let finding = finding.and_then(|i| summary.findings.get(i));
    let text: String = match finding {
        Some(finding) => finding
            .title
            .iter()
            .map(|word| word.text.as_str())
            .collect(),
        None => summary.verdict,
    };
    text.replace('\u{a0}', " ").trim().to_owned()
}

fn nanos(dag: &Dag, ticks: u128) -> u64 {
    let per_second = u128::from(dag.meta.ticks_per_second.max(1));
    u64::try_from(ticks.saturating_mul(1_000_000_000) / per_second).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_load_took_is_told_apart_from_what_the_program_lost() {
        let mut causes = Causes {
            total: 1000,
            lost: 38,
            ..Causes::default()
        };
        let quiet = "nothing to mend: 3.8 % of the worker time lost";
        assert_eq!(nothing_to_mend(&causes), quiet);
        causes.lost = 238;
        causes.by_cause[Cause::Descheduled as usize] = 200;
        let busy =
            "nothing to mend: 3.8 % of the worker time lost, and 20.0 % to the machine's load";
        assert_eq!(nothing_to_mend(&causes), busy);
        causes.lost = 260;
        let many =
            "no cause stands out: 6.0 % of the worker time lost, and 20.0 % to the machine's load";
        assert_eq!(nothing_to_mend(&causes), many);
    }
}
