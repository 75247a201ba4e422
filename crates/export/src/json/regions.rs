//! Marked regions and labelled parts.

use serde::Serialize;
use workspan_analysis::{PartRow, RegionRow};
use workspan_dag::Dag;

use super::Ratio;
use crate::what_if::json::outcome;

/// A region.
#[derive(Serialize)]
pub(super) struct RegionJson<'a> {
    region: &'a str,
    count: u64,
    work: u128,
    what_if: Vec<serde_json::Value>,
}

/// A labelled part (MODEL.md §4).
#[derive(Serialize)]
pub(super) struct PartJson<'a> {
    part: &'a str,
    count: u64,
    tasks: u64,
    elapsed: u128,
    work: u128,
    span: Option<u128>,
    parallelism: Option<Ratio>,
}

pub(super) fn region<'a>(dag: &'a Dag, row: &RegionRow) -> RegionJson<'a> {
    let region = dag
        .labels
        .get(row.label as usize)
        .map_or("?", String::as_str);
    RegionJson {
        region,
        count: row.count,
        work: row.work,
        what_if: row.what_if.iter().map(|o| outcome(o, &[])).collect(),
    }
}

pub(super) fn part<'a>(dag: &'a Dag, row: &PartRow) -> PartJson<'a> {
    let part = dag
        .labels
        .get(row.label as usize)
        .map_or("?", String::as_str);
    let parallelism = |span: u128| Ratio(row.work as f64 / span as f64);
    PartJson {
        part,
        count: row.count,
        tasks: row.tasks,
        elapsed: row.elapsed,
        work: row.work,
        span: row.span,
        parallelism: row.span.filter(|&span| span > 0).map(parallelism),
    }
}
