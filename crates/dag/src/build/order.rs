//! Checks that the times respect the edges, and finds a topological order that is the start-time
//! order.
//!
//! Every predecessor ends no later than its strand starts, so sorting by start is almost enough:
//! only a strand of no length can have to precede another that starts at the same tick. Those
//! groups are ordered by a search of their own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::graph::{Graph, contradiction, cycle};
use super::tasks::Tasks;
use super::{Fault, Mode, Repairs, clamp, late_ends};

/// What the reader says about the run as a whole.
pub(super) struct ReaderFacts<'a> {
    pub signals: &'a [u64],
    pub ticks_per_second: u64,
    /// [`crate::raw::RawTrace::late_ends`].
    pub late_ends: bool,
}

/// Returns the strands in final order. In repair mode it may clamp times and drop edges.
pub(super) fn order(
    mut graph: Graph<'_>,
    facts: ReaderFacts<'_>,
    tasks: &mut Tasks,
    repairs: &mut Repairs,
) -> Result<Vec<u32>, Fault> {
    if let Some((p, s, edge)) = graph.first_contradiction() {
        if repairs.mode == Mode::Strict && p == s {
            return Err(cycle(tasks, graph.strands.task[s as usize]));
        }
        if repairs.mode == Mode::Strict {
            return Err(contradiction(&graph, p, s, edge, facts.signals, tasks));
        }
        if facts.late_ends {
            late_ends::clip(&mut graph);
        }
        if !facts.late_ends || graph.first_contradiction().is_some() {
            clamp::clamp(&mut graph, facts.ticks_per_second, tasks, repairs);
        }
    }
    let sorted = sort_or_untie(&mut graph, tasks, repairs)?;
    if repairs.mode == Mode::Repair && clamp::cut_overlaps(&mut graph, &sorted, repairs) {
        return sort_or_untie(&mut graph, tasks, repairs);
    }
    Ok(sorted)
}

/// Sorts the strands. A circle among strands of no length is an error, or is cut in repair mode.
fn sort_or_untie(
    graph: &mut Graph<'_>,
    tasks: &mut Tasks,
    repairs: &mut Repairs,
) -> Result<Vec<u32>, Fault> {
    match sort(graph) {
        Ok(sorted) => Ok(sorted),
        Err(s) if repairs.mode == Mode::Strict => Err(cycle(tasks, graph.strands.task[s as usize])),
        Err(_) => {
            clamp::drop_ties(graph, tasks, repairs);
            // Only creates and program order are left between strands of one tick, and those have
            // no cycle.
            sort(graph).map_err(|_| circle())
        }
    }
}

fn circle() -> Fault {
    Fault::whole("the trace's tasks wait for each other in a circle that could not be cut")
}

/// Sorts strands by start; equal starts by (no length first, task, program order) and then
/// topologically. `Err` is a strand on a cycle.
fn sort(graph: &Graph<'_>) -> Result<Vec<u32>, u32> {
    let (start, end) = (&graph.strands.start, &graph.strands.end);
    let mut sorted = by_start(start);
    let mut ties = TieOrder::default();
    let mut at = 0;
    while at < sorted.len() {
        let t = start[sorted[at] as usize];
        let mut next = at + 1;
        while next < sorted.len() && start[sorted[next] as usize] == t {
            next += 1;
        }
        if next - at > 1 {
            ties.settle(
                &mut sorted[at..next],
                |s| (end[s as usize] != t, graph.strands.task[s as usize]),
                |p| start[p as usize] == t && end[p as usize] == t,
                |s| s as usize,
                |s, f| graph.for_each_predecessor(s, |p, _| f(p)),
            )?;
        }
        at = next;
    }
    Ok(sorted)
}

/// Orders groups of strands that start at one tick; keeps its buffers between groups.
#[derive(Default)]
pub struct TieOrder {
    /// 0 untouched, 1 being visited, 2 placed; 0 between two groups.
    state: Vec<u8>,
    placed: Vec<u32>,
    stack: Vec<(u32, bool)>,
}

impl TieOrder {
    /// Orders a group: by (takes time, task), as `key` returns it, then by program order, which is
    /// the order of the numbers. Strands of no length, for which `instant` is true, are ordered
    /// topologically. `slot` maps each strand to its own index in the buffers. `Err` is a strand on
    /// a cycle.
    pub fn settle(
        &mut self,
        group: &mut [u32],
        key: impl Fn(u32) -> (bool, u32),
        instant: impl Fn(u32) -> bool,
        slot: impl Fn(u32) -> usize,
        for_each_predecessor: impl Fn(u32, &mut dyn FnMut(u32)),
    ) -> Result<(), u32> {
        group.sort_unstable_by_key(|&s| (key(s), s));
        let instants = group.partition_point(|&s| !key(s).0);
        if instants < 2 {
            return Ok(());
        }
        let TieOrder {
            state,
            placed,
            stack,
        } = self;
        let group = &mut group[..instants];
        let most = group.iter().map(|&s| slot(s)).max().unwrap_or(0);
        if state.len() <= most {
            state.resize(most + 1, 0);
        }
        placed.clear();
        for &root in &*group {
            stack.push((root, false));
            while let Some((s, leave)) = stack.pop() {
                if leave {
                    state[slot(s)] = 2;
                    placed.push(s);
                } else if state[slot(s)] == 0 {
                    state[slot(s)] = 1;
                    stack.push((s, true));
                    let mut circle = false;
                    for_each_predecessor(s, &mut |p| {
                        if instant(p) {
                            match state[slot(p)] {
                                0 => stack.push((p, false)),
                                1 => circle = true,
                                _ => {}
                            }
                        }
                    });
                    if circle {
                        return Err(s);
                    }
                }
            }
        }
        for &s in &*group {
            state[slot(s)] = 0;
        }
        group.copy_from_slice(placed);
        Ok(())
    }
}

/// Maximum number of ascending runs that are merged; a column of more is sorted.
const MAX_MERGED_RUNS: usize = 256;

/// Strand indices by start time, equal ones in any order. Readers report a thread's strands in
/// order, so the column consists of a few long ascending runs, which are merged.
fn by_start(start: &[u64]) -> Vec<u32> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for i in 1..=start.len() {
        if i == start.len() || start[i] < start[i - 1] {
            runs.push(from..i);
            from = i;
            if runs.len() > MAX_MERGED_RUNS {
                return by_sorting(start);
            }
        }
    }
    let mut sorted = Vec::with_capacity(start.len());
    let mut heads: BinaryHeap<Reverse<(u64, usize)>> = (0..runs.len())
        .filter(|&run| !runs[run].is_empty())
        .map(|run| Reverse((start[runs[run].start], run)))
        .collect();
    while let Some(Reverse((_, run))) = heads.pop() {
        // Take from this run until the next run's turn.
        let turn = heads.peek().map_or(u64::MAX, |Reverse(next)| next.0);
        let Range { start: first, end } = runs[run];
        let mut at = first;
        while at < end && start[at] <= turn {
            sorted.push(at as u32);
            at += 1;
        }
        runs[run].start = at;
        if at < end {
            heads.push(Reverse((start[at], run)));
        }
    }
    sorted
}

/// Sorts a column without long runs. Start and index share one word if they fit, which is almost
/// always the case: then this is an in-place sort of 8 bytes per strand.
fn by_sorting(start: &[u64]) -> Vec<u32> {
    let low = start.iter().copied().min().unwrap_or(0);
    let range = start.iter().copied().max().unwrap_or(0) - low;
    let index_bits = usize::BITS - start.len().leading_zeros();
    if range.leading_zeros() >= index_bits {
        let mut keys: Vec<u64> = start
            .iter()
            .zip(0..)
            .map(|(&t, i)| (t - low) << index_bits | i)
            .collect();
        keys.sort_unstable();
        keys.into_iter()
            .map(|key| (key & ((1 << index_bits) - 1)) as u32)
            .collect()
    } else {
        let mut keys: Vec<(u64, u32)> = start.iter().copied().zip(0..).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, i)| i).collect()
    }
}
