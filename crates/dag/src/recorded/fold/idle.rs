//! When a worker had nothing to do.

use super::lane::Looked;

/// The times in which fewer than `workers` threads ran, in order and apart; times within a thread in which nothing ran for less than
/// a thief's time do not count.
pub(super) fn idle(looked: &[Looked], workers: u32, (first, last): (u64, u64)) -> Vec<(u64, u64)> {
    let mut changes: Vec<(u64, i32)> = Vec::new();
    for l in looked {
        let mut from = l.began;
        for &(stops, goes_on) in &l.gaps {
            changes.push((from, 1));
            changes.push((stops, -1));
            from = goes_on;
        }
        if from < l.last {
            changes.push((from, 1));
            changes.push((l.last, -1));
        }
    }
    // Who stops at a moment goes before who starts.
    changes.sort_unstable();
    let workers = i64::from(workers);
    let mut idle: Vec<(u64, u64)> = Vec::new();
    let (mut running, mut since) = (0i64, first);
    for (t, change) in changes {
        if running < workers && t > since {
            match idle.last_mut() {
                Some(before) if before.1 >= since => before.1 = t,
                _ => idle.push((since, t)),
            }
        }
        running += i64::from(change);
        since = since.max(t);
    }
    if running < workers && last > since {
        idle.push((since, last));
    }
    idle
}
