//! The heaviest path from the roots through the end of each strand: span, burdened span and critical path
//! (MODEL.md §2, §3).

use std::ops::Add;

use workspan_dag::{Dag, EdgeKind, NONE, Steals, StrandId, TaskKind};

use crate::predecessors::{Chosen, Forward, last_before_sink};
use crate::weight::Weights;

/// A path's weight: 64 bits where the sum of everything fits, which halves the memory.
trait Distance: Copy + Ord + Default + Add<Output = Self> {
    fn of(weight: u128) -> Self;
}

impl Distance for u64 {
    fn of(weight: u128) -> u64 {
        weight as u64
    }
}

impl Distance for u128 {
    fn of(weight: u128) -> u128 {
        weight
    }
}

/// Weight of the heaviest path from any root's start through the end of each strand, that strand included, burden on
/// creates at its end not.
pub(crate) enum Heaviest {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Heaviest {
    /// Without burden.
    pub(crate) fn unburdened(dag: &Dag, weights: &Weights) -> Heaviest {
        Heaviest::new(dag, weights, &Burden::none())
    }

    fn new(dag: &Dag, weights: &Weights, burden: &Burden) -> Heaviest {
        let strands: u128 = if dag.folded.is_empty() {
            weights.total()
        } else {
            let paths = (0..dag.strands.len() as u32).map(|s| weights.path(s, burden.cost));
            paths.fold(0, u128::saturating_add)
        };
        let edges = u128::from(burden.cost) * dag.tasks.len() as u128;
        if strands.saturating_add(edges) <= u128::from(u64::MAX) {
            Heaviest::Narrow(distances(dag, weights, burden))
        } else {
            Heaviest::Wide(distances(dag, weights, burden))
        }
    }

    /// Weight of the heaviest path through strand `s`.
    #[inline]
    pub(crate) fn through(&self, s: StrandId) -> u128 {
        match self {
            Heaviest::Narrow(d) => u128::from(d[s as usize]),
            Heaviest::Wide(d) => d[s as usize],
        }
    }

    /// The span.
    pub(crate) fn span(&self, dag: &Dag) -> u128 {
        last_before_sink(dag, |s| self.through(s)).map_or(0, |s| self.through(s))
    }

    /// The critical path's strands, first to last.
    pub(crate) fn critical_path(&self, dag: &Dag) -> Vec<StrandId> {
        let mut path = Vec::new();
        let mut at = last_before_sink(dag, |s| self.through(s));
        while let Some(s) = at {
            path.push(s);
            let mut best = None;
            dag.for_each_predecessor(s, |p, kind| {
                best = Chosen::or(best, dag, self.through(p), p, kind);
            });
            at = best.map(|b| b.strand);
        }
        path.reverse();
        path
    }
}

/// The heaviest path when every edge a thief can take carries the burden.
pub(crate) fn burdened_span(dag: &Dag, weights: &Weights, unburdened: u128) -> u128 {
    if weights.burden == 0 {
        return unburdened;
    }
    let burden = Burden::new(dag, weights.burden);
    let heaviest = Heaviest::new(dag, weights, &burden);
    let through = |s| heaviest.through(s) + burden.after(s);
    last_before_sink(dag, through).map_or(0, through)
}

fn distances<D: Distance>(dag: &Dag, weights: &Weights, burden: &Burden) -> Vec<D> {
    let mut forward = Forward::new(dag);
    let mut through: Vec<D> = Vec::with_capacity(dag.strands.len());
    for s in 0..dag.strands.len() as u32 {
        let mut best = D::default();
        forward.each(s, |p, kind| {
            let mut d = through[p as usize];
            if burden.cost != 0 {
                d = d + D::of(burden.on_edge(dag, p, s, kind));
            }
            best = best.max(d);
        });
        through.push(best + D::of(weights.path(s, burden.cost)));
    }
    through
}

/// Which edges carry the burden.
///
/// Where thieves take children it is the create edge of deferred children. Where they take continuations it is the
/// create-continuation edge after a deferred create. A strand may stand for several creates in a row with zero-length
/// strands between them, so there everything that leaves it has passed the continuations before.
struct Burden {
    cost: u64,
    continuation: Option<Continuations>,
}

struct Continuations {
    /// Per task: deferred creates before its own at the end of its creator.
    before: Vec<u32>,
    /// Per strand: deferred creates at its end.
    after: Vec<u32>,
}

impl Burden {
    fn none() -> Burden {
        Burden {
            cost: 0,
            continuation: None,
        }
    }

    fn new(dag: &Dag, cost: u64) -> Burden {
        let continuation = match dag.meta.steals {
            Steals::Child => None,
            Steals::Continuation => Some(Continuations::new(dag)),
        };
        Burden { cost, continuation }
    }

    fn on_edge(&self, dag: &Dag, from: StrandId, to: StrandId, kind: EdgeKind) -> u128 {
        match (&self.continuation, kind) {
            (None, EdgeKind::Create) => {
                let child = dag.strands.task[to as usize];
                let deferred = dag.tasks.kind[child as usize] == TaskKind::Deferred;
                u128::from(self.cost) * u128::from(deferred)
            }
            (None, _) => 0,
            (Some(c), EdgeKind::Create) => {
                let child = dag.strands.task[to as usize];
                u128::from(self.cost) * u128::from(c.before[child as usize])
            }
            (Some(_), _) => self.after(from),
        }
    }

    /// Burden between the end of strand `s` and whatever follows its creates.
    fn after(&self, s: StrandId) -> u128 {
        let passed = self
            .continuation
            .as_ref()
            .map_or(0, |c| c.after[s as usize]);
        u128::from(self.cost) * u128::from(passed)
    }
}

impl Continuations {
    fn new(dag: &Dag) -> Continuations {
        let tasks = &dag.tasks;
        let created = (0..tasks.len() as u32).filter(|&t| tasks.creator[t as usize] != NONE);
        let mut created: Vec<u32> = created.collect();
        created
            .sort_unstable_by_key(|&t| (tasks.creator[t as usize], tasks.create_rank[t as usize]));
        let mut before = vec![0; tasks.len()];
        let mut after = vec![0; dag.strands.len()];
        for &t in &created {
            let passed = &mut after[tasks.creator[t as usize] as usize];
            before[t as usize] = *passed;
            *passed += u32::from(tasks.kind[t as usize] == TaskKind::Deferred);
        }
        Continuations { before, after }
    }
}
