//! Strands in (task, program) order: zero-length ones after a create merged, waits resolved to the tasks they join.

use super::members::Scopes;
use super::tasks::Tasks;
use super::{At, Fault, Repairs};
use crate::dag::{EndKind, Lists, NONE, TaskKind};
use crate::meta::Steals;
use crate::raw::{RawEnd, RawTrace};

/// Strand columns before sorting; strands of one task are consecutive, in program order.
#[derive(Default)]
pub(super) struct Strands {
    pub task: Vec<u32>,
    pub thread: Vec<u32>,
    pub start: Vec<u64>,
    pub end: Vec<u64>,
    pub end_kind: Vec<EndKind>,
    pub to: Vec<u32>,
    /// Strand that each raw strand went into.
    pub of_raw: Vec<u32>,
    /// Creates at that strand's end before the raw strand began.
    pub rank_of_raw: Vec<u32>,
    /// Signals set: (strand, index).
    pub sets: Vec<(u32, u32)>,
}

impl Strands {
    pub(super) fn len(&self) -> usize {
        self.task.len()
    }

    /// A raw strand of `strand`, for messages: the first with `first`, else the last.
    pub(super) fn raw_of(&self, strand: u32, first: bool) -> u32 {
        let of = |r: &usize| self.of_raw[*r] == strand;
        let rank = |&r: &usize| self.rank_of_raw[r];
        let all = (0..self.of_raw.len()).filter(of);
        let found = if first {
            all.min_by_key(rank)
        } else {
            all.max_by_key(rank)
        };
        found.unwrap_or_default() as u32
    }
}

/// Task columns that come with the strands.
pub(super) struct TaskColumns {
    /// First strands; one more than tasks, so that strands of t are `first[t]..first[t + 1]`.
    pub first: Vec<u32>,
    pub creator: Vec<u32>,
    pub create_rank: Vec<u32>,
}

impl TaskColumns {
    /// Last strand of a task.
    pub(super) fn last(&self, task: u32) -> u32 {
        self.first[task as usize + 1] - 1
    }
}

/// Waits in the order of the strands they end.
#[derive(Default)]
pub(super) struct Waits {
    /// The strand that ends in the wait; the next one is the strand after it.
    pub before: Vec<u32>,
    pub scope: Vec<u32>,
    pub plain: Vec<bool>,
    /// Tasks joined, ascending.
    pub tasks: Lists,
    /// Strands that set the signals waited for, ascending.
    pub signals: Lists,
}

/// Raw strands grouped by task id, program order kept: (offsets, raw indices).
fn by_task(raw: &RawTrace, tasks: &Tasks) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; tasks.len() + 1];
    for s in &raw.strands {
        offsets[tasks.id_of_raw[s.task as usize] as usize + 1] += 1;
    }
    for i in 1..offsets.len() {
        offsets[i] += offsets[i - 1];
    }
    let mut order = vec![0u32; raw.strands.len()];
    let mut cursor = offsets.clone();
    for (i, s) in raw.strands.iter().enumerate() {
        let next = &mut cursor[tasks.id_of_raw[s.task as usize] as usize];
        order[*next as usize] = i as u32;
        *next += 1;
    }
    (offsets, order)
}

/// Takes `raw.strands` and turns them into columns.
pub(super) fn merge(
    raw: &mut RawTrace,
    tasks: &Tasks,
    scopes: &Scopes,
    repairs: &mut Repairs,
) -> Result<(TaskColumns, Strands, Waits), Fault> {
    let n = tasks.len();
    let (offsets, order) = by_task(raw, tasks);
    let told = std::mem::take(&mut raw.strands);
    // A burden sits on the continuation of every spawn then, so a continuation of no length still counts.
    let burdened_continuation = raw.meta.steals == Steals::Continuation;
    let mut out = Strands {
        of_raw: vec![NONE; told.len()],
        rank_of_raw: vec![0; told.len()],
        ..Strands::default()
    };
    let guess = told.len() / 2;
    out.task.reserve(guess);
    out.start.reserve(guess);
    out.end.reserve(guess);
    let mut columns = TaskColumns {
        first: Vec::with_capacity(n + 1),
        creator: vec![NONE; n],
        create_rank: vec![0; n],
    };
    let mut waits = Waits::default();
    let mut joined = vec![false; n];
    let mut pending: Vec<u32> = Vec::new();
    let mut named: Vec<u32> = Vec::new();
    for t in 0..n as u32 {
        columns.first.push(out.len() as u32);
        pending.clear();
        let (mut rank, mut mergeable, mut now, mut started) = (0, false, 0, false);
        for &r in &order[offsets[t as usize] as usize..offsets[t as usize + 1] as usize] {
            let s = told[r as usize];
            let (mut start, mut end) = (s.start, s.end);
            if start < now || end < start {
                repairs.or("Strands whose times went backwards in their task, clamped", || {
                    let what = format!("a strand from {start} to {end} follows the time {now}; times never decrease in a task");
                    Fault::new(At::Start(r), tasks.number(t), what)
                })?;
                start = start.max(now);
                end = end.max(start);
            }
            let mut thread = s.thread;
            let cut_at = out.end_kind.last().filter(|_| started) == Some(&EndKind::Signal);
            if let Some(&before) = out.thread.last().filter(|_| cut_at)
                && (start, thread) != (now, before)
            {
                repairs.or(
                    "Strands that did not go on at once after a signal, moved there",
                    || {
                        let what = "a strand that sets a signal goes on at once on its thread";
                        Fault::new(At::Start(r), tasks.number(t), what)
                    },
                )?;
                (start, thread) = (now, before);
            }
            started = true;
            let merge = mergeable
                && !s.keep
                && start == end
                && start == now
                && out.thread.last() == Some(&thread);
            if !merge {
                out.task.push(t);
                out.thread.push(thread);
                out.start.push(start);
                out.end.push(end);
                out.end_kind.push(EndKind::End);
                out.to.push(NONE);
                rank = 0;
            }
            now = end;
            let strand = out.len() as u32 - 1;
            let m = strand as usize;
            out.of_raw[r as usize] = strand;
            out.rank_of_raw[r as usize] = rank;
            mergeable = false;
            let mut at = s.at;
            out.end_kind[m] = match s.end_op {
                RawEnd::Create(child) => {
                    let child = tasks.id_of_raw[child as usize];
                    let c = child as usize;
                    columns.creator[c] = strand;
                    columns.create_rank[c] = rank;
                    rank += 1;
                    let task = &tasks.list[c];
                    if task.kind != TaskKind::Detached {
                        pending.push(child);
                    }
                    if at == NONE {
                        at = task.site;
                    }
                    mergeable = !(burdened_continuation && task.kind == TaskKind::Deferred);
                    EndKind::Create
                }
                RawEnd::Yield => EndKind::Yield,
                RawEnd::End => EndKind::End,
                RawEnd::Signal(signal) => {
                    out.sets.push((strand, signal));
                    EndKind::Signal
                }
                RawEnd::WaitChildren => {
                    pending.retain(|&c| !std::mem::replace(&mut joined[c as usize], true));
                    pending.sort_unstable();
                    waits.push(strand, NONE, true, pending.drain(..), []);
                    EndKind::Wait
                }
                RawEnd::WaitScope(scope) => {
                    let scope = scopes.id_of_raw[scope as usize];
                    let members = scopes.members.get(scope as usize);
                    mark_own(&mut joined, members, t, tasks);
                    waits.push(strand, scope, false, members.iter().copied(), []);
                    EndKind::Wait
                }
                RawEnd::WaitTasks(list) => {
                    named.clear();
                    named.extend(
                        raw.wait_tasks
                            .get(list as usize)
                            .iter()
                            .map(|&i| tasks.id_of_raw[i as usize]),
                    );
                    named.sort_unstable();
                    named.dedup();
                    mark_own(&mut joined, &named, t, tasks);
                    waits.push(strand, NONE, false, named.drain(..), []);
                    EndKind::Wait
                }
                RawEnd::WaitSignals(list) => {
                    let signals = raw.wait_signals.get(list as usize).iter().copied();
                    waits.push(strand, NONE, false, [], signals);
                    EndKind::Wait
                }
            };
            if at != NONE {
                out.to[m] = at;
            }
        }
    }
    columns.first.push(out.len() as u32);
    resolve_signals(raw, &out, &mut waits, tasks, repairs)?;
    Ok((columns, out, waits))
}

/// Children of the waiting task that a wait names are joined: a later plain wait leaves them out.
fn mark_own(joined: &mut [bool], members: &[u32], waiter: u32, tasks: &Tasks) {
    for &m in members {
        if tasks.list[m as usize].parent == waiter {
            joined[m as usize] = true;
        }
    }
}

impl Waits {
    fn push(
        &mut self,
        before: u32,
        scope: u32,
        plain: bool,
        tasks: impl IntoIterator<Item = u32>,
        signals: impl IntoIterator<Item = u32>,
    ) {
        self.before.push(before);
        self.scope.push(scope);
        self.plain.push(plain);
        self.tasks.push(tasks);
        self.signals.push(signals);
    }
}

/// From signal indices to the strands that set them.
fn resolve_signals(
    raw: &RawTrace,
    strands: &Strands,
    waits: &mut Waits,
    tasks: &Tasks,
    repairs: &mut Repairs,
) -> Result<(), Fault> {
    if waits.signals.items.is_empty() {
        return Ok(());
    }
    let mut setter = vec![NONE; raw.signals.len()];
    for &(strand, signal) in &strands.sets {
        setter[signal as usize] = strand;
    }
    let mut resolved = Lists::default();
    let mut list = Vec::new();
    for (w, &before) in waits.before.iter().enumerate() {
        list.clear();
        for &signal in waits.signals.get(w) {
            match setter[signal as usize] {
                NONE => repairs.or("Waits for signals nobody set, not waited for", || {
                    let number = raw.signals[signal as usize];
                    let what = format!("waits for signal {number}, which nobody sets");
                    Fault::new(
                        At::End(strands.raw_of(before, false)),
                        tasks.number(strands.task[before as usize]),
                        what,
                    )
                })?,
                strand => list.push(strand),
            }
        }
        list.sort_unstable();
        list.dedup();
        resolved.push(list.iter().copied());
    }
    waits.signals = resolved;
    Ok(())
}
