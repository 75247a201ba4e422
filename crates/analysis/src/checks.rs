//! Invariants that hold for every run: they compare its work with the CPU time of the process, by
//! clocks that are independent of recording.
//!
//! They reveal a recording that lost something, above all times off the CPU, before its numbers are
//! used (docs/MODEL.md, *What must hold*). Each check has two sides in nanoseconds; where a side is
//! not known, there is no check.

use workspan_dag::{CpuTimes, Dag, NONE, StrandId, ThreadId};

use crate::idle::{IdleTime, idle_time};
use crate::off_cpu::{OffCpuCursor, recorder_within};
use crate::runtime_gaps::{runtime_gaps, total_ticks};
use crate::sample_profile::hottest_of_stacks;

/// An invariant that a check tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invariant {
    /// Time on the CPU inside strands ≤ CPUs × elapsed time.
    WorkWithinCpus,
    /// Time on the CPU inside strands ≤ CPU time of the process.
    WorkWithinProcess,
    /// For the thread with the largest excess: time on the CPU inside its strands ≤ its CPU time.
    WorkWithinThread,
    /// Time on the CPU inside strands, of idle workers and of other threads ≤ CPU time of the
    /// process.
    PartsWithinProcess,
    /// CPU time of all threads, by their switches, = CPU time of the process, by its clock, except
    /// for the time inside the switches.
    ThreadsMakeProcess,
    /// Samples inside strands / rate = time on the CPU inside strands, without the time in which
    /// their threads folded. Samples in the recorder count as far as others are missing: a probe is
    /// a part of its strand.
    SamplesMakeWork,
}

impl Invariant {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Invariant::WorkWithinCpus => "work_within_cpus",
            Invariant::WorkWithinProcess => "work_within_process",
            Invariant::WorkWithinThread => "work_within_thread",
            Invariant::PartsWithinProcess => "parts_within_process",
            Invariant::ThreadsMakeProcess => "threads_make_process",
            Invariant::SamplesMakeWork => "samples_make_work",
        }
    }
}

/// A check, its two sides and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// The invariant.
    pub invariant: Invariant,
    /// The recording's value, in nanoseconds; for [`Invariant::ThreadsMakeProcess`] the sum of the
    /// threads.
    pub reported: u64,
    /// The value that it is compared with, in nanoseconds.
    pub against: u64,
    /// The allowed difference, in nanoseconds.
    pub slack: u64,
    /// Whether the invariant holds.
    pub holds: bool,
}

/// The allowed difference of two clocks, as a share of their value; `SLACK_NS` is added.
const CLOCK_SLACK: f64 = 0.03;
const SLACK_NS: f64 = 2e6;
/// Duration of a context switch with its recording, in nanoseconds: 0.5 µs on an idle machine,
/// 1.7 µs measured with twenty processes on two CPUs. The process's clock includes it, but it lies
/// between no thread's switch records. It counts where a runtime calls `sched_yield` in a loop, as
/// libomp does with more threads than CPUs.
const SWITCH_NS: u64 = 3000;
/// Maximum duration: 5 µs measured on an idle machine for a program that reads files from a disk
/// and finds cold caches after each wait, 9 µs on a loaded one.
const MAX_SWITCH_NS: u64 = 10_000;
/// Allowed sampling error in standard deviations: random sampling exceeds four only once in sixteen
/// thousand runs.
const MAX_DEVIATIONS: f64 = 4.0;
/// The allowed difference of samples and work, as a share: recording is not part of strands, and
/// samples are taken late on virtual machines.
const SAMPLES_SLACK: f64 = 0.25;
/// Minimum number of samples for a check.
const MIN_SAMPLES: usize = 50;

/// Minimum CPU time between strands that is worth a sentence: this share of the process's, and
/// `NOTABLE_BETWEEN_NS` nanoseconds.
const NOTABLE_BETWEEN: f64 = 0.2;
const NOTABLE_BETWEEN_NS: f64 = 5e6;

/// All checks of a recorded run. A text trace has none, since its times are whatever its writer
/// states.
pub fn checks(dag: &Dag) -> Vec<Check> {
    checks_with(dag, idle_time(dag).as_ref())
}

/// The same, with the idle time of all workers.
pub(crate) fn checks_with(dag: &Dag, idle: Option<&IdleTime>) -> Vec<Check> {
    let mut checks = Vec::new();
    if !dag.meta.recorded || dag.strands.is_empty() {
        return checks;
    }
    let ns = |ticks: u64| nanoseconds(dag, ticks);
    let by_thread = on_cpu(dag);
    let work = ns(sum(&by_thread));
    let begin = dag.strands.start.iter().copied().min().unwrap_or(0);
    let end = dag.strands.end.iter().copied().max().unwrap_or(0);
    let within = |invariant, reported: u64, against: u64| {
        let slack = (against as f64 * CLOCK_SLACK + SLACK_NS) as u64;
        Check {
            invariant,
            reported,
            against,
            slack,
            holds: reported <= against.saturating_add(slack),
        }
    };
    if let Some(cpus) = dag.meta.cpus {
        let all = ns(end - begin).saturating_mul(u64::from(cpus));
        checks.push(within(Invariant::WorkWithinCpus, work, all));
    }
    if let Some(cpu) = &dag.meta.cpu {
        if let Some(process) = cpu.process {
            checks.push(within(Invariant::WorkWithinProcess, work, process));
        }
        checks.extend(worst_thread(cpu, &by_thread, ns, within));
        if let Some(process) = cpu.process.filter(|_| !cpu.threads.is_empty()) {
            let check = within(Invariant::ThreadsMakeProcess, cpu.of_threads(), process);
            let in_switches = cpu.switches.saturating_mul(MAX_SWITCH_NS);
            let least = process.saturating_sub(check.slack.saturating_add(in_switches));
            checks.push(Check {
                holds: check.holds && check.reported >= least,
                ..check
            });
        }
    }
    if let Some(account) = cpu_account(dag, idle) {
        let parts = account.parts();
        checks.push(within(
            Invariant::PartsWithinProcess,
            parts,
            account.process,
        ));
    }
    let recording = ns(recorder_on_cpu(dag));
    checks.extend(samples(dag, work.saturating_sub(recording)));
    checks
}

fn nanoseconds(dag: &Dag, ticks: u64) -> u64 {
    let rate = dag.meta.ticks_per_second.max(1);
    (u128::from(ticks) * 1_000_000_000 / u128::from(rate)) as u64
}

fn sum(ticks: &[u64]) -> u64 {
    ticks.iter().fold(0, |sum, &t| sum.saturating_add(t))
}

/// A sentence for the case that much of the CPU time was used between the strands of recorded
/// threads, by the runtime or by unrecorded code. No invariant excludes that. Work is then far
/// below the process's CPU time.
pub(crate) fn between_strands(dag: &Dag, idle: Option<&IdleTime>) -> Option<String> {
    let cpu = dag.meta.cpu.as_ref().filter(|_| dag.meta.recorded)?;
    let all = cpu.process.unwrap_or_else(|| cpu.of_threads());
    // A thread is between its tasks inside folded strands too.
    let inside_folds = total_ticks(&runtime_gaps(dag));
    let inside_folds = u64::try_from(inside_folds).unwrap_or(u64::MAX);
    let work = nanoseconds(dag, sum(&on_cpu(dag)).saturating_sub(inside_folds));
    let known = work.saturating_add(cpu.outside).saturating_add(cpu.polling);
    let in_switches = cpu.switches.saturating_mul(SWITCH_NS);
    let between = all.saturating_sub(known.saturating_add(in_switches));
    let share = between as f64 / all.max(1) as f64;
    if share < NOTABLE_BETWEEN || (between as f64) < NOTABLE_BETWEEN_NS {
        return None;
    }
    let samples = &dag.samples;
    let outside = (0..samples.len()).filter(|&i| samples.strand[i] == NONE);
    let mostly = match hottest_of_stacks(dag, outside.map(|i| samples.stack[i])) {
        Some(hot) => format!(", by samples mostly in `{}`", hot.function),
        None => String::new(),
    };
    Some(format!(
        "The process used {} of CPU time, and its tasks {} of it. Recorded threads used {} ({:.0} %) between \
        tasks{mostly}: in the runtime (to create tasks, wait and wake threads), in the recorder, or in code that was not \
        recorded. Work and span do not include it.{}",
        milliseconds(all),
        milliseconds(work),
        milliseconds(between),
        100.0 * share,
        idle.map_or_else(String::new, |idle| searching(dag, idle))
    ))
}

/// The part of it that idle workers took, and how to see whether fewer would do.
fn searching(dag: &Dag, idle: &IdleTime) -> String {
    format!(
        " Idle workers searched for tasks for {} of it, and found none in {:.0} % of that; `workspan advise` says how \
        many workers are enough.",
        milliseconds(nanoseconds(dag, idle.on_cpu())),
        crate::warnings::percent(idle.going_to_sleep.into(), idle.on_cpu().into())
    )
}

/// How the CPU time of a process was spent, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuAccount {
    /// The total, by the process's own clock.
    pub process: u64,
    /// Inside strands: work and recording.
    pub strands: u64,
    /// Between the strands of workers: the runtime, which creates tasks, waits and searches.
    pub between: u64,
    /// On threads that no runtime knew about.
    pub outside: u64,
}

impl CpuAccount {
    /// The sum of the parts.
    pub fn parts(&self) -> u64 {
        let of_workers = self.strands.saturating_add(self.between);
        of_workers.saturating_add(self.outside)
    }

    /// The difference between the total and the parts: time in none of them, or in two.
    pub fn difference(&self) -> u64 {
        self.process.abs_diff(self.parts())
    }

    /// The difference in percent of the process's CPU time.
    pub fn difference_percent(&self) -> f64 {
        crate::warnings::percent(self.difference().into(), self.process.into())
    }

    /// Whether the difference is larger than the error of the clocks.
    pub fn is_off(&self) -> bool {
        self.difference() as f64 > self.process as f64 * CLOCK_SLACK + SLACK_NS
    }

    /// The part of what is missing that each of `switches` context switches takes, if they explain
    /// it: the process's clock includes them, and no thread's records do.
    pub fn missing_per_switch(&self, switches: u64) -> Option<u64> {
        let each = self.difference().checked_div(switches)?;
        (self.is_off() && self.is_less() && each <= MAX_SWITCH_NS).then_some(each)
    }

    /// Whether strands, workers and outside threads together used less than the process.
    pub fn is_less(&self) -> bool {
        self.parts() < self.process
    }
}

/// The CPU time by use; `None` if the process's is not known, or if idle workers were not observed.
pub(crate) fn cpu_account(dag: &Dag, idle: Option<&IdleTime>) -> Option<CpuAccount> {
    let cpu = dag.meta.cpu.as_ref().filter(|_| dag.meta.recorded)?;
    Some(CpuAccount {
        process: cpu.process?,
        strands: nanoseconds(dag, sum(&on_cpu(dag))),
        between: nanoseconds(dag, idle?.on_cpu()).saturating_add(cpu.polling),
        outside: cpu.outside.saturating_add(cpu.idle),
    })
}

/// Time on the CPU inside strands, by thread, in ticks.
fn on_cpu(dag: &Dag) -> Vec<u64> {
    let mut by_thread = vec![0u64; dag.meta.threads as usize];
    let mut offs = OffCpuCursor::new(dag);
    for s in 0..dag.strands.len() {
        let length = dag.strands.end[s] - dag.strands.start[s];
        let off = offs.inside(s as StrandId);
        let sum = &mut by_thread[dag.strands.thread[s] as usize];
        *sum = sum.saturating_add(length.saturating_sub(off.descheduled + off.blocked));
    }
    by_thread
}

/// Time on the CPU inside strands in which their threads ran the recorder, in ticks. A sample of
/// the recorder belongs to no strand.
fn recorder_on_cpu(dag: &Dag) -> u64 {
    let mut offs = OffCpuCursor::new(dag);
    let mut folds = dag.folded.cursor();
    let probe_ticks = |s: StrandId| match folds.record(s) {
        Some(fold) => offs.folding(s, fold),
        None => recorder_within(dag, s),
    };
    let ticks: Vec<u64> = (0..dag.strands.len() as StrandId)
        .map(probe_ticks)
        .collect();
    sum(&ticks)
}

/// The thread whose strands exceed its CPU time most.
fn worst_thread(
    cpu: &CpuTimes,
    by_thread: &[u64],
    ns: impl Fn(u64) -> u64,
    within: impl Fn(Invariant, u64, u64) -> Check,
) -> Option<Check> {
    let check = |&(thread, used): &(u32, u64)| {
        let reported = ns(*by_thread.get(thread as usize)?);
        Some(within(Invariant::WorkWithinThread, reported, used))
    };
    let all = cpu.threads.iter().filter_map(check);
    all.max_by_key(|c| c.reported.saturating_sub(c.against))
}

fn samples(dag: &Dag, work: u64) -> Option<Check> {
    let hertz = f64::from(dag.samples.hertz);
    // A thread that spins while it waits for a lock is on a CPU without working.
    let waits = |thread: ThreadId, t: u64| {
        let after = dag
            .offs
            .partition_point(|off| (off.thread, off.start) <= (thread, t));
        let off = after.checked_sub(1).map(|i| &dag.offs[i]);
        off.is_some_and(|off| off.thread == thread && t < off.end)
    };
    let samples = &dag.samples;
    let of_strands = (0..samples.len()).filter(|&i| samples.strand[i] != NONE);
    let count = of_strands
        .filter(|&i| !waits(samples.thread[i], samples.t[i]))
        .count();
    // The error is relative to the expected number of samples, because having no samples at all is
    // a finding too.
    let expected = work as f64 * hertz / 1e9;
    if hertz == 0.0 || expected < MIN_SAMPLES as f64 {
        return None;
    }
    let one = 1e9 / hertz;
    let in_strands = (count as f64 * one) as u64;
    // A probe's time is a part of its strand, but its samples belong to no strand. Where samples
    // seem to be missing, those of the recorder are they.
    let in_recorder = samples.in_recording();
    let of_recorder = samples.stack.iter().zip(&samples.strand);
    let of_recorder = of_recorder
        .filter(|&(&stack, &strand)| strand == NONE && in_recorder[stack as usize])
        .count();
    let with_recorder = in_strands.saturating_add((of_recorder as f64 * one) as u64);
    let reported = in_strands.max(with_recorder.min(work));
    let slack = MAX_DEVIATIONS * expected.sqrt() * one + SAMPLES_SLACK * work as f64;
    // The kernel counts the time to the next sample separately for each thread on each CPU, so the
    // remainder of each of these times is in no sample.
    let remains = f64::from(dag.meta.threads) * f64::from(dag.meta.cpus.unwrap_or(1)) * one;
    let slack = match reported < work {
        true => slack + remains,
        false => slack,
    };
    Some(Check {
        invariant: Invariant::SamplesMakeWork,
        reported,
        against: work,
        slack: slack as u64,
        holds: reported.abs_diff(work) as f64 <= slack,
    })
}

/// Minimum share of the process's CPU time outside of all tasks that is worth a sentence.
const NOTABLE_OUTSIDE: f64 = 0.05;

/// The sentences above a report about checks that failed.
pub fn contradictions(dag: &Dag, checks: &[Check]) -> Vec<String> {
    let broken = checks.iter().filter(|check| !check.holds);
    broken.map(|check| sentence(dag, check)).collect()
}

/// A sentence for the case that much of the CPU time belonged to no task, for output without the
/// report.
pub fn outside(cpu: &CpuTimes) -> Option<String> {
    let all = cpu.process.unwrap_or_else(|| cpu.of_threads());
    let share = cpu.outside as f64 / all.max(1) as f64;
    let mostly = match &cpu.outside_in {
        Some(function) => format!(", mostly in `{function}`"),
        None => String::new(),
    };
    (share >= NOTABLE_OUTSIDE && cpu.outside as f64 >= SLACK_NS).then(|| {
        format!(
            "Threads outside the tasks used {} of CPU time ({:.0} % of the process's){mostly}. Work, span and the numbers \
            computed from them do not include it.",
            milliseconds(cpu.outside),
            100.0 * share
        )
    })
}

fn milliseconds(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    if ms >= 100.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{ms:.1} ms")
    }
}

fn sentence(dag: &Dag, check: &Check) -> String {
    let (reported, against) = (milliseconds(check.reported), milliseconds(check.against));
    let missing = match dag.meta.cpu.as_ref().map_or(0, |cpu| cpu.missing) {
        0 => String::new(),
        n => format!(" {n} of the kernel's context switches are missing."),
    };
    match check.invariant {
        Invariant::WorkWithinCpus => format!(
            "The recording contradicts itself: its tasks ran for {reported} on the CPUs, which had {against} in all. Times off the CPU \
             are missing, so work, span and busy workers are too high.{missing}"
        ),
        Invariant::WorkWithinProcess => format!(
            "The recording contradicts itself: its tasks ran for {reported} on the CPUs, and the process used {against}. Times off the \
             CPU are missing, so work, span and busy workers are too high.{missing}"
        ),
        Invariant::WorkWithinThread => format!(
            "The recording contradicts itself: the tasks on one thread ran for {reported} on the CPUs, and the thread used {against}. \
             Times off the CPU are missing, so work, span and busy workers are too high.{missing}"
        ),
        Invariant::PartsWithinProcess => format!(
            "The recording contradicts itself: tasks, idle workers and other threads used {reported} of CPU time, and the process \
             {against}. Times off the CPU are missing between tasks, so the CPU time of idle workers is too high.{missing}"
        ),
        Invariant::ThreadsMakeProcess => format!(
            "Off-CPU times are not exact: all threads used {reported} of CPU time according to their context switches, and \
            {against} according to the process's clock.{missing}"
        ),
        // The process's own clock is a third measure: if it agrees with the work, samples are
        // missing.
        Invariant::SamplesMakeWork
            if check.reported < check.against
                && dag.meta.cpu.as_ref().is_some_and(|cpu| {
                    u128::from(cpu.process.unwrap_or(0)) >= check.against as u128
                }) =>
        {
            let (incomplete, without) = match dag.meta.run.kernel_sampled {
                true => ("are incomplete", ""),
                false => (
                    "are of user code only",
                    "; time in the kernel (system calls, page faults) has none",
                ),
            };
            format!(
                "Samples {incomplete}: they cover {reported} of the {against} that the tasks ran on the CPUs{without}. Shares of \
                functions and lines are of these samples only."
            )
        }
        Invariant::SamplesMakeWork => format!(
            "Samples and work contradict each other: the tasks ran for {reported} on the CPUs according to samples, and for \
            {against} according to their strands."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::CpuAccount;

    /// A process of a second, of which `strands` ns are in strands.
    fn account(strands: u64) -> CpuAccount {
        CpuAccount {
            process: 1_000_000_000,
            strands,
            between: 0,
            outside: 0,
        }
    }

    #[test]
    fn context_switches_explain_missing_time_within_reason() {
        let missing = |strands, switches| account(strands).missing_per_switch(switches);
        assert_eq!(missing(700_000_000, 100_000), Some(3000));
        // Too long for a switch.
        assert_eq!(missing(700_000_000, 10_000), None);
        assert_eq!(missing(700_000_000, 0), None);
        // Within the error of the clocks, and more than the process used.
        assert_eq!(missing(990_000_000, 100_000), None);
        assert_eq!(missing(1_300_000_000, 100_000), None);
    }
}
