//! The last stage: everything under its final index.

use super::Repairs;
use super::graph::Depends;
use super::marks::{Placing, label_table};
use super::members::Scopes;
use super::strands::{Strands, TaskColumns, Waits};
use super::tasks::Tasks;
use crate::dag::{self, Counter, Dag, EndKind, NONE, Off, PlaceId, Scope, StartKind, ThreadEvent};
use crate::raw::RawTrace;
use crate::samples;

/// Fills the DAG; `sorted` lists the strands in final order.
#[expect(
    clippy::too_many_arguments,
    reason = "the products of all stages meet here"
)]
pub(super) fn fill(
    mut raw: RawTrace,
    columns: TaskColumns,
    strands: Strands,
    waits: Waits,
    depends: Depends,
    tasks: &Tasks,
    scopes: Scopes,
    sorted: &[u32],
    repairs: &mut Repairs,
) -> Dag {
    let mut rank = vec![0u32; sorted.len()];
    for (i, &s) in sorted.iter().enumerate() {
        rank[s as usize] = i as u32;
    }
    let at = |s: u32| if s == NONE { NONE } else { rank[s as usize] };
    let mut closed_by = vec![NONE; scopes.raw_of_id.len()];
    for (&scope, &before) in waits.scope.iter().zip(&waits.before) {
        if scope != NONE {
            closed_by[scope as usize] = before;
        }
    }
    let mut dag = Dag {
        waits: sorted_waits(&waits, &rank),
        ..Dag::default()
    };
    drop(waits);
    let place_of = Placing {
        strands: &strands,
        columns: &columns,
        rank: &rank,
    };
    let scope = |(&i, &closed_by): (&u32, &u32)| {
        let s = &raw.scopes[i as usize];
        let opener = tasks.id_of_raw[s.opener as usize];
        let (mut strand, mut creates_before) = place_of.unsorted(s.strand, opener);
        if strand > closed_by {
            (strand, creates_before) = (columns.first[opener as usize], 0);
        }
        Scope {
            number: s.number,
            kind: s.kind,
            opener,
            strand: rank[strand as usize],
            creates_before,
        }
    };
    dag.scopes = scopes.raw_of_id.iter().zip(&closed_by).map(scope).collect();
    raw.scopes = Vec::new();
    let (labels, label_ids) = label_table(&raw);
    dag.regions = place_of.regions(&raw.regions, tasks, &label_ids, repairs);
    dag.parts = place_of.regions(&raw.parts, tasks, &label_ids, repairs);
    dag.labels = labels;
    dag.counters = counters(std::mem::take(&mut raw.counters), &strands, &rank);
    dag.folded = std::mem::take(&mut raw.folded)
        .into_iter()
        .filter(|&(s, _)| strands.of_raw[s as usize] != NONE)
        .map(|(s, fold)| (rank[strands.of_raw[s as usize] as usize], fold))
        .collect();
    dag.folded.sort_by_key(|f| f.0);
    dag.folded.dedup_by_key(|f| f.0);
    dag.signals = strands
        .sets
        .iter()
        .map(|&(s, signal)| (at(s), raw.signals[signal as usize]))
        .collect();
    dag.signals.sort_unstable();
    dag.dependents = depends.tasks;
    dag.depends = depends.on;
    dag.offs = offs(std::mem::take(&mut raw.offs), repairs);
    dag.steals = std::mem::take(&mut raw.steals);
    for s in &mut dag.steals {
        s.task = if s.task == NONE {
            NONE
        } else {
            tasks.id_of_raw[s.task as usize]
        };
    }
    dag.steals
        .sort_unstable_by_key(|s| (s.t, s.thief, s.victim, s.task, s.leap));
    dag.thread_events = std::mem::take(&mut raw.thread_events);
    dag.thread_events
        .sort_by_key(|&(t, thread, event)| (t, thread, event_order(event)));
    dag.tasks = dag::Tasks {
        number: tasks.list.iter().map(|t| t.number).collect(),
        parent: tasks.list.iter().map(|t| t.parent).collect(),
        kind: tasks.list.iter().map(|t| t.kind).collect(),
        site: tasks.list.iter().map(|t| t.site).collect(),
        level: tasks.level.clone(),
        creator: columns.creator.iter().map(|&s| at(s)).collect(),
        create_rank: columns.create_rank.clone(),
        scope: (0..tasks.len() as u32)
            .map(|t| scopes.of(tasks, t))
            .collect(),
        first: columns.first[..tasks.len()]
            .iter()
            .map(|&s| rank[s as usize])
            .collect(),
        last: (0..tasks.len() as u32)
            .map(|t| rank[columns.last(t) as usize])
            .collect(),
    };
    dag.strands = strand_columns(strands, &columns, tasks, sorted, &rank);
    let samples = std::mem::take(&mut raw.samples);
    dag.samples = samples::place(samples, &dag.strands, raw.meta.threads);
    dag.places = raw.places;
    dag.meta = raw.meta;
    dag
}

fn strand_columns(
    strands: Strands,
    columns: &TaskColumns,
    tasks: &Tasks,
    sorted: &[u32],
    rank: &[u32],
) -> dag::Strands {
    let Strands {
        task,
        thread,
        start,
        end,
        end_kind,
        to,
        of_raw,
        rank_of_raw,
        sets: _,
    } = strands;
    drop((of_raw, rank_of_raw));
    let is_first = |s: u32| columns.first[task[s as usize] as usize] == s;
    let start_kind = |&s: &u32| match is_first(s) {
        true => StartKind::Begin,
        false => match end_kind[s as usize - 1] {
            EndKind::Create => StartKind::AfterCreate,
            EndKind::Wait => StartKind::AfterWait,
            EndKind::Signal => StartKind::AfterSignal,
            EndKind::Yield | EndKind::End => StartKind::AfterYield,
        },
    };
    let from = |&s: &u32| -> PlaceId {
        if is_first(s) {
            tasks.list[task[s as usize] as usize].site
        } else {
            to[s as usize - 1]
        }
    };
    let prev = sorted
        .iter()
        .map(|&s| {
            if is_first(s) {
                NONE
            } else {
                rank[s as usize - 1]
            }
        })
        .collect();
    let start_kind = sorted.iter().map(start_kind).collect();
    let from = sorted.iter().map(from).collect();
    dag::Strands {
        prev,
        start_kind,
        from,
        task: gather(task, sorted),
        thread: gather(thread, sorted),
        start: gather(start, sorted),
        end: gather(end, sorted),
        end_kind: gather(end_kind, sorted),
        to: gather(to, sorted),
    }
}

/// A column in final order; the old one is freed at once, since a large run has tens of millions of strands.
fn gather<T: Copy>(column: Vec<T>, sorted: &[u32]) -> Vec<T> {
    sorted.iter().map(|&s| column[s as usize]).collect()
}

fn sorted_waits(waits: &Waits, rank: &[u32]) -> dag::Waits {
    let mut order: Vec<(u32, u32)> = waits
        .before
        .iter()
        .zip(0..)
        .map(|(&s, w)| (rank[s as usize + 1], w))
        .collect();
    order.sort_unstable();
    let mut out = dag::Waits::default();
    let mut setters = Vec::new();
    for (after, w) in order {
        let w = w as usize;
        out.after.push(after);
        out.scope.push(waits.scope[w]);
        out.plain.push(waits.plain[w]);
        out.tasks.push(waits.tasks.get(w).iter().copied());
        setters.clear();
        setters.extend(waits.signals.get(w).iter().map(|&s| rank[s as usize]));
        setters.sort_unstable();
        out.signals.push(setters.iter().copied());
    }
    out
}

fn counters(told: Vec<(String, Vec<(u32, u64)>)>, strands: &Strands, rank: &[u32]) -> Vec<Counter> {
    let mut out: Vec<Counter> = Vec::new();
    for (name, values) in told {
        let mut values: Vec<(u32, u64)> = values
            .into_iter()
            .filter(|&(s, _)| strands.of_raw[s as usize] != NONE)
            .map(|(s, v)| (rank[strands.of_raw[s as usize] as usize], v))
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

fn offs(mut offs: Vec<Off>, repairs: &mut Repairs) -> Vec<Off> {
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

fn event_order(event: ThreadEvent) -> (u8, u64) {
    match event {
        ThreadEvent::StealFailed(victim) => (0, u64::from(victim)),
        ThreadEvent::Sleep => (1, 0),
        ThreadEvent::Wake => (2, 0),
        ThreadEvent::Cpu(load) => (3, load.to_bits()),
        ThreadEvent::Queue(depth) => (4, depth),
    }
}
