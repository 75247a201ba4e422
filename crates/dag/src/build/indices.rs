//! Checks that every index a reader wrote is in range.

use super::{Fault, MAX_THREADS, Mode};
use crate::dag::{NONE, ThreadEvent};
use crate::raw::{RawEnd, RawTrace};

/// Checks that every index a reader wrote is in range, so that later stages can index. Raises
/// `meta.threads` to the number used.
pub(super) fn check_indices(raw: &mut RawTrace, mode: Mode) -> Result<(), Fault> {
    let (tasks, strands, places) = (raw.tasks.len(), raw.strands.len(), raw.places.len());
    let (scopes, labels, signals) = (raw.scopes.len(), raw.labels.len(), raw.signals.len());
    if tasks == 0 {
        return Err(Fault::whole(
            "the trace has no task; expected at least one task with a begin and an end",
        ));
    }
    // Two strands may be added for each task, and a join may become three strands.
    let joins = raw
        .strands
        .end_op
        .iter()
        .filter(|op| matches!(op, RawEnd::Join(_)));
    if strands
        .saturating_add(2 * joins.count())
        .saturating_add(tasks.saturating_mul(2))
        >= NONE as usize
    {
        return Err(Fault::whole(format!(
            "{strands} strands of {tasks} tasks are more than this format of columns holds"
        )));
    }
    let below = |i: u32, n: usize| (i as usize) < n;
    let or_none = |i: u32, n: usize| i == NONE || (i as usize) < n;
    let mut good = places > 0;
    good &= raw
        .tasks
        .iter()
        .all(|t| or_none(t.parent, tasks) && below(t.site, places) && or_none(t.scope, scopes));
    good &= raw.strands.end_op.iter().all(|op| match *op {
        RawEnd::Create(c) => below(c, tasks),
        RawEnd::Join(c) => (c as usize) + 1 < tasks && below(raw.tasks[c as usize].scope, scopes),
        RawEnd::WaitScope(c) => below(c, scopes),
        RawEnd::WaitTasks(l) => below(l, raw.wait_tasks.len()),
        RawEnd::WaitSignals(l) => below(l, raw.wait_signals.len()),
        RawEnd::Signal(c) => below(c, signals),
        RawEnd::WaitChildren | RawEnd::Yield | RawEnd::End => true,
    });
    good &= raw.strands.task.iter().all(|&t| below(t, tasks));
    good &= raw.strands.at.iter().all(|&at| or_none(at, places));
    good &= raw.wait_tasks.items.iter().all(|&t| below(t, tasks));
    good &= raw.wait_signals.items.iter().all(|&s| below(s, signals));
    good &= raw
        .scopes
        .iter()
        .all(|s| below(s.opener, tasks) && or_none(s.strand, strands));
    good &= raw
        .depends
        .iter()
        .all(|&(a, b)| below(a, tasks) && below(b, tasks));
    good &= raw.regions.iter().chain(&raw.parts).all(|r| {
        below(r.label, labels)
            && below(r.task, tasks)
            && below(r.begin.0, strands)
            && or_none(r.end.0, strands)
    });
    good &= raw.steals.iter().all(|s| or_none(s.task, tasks));
    good &= raw
        .counters
        .iter()
        .all(|(_, values)| values.iter().all(|&(s, _)| below(s, strands)));
    good &= raw.folded.all(|s, f| {
        below(s, strands)
            && f.sites.iter().all(|s| below(s.site, places))
            && f.blocks
                .iter()
                .all(|b| or_none(b.0, places) && or_none(b.1, places))
    });
    good &= raw
        .skipped
        .iter()
        .all(|(s, b)| below(*s, strands) && below(b.site, places));
    if !good {
        return Err(Fault::whole(
            "the trace refers to something that it does not contain; this is a bug in its reader, please report it",
        ));
    }
    let strands = raw.strands.thread.iter().copied().max();
    let threads = highest_thread(raw).max(strands);
    if let Some(top) = threads.filter(|&t| t >= MAX_THREADS) {
        return Err(Fault::whole(format!(
            "thread {top} is out of range; expected thread numbers below {MAX_THREADS}"
        )));
    }
    let used = threads.map_or(0, |t| t + 1).max(raw.meta.workers);
    if mode == Mode::Repair {
        clamp_threads(raw, used);
    } else if raw.meta.workers == 0 || used > raw.meta.threads || raw.meta.threads > MAX_THREADS {
        let meta = &raw.meta;
        let what = format!(
            "{} workers and {} threads do not hold thread {}",
            meta.workers,
            meta.threads,
            used.saturating_sub(1)
        );
        return Err(Fault::whole(what));
    }
    Ok(())
}

/// The highest thread number used by anything but a strand.
pub(super) fn highest_thread(raw: &RawTrace) -> Option<u32> {
    let victims = raw.thread_events.iter().filter_map(|e| match e.2 {
        ThreadEvent::StealFailed(victim) => Some(victim),
        _ => None,
    });
    let steals = raw.steals.iter().flat_map(|s| [s.thief, s.victim]);
    let offs = raw.offs.iter().map(|o| o.thread);
    let runs = raw.recorder_runs.iter().map(|run| run.thread);
    offs.chain(runs)
        .chain(raw.thread_events.iter().map(|e| e.1))
        .chain(victims.chain(steals).filter(|&t| t != NONE))
        .max()
}

/// Limits the numbers of workers and threads to [`MAX_THREADS`], with at least `used` threads.
pub(super) fn clamp_threads(raw: &mut RawTrace, used: u32) {
    raw.meta.workers = raw.meta.workers.clamp(1, MAX_THREADS);
    raw.meta.threads = raw.meta.threads.max(used).clamp(1, MAX_THREADS);
}
