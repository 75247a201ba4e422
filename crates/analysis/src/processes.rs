//! Statistics of each process of a run with several, and who waited for it.

use workspan_dag::{Dag, StrandId, WaitKind, WaitKinds};

use crate::off_cpu::OffCpuCursor;
use crate::weight::Weights;

/// Statistics of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessRow {
    /// Index into the processes of the run.
    pub process: usize,
    /// How long it existed, in ticks.
    pub elapsed: u64,
    /// Number of strands that its threads ran.
    pub strands: u64,
    /// The weight of these strands.
    pub work: u128,
    /// Ticks in which its strands could have run but had no CPU.
    pub descheduled: u128,
    /// Ticks in which its strands had given up the CPU, for whatever reason.
    pub blocked: u128,
    /// The part of `blocked` in which they waited for other ranks in calls of MPI.
    pub waited: u128,
    /// Ticks in which other ranks waited for this one.
    pub awaited: u128,
    /// Ticks in calls of MPI without a wait for a late rank: the library's own time.
    pub communication: u64,
}

/// The processes of the run; empty for a run of one process. O(n log n).
pub(crate) fn processes(dag: &Dag, weights: &Weights) -> Vec<ProcessRow> {
    let processes = &dag.meta.processes;
    let row = |(process, facts): (usize, &workspan_dag::Process)| ProcessRow {
        process,
        elapsed: facts.to.saturating_sub(facts.from),
        ..ProcessRow::default()
    };
    let mut rows: Vec<ProcessRow> = processes.list.iter().enumerate().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let mut offs = OffCpuCursor::new(dag);
    for s in 0..dag.strands.len() as StrandId {
        let off = offs.inside(s);
        let i = s as usize;
        let process = processes.of(dag.strands.thread[i], dag.strands.start[i]);
        if let Some(row) = process.and_then(|process| rows.get_mut(process)) {
            row.strands += 1;
            row.work += u128::from(weights.work(s));
            row.blocked += u128::from(off.blocked);
            row.descheduled += u128::from(off.descheduled);
        }
    }
    let mut kinds = WaitKinds::new(&dag.samples);
    for stop in &dag.samples.stops {
        let Some(wait) = stop.wait else { continue };
        if kinds.of(stop) != WaitKind::Rank {
            continue;
        }
        let waiting = processes.of(stop.thread, stop.t);
        if let Some(row) = waiting.and_then(|process| rows.get_mut(process)) {
            row.waited += u128::from(stop.ticks);
        }
        let late = processes.of(wait.by, stop.t.saturating_add(wait.held));
        if let Some(row) = late.and_then(|process| rows.get_mut(process)) {
            row.awaited += u128::from(stop.ticks);
        }
    }
    for (row, facts) in rows.iter_mut().zip(&processes.list) {
        let waited = u64::try_from(row.waited).unwrap_or(u64::MAX);
        row.communication = facts.in_mpi.saturating_sub(waited);
    }
    rows
}
