//! The heaviest path from the roots through the end of each strand: span, burdened span and
//! critical path (MODEL.md §2, §3).

use std::ops::Add;

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EdgeKind, Steals, StrandId, TaskKind};

use crate::predecessors::{Forward, chain_to_sink, last_before_sink};
use crate::weight::Weights;

/// A path's weight: 64 bits if the sum of everything fits, which halves the memory.
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

/// Weight of the heaviest path from any root's start through the end of each strand, including that
/// strand.
pub(crate) enum Heaviest {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Heaviest {
    /// Without burden.
    pub(crate) fn unburdened(dag: &Dag, weights: &Weights) -> Heaviest {
        Heaviest::new(weights, &Burden::none(), Forward::new(dag))
    }

    /// Without burden, and without the order in which threads took locks.
    pub(crate) fn without_lock_order(dag: &Dag, weights: &Weights) -> Heaviest {
        let forward = Forward::new(dag).without_lock_order();
        Heaviest::new(weights, &Burden::none(), forward)
    }

    /// Without burden; only strands that are `inside` have weight.
    pub(crate) fn inside(
        dag: &Dag,
        weights: &Weights,
        inside: impl Fn(StrandId) -> bool,
    ) -> Heaviest {
        Heaviest::from_lengths(dag, |s| if inside(s) { weights.path(s, 0) } else { 0 })
    }

    /// Without burden, with `own` as the weights of the strands.
    pub(crate) fn from_lengths(dag: &Dag, own: impl Fn(StrandId) -> u128) -> Heaviest {
        let mut forward = Forward::new(dag);
        let mut through: Vec<u128> = Vec::with_capacity(dag.strands.len());
        for s in checked(0..dag.strands.len() as u32) {
            let mut best = 0;
            forward.each(s, |p, _| best = through[p as usize].max(best));
            through.push(best + own(s));
        }
        Heaviest::Wide(through)
    }

    fn new(weights: &Weights, burden: &Burden, forward: Forward<'_>) -> Heaviest {
        let dag = forward.dag();
        let strands: u128 = if dag.folded.is_empty() {
            weights.total()
        } else {
            let paths = checked(0..dag.strands.len() as u32).map(|s| weights.path(s, burden.cost));
            paths.fold(0, u128::saturating_add)
        };
        let edges = u128::from(burden.cost) * dag.tasks.len() as u128;
        if strands.saturating_add(edges) <= u128::from(u64::MAX) {
            Heaviest::Narrow(distances(weights, burden, forward))
        } else {
            Heaviest::Wide(distances(weights, burden, forward))
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
        let chain = chain_to_sink(dag, |s| self.through(s));
        chain.into_iter().map(|link| link.0).collect()
    }
}

/// The heaviest path if every edge that a thief can take carries the burden. `None` if no edge
/// does, so that it equals the span.
pub(crate) fn burdened_span(dag: &Dag, weights: &Weights) -> Option<u128> {
    (weights.burden > 0).then(|| {
        let burden = Burden::new(dag, weights.burden);
        Heaviest::new(weights, &burden, Forward::new(dag)).span(dag)
    })
}

fn distances<D: Distance>(weights: &Weights, burden: &Burden, mut forward: Forward<'_>) -> Vec<D> {
    let dag = forward.dag();
    let mut through: Vec<D> = Vec::with_capacity(dag.strands.len());
    for s in checked(0..dag.strands.len() as u32) {
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

/// The edges that carry the burden. If thieves take children, these are the create edges of
/// deferred children. If they take continuations, these are the create-continuation edges after a
/// deferred create. (In such runs the builder keeps the continuation as a strand of its own even if
/// it has no length, so a strand's last create is its only deferred one.)
pub(crate) struct Burden {
    pub cost: u64,
    /// By strand, if continuations are stolen: whether it creates a deferred task.
    spawns: Option<Vec<bool>>,
}

impl Burden {
    pub(crate) fn none() -> Burden {
        Burden {
            cost: 0,
            spawns: None,
        }
    }

    pub(crate) fn new(dag: &Dag, cost: u64) -> Burden {
        let spawns = match dag.meta.steals {
            Steals::Child => None,
            Steals::Continuation => {
                let mut spawns = vec![false; dag.strands.len()];
                for (&creator, &kind) in dag.tasks.creator.iter().zip(&dag.tasks.kind) {
                    if kind == TaskKind::Deferred {
                        spawns[creator as usize] = true;
                    }
                }
                Some(spawns)
            }
        };
        Burden { cost, spawns }
    }

    #[inline]
    pub(crate) fn on_edge(&self, dag: &Dag, from: StrandId, to: StrandId, kind: EdgeKind) -> u128 {
        let carries = match (&self.spawns, kind) {
            (None, EdgeKind::Create) => {
                let child = dag.strands.task[to as usize];
                dag.tasks.kind[child as usize] == TaskKind::Deferred
            }
            (Some(spawns), EdgeKind::CreateContinuation) => spawns[from as usize],
            _ => false,
        };
        if carries { u128::from(self.cost) } else { 0 }
    }
}
