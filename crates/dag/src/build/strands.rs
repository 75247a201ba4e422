//! Strands: zero-length ones after a create merged, waits resolved to the tasks they join.
//!
//! The columns stay in the reader's order, in which the strands of one task are in program order,
//! and are the reader's own: what is merged away closes ranks.

use super::members::Scopes;
use super::tasks::Tasks;
use super::waits::Waits;
use super::{At, Fault, Repairs};
use crate::cancel::checked;
use crate::dag::{EndKind, NONE, StrandId, TaskKind};
use crate::meta::Steals;
use crate::raw::{RawEnd, RawTrace};

/// Strand columns before sorting.
#[derive(Default)]
pub(super) struct Strands {
    pub task: Vec<u32>,
    pub thread: Vec<u32>,
    pub start: Vec<u64>,
    pub end: Vec<u64>,
    pub end_kind: Vec<EndKind>,
    pub to: Vec<u32>,
    /// Previous strand of the task, or `NONE`.
    pub prev: Vec<StrandId>,
    /// Signals set: (strand, index).
    pub sets: Vec<(u32, u32)>,
    /// Raw strands that were merged into others, ascending.
    merged: Vec<Merged>,
}

/// A raw strand that was merged into an earlier one.
#[derive(Debug, Clone, Copy)]
struct Merged {
    raw: u32,
    into: StrandId,
    /// Creates at that strand's end before the raw strand began.
    rank: u32,
}

impl Strands {
    pub(super) fn len(&self) -> usize {
        self.prev.len()
    }

    /// The strand that a raw strand went into, and the creates at its end before the raw strand
    /// began; `None` when there is no such raw strand.
    pub(super) fn of_raw(&self, raw: u32) -> Option<(StrandId, u32)> {
        match self.merged.binary_search_by_key(&raw, |m| m.raw) {
            Ok(i) => Some((self.merged[i].into, self.merged[i].rank)),
            Err(before) => {
                let strand = raw.wrapping_sub(before as u32);
                ((strand as usize) < self.len()).then_some((strand, 0))
            }
        }
    }

    /// Creates at each strand's end that came before what ended it.
    pub(super) fn creates_before_end(&self) -> Vec<u32> {
        let mut creates = vec![0; self.len()];
        for m in &self.merged {
            creates[m.into as usize] = m.rank.max(creates[m.into as usize]);
        }
        creates
    }

    /// A raw strand of `strand`, for messages: the first with `first`, else the last.
    pub(super) fn raw_of(&self, strand: StrandId, first: bool) -> u32 {
        let last = self.merged.iter().rev().find(|m| m.into == strand);
        if let Some(m) = last.filter(|_| !first) {
            return m.raw;
        }
        let total = (self.len() + self.merged.len()) as u32;
        let own = |&r: &u32| self.of_raw(r) == Some((strand, 0));
        (strand..total).find(own).unwrap_or_default()
    }

    /// Drops the record of where raw strands went.
    pub(super) fn forget_raw(&mut self) {
        self.merged = Vec::new();
    }
}

/// Task columns that come with the strands.
pub(super) struct TaskColumns {
    pub first: Vec<StrandId>,
    pub last: Vec<StrandId>,
    pub creator: Vec<StrandId>,
    pub create_rank: Vec<u32>,
}

/// Children that a task has created and not yet waited for, as linked lists; only for runs with
/// waits for all children.
struct Pending {
    /// By task: the last child that it created.
    head: Vec<u32>,
    /// By child: the child that its parent created before it.
    next: Vec<u32>,
    joined: Vec<bool>,
    list: Vec<u32>,
}

impl Pending {
    fn new(raw: &RawTrace, tasks: usize) -> Option<Pending> {
        let plain = |op: &RawEnd| matches!(op, RawEnd::WaitChildren);
        raw.strands.end_op.iter().any(plain).then(|| Pending {
            head: vec![NONE; tasks],
            next: vec![NONE; tasks],
            joined: vec![false; tasks],
            list: Vec::new(),
        })
    }

    fn add(&mut self, parent: u32, child: u32) {
        self.next[child as usize] = std::mem::replace(&mut self.head[parent as usize], child);
    }

    /// Marks the children of the waiting task that a wait names as joined; a later plain wait
    /// leaves them out.
    fn mark_own(&mut self, members: &[u32], waiter: u32, tasks: &Tasks) {
        for &m in members {
            if tasks.parent[m as usize] == waiter {
                self.joined[m as usize] = true;
            }
        }
    }

    /// Takes the remaining children of `parent`, ascending.
    fn take(&mut self, parent: u32) -> impl Iterator<Item = u32> + '_ {
        let mut child = std::mem::replace(&mut self.head[parent as usize], NONE);
        self.list.clear();
        while child != NONE {
            if !std::mem::replace(&mut self.joined[child as usize], true) {
                self.list.push(child);
            }
            child = self.next[child as usize];
        }
        self.list.sort_unstable();
        self.list.drain(..)
    }
}

/// A count of creates, and whether the next strand may be merged into the one that made them.
#[derive(Debug, Clone, Copy, Default)]
struct OpenCreates(u32);

impl OpenCreates {
    fn new(creates: u32, mergeable: bool) -> OpenCreates {
        OpenCreates(creates << 1 | u32::from(mergeable))
    }
    fn creates(self) -> u32 {
        self.0 >> 1
    }
    fn mergeable(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Takes `raw.strands` and turns them into columns.
pub(super) fn merge(
    raw: &mut RawTrace,
    tasks: &Tasks,
    scopes: &Scopes,
    repairs: &mut Repairs,
) -> Result<(TaskColumns, Strands, Waits), Fault> {
    let n = tasks.len();
    let mut pending = Pending::new(raw, n);
    let mut strands = std::mem::take(&mut raw.strands);
    // In such a run the continuation of every spawn carries a burden, so a continuation of no
    // length still counts.
    let burdened_continuation = raw.meta.steals == Steals::Continuation;
    let total = strands.len();
    let mut columns = TaskColumns {
        first: vec![NONE; n],
        last: vec![NONE; n],
        creator: vec![NONE; n],
        create_rank: vec![0; n],
    };
    let mut out = Strands {
        prev: Vec::with_capacity(total),
        end_kind: Vec::with_capacity(total),
        ..Strands::default()
    };
    let mut waits = Waits::default();
    let count = |f: fn(&RawEnd) -> bool| strands.end_op.iter().filter(|op| f(op)).count();
    let joins = count(|op| matches!(op, RawEnd::Join(_)));
    let others = count(|op| {
        use RawEnd::{WaitChildren, WaitScope, WaitSignals, WaitTasks};
        matches!(
            op,
            WaitChildren | WaitScope(_) | WaitTasks(_) | WaitSignals(_)
        )
    });
    waits.reserve(joins + others, 2 * joins + others);
    let mut open = vec![OpenCreates::default(); n];
    let mut named: Vec<u32> = Vec::new();
    for r in checked(0..total) {
        let t = tasks.id(strands.task[r]);
        let (mut start, mut end, mut thread) =
            (strands.start[r], strands.end[r], strands.thread[r]);
        let before = columns.last[t as usize];
        let b = before as usize;
        let started = before != NONE;
        let now = if started { strands.end[b] } else { 0 };
        if start < now || end < start {
            repairs.or("Strands whose times went backwards in their task, clamped", || {
                let what = format!("a strand from {start} to {end} follows the time {now}; times never decrease in a task");
                Fault::new(At::Start(r as u32), tasks.number(t), what)
            })?;
            start = start.max(now);
            end = end.max(start);
        }
        if started
            && out.end_kind[b] == EndKind::Signal
            && (start, thread) != (now, strands.thread[b])
        {
            repairs.or(
                "Strands that did not go on at once after a signal, moved there",
                || {
                    let what = "a strand that sets a signal goes on at once on its thread";
                    Fault::new(At::Start(r as u32), tasks.number(t), what)
                },
            )?;
            (start, thread) = (now, strands.thread[b]);
        }
        let merge = started
            && open[t as usize].mergeable()
            && !strands.is_kept(r)
            && start == end
            && start == now
            && strands.thread[b] == thread;
        let end_op = strands.end_op[r];
        let mut at = strands.at[r];
        let (strand, mut creates) = if merge {
            let rank = open[t as usize].creates();
            out.merged.push(Merged {
                raw: r as u32,
                into: before,
                rank,
            });
            (before, rank)
        } else {
            let strand = out.len();
            strands.task[strand] = t;
            strands.thread[strand] = thread;
            strands.start[strand] = start;
            strands.end[strand] = end;
            strands.at[strand] = NONE;
            out.prev.push(before);
            out.end_kind.push(EndKind::End);
            if !started {
                columns.first[t as usize] = strand as u32;
            }
            columns.last[t as usize] = strand as u32;
            (strand as u32, 0)
        };
        let mut mergeable = false;
        let mut created = |child: u32, rank: u32| {
            columns.creator[child as usize] = strand;
            columns.create_rank[child as usize] = rank;
        };
        let kind = match end_op {
            RawEnd::Create(child) => {
                let child = tasks.id(child);
                created(child, creates);
                creates += 1;
                let kind = tasks.kind[child as usize];
                if let Some(pending) = pending.as_mut().filter(|_| kind != TaskKind::Detached) {
                    pending.add(t, child);
                }
                if at == NONE {
                    at = tasks.site[child as usize];
                }
                mergeable = !(burdened_continuation && kind == TaskKind::Deferred);
                EndKind::Create
            }
            RawEnd::Join(first) => {
                let (a, b) = (tasks.id(first), tasks.id(first + 1));
                created(a, creates);
                created(b, creates + 1);
                if at == NONE {
                    at = tasks.site[b as usize];
                }
                let scope = scopes.id(tasks.scope[a as usize]);
                waits.push(strand, scope, false, [a.min(b), a.max(b)], []);
                EndKind::Wait
            }
            RawEnd::Yield => EndKind::Yield,
            RawEnd::End => EndKind::End,
            RawEnd::Signal(signal) => {
                out.sets.push((strand, signal));
                EndKind::Signal
            }
            RawEnd::WaitChildren => {
                let left = pending.as_mut().map(|p| p.take(t));
                waits.push(strand, NONE, true, left.into_iter().flatten(), []);
                EndKind::Wait
            }
            RawEnd::WaitScope(scope) => {
                let scope = scopes.id(scope);
                let members = scopes.members.get(scope as usize);
                if let Some(pending) = &mut pending {
                    pending.mark_own(members, t, tasks);
                }
                waits.push(strand, scope, false, members.iter().copied(), []);
                EndKind::Wait
            }
            RawEnd::WaitTasks(list) => {
                named.clear();
                let list = raw.wait_tasks.get(list as usize);
                named.extend(list.iter().map(|&i| tasks.id(i)));
                named.sort_unstable();
                named.dedup();
                if let Some(pending) = &mut pending {
                    pending.mark_own(&named, t, tasks);
                }
                waits.push(strand, NONE, false, named.drain(..), []);
                EndKind::Wait
            }
            RawEnd::WaitSignals(list) => {
                let signals = raw.wait_signals.get(list as usize).iter().copied();
                waits.push(strand, NONE, false, [], signals);
                EndKind::Wait
            }
        };
        open[t as usize] = OpenCreates::new(creates, mergeable);
        out.end_kind[strand as usize] = kind;
        if at != NONE {
            strands.at[strand as usize] = at;
        }
    }
    drop((open, pending));
    let count = out.len();
    strands.end_op = Vec::new();
    strands.task.truncate(count);
    strands.thread.truncate(count);
    strands.start.truncate(count);
    strands.end.truncate(count);
    strands.at.truncate(count);
    (out.task, out.thread, out.to) = (strands.task, strands.thread, strands.at);
    (out.start, out.end) = (strands.start, strands.end);
    waits.settle(&out);
    waits.resolve_signals(raw, &out, tasks, repairs)?;
    Ok((columns, out, waits))
}
