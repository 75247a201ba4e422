//! The times for which strands were ready before they started, in columns.

use workspan_dag::{Dag, EdgeKind, StrandId};

use crate::column::Column;
use crate::ready::ReadyInterval;

/// The strands that were ready for some time before they started (MODEL.md §5), in the order of
/// starts. About 8 bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyIntervals {
    strands: Vec<StrandId>,
    /// Time for which each was ready, in ticks.
    ticks: Column,
    /// The kind of edge that made each ready.
    kinds: Vec<EdgeKind>,
}

impl ReadyIntervals {
    pub(crate) fn new(dag: &Dag, waiting: &[ReadyInterval]) -> ReadyIntervals {
        let start = |w: &ReadyInterval| dag.strands.start[w.strand as usize];
        ReadyIntervals {
            strands: waiting.iter().map(|w| w.strand).collect(),
            ticks: Column::new(|| waiting.iter().map(|w| start(w).saturating_sub(w.ready))),
            kinds: waiting.iter().map(|w| w.kind).collect(),
        }
    }

    /// Number of these strands.
    pub fn len(&self) -> usize {
        self.strands.len()
    }

    /// True if there are no such strands.
    pub fn is_empty(&self) -> bool {
        self.strands.is_empty()
    }

    /// The strands, ascending.
    pub fn strands(&self) -> &[StrandId] {
        &self.strands
    }

    /// When the `i`-th of them became ready, in absolute ticks.
    ///
    /// # Panics
    /// If there is no such strand.
    pub fn at(&self, dag: &Dag, i: usize) -> u64 {
        let start = dag.strands.start[self.strands[i] as usize];
        start.saturating_sub(self.ticks.get(i))
    }

    /// The kind of edge that made the `i`-th of them ready.
    ///
    /// # Panics
    /// If there is no such strand.
    pub fn kind(&self, i: usize) -> EdgeKind {
        self.kinds[i]
    }

    /// When strand `s` became ready and by which edge; `None` if it started at that moment.
    pub fn of(&self, dag: &Dag, s: StrandId) -> Option<(u64, EdgeKind)> {
        let i = self.strands.binary_search(&s).ok()?;
        Some((self.at(dag, i), self.kinds[i]))
    }
}
