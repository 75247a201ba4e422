//! Locks that were held across a join.
//!
//! A worker that waits in a join runs other tasks. If it holds a lock meanwhile, and one of these
//! tasks takes the same lock, it waits for itself forever: `rayon#592`, `rayon#1251`. Before that
//! happens, such a lock can be recognised by other threads that wait for it as long as the join
//! takes.
//!
//! Taking a free lock leaves no record, so the time at which it was taken is not known. But from
//! the moment at which a thread begins to wait for it until the next release, one thread holds it
//! throughout:
//!
//! ```text
//! holder  ── lock ──── join ┤ ├ after the join ── release ──▶
//! waiter  ───────── waits ─────────────────────────────┤
//!                   ^ held since then, at least
//! ```

use std::collections::BTreeMap;

use workspan_dag::{Dag, Handoff, NONE, PlaceId, StartKind, Stop};

/// A wait for a lock whose holder waited in a join meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HeldLock {
    /// The wait for the lock: an index into the run's stops.
    pub stop: u32,
    /// Where the holder waited in a join; `NONE` if that place is not known.
    pub join: PlaceId,
}

/// A moment at which a lock is known to have been released, and the waits that it ended.
type Releases<'a> = BTreeMap<u64, Vec<&'a Handoff>>;

/// All such waits, by [`HeldLock::stop`]. O(m log m) for m waits.
pub(crate) fn locks_across_joins(dag: &Dag) -> Vec<HeldLock> {
    let orders = || dag.handoffs.list.iter().filter(|handoff| handoff.is_order);
    let stop = |handoff: &Handoff| &dag.samples.stops[handoff.stop as usize];
    let object = |stop: &Stop| stop.wait.map_or(0, |wait| wait.object);
    let mut locks: BTreeMap<u64, (Releases<'_>, Vec<u64>)> = BTreeMap::new();
    for handoff in orders() {
        let released = dag.strands.end[handoff.from as usize];
        let (releases, _) = locks.entry(object(stop(handoff))).or_default();
        releases.entry(released).or_default().push(handoff);
    }
    if locks.is_empty() {
        return Vec::new();
    }
    for stop in &dag.samples.stops {
        if let Some((releases, begins)) = locks.get_mut(&object(stop)) {
            begins.push(stop.t);
            // A thread that came back only to wait on was woken by a release.
            if stop.waits_on() {
                releases
                    .entry(stop.t.saturating_add(stop.ticks))
                    .or_default();
            }
        }
    }
    let mut found = Vec::new();
    for (releases, begins) in locks.values() {
        let mut last = None;
        for (&released, ended) in releases {
            // Stops are in the order of time.
            let first = begins.partition_point(|&t| last.is_some_and(|last| t <= last));
            last = Some(released);
            // The holder has had it since then, or longer.
            let Some(&held_since) = begins.get(first) else {
                continue;
            };
            found.extend(ended.iter().filter_map(|handoff| {
                let join = join_after(dag, handoff, held_since)?;
                Some(HeldLock {
                    stop: handoff.stop,
                    join,
                })
            }));
        }
    }
    found.sort_unstable();
    add_earlier_parts(dag, &mut found);
    found
}

/// Adds the earlier parts of these waits. A thread that wakes and finds the lock taken again waits
/// on, so its earlier times off the CPU belong to the same wait.
fn add_earlier_parts(dag: &Dag, found: &mut Vec<HeldLock>) {
    if found.is_empty() {
        return;
    }
    // By thread: the lock and the join of the wait whose later part was found.
    let mut later: Vec<Option<(u64, PlaceId)>> = vec![None; dag.meta.threads as usize];
    let mut earlier = Vec::new();
    for (i, stop) in dag.samples.stops.iter().enumerate().rev() {
        let i = i as u32;
        let Some(later) = later.get_mut(stop.thread as usize) else {
            continue;
        };
        let object = stop.wait.map_or(0, |wait| wait.object);
        match *later {
            Some((same, join)) if stop.waits_on() && same == object => {
                earlier.push(HeldLock { stop: i, join });
            }
            _ => {
                let own = found.binary_search_by_key(&i, |held| held.stop);
                *later = own.ok().map(|own| (object, found[own].join));
            }
        }
    }
    found.extend(earlier);
    found.sort_unstable();
}

/// Where the task that released the lock waited in a join, if that join ended after `held_since`.
fn join_after(dag: &Dag, handoff: &Handoff, held_since: u64) -> Option<PlaceId> {
    let strands = &dag.strands;
    let first = dag.handoffs.whole(handoff.from).0 as usize;
    let resumed = strands.start_kind[first] == StartKind::AfterWait;
    if !resumed || strands.start[first] <= held_since {
        return None;
    }
    let before = strands.prev[first];
    Some(if before == NONE {
        NONE
    } else {
        strands.to[before as usize]
    })
}
