//! When and by which edge each strand became ready (MODEL.md §5).
//!
//! ready(v) is the latest end of v's predecessors, and the edge that counts is the last
//! predecessor's (ties as in §3). A root's first strand has no predecessor and is never ready. A
//! *steal* is a strand that a pool thread started and another pool thread made ready, unless the
//! task only goes on where it stopped: the owner of a join whose other half was stolen has taken
//! nothing from the thief when it resumes, and one stolen join is one steal, not two. Nor is a
//! strand stolen that the runtime puts where it is: the first of an inline task (a region's on the
//! team's threads), or the instant for which a region's task goes on between two barriers.
//!
//! A strand after a wait is *buried* when, on the thread that waited and goes on, a strand of
//! another task ran while it was ready: everything it waited for had ended by then, so that task
//! was unrelated to the wait.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EdgeKind, EndKind, NONE, StartKind, StrandId, TaskId, ThreadId};

use crate::predecessors::{Chosen, Forward};
use crate::saturated::SaturatedInterval;

/// A strand that was ready for some time before it started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadyInterval {
    pub ready: u64,
    /// From when the worker that starts it is on its way to it: the end of that worker's last
    /// strand, if this one was ready by then; else its start. Strands that take no time are left
    /// out.
    pub approached: u64,
    pub strand: StrandId,
    pub kind: EdgeKind,
    pub buried: bool,
    /// The thread that starts it made it ready.
    pub local: bool,
}

/// All strands that were ready for some time, in start order, and what the same pass counts.
pub(crate) struct Readiness {
    pub waiting: Vec<ReadyInterval>,
    pub steals: u64,
    /// Number of buried waits and the time they stood ready.
    pub buried: u64,
    pub buried_ticks: u128,
    /// Strands after a create, or a yield right after it, whose thread, before it came to them, ran
    /// a child their task had just created: with that child, in start order.
    pub paused: Vec<(StrandId, TaskId)>,
}

impl Readiness {
    pub(crate) fn new(dag: &Dag) -> Readiness {
        Readiness::outside(dag, &[], |_| {})
    }

    /// The same, but that `waiting` is without the strands that stood ready within one of the
    /// stretches `full` alone; `each` hears of all of them, in start order.
    pub(crate) fn outside(
        dag: &Dag,
        full: &[SaturatedInterval],
        mut each: impl FnMut(&ReadyInterval),
    ) -> Readiness {
        let mut full = full.iter().copied().peekable();
        let mut readiness = Readiness {
            waiting: Vec::new(),
            steals: 0,
            buried: 0,
            buried_ticks: 0,
            paused: Vec::new(),
        };
        let strands = &dag.strands;
        let mut forward = Forward::new(dag);
        let mut ran = LastRan::new(dag);
        let mut creators = PausedCreators::new(dag);
        for s in checked(0..strands.len() as u32) {
            let i = s as usize;
            let below = creators.add(dag, s);
            if let Some(last) = ready_event_in_order(dag, &mut forward, s) {
                readiness.steals += u64::from(last.stolen_from.is_some());
                if last.at < strands.start[i] {
                    let buried = is_buried(dag, s, last.at, ran.before(dag, i));
                    if buried {
                        readiness.buried += 1;
                        readiness.buried_ticks += u128::from(strands.start[i] - last.at);
                    }
                    if let Some(child) = below {
                        readiness.paused.push((s, child));
                    }
                    let thread = strands.thread[i];
                    let waiting = ReadyInterval {
                        ready: last.at,
                        approached: ran.approached(dag, i, last.at),
                        strand: s,
                        kind: last.kind,
                        buried,
                        local: strands.thread[last.by as usize] == thread,
                    };
                    each(&waiting);
                    while full.next_if(|f| f.1 < strands.start[i]).is_some() {}
                    if full.peek().is_none_or(|f| last.at < f.0) {
                        readiness.waiting.push(waiting);
                    }
                }
            }
            ran.add(dag, i);
        }
        readiness
    }
}

/// What made a strand ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyEvent {
    /// ready(v): the latest end of a predecessor.
    pub at: u64,
    /// By which edge.
    pub kind: EdgeKind,
    /// That predecessor.
    pub by: StrandId,
    /// The thread that made it ready, where another one started it and that is a steal.
    pub stolen_from: Option<ThreadId>,
}

/// When and by what strand `s` was made ready; `None` for a root's first. Strands are asked for in
/// ascending order.
pub(crate) fn ready_event_in_order(
    dag: &Dag,
    forward: &mut Forward,
    s: StrandId,
) -> Option<ReadyEvent> {
    let mut last = None;
    forward.each(s, |p, kind| {
        last = Chosen::or(last, dag, dag.strands.end[p as usize], p, kind);
    });
    Some(judge(dag, s, last?))
}

/// When and by what strand `s` was made ready; `None` for a root's first. O(log n + predecessors).
pub fn ready_event(dag: &Dag, s: StrandId) -> Option<ReadyEvent> {
    let mut last = None;
    dag.for_each_predecessor(s, |p, kind| {
        last = Chosen::or(last, dag, dag.strands.end[p as usize], p, kind);
    });
    Some(judge(dag, s, last?))
}

/// The strands that were stolen, ascending, and from whom: as many as the run has steals. O(n)
/// where few are.
pub fn stolen_strands(dag: &Dag) -> Vec<(StrandId, ThreadId)> {
    let strands = &dag.strands;
    let depends = !dag.dependents.is_empty();
    let could = |&s: &StrandId| {
        let i = s as usize;
        let before = match strands.prev[i] {
            NONE if depends => return true,
            NONE => dag.tasks.creator[strands.task[i] as usize],
            prev => prev,
        };
        before != NONE && strands.thread[before as usize] != strands.thread[i]
    };
    let stolen = |s: StrandId| Some((s, ready_event(dag, s)?.stolen_from?));
    let all = 0..strands.len() as StrandId;
    all.filter(could).filter_map(stolen).collect()
}

/// `last` is the predecessor of `s` that ended last.
fn judge(dag: &Dag, s: StrandId, last: Chosen<u64>) -> ReadyEvent {
    let (strands, i) = (&dag.strands, s as usize);
    let (by, on) = (strands.thread[last.strand as usize], strands.thread[i]);
    let prev = strands.prev[i];
    let stays = prev != NONE && strands.thread[prev as usize] == on;
    let put = match prev {
        NONE => dag.is_put(strands.task[i]),
        _ => strands.start_kind[i] == StartKind::AfterWait && strands.start[i] == strands.end[i],
    };
    let moved = by != on && !stays && !put;
    let stolen = moved && dag.is_worker(by) && dag.is_worker(on);
    ReadyEvent {
        at: last.key,
        kind: last.kind,
        by: last.strand,
        stolen_from: stolen.then_some(by),
    }
}

/// Strand `s`, which was `ready` then, stood ready after its wait while its thread ran something
/// else: before `s`, that thread ran a strand until `ran_until`.
pub fn is_buried(dag: &Dag, s: StrandId, ready: u64, ran_until: u64) -> bool {
    let i = s as usize;
    let strands = &dag.strands;
    let prev = strands.prev[i];
    strands.start_kind[i] == StartKind::AfterWait
        && prev != NONE
        && strands.thread[prev as usize] == strands.thread[i]
        && ran_until > ready
}

/// Per thread, when it last ran something.
struct LastRan {
    /// Start and end of the last strand that took time, and the end of the one before.
    last: Vec<(u64, u64, u64)>,
    /// When the last of them ended.
    ended: Vec<Option<u64>>,
}

impl LastRan {
    fn new(dag: &Dag) -> LastRan {
        LastRan {
            last: vec![(0, 0, 0); dag.meta.threads as usize],
            ended: vec![None; dag.meta.threads as usize],
        }
    }

    fn add(&mut self, dag: &Dag, i: usize) {
        let (start, end) = (dag.strands.start[i], dag.strands.end[i]);
        if start < end {
            let ended = &mut self.ended[dag.strands.thread[i] as usize];
            *ended = (*ended).max(Some(end));
            let last = &mut self.last[dag.strands.thread[i] as usize];
            *last = (start, end, last.1);
        }
    }

    /// From when the worker of strand `i`, which was `ready` then, is on its way to it
    /// ([`ReadyInterval::approached`]).
    fn approached(&self, dag: &Dag, i: usize, ready: u64) -> u64 {
        let (start, thread) = (dag.strands.start[i], dag.strands.thread[i]);
        let takes_time = start < dag.strands.end[i];
        match self.ended[thread as usize] {
            Some(end) if takes_time && ready <= end && dag.is_worker(thread) => end.min(start),
            _ => start,
        }
    }

    /// Until when the thread of strand `i` ran something before that strand.
    fn before(&self, dag: &Dag, i: usize) -> u64 {
        let (start, end, end_before) = self.last[dag.strands.thread[i] as usize];
        if start < dag.strands.start[i] {
            end
        } else {
            end_before
        }
    }
}

/// The strand that a creator stopped with when its thread began with the child at once: the
/// creating one, or a yield right after it, as recorded of libgomp. `before` ran on that thread
/// last.
fn stopped_for(dag: &Dag, before: StrandId, creator: StrandId) -> Option<StrandId> {
    if before == NONE || creator == NONE {
        return None;
    }
    let strands = &dag.strands;
    let has_created = strands.end_kind[creator as usize] == EndKind::Create;
    let has_yielded = strands.end_kind[before as usize] == EndKind::Yield
        && strands.prev[before as usize] == creator;
    (has_created && (before == creator || has_yielded)).then_some(before)
}

/// Creating strands whose thread began with the child before their own task went on.
struct PausedCreators {
    /// Per thread: the strand that started last, and the strands that creators stopped with
    /// ([`stopped_for`]) with the child each, ascending;
    /// [`NONE`] for a child whose creator has gone on.
    threads: Vec<(StrandId, Vec<(StrandId, TaskId)>)>,
}

impl PausedCreators {
    fn new(dag: &Dag) -> PausedCreators {
        PausedCreators {
            threads: vec![(NONE, Vec::new()); dag.meta.threads as usize],
        }
    }

    /// Strand `s` starts. The child that its thread ran first, if `s` goes on after creating it.
    fn add(&mut self, dag: &Dag, s: StrandId) -> Option<TaskId> {
        let (strands, i) = (&dag.strands, s as usize);
        let (last, creators) = &mut self.threads[strands.thread[i] as usize];
        let before = std::mem::replace(last, s);
        match strands.start_kind[i] {
            StartKind::Begin => {
                let task = strands.task[i];
                let creator = dag.tasks.creator[task as usize];
                if let Some(stopped) = stopped_for(dag, before, creator) {
                    creators.push((stopped, task));
                }
                None
            }
            StartKind::AfterCreate | StartKind::AfterYield => {
                let creator = strands.prev[i];
                let at = creators.binary_search_by_key(&creator, |c| c.0).ok()?;
                let child = std::mem::replace(&mut creators[at].1, NONE);
                while creators.last().is_some_and(|c| c.1 == NONE) {
                    creators.pop();
                }
                (child != NONE).then_some(child)
            }
            _ => None,
        }
    }
}
