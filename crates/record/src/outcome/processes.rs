//! Chooses the processes of a run that are kept, in one trace or a trace each, and describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use workspan_trace::bundle::MAX_TRACES;

use super::UnnamedTrace;
use crate::options::processes::is_launcher;
use crate::trace_file::finalize::{FinalTrace, private};

/// A process that starts no other is part of the run if it used at least this share, one in so
/// many, of the CPU time of the busiest process.
const MIN_CPU_SHARE: u64 = 10;

/// Separates the processes that the run consists of from shells, launchers and the like. If there
/// are ranks, those and the programs with tasks are the run; otherwise it is parallel programs, if
/// there are any, and the serial ones that did much of the work; otherwise all processes that
/// started no other.
pub(super) fn of_run(recorded: Vec<UnnamedTrace>) -> (Vec<UnnamedTrace>, Vec<UnnamedTrace>) {
    let is_any = |is: fn(&FinalTrace) -> bool| recorded.iter().any(|one| is(&one.trace));
    let has_rank = |trace: &FinalTrace| trace.rank.is_some();
    let (ranks, parallel) = (is_any(has_rank), is_any(is_parallel));
    let starters: BTreeSet<u32> = recorded.iter().map(|one| one.trace.process.1).collect();
    let busiest = recorded.iter().map(|one| one.trace.cpu_ns).max();
    let busy_ns = (busiest.unwrap_or(0) / MIN_CPU_SHARE).max(1);
    // A shell that became another program by exec has its process id, and so its CPU time.
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for one in &recorded {
        let last = last.entry(one.trace.process.0).or_default();
        *last = (*last).max(one.trace.started);
    }
    let is_busy = |trace: &FinalTrace| {
        let pid = trace.process.0;
        let is_last = last.get(&pid) == Some(&trace.started);
        trace.cpu_ns >= busy_ns && is_last && !starters.contains(&pid)
    };
    let mut left = MAX_TRACES;
    recorded.into_iter().partition(|one| {
        let trace = &one.trace;
        let is_kept = left > 0
            && match (ranks, parallel) {
                (true, _) => has_rank(trace) || trace.tasks > 0,
                (false, true) => is_parallel(trace) || is_busy(trace),
                (false, false) => !starters.contains(&trace.process.0),
            };
        left -= usize::from(is_kept);
        is_kept
    })
}

fn is_parallel(trace: &FinalTrace) -> bool {
    trace.tasks > 0 || trace.threads
}

/// Writes one trace of all processes. Returns the facts about the run.
///
/// # Errors
/// A trace can't be read, or the file can't be written.
pub(super) fn bundle(recorded: &[UnnamedTrace], to: &Path) -> anyhow::Result<FinalTrace> {
    let read = |one: &UnnamedTrace| {
        std::fs::read(&one.half).with_context(|| one.half.display().to_string())
    };
    let traces: Vec<Vec<u8>> = recorded.iter().map(read).collect::<anyhow::Result<_>>()?;
    let bytes: Vec<&[u8]> = traces.iter().map(Vec::as_slice).collect();
    let unwritten = || {
        format!(
            "{}: could not write the trace of all processes",
            to.display()
        )
    };
    let file = private(to).with_context(unwritten)?;
    workspan_reader::processes::write(&bytes, BufWriter::new(file)).with_context(unwritten)?;
    for one in recorded {
        // The file then stays in the folder of spool files, and the message says so.
        let _ = std::fs::remove_file(&one.half);
    }
    let all = || recorded.iter().map(|one| &one.trace);
    let first = all().min_by_key(|trace| trace.started);
    let mut run = FinalTrace {
        name: name(all()),
        tasks: all().map(|trace| trace.tasks).sum(),
        threads: all().any(|trace| trace.threads || trace.rank.is_some()),
        ..first.cloned().unwrap_or_default()
    };
    for trace in all() {
        for runtime in &trace.runtimes {
            if !run.runtimes.contains(runtime) {
                run.runtimes.push(runtime.clone());
            }
        }
    }
    Ok(run)
}

/// The most frequent name of the processes.
fn name<'a>(traces: impl Iterator<Item = &'a FinalTrace>) -> String {
    let mut count: BTreeMap<&str, u32> = BTreeMap::new();
    for trace in traces {
        *count.entry(&trace.name).or_default() += 1;
    }
    let most = count.into_iter().max_by_key(|(_, count)| *count);
    most.map_or_else(|| "run".to_owned(), |(name, _)| name.to_owned())
}

/// The number of processes in the trace, as a text.
pub(super) fn describe(traces: &[FinalTrace]) -> String {
    let ranks: BTreeSet<u32> = traces.iter().filter_map(|trace| trace.rank).collect();
    match ranks.len() {
        0 => format!("{} processes are one run in it", traces.len()),
        n if n == traces.len() => format!("{n} ranks are one run in it"),
        n => format!("{} processes of {n} ranks are one run in it", traces.len()),
    }
}

/// A sentence for a run in which only the launcher was recorded.
pub(super) fn launcher_alone(recorded: &[UnnamedTrace]) -> Option<String> {
    let [UnnamedTrace { trace, .. }] = recorded else {
        return None;
    };
    is_launcher(trace.name.as_ref()).then(|| {
        format!(
            "only {0} itself was recorded, nothing that it started: {0} must pass its environment on (srun: --export=ALL), \
             and the programs must be dynamically linked",
            trace.name
        )
    })
}

/// Leaves out the processes without parallelism, mostly shells and launchers, if there are others.
/// Returns the rest, the index of the main one in it, and the number of processes left out.
pub(super) fn without_serial(
    recorded: Vec<UnnamedTrace>,
    main: usize,
) -> (Vec<UnnamedTrace>, usize, usize) {
    let mut rest = Vec::new();
    let (mut place, mut serial) = (0, 0);
    for (at, one) in recorded.into_iter().enumerate() {
        if at == main {
            place = rest.len();
        } else if one.trace.tasks == 0 {
            serial += 1;
            // A file that cannot be removed is only an additional trace.
            let _ = std::fs::remove_file(&one.half);
            continue;
        }
        rest.push(one);
    }
    (rest, place, serial)
}

pub(super) fn left_out(serial: usize) -> String {
    match serial {
        1 => "one more process ran nothing parallel; its trace is not kept".to_owned(),
        n => format!("{n} more processes ran nothing parallel; their traces are not kept"),
    }
}

/// For each process with tasks, or with nothing but forks, a sentence with the number of forked
/// children that were not recorded.
pub(super) fn bare_children(traces: &[FinalTrace]) -> Vec<String> {
    let parallel = traces.iter().any(|trace| trace.tasks > 0);
    let unrecorded = |trace: &FinalTrace| {
        let pid = trace.process.0;
        let recorded = traces.iter().filter(|other| other.process.1 == pid);
        trace.forked.saturating_sub(recorded.count() as u64)
    };
    traces
        .iter()
        .filter(|trace| trace.tasks > 0 || !parallel)
        .map(|trace| (trace, unrecorded(trace)))
        .filter(|(_, children)| *children > 0)
        .map(|(trace, children)| {
            format!(
                "{} forked {children} {} not recorded: only a child that goes on by exec, into a program that is not static, can \
                 be (Python: multiprocessing.set_start_method(\"spawn\"))",
                trace.name,
                if children == 1 { "child that was" } else { "children that were" }
            )
        })
        .collect()
}

/// The processes without a trace, as far as the kernel saw them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Unrecorded {
    processes: usize,
    cpu_ns: u64,
    /// The CPU time of all processes.
    of_ns: u64,
}

impl Unrecorded {
    /// The ones without a trace, given the CPU time of each process.
    pub(super) fn among(cpu_ns: BTreeMap<u32, u64>, recorded: &[UnnamedTrace]) -> Unrecorded {
        // In a container on this host, a process is watched under another id than its own.
        if recorded.iter().any(|one| one.trace.outside_watch) {
            return Unrecorded::default();
        }
        let known: BTreeSet<u32> = recorded.iter().map(|one| one.trace.process.0).collect();
        let others = || cpu_ns.iter().filter(|(pid, _)| !known.contains(pid));
        Unrecorded {
            processes: others().count(),
            cpu_ns: others().map(|(_, ns)| ns).sum(),
            of_ns: cpu_ns.values().sum(),
        }
    }

    /// A sentence about them, if they used much of the CPU time.
    pub(super) fn describe(self) -> Option<String> {
        const MIN_PERCENT: u64 = 5;
        const MIN_NS: u64 = 10_000_000;
        let percent = u128::from(self.cpu_ns) * 100 / u128::from(self.of_ns.max(1));
        if self.cpu_ns < MIN_NS || percent < u128::from(MIN_PERCENT) {
            return None;
        }
        let who = match self.processes {
            1 => "a process that was not recorded".to_owned(),
            n => format!("{n} processes that were not recorded"),
        };
        Some(format!(
            "{who} used {} ms of CPU time, {percent} % of all: children that only fork, static programs, and programs that got \
             an emptied environment cannot be recorded",
            self.cpu_ns / 1_000_000
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::TraceSize;
    use super::*;

    fn recorded(pid: u32, parent: u32, rank: Option<u32>, tasks: u64) -> UnnamedTrace {
        UnnamedTrace {
            half: format!("trace-{pid}").into(),
            trace: FinalTrace {
                process: (pid, parent),
                rank,
                tasks,
                ..FinalTrace::default()
            },
            size: TraceSize::default(),
        }
    }

    fn kept(recorded: Vec<UnnamedTrace>) -> Vec<u32> {
        let (kept, _) = of_run(recorded);
        kept.iter().map(|one| one.trace.process.0).collect()
    }

    #[test]
    fn a_launcher_that_is_alone_is_no_run() {
        let named = |name: &str| {
            let mut one = recorded(1, 0, None, 0);
            one.trace.name = name.to_owned();
            [one]
        };
        assert!(launcher_alone(&named("solve")).is_none());
        let text = launcher_alone(&named("srun")).unwrap();
        assert!(text.starts_with("only srun itself was recorded"), "{text}");
    }

    #[test]
    fn unrecorded_processes_are_told_by_their_cpu_time() {
        let traces = [recorded(1, 0, None, 0), recorded(2, 1, None, 0)];
        let warning = |others: &[(u32, u64)]| {
            let known = [(1, 20_000_000), (2, 70_000_000)];
            let all = known.into_iter().chain(others.iter().copied());
            Unrecorded::among(all.collect(), &traces).describe()
        };
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(&[(7, 3_000_000)]), None);
        let text = warning(&[(7, 3_000_000), (8, 7_000_000)]).unwrap();
        assert!(
            text.starts_with(
                "2 processes that were not recorded used 10 ms of CPU time, 10 % of all"
            ),
            "{text}"
        );
    }

    #[test]
    fn launchers_are_no_part_of_the_run() {
        let mpi = vec![
            recorded(1, 0, None, 0),
            recorded(2, 1, Some(0), 0),
            recorded(3, 1, Some(1), 0),
        ];
        assert_eq!(kept(mpi), [2, 3]);
        let parallel = vec![recorded(1, 0, None, 0), recorded(2, 1, None, 5)];
        assert_eq!(kept(parallel), [2]);
        let serial = vec![
            recorded(1, 0, None, 0),
            recorded(2, 1, None, 0),
            recorded(3, 1, None, 0),
            recorded(4, 3, None, 0),
        ];
        assert_eq!(kept(serial), [2, 4]);
    }

    #[test]
    fn serial_processes_that_did_the_work_are_part_of_the_run() {
        let used = |cpu_ns, mut one: UnnamedTrace| {
            one.trace.cpu_ns = cpu_ns;
            one
        };
        let mut pool = recorded(2, 1, None, 0);
        pool.trace.threads = true;
        // A shell starts a program with helper threads, which has two others do its work.
        let mut run = vec![
            used(1_000_000, recorded(1, 0, None, 0)),
            used(3_000_000, pool),
            used(400_000_000, recorded(3, 2, None, 0)),
            used(500_000_000, recorded(4, 2, None, 0)),
            used(2_000_000, recorded(5, 2, None, 0)),
            used(300_000_000, recorded(6, 2, None, 0)),
            used(300_000_000, recorded(6, 2, None, 0)),
        ];
        // The second of these is what the first became by exec.
        run[6].trace.started = 1;
        assert_eq!(kept(run), [2, 3, 4, 6]);
    }
}
