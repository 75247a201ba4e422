//! The times for which strands were ready, and how many of them were stolen (MODEL.md §5).

use workspan_dag::{Dag, EdgeKind, ThreadId};

use super::distribution::{Distribution, Groups};
use crate::predecessors::Forward;
use crate::ready::{Readiness, ready_event_in_order};

/// The times for which strands were ready.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadyTimes {
    /// Number of strands that a predecessor made ready.
    pub starts: u64,
    /// Number of steals among them by the rule of MODEL.md §5, whatever the runtime reported.
    pub steals: u64,
    /// start − ready of the strands that were ready for some time. The others are left out: their
    /// number depends on the trace's writer (MODEL.md §1).
    pub times: Distribution,
}

/// Counts of the strands that a predecessor made ready.
pub(super) struct ReadyCounts {
    /// (starts, steals) by site and kind of edge: entry 7·site + kind.
    pub counts: Vec<(u64, u64)>,
    /// (time, thief, victim) of every steal, by time.
    pub steals: Vec<(u64, ThreadId, ThreadId)>,
    /// The time that each of these steals took, in the same order: from when the strand was ready
    /// and the thief had ended its previous strand. Also whether the strand is a child.
    pub steal_times: Vec<(bool, u64)>,
}

impl ReadyCounts {
    pub(super) fn new(dag: &Dag) -> ReadyCounts {
        let mut starts = ReadyCounts {
            counts: vec![(0, 0); 7 * dag.places.len()],
            steals: Vec::new(),
            steal_times: Vec::new(),
        };
        // By thread: when its last strand ended.
        let mut free = vec![0u64; dag.meta.threads as usize];
        let mut forward = Forward::new(dag);
        for s in 0..dag.strands.len() {
            let (start, end) = (dag.strands.start[s], dag.strands.end[s]);
            let free = &mut free[dag.strands.thread[s] as usize];
            let free_since = std::mem::replace(free, end.max(*free));
            let Some(ready) = ready_event_in_order(dag, &mut forward, s as u32) else {
                continue;
            };
            let site = dag.tasks.site[dag.strands.task[s] as usize];
            let count = &mut starts.counts[key(site as usize, ready.kind)];
            count.0 += 1;
            if let Some(victim) = ready.stolen_from {
                count.1 += 1;
                starts.steals.push((start, dag.strands.thread[s], victim));
                let took = start.saturating_sub(ready.at.max(free_since));
                let is_child = ready.kind == EdgeKind::Create;
                starts.steal_times.push((is_child, took));
            }
        }
        starts
    }
}

fn key(site: usize, kind: EdgeKind) -> usize {
    7 * site + kind as usize
}

/// Ready times by site and kind of edge.
pub(super) struct ReadyTimesBySite<'a> {
    starts: &'a ReadyCounts,
    times: Groups,
}

impl<'a> ReadyTimesBySite<'a> {
    pub(super) fn new(
        dag: &Dag,
        readiness: &Readiness,
        starts: &'a ReadyCounts,
    ) -> ReadyTimesBySite<'a> {
        let strands = &dag.strands;
        let times = readiness.waiting.iter().map(|w| {
            let s = w.strand as usize;
            let site = dag.tasks.site[strands.task[s] as usize];
            (key(site as usize, w.kind), strands.start[s] - w.ready)
        });
        ReadyTimesBySite {
            starts,
            times: Groups::new(7 * dag.places.len(), times),
        }
    }

    /// Ready times of the strands of a site's tasks: by kind of edge, and of all.
    pub(super) fn of(&mut self, site: usize) -> ([ReadyTimes; 7], ReadyTimes) {
        let all = 7 * site..7 * site + 7;
        let kinds = std::array::from_fn(|kind| {
            let at = all.start + kind;
            let (starts, steals) = self.starts.counts[at];
            ReadyTimes {
                starts,
                steals,
                times: Distribution::from_values(self.times.of(at..at + 1)),
            }
        });
        let together = ReadyTimes {
            starts: kinds.iter().map(|k: &ReadyTimes| k.starts).sum(),
            steals: kinds.iter().map(|k| k.steals).sum(),
            // The values of a site's kinds are adjacent.
            times: Distribution::from_values(self.times.of(all)),
        };
        (kinds, together)
    }
}

/// Ready times of all strands by the kind of edge.
pub(super) fn by_edge(dag: &Dag, readiness: &Readiness, starts: &ReadyCounts) -> [ReadyTimes; 7] {
    let start = &dag.strands.start;
    let times = readiness
        .waiting
        .iter()
        .map(|w| (w.kind as usize, start[w.strand as usize] - w.ready));
    let mut times = Groups::new(7, times);
    std::array::from_fn(|kind| {
        let counts = starts.counts.iter().skip(kind).step_by(7);
        let (starts, steals) = counts.fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        ReadyTimes {
            starts,
            steals,
            times: Distribution::from_values(times.of(kind..kind + 1)),
        }
    })
}
