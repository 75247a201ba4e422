//! Bends the times of a recorded trace until they respect its edges.
//!
//! Clocks of different cores differ by some ticks, and a time stamp can be read early by a
//! speculating core, so a task may seem to begin before its create. Such strands are moved to the
//! time they were ready, and what follows them is pushed along. An edge that would move a strand by
//! more than a millisecond is damage, not skew: it is dropped.

use super::Repairs;
use super::graph::{Edge, Graph};
use super::tasks::Tasks;
use crate::dag::{NONE, RaggedArray};

const LATE: &str = "Strands that started before what they waited for had ended, clamped";
const DROPPED: &str =
    "Waits and dependences that the times contradict, joined at the end of the run instead";
const OVERLAP: &str = "Strands that overlapped the next one on their thread, cut off there";

/// Moves strands forward and drops edges that contradict the times.
pub(super) fn clamp(
    graph: &mut Graph<'_>,
    ticks_per_second: u64,
    tasks: &mut Tasks,
    repairs: &mut Repairs,
) {
    let limit = (ticks_per_second / 1000).max(1);
    let recorded = (graph.strands.start.clone(), graph.strands.end.clone());
    let moved = push(graph, Some(limit)).unwrap_or_else(|()| {
        // Creates or program order close a circle with the other edges: strands move along creates
        // and program order alone, which have no circle.
        (graph.strands.start, graph.strands.end) = recorded;
        push(graph, None).unwrap_or_default()
    });
    for _ in 0..moved {
        repairs.note(LATE);
    }
    let (start, end) = (graph.strands.start.clone(), graph.strands.end.clone());
    retain(graph, tasks, repairs, |p, s| {
        p != s && end[p as usize] <= start[s as usize]
    });
}

/// Drops the waits and dependences among strands of no length at one tick.
pub(super) fn drop_ties(graph: &mut Graph<'_>, tasks: &mut Tasks, repairs: &mut Repairs) {
    let (start, end) = (graph.strands.start.clone(), graph.strands.end.clone());
    retain(graph, tasks, repairs, |p, s| {
        start[p as usize] != end[s as usize]
    });
}

/// Makes every strand start at or after the ends of its predecessors; without a `limit` only
/// creates and program order count; with one, other edges count too if they move a strand by no
/// more than the limit. Returns how many strands moved; `Err` when creates or program order close a
/// circle.
fn push(graph: &mut Graph<'_>, limit: Option<u64>) -> Result<u64, ()> {
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let n = graph.strands.len();
    let mut state = vec![0u8; n];
    let mut stack = Vec::new();
    let mut moved = 0;
    for root in 0..n as u32 {
        stack.push((root, false));
        while let Some((s, leave)) = stack.pop() {
            let i = s as usize;
            if leave {
                let mut ready = graph.strands.start[i];
                let mut latest_other = 0;
                graph.for_each_predecessor(s, |p, edge| {
                    let end = graph.strands.end[p as usize];
                    match edge {
                        Edge::Previous | Edge::Create => ready = ready.max(end),
                        _ if state[p as usize] == DONE
                            && end <= graph.strands.start[i].saturating_add(limit.unwrap_or(0)) =>
                        {
                            latest_other = latest_other.max(end);
                        }
                        _ => {}
                    }
                });
                if limit.is_some() {
                    ready = ready.max(latest_other);
                }
                if ready > graph.strands.start[i] {
                    graph.strands.start[i] = ready;
                    graph.strands.end[i] = graph.strands.end[i].max(ready);
                    moved += 1;
                }
                state[i] = DONE;
            } else if state[i] == 0 {
                state[i] = OPEN;
                stack.push((s, true));
                let mut circle = false;
                graph.for_each_predecessor(s, |p, edge| {
                    let firm = matches!(edge, Edge::Previous | Edge::Create);
                    match state[p as usize] {
                        0 if firm || limit.is_some() => stack.push((p, false)),
                        OPEN if firm => circle = true,
                        _ => {}
                    }
                });
                if circle {
                    return Err(());
                }
            }
        }
    }
    Ok(moved)
}

/// Keeps only the joins, signals and dependences `(predecessor, strand)` for which `keep` is true.
/// A task whose join is dropped belongs to no scope any more, and no wait is for all children then:
/// each wait lists the tasks that it joins.
fn retain(
    graph: &mut Graph<'_>,
    tasks: &mut Tasks,
    repairs: &mut Repairs,
    keep: impl Fn(u32, u32) -> bool,
) {
    let mut all = true;
    for (w, &after) in graph.waits.after.iter().enumerate() {
        for &t in graph.waits.tasks.get(w) {
            if !keep(graph.tasks.last[t as usize], after) {
                tasks.scope[t as usize] = NONE;
                all = false;
            }
        }
    }
    if !all {
        graph.waits.plain.fill(false);
    }
    let mut filter =
        |lists: &RaggedArray, strand_of: &dyn Fn(usize) -> u32, last: &dyn Fn(u32) -> u32| {
            let mut out = RaggedArray::default();
            for i in 0..lists.len() {
                let s = strand_of(i);
                out.push(lists.get(i).iter().copied().filter(|&item| {
                    let is_kept = keep(last(item), s);
                    if !is_kept {
                        repairs.note(DROPPED);
                    }
                    is_kept
                }));
            }
            out
        };
    let after = |w: usize| graph.waits.after[w];
    let joins = filter(&graph.waits.tasks, &after, &|t| {
        graph.tasks.last[t as usize]
    });
    let signals = filter(&graph.waits.signals, &after, &|p| p);
    let first = |d: usize| graph.tasks.first[graph.depends.tasks[d] as usize];
    let on = filter(&graph.depends.on, &first, &|t| graph.tasks.last[t as usize]);
    graph.waits.tasks = joins;
    graph.waits.signals = signals;
    let nonempty: Vec<usize> = (0..on.len()).filter(|&d| !on.get(d).is_empty()).collect();
    let mut depends = super::graph::Depends::default();
    for d in nonempty {
        depends.tasks.push(graph.depends.tasks[d]);
        depends.on.push(on.get(d).iter().copied());
    }
    *graph.depends = depends;
}

/// Cuts strands off where the next strand of their thread starts; `sorted` is by start. Returns
/// whether any strand was cut.
pub(super) fn cut_overlaps(graph: &mut Graph<'_>, sorted: &[u32], repairs: &mut Repairs) -> bool {
    let strands = &mut *graph.strands;
    let threads = strands.thread.iter().max().map_or(0, |&t| t as usize + 1);
    let mut running = vec![u32::MAX; threads];
    let mut any = false;
    for &s in sorted {
        let i = s as usize;
        if strands.start[i] == strands.end[i] {
            continue;
        }
        let before = std::mem::replace(&mut running[strands.thread[i] as usize], s) as usize;
        if before < strands.end.len() && strands.end[before] > strands.start[i] {
            strands.end[before] = strands.start[i];
            repairs.note(OVERLAP);
            any = true;
        }
    }
    any
}
