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
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
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
    let are_several = !dag.meta.processes.clocks.is_empty();
    let json = |row: &ProcessRow| {
        let process: &Process = dag.meta.processes.list.get(row.process)?;
        Some(ProcessJson {
            process: row.process,
            rank: process.rank,
            name: &process.name,
            pid: process.pid,
            host: process.host.as_deref().filter(|_| are_several),
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

/// The clock of a host, relative to the first host's.
#[derive(Serialize)]
pub(super) struct ClockJson<'a> {
    host: &'a str,
    offset_ns: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty_ns: Option<u64>,
    drift_ppm: f64,
    bounds: u64,
    contradictions: u64,
    contradict_by_ns: u64,
}

pub(super) fn clocks(dag: &Dag) -> Vec<ClockJson<'_>> {
    let clocks = dag.meta.processes.clocks.iter();
    clocks
        .map(|clock| ClockJson {
            host: &clock.host,
            offset_ns: clock.offset_ns,
            uncertainty_ns: clock.uncertainty_ns,
            drift_ppm: clock.drift / 1e3,
            bounds: clock.bounds,
            contradictions: clock.contradictions.0,
            contradict_by_ns: clock.contradictions.1,
        })
        .collect()
}
