//! The ready path (MODEL.md §5).

use workspan_dag::{Dag, EdgeKind, StrandId};

use crate::predecessors::ready_chain;
use crate::runtime_gaps::{RuntimeGap, total_ticks};
use crate::sweep::extent;

/// The ready path (MODEL.md §5). From the strand that ended last it always goes back to the
/// predecessor that ended last, and from a wait to the thread that ended it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadyPath {
    /// Ticks in which a strand of the path ran, on or off the CPU. The time before its first strand
    /// counts too.
    pub work: u64,
    /// Ticks in a gap with no worker free.
    pub busy_delay: u64,
    /// Ticks in a gap with some worker free.
    pub scheduler_delay: u64,
    /// Its strands, first to last, each with the kind of edge that leads to it (`None` for the
    /// first).
    pub strands: Vec<(StrandId, Option<EdgeKind>)>,
}

/// The path's strands and its `work`. The two delays depend on what the workers did in the gaps;
/// they are 0 here, and the breakdown fills them in. O(n + path · log n).
pub fn ready_path(dag: &Dag) -> ReadyPath {
    let ends = &dag.strands.end;
    let strands = ready_chain(dag);
    let lengths = strands
        .iter()
        .map(|&(s, _)| ends[s as usize] - dag.strands.start[s as usize]);
    let before = strands
        .first()
        .map_or(0, |&(s, _)| dag.strands.start[s as usize] - extent(dag).0);
    ReadyPath {
        work: before + lengths.sum::<u64>(),
        strands,
        ..ReadyPath::default()
    }
}

impl ReadyPath {
    /// Corrects `sums`: the time between the strands inside folded strands of this path is not
    /// work, but delay with a free worker.
    pub(crate) fn leave_out(&self, between: &[RuntimeGap], sums: &mut ReadyPath) {
        let mut path = self.strands.iter().map(|s| s.0).peekable();
        let on_path = between.iter().filter(|b| {
            while path.next_if(|&s| s < b.strand).is_some() {}
            path.peek() == Some(&b.strand)
        });
        let ticks = (total_ticks(on_path) as u64).min(self.work);
        sums.work = self.work - ticks;
        sums.scheduler_delay += ticks;
    }
}

/// Answers whether times lie in a gap between two strands of the path. Queries must be in ascending
/// order.
pub(crate) struct Gaps<'a> {
    dag: &'a Dag,
    strands: &'a [(StrandId, Option<EdgeKind>)],
    /// The first strand of the path that has not started yet.
    next: usize,
}

impl<'a> Gaps<'a> {
    pub(crate) fn new(dag: &'a Dag, path: &'a ReadyPath) -> Gaps<'a> {
        Gaps {
            dag,
            strands: &path.strands,
            next: 0,
        }
    }

    /// Gaps for times from `time` on.
    pub(crate) fn from(dag: &'a Dag, path: &'a ReadyPath, time: u64) -> Gaps<'a> {
        let starts = &dag.strands.start;
        let next = path
            .strands
            .partition_point(|s| starts[s.0 as usize] <= time);
        Gaps {
            next,
            ..Gaps::new(dag, path)
        }
    }

    /// Ticks of `[from, to)` in gaps; the next query must not be before `to`.
    pub(crate) fn within(&mut self, from: u64, to: u64) -> u64 {
        let strands = &self.dag.strands;
        let mut ticks = 0;
        let mut at = from;
        while at < to {
            let in_gap = self.contain(at);
            // Until the path continues, or its running strand ends.
            let next = self
                .strands
                .get(self.next)
                .map(|s| strands.start[s.0 as usize]);
            let mut until = next.unwrap_or(to).min(to);
            if in_gap {
                ticks += until - at;
            } else if let Some(running) = self.next.checked_sub(1) {
                until = until.min(strands.end[self.strands[running].0 as usize]);
            }
            at = until;
        }
        ticks
    }

    pub(crate) fn contain(&mut self, time: u64) -> bool {
        let strands = &self.dag.strands;
        while let Some(&(s, _)) = self.strands.get(self.next)
            && strands.start[s as usize] <= time
        {
            self.next += 1;
        }
        let before = self.next.checked_sub(1).map(|i| self.strands[i].0);
        before.is_some_and(|s| strands.end[s as usize] <= time)
    }
}
