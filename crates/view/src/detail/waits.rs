//! The waits of a strand: their kind, their place, and the thread that ended each.

use serde::Serialize;
use workspan_analysis::program_line;
use workspan_dag::{Dag, NONE, StrandId};

use super::since;
use crate::run::RunModel;
use crate::timeline::Wait;

/// Maximum number of waits given one by one.
const MAX_WAITS: usize = 6;

#[derive(Serialize)]
pub(super) struct WaitWords {
    start: u64,
    end: u64,
    kind: &'static str,
    at: Option<Line>,
    by: Option<By>,
    released: Option<u64>,
    released_at: Option<Line>,
    critical: bool,
}

/// The thread that ended a wait.
#[derive(Serialize)]
struct By {
    row: u16,
    strand: Option<StrandId>,
    task: Option<u32>,
}

/// A line of the program.
#[derive(Serialize)]
struct Line {
    function: String,
    file: Option<String>,
    line: Option<u32>,
}

impl Line {
    fn of(dag: &Dag, stack: u32) -> Option<Line> {
        let frame = (stack != NONE)
            .then(|| program_line(dag, stack))
            .flatten()?;
        Some(Line {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
        })
    }
}

/// The longest of the waits; `waits` is sorted by length, longest first.
pub(super) fn words(model: &RunModel, waits: &[&Wait]) -> Vec<WaitWords> {
    let dag = &*model.dag;
    let of = |wait: &&Wait| {
        let stop = &dag.samples.stops[wait.stop as usize];
        let released_at = stop.wait.map_or(NONE, |wait| wait.released_at);
        let is_told = wait.by != NONE;
        WaitWords {
            start: since(model, wait.start),
            end: since(model, wait.end),
            kind: wait.kind.name(),
            at: Line::of(dag, stop.stack),
            by: is_told.then(|| By {
                row: model.rows.of(wait.by),
                strand: Some(wait.by_strand).filter(|&s| s != NONE),
                task: dag.strands.task.get(wait.by_strand as usize).copied(),
            }),
            released: is_told.then(|| since(model, wait.released)),
            released_at: Line::of(dag, released_at),
            critical: wait.critical,
        }
    };
    waits.iter().take(MAX_WAITS).map(of).collect()
}

/// The number of some waits, and the sum of their times.
#[derive(Serialize)]
pub(super) struct Sum {
    count: usize,
    ticks: u64,
}

impl Sum {
    pub(super) fn of(waits: &[&Wait]) -> Sum {
        Sum {
            count: waits.len(),
            ticks: waits.iter().map(|w| w.end - w.start).sum(),
        }
    }
}

/// Sums over the waits of other strands that a strand ended.
#[derive(Serialize)]
pub(super) struct Ended {
    count: usize,
    ticks: u64,
    longest: Option<Longest>,
}

#[derive(Serialize)]
struct Longest {
    row: u16,
    strand: StrandId,
    task: u32,
    start: u64,
    end: u64,
}

impl Ended {
    pub(super) fn of(model: &RunModel, waits: &[&Wait]) -> Ended {
        let Sum { count, ticks } = Sum::of(waits);
        let longest = waits.iter().find(|wait| wait.strand != NONE);
        Ended {
            count,
            ticks,
            longest: longest.map(|wait| Longest {
                row: model.rows.of(wait.thread),
                strand: wait.strand,
                task: model.dag.strands.task[wait.strand as usize],
                start: since(model, wait.start),
                end: since(model, wait.end),
            }),
        }
    }
}
