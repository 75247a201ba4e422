//! Chooses the processes of a run that are kept, in one trace or a trace each, and describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use workspan_trace::bundle::MAX_TRACES;

use super::UnnamedTrace;
use crate::trace_file::finalize::{FinalTrace, private};

/// Separates the processes that the run consists of from shells, launchers and the like. If there
/// are ranks or parallel programs, those are the run; otherwise it is all processes that started no
/// other.
pub(super) fn of_run(recorded: Vec<UnnamedTrace>) -> (Vec<UnnamedTrace>, Vec<UnnamedTrace>) {
    let is_any = |is: fn(&FinalTrace) -> bool| recorded.iter().any(|one| is(&one.trace));
    let has_rank = |trace: &FinalTrace| trace.rank.is_some();
    let (ranks, parallel) = (is_any(has_rank), is_any(is_parallel));
    let starters: BTreeSet<u32> = recorded.iter().map(|one| one.trace.process.1).collect();
    let mut left = MAX_TRACES;
    recorded.into_iter().partition(|one| {
        let trace = &one.trace;
        let is_kept = left > 0
            && match (ranks, parallel) {
                (true, _) => has_rank(trace) || trace.tasks > 0,
                (false, true) => is_parallel(trace),
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

/// Leaves out the processes without parallelism, mostly shells and launchers, if there are others.
/// Returns the rest, the index of the main one in it, and the number of processes left out.
pub(super) fn without_serial(
    recorded: Vec<UnnamedTrace>,
    main: usize,
) -> (Vec<UnnamedTrace>, usize, usize) {
    let mut kept = Vec::new();
    let (mut place, mut serial) = (0, 0);
    for (at, one) in recorded.into_iter().enumerate() {
        if at == main {
            place = kept.len();
        } else if one.trace.tasks == 0 {
            serial += 1;
            // A file that cannot be removed is only an additional trace.
            let _ = std::fs::remove_file(&one.half);
            continue;
        }
        kept.push(one);
    }
    (kept, place, serial)
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
}
