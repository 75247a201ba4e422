//! Runs one kernel's programs in turns, bare and recorded, and reads the traces.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{Options, Report};
use workspan_dag::{Dag, EndKind, NONE, StartKind};
use workspan_reader::OpenOptions;
use workspan_runtimes::thread_count_variables;

use super::kernels::Kernel;
use super::result::{Group, Parts, Recorded, Row};
use super::runtime::Runtime;
use crate::trace;

/// Why there is no breakdown.
pub(super) const UNSEEN: &str = "nothing parallel was seen in it";

/// The programs of a kernel for one runtime.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The runtime.
    pub runtime: Runtime,
    /// Runs bare.
    pub bare: PathBuf,
    /// Is recorded.
    pub recorded: PathBuf,
}

/// How to measure.
pub struct Plan<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// Workers to ask for.
    pub workers: usize,
    /// Runs of each variant.
    pub repeat: usize,
    /// Record, too.
    pub record: bool,
    /// Where traces go.
    pub folder: &'a Path,
    /// Asked before each run.
    pub stop: &'a dyn Fn() -> bool,
}

/// Runs the variants in turns, so that a slow moment of the machine meets all of them. A variant
/// that fails stays with what it has and a warning; `None` when it was stopped.
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
                    // `record` never overwrites; this one is ours.
                    let _ = std::fs::remove_file(&file);
                    let run = self::run(plan, &variant.recorded, Some(&file))?;
                    agree(&mut printed, run.printed)?;
                    rows[i].recorded.push(run.took);
                    let told = read(&file, Findings::Any).and_then(|trace| {
                        // The main thread's root alone: whatever ran the tasks is not one that is
                        // recorded.
                        let blind = trace.tasks <= 1 && variant.runtime != Runtime::Serial;
                        if blind { Err(UNSEEN.into()) } else { Ok(trace) }
                    });
                    traces[i].push((run.took, told));
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
        // The one that other programs disturbed least.
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

/// All print the same, or something is wrong with the work that was measured.
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
    /// CPU time of the child processes, in ns, to a hundredth of a second.
    pub cpu: u64,
    /// Its result line.
    pub printed: String,
}

/// A program with its arguments.
pub(super) struct Call<'a> {
    pub program: &'a Path,
    pub arguments: &'a [&'a str],
    pub workers: usize,
    /// What it may take at most.
    pub limit: Option<Duration>,
}

/// Recording: further options, and where the trace goes.
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
    /// Runs it, bare or recorded.
    ///
    /// # Errors
    /// It can't be started, it fails, it does not say how long it took, or it took longer than the
    /// limit and was ended.
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

/// How long a program that was asked to end may take for it.
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
    // `record` hands the first signal on, and its child ends.
    signal(Signal::TERM);
    if has_ended.recv_timeout(GRACE).is_err() {
        signal(Signal::KILL);
        // What a killed `record` started may live on and hold the pipes: nobody waits for that.
        let _ = has_ended.recv_timeout(GRACE);
    }
    bail!("it did not end within {} s, and was ended", limit.as_secs())
}

/// Of those that have ended, in ns: `cutime` and `cstime` of proc(5), in hundredths of a second.
fn cpu_time_of_children() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name, in parentheses, may have spaces.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let numbers = fields.split_whitespace().skip(13).take(2);
    let hundredths: u64 = numbers.filter_map(|n| n.parse::<u64>().ok()).sum();
    hundredths * 10_000_000
}

/// Which findings of a report can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Findings {
    /// All.
    Any,
    /// Those of the part that is measured: neither the program's input and check nor the machine's
    /// load.
    Measured,
}

/// What a trace says; or why it says nothing, as a sentence's part.
pub(super) fn read(file: &Path, findings: Findings) -> Result<Recorded, String> {
    if !file.exists() {
        return Err(UNSEEN.into());
    }
    let dag = trace::open(file, &OpenOptions::default()).map_err(|e| format!("{e:#}"))?;
    let report = workspan_analysis::report(&dag, &Options::default()).map_err(|e| e.to_string())?;
    let (b, ws) = (&report.breakdown, &report.work_span);
    let ns = |ticks: u128| nanos(&dag, ticks);
    let found = report.causes.findings();
    let first = found.iter().position(|finding| match findings {
        Findings::Any => true,
        Findings::Measured => is_of_measured_part(&dag, finding),
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
        cpu: dag.meta.run.cpu_time.map(|ticks| ns(u128::from(ticks))),
        cause: first.map(|i| found[i].cause.id().into()),
        says: says(&dag, &report, first),
    })
}

/// Whether a finding is about more than the root's strands before and after the tasks, where
/// programs make their input and check their result, or about who else used the CPUs.
fn is_of_measured_part(dag: &Dag, finding: &Finding) -> bool {
    let block = &finding.block;
    let task = dag.strands.task.get(finding.strand as usize);
    let is_root = task.is_some_and(|&task| dag.tasks.parent[task as usize] == NONE);
    let of_root = finding.cause == Cause::SerialStrand && is_root;
    let outside = block.from_kind == StartKind::Begin || block.to_kind == EndKind::End;
    !(finding.cause.is_load() || of_root && outside)
}

/// The title of a finding; without one, the verdict.
fn says(dag: &Dag, report: &Report, finding: Option<usize>) -> String {
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
