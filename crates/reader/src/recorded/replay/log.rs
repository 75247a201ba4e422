//! The information that the replay collects in addition to the run.

use std::collections::BTreeMap;

use workspan_trace::folded::FoldedRecord;

use crate::recorded::places::Places;
use workspan_dag::folded::Folded;

/// The repairs, the pools, and the role of each thread.
#[derive(Debug, Default)]
pub(in crate::recorded) struct ReplayLog {
    /// Threads in the order of the file.
    pub threads: Vec<ThreadLog>,
    /// Pools by number.
    pub pools: BTreeMap<u32, PoolLog>,
    /// For each repair, a sentence without its end, and the number of repairs.
    pub repairs: BTreeMap<&'static str, u64>,
    /// The number of records that refer to something missing in the trace, by what that is.
    pub earlier: BTreeMap<&'static str, u64>,
    /// The number of tasks on threads' stacks where the trace's records begin.
    pub before: u64,
    /// The number of tasks still open at the end of the trace.
    pub open: u64,
    /// The number of tasks that never began.
    pub never_began: u64,
}

/// A pool that was announced.
#[derive(Debug)]
pub(in crate::recorded) struct PoolLog {
    /// The number of its workers; 0 if only its end was recorded.
    pub size: u64,
    /// The time at which it began.
    pub from: u64,
    /// The time at which it ended; `None` if it did not.
    pub to: Option<u64>,
    /// The site at which the program created it.
    pub site: Option<u32>,
}

impl Default for PoolLog {
    fn default() -> Self {
        PoolLog {
            size: 0,
            from: u64::MAX,
            to: None,
            site: None,
        }
    }
}

/// A thread.
#[derive(Debug, Clone, Default)]
pub(in crate::recorded) struct ThreadLog {
    /// The thread's index among the file's threads.
    pub index: u32,
    /// The start of its first and the end of its last strand.
    pub busy: Option<(u64, u64)>,
    /// Whether it is not a worker, although there is no pool.
    pub is_plain: bool,
    /// The times at which it was a worker: (pool, from, to).
    pub worker: Vec<(u32, u64, Option<u64>)>,
}

impl ReplayLog {
    pub(in crate::recorded) fn repair(&mut self, what: &'static str) {
        *self.repairs.entry(what).or_default() += 1;
    }

    /// Counts a record that refers to something missing in the trace, because it began before the
    /// first record.
    pub(in crate::recorded) fn names_earlier(&mut self, what: &'static str) {
        *self.earlier.entry(what).or_default() += 1;
    }

    pub(in crate::recorded) fn pool_begins(&mut self, pool: u32, size: u64, t: u64) {
        let known = self.pools.entry(pool).or_default();
        // The number of its site, plus one, is in the bits above its size.
        let (site, size) = ((size >> 32) as u32, size & u64::from(u32::MAX));
        known.site = known.site.or(site.checked_sub(1));
        known.size = known.size.max(size);
        known.from = known.from.min(t);
    }

    /// The pool's beginning may be recorded by a thread that comes later in the file.
    pub(in crate::recorded) fn pool_ends(&mut self, pool: u32, t: u64) {
        let known = self.pools.entry(pool).or_default();
        known.to = known.to.max(Some(t));
    }
}

impl ThreadLog {
    pub(in crate::recorded) fn new(index: u32) -> ThreadLog {
        ThreadLog {
            index,
            ..ThreadLog::default()
        }
    }

    pub(in crate::recorded) fn busy(&mut self, start: u64, end: u64) {
        let (first, last) = self.busy.get_or_insert((start, end));
        *first = (*first).min(start);
        *last = (*last).max(end);
    }

    pub(in crate::recorded) fn worker_begins(&mut self, pool: u32, t: u64) {
        self.worker_ends(t);
        self.worker.push((pool, t, None));
    }

    pub(in crate::recorded) fn worker_ends(&mut self, t: u64) {
        if let Some(open) = self.worker.last_mut().filter(|w| w.2.is_none()) {
            open.2 = Some(t);
        }
    }

    /// Whether it is a worker now.
    pub(in crate::recorded) fn is_worker(&self) -> bool {
        self.worker.last().is_some_and(|w| w.2.is_none())
    }
}

/// The folded record in the form of the DAG's columns.
pub(super) fn folded(mut record: FoldedRecord, places: &Places) -> Folded {
    for site in &mut record.sites {
        site.site = places.of(site.site);
    }
    record.sites.sort_by_key(|s| s.site);
    let place = |site: u32| places.of_optional(site.checked_sub(1));
    for (from, to, _) in &mut record.blocks {
        (*from, *to) = (place(*from), place(*to));
    }
    record
}
