//! What the replay learns beside the run itself.

use std::collections::BTreeMap;

use workspan_trace::folded::FoldedRecord;

use crate::recorded::places::Places;
use workspan_dag::folded::Folded;

/// What was repaired, which pools there were, and what each thread was.
#[derive(Debug, Default)]
pub(in crate::recorded) struct ReplayLog {
    /// By file order, as the threads.
    pub threads: Vec<ThreadLog>,
    /// By number.
    pub pools: BTreeMap<u32, PoolLog>,
    /// Sentence without its end → how often.
    pub repairs: BTreeMap<&'static str, u64>,
    /// Records that name what is not in the trace, by what they name.
    pub earlier: BTreeMap<&'static str, u64>,
    /// Tasks that were on threads' stacks when what the trace has of them begins.
    pub before: u64,
    /// Tasks still open at the end of the trace.
    pub open: u64,
    /// Tasks that never began.
    pub never_began: u64,
}

/// A pool that was announced.
#[derive(Debug)]
pub(in crate::recorded) struct PoolLog {
    /// Its workers; 0 when only its end was told.
    pub size: u64,
    /// When it began.
    pub from: u64,
    /// When it ended; `None` = it did not.
    pub to: Option<u64>,
    /// Where the program built it.
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
    /// Its place among the file's threads.
    pub index: u32,
    /// Start of the first and end of the last strand on it.
    pub busy: Option<(u64, u64)>,
    /// It is no worker, though no pool says which threads are.
    pub is_plain: bool,
    /// (pool, from, to) for the times it was a worker.
    pub worker: Vec<(u32, u64, Option<u64>)>,
}

impl ReplayLog {
    pub(in crate::recorded) fn repair(&mut self, what: &'static str) {
        *self.repairs.entry(what).or_default() += 1;
    }

    /// A record names what is not in the trace, as what began before its first record is not.
    pub(in crate::recorded) fn names_earlier(&mut self, what: &'static str) {
        *self.earlier.entry(what).or_default() += 1;
    }

    pub(in crate::recorded) fn pool_begins(&mut self, pool: u32, size: u64, t: u64) {
        let known = self.pools.entry(pool).or_default();
        // Above its size stands the number of its site, one more.
        let (site, size) = ((size >> 32) as u32, size & u64::from(u32::MAX));
        known.site = known.site.or(site.checked_sub(1));
        known.size = known.size.max(size);
        known.from = known.from.min(t);
    }

    /// Its beginning may be told by a thread that comes later in the file.
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

    /// True while it is a worker.
    pub(in crate::recorded) fn is_worker(&self) -> bool {
        self.worker.last().is_some_and(|w| w.2.is_none())
    }
}

/// The columns' form of a folded record.
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
