//! The size of a trace, by which the main one of several is chosen.

use std::path::Path;

use workspan_dag::{Dag, TaskKind};
use workspan_reader::OpenOptions;

/// The size of a trace; measured if there are several to choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TraceSize {
    /// Ticks spent in tasks, without the roots.
    pub(super) work: u128,
    /// The number of tasks created, including those in folded strands. A process counts for more
    /// than the part of it that is kept.
    pub(super) tasks: u64,
}

/// The size of that trace without the roots, as far as it can be read.
pub(super) fn trace_size(trace: &Path) -> TraceSize {
    let options = OpenOptions {
        allow_truncated: true,
        ..OpenOptions::default()
    };
    workspan_reader::open(trace, &options)
        .map_or_else(|_| TraceSize::default(), |dag| below_roots(&dag))
}

fn below_roots(dag: &Dag) -> TraceSize {
    let is_root = |task: usize| dag.tasks.kind[task] == TaskKind::Root;
    let folded: u64 = dag.folded.iter().map(|(_, folded)| folded.tasks).sum();
    TraceSize {
        work: (0..dag.strands.len())
            .filter(|&strand| !is_root(dag.strands.task[strand] as usize))
            .map(|strand| {
                u128::from(dag.strands.end[strand].saturating_sub(dag.strands.start[strand]))
            })
            .sum(),
        tasks: (0..dag.tasks.len()).filter(|&task| !is_root(task)).count() as u64 + folded,
    }
}
