//! Strands that stood ready, in columns.

use workspan_dag::{Dag, EdgeKind, StrandId};

use crate::column::Column;
use crate::ready::ReadyInterval;

/// The strands that stood ready for some time (MODEL.md §5), in the order in which they start: about 8 bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyIntervals {
    strands: Vec<StrandId>,
    /// For how many ticks.
    ticks: Column,
    /// By which edge they were ready.
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

    /// How many did.
    pub fn len(&self) -> usize {
        self.strands.len()
    }

    /// True when none did.
    pub fn is_empty(&self) -> bool {
        self.strands.is_empty()
    }

    /// The strands, ascending.
    pub fn strands(&self) -> &[StrandId] {
        &self.strands
    }

    /// When the `i`-th of them was ready, absolute ticks.
    ///
    /// # Panics
    /// There are not so many.
    pub fn at(&self, dag: &Dag, i: usize) -> u64 {
        let start = dag.strands.start[self.strands[i] as usize];
        start.saturating_sub(self.ticks.get(i))
    }

    /// By which edge the `i`-th of them was ready.
    ///
    /// # Panics
    /// There are not so many.
    pub fn kind(&self, i: usize) -> EdgeKind {
        self.kinds[i]
    }

    /// When strand `s` was ready and by which edge; `None` when it started the moment it was.
    pub fn of(&self, dag: &Dag, s: StrandId) -> Option<(u64, EdgeKind)> {
        let i = self.strands.binary_search(&s).ok()?;
        Some((self.at(dag, i), self.kinds[i]))
    }
}
