//! Strands that start at the same tick, in the order that the builder gives them.

use std::ops::Range;

use rayon::prelude::*;

use workspan_dag::build::in_order::InOrder;
use workspan_dag::build::order::Ties;
use workspan_dag::cancel;
use workspan_dag::{NONE, StartKind};

/// Puts strands of one tick into their order; `None` when they wait for each other in a circle.
pub(super) fn settle(columns: &mut InOrder) -> Option<()> {
    cancel::check();
    let moves = moves(columns)?;
    if moves.is_empty() {
        return Some(());
    }
    let strands = &mut columns.strands;
    let mut rank: Vec<u32> = (0..strands.task.len() as u32).collect();
    for &(from, to) in &moves {
        rank[from as usize] = to;
    }
    let moves = &moves;
    rayon::scope(|scope| {
        let task = &mut strands.task;
        scope.spawn(move |_| arrange(task, moves));
        let thread = &mut strands.thread;
        scope.spawn(move |_| arrange(thread, moves));
        let start = &mut strands.start;
        scope.spawn(move |_| arrange(start, moves));
        let end = &mut strands.end;
        scope.spawn(move |_| arrange(end, moves));
        let prev = &mut strands.prev;
        scope.spawn(move |_| arrange(prev, moves));
        let start_kind = &mut strands.start_kind;
        scope.spawn(move |_| arrange(start_kind, moves));
        let end_kind = &mut strands.end_kind;
        scope.spawn(move |_| arrange(end_kind, moves));
        let to = &mut strands.to;
        scope.spawn(move |_| arrange(to, moves));
    });
    let place = |column: &mut Vec<u32>| {
        let known = column.par_iter_mut().filter(|s| **s != NONE);
        known.for_each(|s| *s = rank[*s as usize]);
    };
    place(&mut strands.prev);
    let tasks = &mut columns.tasks;
    place(&mut tasks.creator);
    place(&mut tasks.first);
    place(&mut tasks.last);
    let scopes = columns.scopes.par_iter_mut();
    scopes.for_each(|scope| scope.strand = rank[scope.strand as usize]);
    place(&mut columns.waits.after);
    let waits = &mut columns.waits;
    if !waits.after.is_sorted() {
        let mut order: Vec<u32> = (0..waits.after.len() as u32).collect();
        order.par_sort_unstable_by_key(|&w| waits.after[w as usize]);
        let by = |column: &Vec<u32>| order.par_iter().map(|&w| column[w as usize]).collect();
        (waits.after, waits.scope) = (by(&waits.after), by(&waits.scope));
        // Each joins two tasks.
        let (pairs, _) = waits.tasks.items.as_chunks::<2>();
        let items = order.iter().flat_map(|&w| pairs[w as usize]).collect();
        waits.tasks.items = items;
    }
    Some(())
}

/// Parts of the columns that are looked through at once, for each thread that does.
const PARTS: usize = 4;

/// (where a strand is, where it belongs) for those that are elsewhere.
fn moves(columns: &InOrder) -> Option<Vec<(u32, u32)>> {
    let start = &columns.strands.start;
    let parts = PARTS * rayon::current_num_threads();
    // No part begins within a tick.
    let cut = |part: usize| {
        let at = part * start.len() / parts;
        let tick = at.checked_sub(1).map(|before| start[before]);
        let within = start[at..].iter();
        at + within.take_while(|&&t| Some(t) == tick).count()
    };
    let found: Option<Vec<Vec<(u32, u32)>>> = (0..parts)
        .into_par_iter()
        .map(|part| moves_in(columns, cut(part)..cut(part + 1)))
        .collect();
    Some(found?.concat())
}

/// Those of a range that holds ticks whole.
fn moves_in(columns: &InOrder, range: Range<usize>) -> Option<Vec<(u32, u32)>> {
    let (strands, tasks) = (&columns.strands, &columns.tasks);
    let start = &strands.start;
    let mut moves = Vec::new();
    let mut group: Vec<u32> = Vec::new();
    let mut ties = Ties::default();
    let mut from = range.start;
    while from < range.end {
        let t = start[from];
        let more = start[from + 1..].iter().take_while(|&&other| other == t);
        let to = from + 1 + more.count();
        if to - from > 1 {
            group.clear();
            group.extend(from as u32..to as u32);
            let predecessors = |s: u32, f: &mut dyn FnMut(u32)| {
                let i = s as usize;
                match strands.start_kind[i] {
                    StartKind::Begin => {
                        let creator = tasks.creator[strands.task[i] as usize];
                        if creator != NONE {
                            f(creator);
                        }
                    }
                    StartKind::AfterWait => {
                        f(strands.prev[i]);
                        if let Ok(w) = columns.waits.after.binary_search(&s) {
                            for &joined in columns.waits.tasks.get(w) {
                                f(tasks.last[joined as usize]);
                            }
                        }
                    }
                    _ => f(strands.prev[i]),
                }
            };
            let slot = |s: u32| s as usize - from;
            ties.settle(
                &mut group,
                |s| (strands.end[s as usize] != t, strands.task[s as usize]),
                |p| start[p as usize] == t && strands.end[p as usize] == t,
                slot,
                predecessors,
            )
            .ok()?;
            let placed = group.iter().zip(from as u32..);
            moves.extend(placed.filter(|(s, at)| *s != at).map(|(&s, at)| (s, at)));
        }
        from = to;
    }
    Some(moves)
}

fn arrange<T: Copy>(column: &mut [T], moves: &[(u32, u32)]) {
    let values: Vec<T> = moves.iter().map(|m| column[m.0 as usize]).collect();
    for (m, value) in moves.iter().zip(values) {
        column[m.1 as usize] = value;
    }
}
