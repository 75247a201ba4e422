//! Runs whose threads belong to no pool: finds the threads that count as workers.
//!
//! If the program runs hand-made tasks, the threads that run some are the workers. If it runs only
//! threads of its own, W is the number of them that could run at the same moment (MODEL.md §5).

use std::cmp::Reverse;

use super::places::Places;
use super::replay::ReplayLog;
use workspan_dag::raw::RawTrace;
use workspan_dag::{OffCpuReason, TaskKind};

/// W ignores the busiest moments that make up less than this fraction (1/100) of the elapsed time.
/// In such a moment, for example, a thread that has just started others still runs beside them.
const BRIEF_FRACTION: u64 = 100;

/// Marks the threads that are not workers if there is no pool, before the threads are numbered. In
/// `raw`, threads are still numbered by their order in the file.
pub(super) fn mark(raw: &RawTrace, cpus: Option<u32>, places: &Places, log: &mut ReplayLog) {
    let is_thread: Vec<bool> = places.list.iter().map(|place| place.is_thread()).collect();
    if !is_thread.contains(&true) {
        return;
    }
    let mut runs = vec![Runs::default(); log.threads.len()];
    for strand in raw.strands.iter() {
        let task = &raw.tasks[strand.task as usize];
        let Some(run) = runs.get_mut(strand.thread as usize) else {
            continue;
        };
        match task.kind {
            TaskKind::Root => run.root = true,
            _ if is_thread[task.site as usize] => run.thread_task = true,
            _ => run.others = true,
        }
        run.ticks += strand.end - strand.start;
    }
    if runs.iter().any(|run| run.others) {
        for (thread, run) in log.threads.iter_mut().zip(&runs) {
            thread.is_plain = run.thread_task && !run.others;
        }
        return;
    }
    let workers = workers(raw, cpus, &runs);
    for (thread, from, to) in blocked_pieces(raw, runs.len()) {
        runs[thread].blocked += to - from;
    }
    // The threads that ran longest are the workers: not those that waited.
    // Threads that share a number ran one after the other, so each moment has at most W of them.
    let mut by_running_time: Vec<usize> = (0..runs.len()).filter(|&t| runs[t].ticks > 0).collect();
    let running = |t: usize| runs[t].ticks.saturating_sub(runs[t].blocked);
    by_running_time.sort_by_key(|&t| (Reverse(running(t)), runs[t].root, t));
    let mut chosen: Vec<(u64, u64)> = Vec::new();
    for thread in &mut log.threads {
        thread.is_plain = true;
    }
    for thread in by_running_time {
        let Some((from, to)) = log.threads[thread].busy else {
            continue;
        };
        let overlapping = chosen.iter().filter(|other| other.0 < to && from < other.1);
        if most_at_once(overlapping.copied()) < workers {
            chosen.push((from, to));
            log.threads[thread].is_plain = false;
        }
    }
}

/// W of a program that runs only threads of its own: the number that ran at the same moment, or
/// could have run if they had not waited for each other, but at least two if one was joined before
/// the next one started. It is limited by the machine's CPUs.
fn workers(raw: &RawTrace, cpus: Option<u32>, runs: &[Runs]) -> u64 {
    let running = at_once(raw, runs.len(), true);
    let Some(cpus) = cpus else {
        return running;
    };
    let elapsed = raw.strands.end.iter().max().copied().unwrap_or(0);
    let counts = |run: &&Runs| run.thread_task && run.ticks > elapsed / BRIEF_FRACTION;
    let several = runs.iter().filter(counts).count().min(2) as u64;
    let open = at_once(raw, runs.len(), false).max(several);
    running.max(open.min(u64::from(cpus)))
}

/// The strands of a thread.
#[derive(Debug, Clone, Copy, Default)]
struct Runs {
    root: bool,
    thread_task: bool,
    others: bool,
    ticks: u64,
    /// The part of `ticks` in which the thread had given up its CPU.
    blocked: u64,
}

/// The largest number of intervals that share a moment.
fn most_at_once(intervals: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut changes: Vec<(u64, i64)> = intervals
        .flat_map(|(from, to)| [(from, 1), (to, -1)])
        .collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0i64, 0i64);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most.unsigned_abs()
}

/// The number of threads that run strands at the same moment, except for moments that together make
/// up a hundredth of the time. With `without_blocked`, a thread that has given up its CPU does not
/// run.
fn at_once(raw: &RawTrace, threads: usize, without_blocked: bool) -> u64 {
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for strand in raw.strands.iter().filter(|s| s.start < s.end) {
        changes.extend([(strand.start, 1), (strand.end, -1)]);
    }
    if without_blocked {
        for (_, from, to) in blocked_pieces(raw, threads) {
            changes.extend([(from, -1), (to, 1)]);
        }
    }
    changes.sort_unstable();
    let mut at_level: Vec<u64> = vec![0; threads + 1];
    let (mut now, mut since) = (0i64, 0);
    for (time, change) in changes {
        let level = (now.max(0) as usize).min(threads);
        at_level[level] += time - since;
        (now, since) = (now + change, time);
    }
    let elapsed: u64 = at_level.iter().sum();
    let mut above = 0;
    for (level, ticks) in at_level.iter().enumerate().rev() {
        above += ticks;
        if above > elapsed / BRIEF_FRACTION {
            return (level as u64).max(1);
        }
    }
    1
}

/// The pieces of strands in which their thread had given up its CPU: (thread, from, to).
fn blocked_pieces(raw: &RawTrace, threads: usize) -> Vec<(usize, u64, u64)> {
    let mut by_thread: Vec<Vec<(u64, u64)>> = vec![Vec::new(); threads];
    for strand in raw.strands.iter() {
        if let Some(list) = by_thread.get_mut(strand.thread as usize) {
            list.push((strand.start, strand.end));
        }
    }
    for list in &mut by_thread {
        list.sort_unstable();
    }
    let mut pieces = Vec::new();
    for off in raw
        .offs
        .iter()
        .filter(|off| off.why == OffCpuReason::Blocked)
    {
        let thread = off.thread as usize;
        let Some(strands) = by_thread.get(thread) else {
            continue;
        };
        let first = strands.partition_point(|&(_, end)| end <= off.start);
        let inside = strands[first..].iter();
        for &(start, end) in inside.take_while(|&&(start, _)| start < off.end) {
            let (from, to) = (start.max(off.start), end.min(off.end));
            if from < to {
                pieces.push((thread, from, to));
            }
        }
    }
    pieces
}
