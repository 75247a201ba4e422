//! Finds the times in which workers were idle.

use super::lane::ThreadSurvey;

/// A time in which this number of workers was idle.
pub(super) struct Idle {
    pub from: u64,
    pub to: u64,
    pub workers: u32,
}

/// The times in which fewer than `workers` threads ran, in order and without overlap, with the
/// number of threads missing. A gap within a thread does not count if it is shorter than a thief's
/// time, or if the task that the thread ran next was ready.
pub(super) fn idle(looked: &[ThreadSurvey], workers: u32, (first, last): (u64, u64)) -> Vec<Idle> {
    let mut changes: Vec<(u64, i32)> = Vec::new();
    for l in looked {
        let mut from = l.began;
        for &(stops, goes_on) in &l.gaps {
            changes.push((from, 1));
            changes.push((stops, -1));
            from = goes_on;
        }
        if from < l.extent.last {
            changes.push((from, 1));
            changes.push((l.extent.last, -1));
        }
    }
    // Stops come before starts at the same moment.
    changes.sort_unstable();
    let workers = i64::from(workers);
    let mut idle: Vec<Idle> = Vec::new();
    let mut add = |from, to, running: i64| {
        let missing = (workers - running) as u32;
        match idle.last_mut() {
            Some(before) if before.to == from && before.workers == missing => before.to = to,
            _ => idle.push(Idle {
                from,
                to,
                workers: missing,
            }),
        }
    };
    let (mut running, mut since) = (0i64, first);
    for (t, change) in changes {
        if running < workers && t > since {
            add(since, t, running);
        }
        running += i64::from(change);
        since = since.max(t);
    }
    if running < workers && last > since {
        add(since, last, running);
    }
    idle
}
