//! The last stage: puts everything under its final index.

use rayon::prelude::*;

use super::Repairs;
use super::graph::Depends;
use super::marks::{StrandMap, label_table};
use super::members::Scopes;
use super::strands::{Strands, TaskColumns};
use super::tasks::Tasks;
use super::waits::Waits;
use crate::dag::{
    self, Counter, Dag, EndKind, NONE, OffCpuInterval, Scope, StartKind, StrandId, ThreadEvent,
};
use crate::events::RecorderRun;
use crate::handoffs;
use crate::raw::{RawScope, RawTrace};
use crate::samples;

/// Fills the DAG; `sorted` lists the strands in final order.
#[expect(
    clippy::too_many_arguments,
    reason = "the products of all stages meet here"
)]
pub(super) fn fill(
    mut raw: RawTrace,
    columns: TaskColumns,
    mut strands: Strands,
    waits: Waits,
    depends: Depends,
    tasks: Tasks,
    scopes: Scopes,
    sorted: Vec<u32>,
    repairs: &mut Repairs,
) -> Dag {
    let mut rank = vec![0u32; sorted.len()];
    for (i, &s) in sorted.iter().enumerate() {
        rank[s as usize] = i as u32;
    }
    let mut dag = Dag::default();
    let place_of = StrandMap {
        strands: &strands,
        columns: &columns,
        rank: &rank,
    };
    let mut closed_by = vec![NONE; scopes.len()];
    for (&scope, &before) in waits.scope.iter().zip(&waits.before) {
        if scope != NONE {
            closed_by[scope as usize] = before;
        }
    }
    dag.waits = sorted_waits(waits, &strands, &sorted, &rank);
    dag.scopes = final_scopes(&mut raw, &place_of, &closed_by, &tasks, &scopes);
    drop(closed_by);
    let (labels, label_ids) = label_table(&raw);
    dag.regions = place_of.regions(&raw.regions, &tasks, &label_ids, repairs);
    dag.parts = place_of.regions(&raw.parts, &tasks, &label_ids, repairs);
    dag.labels = labels;
    dag.counters = counters(std::mem::take(&mut raw.counters), &strands, &rank);
    dag.folded =
        std::mem::take(&mut raw.folded).sorted(|raw| Some(rank[strands.of_raw(raw)?.0 as usize]));
    dag.skipped = std::mem::take(&mut raw.skipped)
        .into_iter()
        .filter_map(|(s, bounds)| Some((rank[strands.of_raw(s)?.0 as usize], bounds)))
        .collect();
    dag.skipped.sort_by_key(|u| u.0);
    dag.skipped.dedup_by_key(|u| u.0);
    dag.signals = strands
        .sets
        .iter()
        .map(|&(s, signal)| (rank[s as usize], raw.signals[signal as usize]))
        .collect();
    dag.signals.sort_unstable();
    dag.dependents = depends.tasks;
    dag.depends = depends.on;
    for steal in raw.steals.iter_mut().filter(|s| s.task != NONE) {
        steal.task = tasks.id(steal.task);
    }
    let start_waits = std::mem::take(&mut raw.start_waits).into_iter();
    dag.start_waits = start_waits
        .map(|(task, ticks)| (tasks.id(task), ticks))
        .collect();
    dag.start_waits.sort_unstable();
    dag.start_waits.dedup_by_key(|wait| wait.0);
    thread_columns(&mut dag, &mut raw, repairs);
    strands.forget_raw();
    dag.tasks = task_columns(tasks, columns, &scopes, &rank);
    drop(scopes);
    dag.strands = strand_columns(strands, &sorted, rank);
    drop(sorted);
    rest(&mut dag, &mut raw);
    dag
}

/// Fills the columns of thread events: what threads did besides running strands.
pub(super) fn thread_columns(dag: &mut Dag, raw: &mut RawTrace, repairs: &mut Repairs) {
    dag.offs = offs(std::mem::take(&mut raw.offs), repairs);
    dag.recorder_runs = recorder_runs(std::mem::take(&mut raw.recorder_runs), &dag.offs);
    dag.steals = std::mem::take(&mut raw.steals);
    dag.steals
        .sort_unstable_by_key(|s| (s.t, s.thief, s.victim, s.task, s.leap));
    dag.thread_events = std::mem::take(&mut raw.thread_events);
    dag.thread_events
        .sort_by_key(|&(t, thread, event)| (t, thread, event_order(event)));
}

/// Fills the columns that need all strands, and moves those that stay as the reader filled them.
pub(super) fn rest(dag: &mut Dag, raw: &mut RawTrace) {
    let samples = std::mem::take(&mut raw.samples);
    dag.samples = samples::place(samples, &dag.strands, raw.meta.threads);
    dag.pools = std::mem::take(&mut raw.pools);
    dag.pools.members.sort_unstable();
    dag.places = std::mem::take(&mut raw.places);
    dag.meta = std::mem::take(&mut raw.meta);
    handoffs::connect(dag);
}

/// The scopes in final form; takes those of `raw`.
fn final_scopes(
    raw: &mut RawTrace,
    place_of: &StrandMap<'_>,
    closed_by: &[StrandId],
    tasks: &Tasks,
    scopes: &Scopes,
) -> Vec<Scope> {
    let mut raw_scopes = std::mem::take(&mut raw.scopes);
    if let Some(order) = scopes.order() {
        raw_scopes = order.iter().map(|&s| raw_scopes[s as usize]).collect();
    }
    let scope = |(id, s): (usize, RawScope)| {
        let opener = tasks.id(s.opener);
        let (mut strand, mut creates_before) = place_of.unsorted(s.strand, opener);
        if strand > closed_by[id] {
            (strand, creates_before) = (place_of.columns.first[opener as usize], 0);
        }
        Scope {
            number: s.number,
            kind: s.kind,
            opener,
            strand: place_of.rank[strand as usize],
            creates_before,
        }
    };
    // Each element is replaced by one of the same size, in place.
    raw_scopes.into_iter().enumerate().map(scope).collect()
}

fn task_columns(
    mut tasks: Tasks,
    columns: TaskColumns,
    scopes: &Scopes,
    rank: &[u32],
) -> dag::Tasks {
    let place = |mut strands: Vec<StrandId>| {
        let known = strands.par_iter_mut().filter(|s| **s != NONE);
        known.for_each(|s| *s = rank[*s as usize]);
        strands
    };
    let scope = (0..tasks.len() as u32).into_par_iter();
    let scope = scope.map(|t| scopes.of(&tasks, t)).collect();
    tasks.scope = Vec::new();
    dag::Tasks {
        scope,
        numbers: tasks.numbers,
        parent: tasks.parent,
        kind: tasks.kind,
        site: tasks.site,
        level: tasks.level,
        creator: place(columns.creator),
        create_rank: columns.create_rank,
        first: place(columns.first),
        last: place(columns.last),
    }
}

fn strand_columns(strands: Strands, sorted: &[u32], rank: Vec<u32>) -> dag::Strands {
    let Strands {
        task,
        thread,
        start,
        end,
        end_kind,
        to,
        prev,
        ..
    } = strands;
    let start_kind = |&s: &u32| match prev[s as usize] {
        NONE => StartKind::Begin,
        prev => match end_kind[prev as usize] {
            EndKind::Create => StartKind::AfterCreate,
            EndKind::Wait => StartKind::AfterWait,
            EndKind::Signal => StartKind::AfterSignal,
            EndKind::Handoff => StartKind::AfterHandoff,
            EndKind::Yield | EndKind::End => StartKind::AfterYield,
        },
    };
    let start_kind = sorted.par_iter().map(start_kind).collect();
    let to = gather(to, sorted);
    let end_kind = gather(end_kind, sorted);
    let mut prev = gather(prev, sorted);
    let known = prev.par_iter_mut().filter(|s| **s != NONE);
    known.for_each(|s| *s = rank[*s as usize]);
    drop(rank);
    dag::Strands {
        prev,
        start_kind,
        task: gather(task, sorted),
        thread: gather(thread, sorted),
        start: gather(start, sorted),
        end: gather(end, sorted),
        end_kind,
        to,
    }
}

/// Puts a column into final order. Frees the old one at once, since a large run has tens of
/// millions of strands.
fn gather<T: Copy + Send + Sync>(column: Vec<T>, sorted: &[u32]) -> Vec<T> {
    sorted.par_iter().map(|&s| column[s as usize]).collect()
}

/// The waits in the order of the strands after them.
fn sorted_waits(waits: Waits, strands: &Strands, sorted: &[u32], rank: &[u32]) -> dag::Waits {
    let mut out = dag::Waits::default();
    let count = waits.after.len();
    out.after.reserve_exact(count);
    out.scope.reserve_exact(count);
    out.plain.reserve_exact(count);
    out.tasks.offsets.reserve_exact(count + 1);
    out.tasks.items.reserve_exact(waits.tasks.items.len());
    let mut setters = Vec::new();
    for (after, &s) in (0..).zip(sorted) {
        let prev = strands.prev[s as usize];
        let Some(w) = (prev != NONE).then(|| waits.of(prev)).flatten() else {
            continue;
        };
        out.after.push(after);
        out.scope.push(waits.scope[w]);
        out.plain.push(waits.plain[w]);
        out.tasks.push(waits.tasks.get(w).iter().copied());
        if !waits.signals.items.is_empty() {
            setters.clear();
            setters.extend(waits.signals.get(w).iter().map(|&s| rank[s as usize]));
            setters.sort_unstable();
            out.signals.push(setters.iter().copied());
        }
    }
    out
}

fn counters(
    named_values: Vec<(String, Vec<(u32, u64)>)>,
    strands: &Strands,
    rank: &[u32],
) -> Vec<Counter> {
    let mut out: Vec<Counter> = Vec::new();
    for (name, values) in named_values {
        let mut values: Vec<(u32, u64)> = values
            .into_iter()
            .filter_map(|(s, v)| Some((rank[strands.of_raw(s)?.0 as usize], v)))
            .collect();
        values.sort_unstable();
        values.dedup_by_key(|v| v.0);
        if !values.is_empty() {
            out.push(Counter { name, values });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn offs(mut offs: Vec<OffCpuInterval>, repairs: &mut Repairs) -> Vec<OffCpuInterval> {
    offs.sort_by_key(|o| (o.thread, o.start, o.end));
    if repairs.mode == super::Mode::Strict {
        return offs;
    }
    let mut end = (NONE, 0);
    offs.retain_mut(|o| {
        if end.0 == o.thread && o.start < end.1 {
            repairs.note("Off-CPU intervals that overlapped on their thread, cut");
            o.start = end.1;
        }
        end = (
            o.thread,
            o.end.max(if end.0 == o.thread { end.1 } else { 0 }),
        );
        o.start < o.end
    });
    offs
}

/// The intervals in which each thread ran the recorder on a CPU, without overlaps: no tick counts
/// twice.
fn recorder_runs(mut recorded: Vec<RecorderRun>, offs: &[OffCpuInterval]) -> Vec<RecorderRun> {
    recorded.sort_unstable();
    let mut runs: Vec<RecorderRun> = Vec::with_capacity(recorded.len());
    for run in recorded {
        let last = runs.last().filter(|last| last.thread == run.thread);
        let mut from = run.start.max(last.map_or(0, |last| last.end));
        let first = offs.partition_point(|off| (off.thread, off.end) <= (run.thread, from));
        let holes = offs[first..]
            .iter()
            .take_while(|off| off.thread == run.thread && off.start < run.end);
        for hole in holes {
            if from < hole.start {
                runs.push(RecorderRun {
                    start: from,
                    end: hole.start,
                    ..run
                });
            }
            from = from.max(hole.end);
        }
        if from < run.end {
            runs.push(RecorderRun { start: from, ..run });
        }
    }
    runs
}

fn event_order(event: ThreadEvent) -> (u8, u64) {
    match event {
        ThreadEvent::StealFailed(victim) => (0, u64::from(victim)),
        ThreadEvent::Sleep => (1, 0),
        ThreadEvent::Wake => (2, 0),
        ThreadEvent::Cpu(load) => (3, load.to_bits()),
        ThreadEvent::Queue(depth) => (4, depth),
    }
}
