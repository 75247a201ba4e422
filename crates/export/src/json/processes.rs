//! The table of processes, as JSON.

use serde::Serialize;
use workspan_analysis::{ProcessRow, Report};
use workspan_dag::{Dag, Process};

/// A process; times in ticks.
#[derive(Serialize)]
pub(super) struct ProcessJson<'a> {
    process: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    name: &'a str,
    pid: u32,
    workers: u32,
    elapsed: u64,
    strands: u64,
    work: u128,
    descheduled: u128,
    blocked: u128,
    waited: u128,
    awaited: u128,
    communication: u64,
}

pub(super) fn processes<'a>(dag: &'a Dag, report: &Report) -> Vec<ProcessJson<'a>> {
    let json = |row: &ProcessRow| {
        let process: &Process = dag.meta.processes.list.get(row.process)?;
        Some(ProcessJson {
            process: row.process,
            rank: process.rank,
            name: &process.name,
            pid: process.pid,
            workers: process.workers,
            elapsed: row.elapsed,
            strands: row.strands,
            work: row.work,
            descheduled: row.descheduled,
            blocked: row.blocked,
            waited: row.waited,
            awaited: row.awaited,
            communication: row.communication,
        })
    };
    report.processes.iter().filter_map(json).collect()
}
