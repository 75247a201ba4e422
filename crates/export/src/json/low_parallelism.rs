//! Intervals of low parallelism, as JSON.

use serde::Serialize;
use workspan_analysis::{CodeBlock, LowParallelism};
use workspan_dag::Dag;

use super::Ratio;
use super::sites::{PositionJson, end, start};
use crate::position::label;

/// An interval of low parallelism, in ticks.
#[derive(Serialize)]
pub(super) struct LowParallelismJson<'a> {
    begin: u64,
    end: u64,
    lost: u128,
    lost_percent: Ratio,
    strands: Vec<LowStrandJson<'a>>,
}

#[derive(Serialize)]
struct LowStrandJson<'a> {
    task: u64,
    site: &'a str,
    worker: u32,
    start: u64,
    end: u64,
    ticks: u64,
    alone: u64,
    from: PositionJson<'a>,
    to: PositionJson<'a>,
}

pub(super) fn low<'a>(dag: &'a Dag, interval: &LowParallelism) -> LowParallelismJson<'a> {
    let strands = interval.strands.iter().map(|s| {
        let i = s.strand as usize;
        let block = CodeBlock::from_strand(dag, s.strand);
        LowStrandJson {
            task: dag.tasks.number(s.task),
            site: label(dag, dag.tasks.site[s.task as usize]),
            worker: s.thread,
            start: dag.strands.start[i],
            end: dag.strands.end[i],
            ticks: s.ticks,
            alone: s.alone,
            from: start(dag, &block),
            to: end(dag, &block),
        }
    });
    LowParallelismJson {
        begin: interval.begin,
        end: interval.end,
        lost: interval.lost,
        lost_percent: Ratio(interval.lost_percent),
        strands: strands.collect(),
    }
}
