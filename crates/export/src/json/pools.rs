//! The table of pools, as JSON.

use serde::Serialize;
use workspan_analysis::{PoolRow, Report};
use workspan_dag::Dag;

use super::Ratio;

/// A pool; times in ticks.
#[derive(Serialize)]
pub(super) struct PoolJson<'a> {
    pool: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    built: Option<&'a str>,
    workers: u32,
    elapsed: u64,
    strands: u64,
    work: u128,
    span: u128,
    delay: u128,
    blocked: u128,
    busy: Ratio,
    enough: u32,
}

pub(super) fn pools<'a>(dag: &'a Dag, report: &Report) -> Vec<PoolJson<'a>> {
    report.pools.iter().map(|row| pool(dag, row)).collect()
}

fn pool<'a>(dag: &'a Dag, row: &PoolRow) -> PoolJson<'a> {
    let facts = dag.pools.list.get(row.pool as usize);
    PoolJson {
        pool: row.pool,
        built: facts.and_then(|facts| facts.built.as_deref()),
        workers: row.size,
        elapsed: row.elapsed,
        strands: row.strands,
        work: row.work,
        span: row.span,
        delay: row.delay,
        blocked: row.blocked,
        busy: Ratio(row.busy()),
        enough: row.enough,
    }
}
