//! The information about a thread that every first pass over its records collects.

use workspan_trace::event::Event;

use super::replay::{ReplayLog, ThreadLog};

/// The thread's first and last moments, and its records about itself and about pools.
#[derive(Debug)]
pub(super) struct ThreadExtent {
    /// The times of its first and last record, in the file's ticks.
    pub first: u64,
    pub last: u64,
    /// The times of its first and last record that is about a task; `None` if there is none.
    pub about_tasks: Option<(u64, u64)>,
    /// The number of records.
    pub events: u64,
    log: ThreadLog,
    /// (time, pool, and the pool's size or `None` for its end).
    pools: Vec<(u64, u32, Option<u64>)>,
}

impl ThreadExtent {
    /// For the thread at `place` in the file, before its first record.
    pub(super) fn new(place: u32) -> ThreadExtent {
        ThreadExtent {
            first: u64::MAX,
            last: 0,
            about_tasks: None,
            events: 0,
            log: ThreadLog::new(place),
            pools: Vec::new(),
        }
    }

    /// Handles a record. Returns true if it is about a task.
    #[inline(always)]
    pub(super) fn record(&mut self, t: u64, event: &Event<'_>) -> bool {
        self.first = self.first.min(t);
        self.last = self.last.max(t);
        self.events += 1;
        let is_about_task = !is_outside_tasks(event);
        if is_about_task {
            self.about_tasks.get_or_insert((t, t)).1 = t;
        } else {
            self.record_outside_tasks(t, event);
        }
        is_about_task
    }

    #[cold]
    fn record_outside_tasks(&mut self, t: u64, event: &Event<'_>) {
        match *event {
            Event::Worker { pool, .. } => self.log.worker_begins(pool, t),
            Event::WorkerEnd => self.log.worker_ends(t),
            Event::Pool { pool, size } => self.pools.push((t, pool, Some(size))),
            Event::PoolEnd { pool } => self.pools.push((t, pool, None)),
            _ => {}
        }
    }

    /// Adds the thread's data to the log, as that of the next thread.
    pub(super) fn tell(&self, log: &mut ReplayLog) {
        for &(t, pool, size) in &self.pools {
            match size {
                Some(size) => log.pool_begins(pool, size, t),
                None => log.pool_ends(pool, t),
            }
        }
        let mut own = self.log.clone();
        if let Some((from, to)) = self.about_tasks {
            own.busy(from, to);
        }
        log.threads.push(own);
    }
}

/// Whether a record is about no task.
#[inline(always)]
fn is_outside_tasks(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Worker { .. }
            | Event::WorkerEnd
            | Event::Pool { .. }
            | Event::PoolEnd { .. }
            | Event::Off { .. }
            | Event::Recorder { .. }
            | Event::Sleep
            | Event::Wake
            | Event::Steal { .. }
            | Event::StealFailed { .. }
            | Event::Readings(_)
    )
}
