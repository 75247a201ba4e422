//! When and by which edge each strand became ready (MODEL.md §5).
//!
//! ready(v) is the latest end of v's predecessors, and the edge that counts is that of the last
//! predecessor (ties as in §3). A root's first strand has no predecessor and is never ready. A
//! *steal* is a strand that a pool thread started and another pool thread made ready, unless the
//! task only continues where it stopped: the owner of a join whose other half was stolen takes
//! nothing from the thief when it resumes, so one stolen join is one steal, not two. A strand is
//! not stolen either if the runtime puts it where it runs: the first strand of an inline task (a
//! region's on the team's threads), or the instant for which a region's task continues between two
//! barriers.
//!
//! A strand after a wait is *buried* if its own thread ran a strand of another task while it was
//! ready. Everything that it waited for had ended by then, so that task was unrelated to the wait.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EdgeKind, EndKind, NONE, StartKind, StrandId, TaskId, ThreadId};

use crate::predecessors::{Forward, Predecessor};
use crate::saturated::SaturatedInterval;

/// A strand that was ready for some time before it started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadyInterval {
    pub ready: u64,
    /// The time from which the worker that starts it is on its way to it: the end of that worker's
    /// last strand, if this one was ready by then; else its start. Strands that take no time are
    /// left out.
    pub approached: u64,
    pub strand: StrandId,
    pub kind: EdgeKind,
    pub buried: bool,
    /// Whether the thread that starts it made it ready.
    pub local: bool,
}

/// All strands that were ready for some time, in the order of starts, and further counts of the
/// same pass.
pub(crate) struct Readiness {
    pub waiting: Vec<ReadyInterval>,
    pub steals: u64,
    /// Number of buried waits, and the time for which their strands were ready.
    pub buried: u64,
    pub buried_ticks: u128,
    /// Strands after a create, or after a yield right after a create, whose thread first ran the
    /// child that their task had just created. Each comes with that child; in the order of starts.
    pub paused: Vec<(StrandId, TaskId)>,
}

impl Readiness {
    pub(crate) fn new(dag: &Dag) -> Readiness {
        Readiness::outside(dag, &[], |_| {})
    }

    /// Like the pass over all strands, but `waiting` leaves out strands that were ready only within
    /// one of the intervals `full`. `each` is called for all of them, in the order of starts.
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
        let mut ran = LastActivity::new(dag);
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

/// The event that made a strand ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyEvent {
    /// ready(v): the latest end of a predecessor.
    pub at: u64,
    /// The kind of the edge.
    pub kind: EdgeKind,
    /// The predecessor at the other end of the edge.
    pub by: StrandId,
    /// The thread that made it ready, if another one started it and that is a steal.
    pub stolen_from: Option<ThreadId>,
}

/// When and by which strand `s` was made ready; `None` for a root's first strand. Queries must be
/// in ascending order.
pub(crate) fn ready_event_in_order(
    dag: &Dag,
    forward: &mut Forward,
    s: StrandId,
) -> Option<ReadyEvent> {
    let mut last = None;
    forward.each(s, |p, kind| {
        last = Predecessor::or(last, dag, dag.strands.end[p as usize], p, kind);
    });
    Some(judge(dag, s, last?))
}

/// When and by which strand `s` was made ready; `None` for a root's first strand. O(log n +
/// predecessors).
pub fn ready_event(dag: &Dag, s: StrandId) -> Option<ReadyEvent> {
    let mut last = None;
    dag.for_each_predecessor(s, |p, kind| {
        last = Predecessor::or(last, dag, dag.strands.end[p as usize], p, kind);
    });
    Some(judge(dag, s, last?))
}

/// The stolen strands, ascending, each with the thread that it was stolen from. Their number is the
/// run's number of steals. O(n) if there are few.
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
fn judge(dag: &Dag, s: StrandId, last: Predecessor<u64>) -> ReadyEvent {
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

/// Whether strand `s`, which became ready at `ready`, was ready after its wait while its thread ran
/// something else: that thread ran a strand until `ran_until` before it ran `s`.
pub fn is_buried(dag: &Dag, s: StrandId, ready: u64, ran_until: u64) -> bool {
    let i = s as usize;
    let strands = &dag.strands;
    let prev = strands.prev[i];
    strands.start_kind[i] == StartKind::AfterWait
        && prev != NONE
        && strands.thread[prev as usize] == strands.thread[i]
        && ran_until > ready
}

/// By thread: when it last ran something.
struct LastActivity {
    /// Start and end of the last strand that took time, and the end of the one before it.
    last: Vec<(u64, u64, u64)>,
    /// When the last strand ended.
    ended: Vec<Option<u64>>,
}

impl LastActivity {
    fn new(dag: &Dag) -> LastActivity {
        LastActivity {
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

    /// The time from which the worker of strand `i`, which became ready at `ready`, is on its way
    /// to it ([`ReadyInterval::approached`]).
    fn approached(&self, dag: &Dag, i: usize, ready: u64) -> u64 {
        let (start, thread) = (dag.strands.start[i], dag.strands.thread[i]);
        let takes_time = start < dag.strands.end[i];
        match self.ended[thread as usize] {
            Some(end) if takes_time && ready <= end && dag.is_worker(thread) => end.min(start),
            _ => start,
        }
    }

    /// The time until which the thread of strand `i` ran something before that strand.
    fn before(&self, dag: &Dag, i: usize) -> u64 {
        let (start, end, end_before) = self.last[dag.strands.thread[i] as usize];
        if start < dag.strands.start[i] {
            end
        } else {
            end_before
        }
    }
}

/// The strand with which a creator stopped when its thread began the child at once: the creating
/// strand, or a yield right after it, as in recordings of libgomp. `before` is the last strand that
/// ran on that thread.
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

/// Creating strands whose thread began the child before their own task continued.
struct PausedCreators {
    /// By thread: the strand that started last; and the strands with which creators stopped
    /// ([`stopped_for`]), each with the child, ascending. [`NONE`] for a child whose creator has
    /// continued.
    threads: Vec<(StrandId, Vec<(StrandId, TaskId)>)>,
}

impl PausedCreators {
    fn new(dag: &Dag) -> PausedCreators {
        PausedCreators {
            threads: vec![(NONE, Vec::new()); dag.meta.threads as usize],
        }
    }

    /// Called when strand `s` starts. Returns the child that its thread ran first, if `s` continues
    /// after creating it.
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
