//! The first walk: what of a thread others need to know.

use workspan_trace::event::Event;

use super::place_codes::PlaceCodes;
use crate::recorded::chunks_by_thread::Thread;
use crate::recorded::places::Places;
use crate::recorded::replay::{ReplayLog, ThreadLog};
use crate::recorded::survey::{Skipped, walk};
use workspan_dag::PlaceId;

/// What a thread tells of itself.
#[derive(Debug)]
pub(super) struct ThreadFacts {
    /// The site of each task it created, in the order of creation.
    pub sites: PlaceCodes,
    /// Survey that have none of these.
    skipped: Skipped,
    /// Its parallel regions: scope count and site, ascending.
    pub teams: Vec<(u64, PlaceId)>,
    /// Members of regions that began on it.
    pub members: u64,
    /// Its first and last record, in the file's ticks, and the first that is about a task.
    pub first: u64,
    pub last: u64,
    pub began: u64,
    /// It ran a task.
    pub busy: bool,
    /// It holds bytes that are no record.
    pub bad: bool,
    /// Records.
    pub events: u64,
    pub told: ThreadLog,
    pub pools: Vec<(u64, Pool)>,
}

/// What was told of a pool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pool {
    Begins { pool: u32, size: u64 },
    Ends { pool: u32 },
}

impl Pool {
    pub(super) fn tell(self, told: &mut ReplayLog, t: u64) {
        match self {
            Pool::Begins { pool, size } => told.pool_begins(pool, size, t),
            Pool::Ends { pool } => told.pool_ends(pool, t),
        }
    }
}

impl ThreadFacts {
    /// Of the thread at `place` of the file's.
    pub(super) fn of(place: u32, thread: &Thread<'_>, places: &Places) -> ThreadFacts {
        let mut it = ThreadFacts {
            sites: PlaceCodes::default(),
            skipped: Skipped::default(),
            teams: Vec::new(),
            members: 0,
            first: u64::MAX,
            last: 0,
            began: u64::MAX,
            busy: false,
            bad: false,
            events: 0,
            told: ThreadLog::new(place),
            pools: Vec::new(),
        };
        // What a file states may be anything.
        let mut scopes = 0u64;
        let mut busy = None;
        let bad = walk(thread, |t, event| {
            it.first = it.first.min(t);
            it.last = it.last.max(t);
            it.events += 1;
            match event {
                Event::Join { site } => {
                    let place = places.of(site);
                    it.sites.push(place);
                    it.sites.push(place);
                }
                Event::Root => it.sites.push(workspan_dag::ROOT_PLACE),
                Event::Create { site, .. } | Event::Part { site, .. } => {
                    it.sites.push(places.of(site));
                }
                Event::Scope { .. } => scopes = scopes.saturating_add(1),
                Event::Team { site } => {
                    it.teams.push((scopes, places.of(site)));
                    scopes = scopes.saturating_add(1);
                }
                Event::Skip {
                    tasks,
                    scopes: of_scopes,
                } => {
                    it.skipped.skip(it.sites.len() as u64, tasks);
                    scopes = scopes.saturating_add(of_scopes);
                }
                Event::Restart { .. } if it.events > 1 => return,
                Event::Restart {
                    tasks,
                    scopes: of_scopes,
                    ..
                } => {
                    it.skipped.skip(0, tasks);
                    scopes = of_scopes;
                }
                Event::Member { .. } => it.members += 1,
                Event::Worker { pool, .. } => return it.told.worker_begins(pool, t),
                Event::WorkerEnd => return it.told.worker_ends(t),
                Event::Pool { pool, size } => {
                    return it.pools.push((t, Pool::Begins { pool, size }));
                }
                Event::PoolEnd { pool } => return it.pools.push((t, Pool::Ends { pool })),
                Event::Sleep
                | Event::Wake
                | Event::Steal { .. }
                | Event::StealFailed { .. }
                | Event::Off { .. }
                | Event::Recorder { .. }
                | Event::Readings(_) => return,
                _ => {}
            }
            let (_, last) = busy.get_or_insert((t, t));
            *last = t;
        });
        it.bad = bad.is_some();
        if let Some((from, to)) = busy {
            it.told.busy(from, to);
            it.began = from;
            it.busy = true;
        }
        it
    }

    /// The site of the task that it created as this one of its creates.
    pub(super) fn site(&self, count: u64) -> Option<PlaceId> {
        let nth = self.skipped.kept(count)?;
        self.sites.get(usize::try_from(nth).ok()?)
    }
}
