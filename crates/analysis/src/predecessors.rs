//! The predecessors of a strand, and the choice among several (the tie rule of MODEL.md §3).

use workspan_dag::{Dag, EdgeKind, NONE, StartKind, StrandId, TaskId};

/// Predecessors of strands that are queried in ascending order, without a search per wait.
pub(crate) struct Forward<'a> {
    dag: &'a Dag,
    wait: usize,
    /// Leave out handoffs that could have happened in the other order.
    without_order: bool,
}

impl<'a> Forward<'a> {
    pub(crate) fn new(dag: &'a Dag) -> Forward<'a> {
        Forward {
            dag,
            wait: 0,
            without_order: false,
        }
    }

    pub(crate) fn dag(&self) -> &'a Dag {
        self.dag
    }

    /// Without the order in which threads took locks.
    pub(crate) fn without_lock_order(self) -> Forward<'a> {
        Forward {
            without_order: true,
            ..self
        }
    }

    /// Calls `f` for every predecessor of `s`; `s` must not be below the strand of the previous
    /// query.
    #[inline]
    pub(crate) fn each(&mut self, s: StrandId, mut f: impl FnMut(StrandId, EdgeKind)) {
        let (dag, i) = (self.dag, s as usize);
        match dag.strands.start_kind[i] {
            StartKind::Begin if dag.dependents.is_empty() => {
                let creator = dag.tasks.creator[dag.strands.task[i] as usize];
                if creator != NONE {
                    f(creator, EdgeKind::Create);
                }
            }
            StartKind::AfterWait => {
                f(dag.strands.prev[i], EdgeKind::WaitContinuation);
                let after = &dag.waits.after;
                while self.wait < after.len() && after[self.wait] < s {
                    self.wait += 1;
                }
                if after.get(self.wait) == Some(&s) {
                    for &task in dag.waits.tasks.get(self.wait) {
                        f(dag.tasks.last[task as usize], EdgeKind::End);
                    }
                    for &signal in dag.waits.signals.get(self.wait) {
                        f(signal, EdgeKind::Signal);
                    }
                }
            }
            StartKind::AfterHandoff if self.without_order => {
                f(dag.strands.prev[i], EdgeKind::YieldContinuation);
                for handoff in dag.handoffs.to(s).iter().filter(|h| !h.is_order) {
                    f(handoff.from, EdgeKind::Signal);
                }
            }
            _ => dag.for_each_predecessor(s, f),
        }
    }
}

/// Rank of an edge kind in the tie rule.
fn tie_rank(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Create
        | EdgeKind::CreateContinuation
        | EdgeKind::WaitContinuation
        | EdgeKind::YieldContinuation => 0,
        EdgeKind::End => 1,
        EdgeKind::Depend => 2,
        EdgeKind::Signal => 3,
    }
}

/// The predecessor with the largest key (weight or end time). Ties: a continuation or create edge,
/// then end, depend, signal; then the smaller task number; then, for two signals of one task, the
/// earlier one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predecessor<K> {
    pub key: K,
    pub strand: StrandId,
    pub kind: EdgeKind,
    task: TaskId,
}

impl<K: Copy + Ord> Predecessor<K> {
    /// The better of `best` and the predecessor `strand` of `kind`.
    pub(crate) fn or(
        best: Option<Self>,
        dag: &Dag,
        key: K,
        strand: StrandId,
        kind: EdgeKind,
    ) -> Option<Self> {
        let task = dag.strands.task[strand as usize];
        let new = Predecessor {
            key,
            strand,
            kind,
            task,
        };
        match best {
            Some(old) if old.key > key => best,
            Some(old) if old.key == key && old.order() <= new.order() => best,
            _ => Some(new),
        }
    }

    fn order(&self) -> (u8, TaskId, StrandId) {
        (tie_rank(self.kind), self.task, self.strand)
    }
}

/// For every task, whether some wait joins it; the others end at the sink.
pub(crate) fn joined_tasks(dag: &Dag) -> Vec<bool> {
    let mut joined = vec![false; dag.tasks.len()];
    for &task in &dag.waits.tasks.items {
        joined[task as usize] = true;
    }
    joined
}

/// The predecessor of the sink with the largest key; ties: a root's end first, then the smaller
/// task number.
pub(crate) fn last_before_sink<K: Copy + Ord>(
    dag: &Dag,
    key: impl Fn(StrandId) -> K,
) -> Option<StrandId> {
    let joined = joined_tasks(dag);
    let mut best: Option<(K, bool, StrandId)> = None;
    for (task, &last) in dag.tasks.last.iter().enumerate() {
        if joined[task] {
            continue;
        }
        let new = (key(last), dag.tasks.parent[task] == NONE);
        if best.is_none_or(|(k, root, _)| new > (k, root)) {
            best = Some((new.0, new.1, last));
        }
    }
    best.map(|(_, _, strand)| strand)
}

/// The chain that ends before the sink, first to last. Going back from the sink, it always takes
/// the predecessor with the largest key. Each strand comes with the kind of edge that leads to it
/// (`None` for the first). O(tasks + chain · log n).
pub(crate) fn chain_to_sink<K: Copy + Ord>(
    dag: &Dag,
    key: impl Fn(StrandId) -> K,
) -> Vec<(StrandId, Option<EdgeKind>)> {
    let follow = |s: StrandId| {
        let mut best = None;
        dag.for_each_predecessor(s, |p, kind| {
            best = Predecessor::or(best, dag, key(p), p, kind)
        });
        best
    };
    chain_back(last_before_sink(dag, &key), follow)
}

/// The chain of the ready path. Going back, it always takes the predecessor that ended last. After
/// a wait that another thread ended it takes that thread's strand, as the waiting thread could do
/// nothing until then.
pub(crate) fn ready_chain(dag: &Dag) -> Vec<(StrandId, Option<EdgeKind>)> {
    let key = |s: StrandId| dag.strands.end[s as usize];
    let follow = |s: StrandId| {
        let waited = !dag.handoffs.is_empty() && !dag.handoffs.to(s).is_empty();
        let mut best = None;
        dag.for_each_predecessor(s, |p, kind| {
            if !(waited && kind == EdgeKind::YieldContinuation) {
                best = Predecessor::or(best, dag, key(p), p, kind);
            }
        });
        best
    };
    chain_back(last_before_sink(dag, key), follow)
}

/// The chain back from strand `last`, always to the strand that `follow` returns; first to last.
fn chain_back<K>(
    last: Option<StrandId>,
    follow: impl Fn(StrandId) -> Option<Predecessor<K>>,
) -> Vec<(StrandId, Option<EdgeKind>)> {
    let mut chain = Vec::new();
    let mut at = last;
    while let Some(s) = at {
        let best = follow(s);
        chain.push((s, best.as_ref().map(|b| b.kind)));
        at = best.map(|b| b.strand);
    }
    chain.reverse();
    chain
}
