//! `critical`: the rows of the critical path.

use std::cmp::Reverse;

use serde::Serialize;
use workspan_dag::StrandId;

use super::since;
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};

/// Maximum number of rows in an answer.
const MAX_ROWS: usize = 500;

/// The contract's `CriticalPath`.
#[derive(Serialize)]
struct CriticalPath {
    span: u64,
    rows: Vec<Row>,
    /// Number of rows that were joined to rows of other code.
    joined: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Row {
    code: u16,
    site: u16,
    row: u16,
    /// The size that the tasks of its strands told, if it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    strands: u64,
    weight: u64,
    start: u64,
    end: u64,
    /// Mean number of strands that ran during the row.
    busy: f64,
    /// The heaviest strand of the row.
    strand: StrandId,
    /// Its weight.
    heaviest: u64,
}

/// `critical`: the path's strands, root first; consecutive strands of the same code, and of tasks
/// of the same size, are one row.
/// The weights of the rows add up to the span.
///
/// # Errors
/// The run is loading.
pub(crate) fn critical(run: &Run) -> Result<Reply, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    let rows = rows(model);
    let span = rows
        .iter()
        .fold(0, |sum: u64, row| sum.saturating_add(row.weight));
    let before = rows.len();
    let mut rows = shorter(rows);
    let at = |t: u64| t.saturating_add(model.begin);
    for row in &mut rows {
        let (from, to) = (at(row.start), at(row.end));
        row.busy = index.mean_busy(model, from, to);
    }
    let joined = before - rows.len();
    Reply::json(&CriticalPath { span, rows, joined })
}

fn rows(model: &RunModel) -> Vec<Row> {
    let dag = &*model.dag;
    let mut rows: Vec<Row> = Vec::new();
    for s in (0..dag.strands.len() as StrandId).filter(|&s| model.critical(s)) {
        let i = s as usize;
        let weight = model.path_weight(s);
        let row = Row {
            code: model.codes.of(s),
            site: model.sites.of(dag.tasks.site[dag.strands.task[i] as usize]),
            row: model.rows.of(dag.strands.thread[i]),
            size: model.sizes.of_strand(dag, s),
            strands: 1,
            weight,
            start: since(model, dag.strands.start[i]),
            end: since(model, dag.strands.end[i]),
            busy: 0.0,
            strand: s,
            heaviest: weight,
        };
        match rows.last_mut() {
            Some(last) if last.code == row.code && last.size == row.size => join(last, &row),
            _ => rows.push(row),
        }
    }
    rows
}

/// Joins `other` to `row`. The heaviest strand of both gives the joined row its place on the
/// timeline and its site.
fn join(row: &mut Row, other: &Row) {
    row.size = row.size.filter(|&size| other.size == Some(size));
    row.strands += other.strands;
    row.weight = row.weight.saturating_add(other.weight);
    row.start = row.start.min(other.start);
    row.end = row.end.max(other.end);
    if other.heaviest > row.heaviest {
        (row.strand, row.heaviest) = (other.strand, other.heaviest);
        (row.row, row.site) = (other.row, other.site);
    }
}

/// The heaviest rows, with the others joined to the row before them.
fn shorter(rows: Vec<Row>) -> Vec<Row> {
    if rows.len() <= MAX_ROWS {
        return rows;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| (Reverse(rows[i].weight), i));
    let mut heavy = vec![false; rows.len()];
    for &i in order.iter().take(MAX_ROWS) {
        heavy[i] = true;
    }
    let mut out: Vec<Row> = Vec::with_capacity(MAX_ROWS);
    let mut light: Option<Row> = None;
    for (row, heavy) in rows.into_iter().zip(heavy) {
        match (out.last_mut(), heavy) {
            (Some(last), false) => join(last, &row),
            (None, false) => match &mut light {
                Some(light) => join(light, &row),
                None => light = Some(row),
            },
            (_, true) => {
                let mut row = row;
                if let Some(light) = light.take() {
                    join(&mut row, &light);
                }
                out.push(row);
            }
        }
    }
    out
}
