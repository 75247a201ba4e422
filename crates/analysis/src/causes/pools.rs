//! Tracks which pool's workers are free: a worker takes only tasks of its own pool.

use workspan_dag::{Dag, StrandId};

/// Follows the pools of a run that has several at the same time.
pub(crate) struct PoolUse<'a> {
    dag: &'a Dag,
    now: Vec<PoolNow>,
    /// By thread: the pool that the thread's current strand runs in.
    of_thread: Vec<Option<u32>>,
}

/// The current state of a pool.
#[derive(Default)]
struct PoolNow {
    running: u64,
    /// Ticks in which one of its workers was free.
    free: u64,
    is_free: bool,
    /// The times at which a worker became free or the last one became busy, with the value of
    /// `free` then.
    changes: Vec<(u64, u64, bool)>,
}

impl<'a> PoolUse<'a> {
    /// `None` if there is only one pool.
    pub(crate) fn new(dag: &'a Dag) -> Option<PoolUse<'a>> {
        let pools = &dag.pools;
        pools.are_several().then(|| PoolUse {
            dag,
            now: pools.list.iter().map(|_| PoolNow::default()).collect(),
            of_thread: vec![None; dag.meta.threads as usize],
        })
    }

    pub(crate) fn start(&mut self, strand: StrandId, thread: usize) {
        let pool = self.pool_of(strand);
        if let Some(pool) = pool {
            self.now[pool as usize].running += 1;
        }
        self.of_thread[thread] = pool;
    }

    pub(crate) fn end(&mut self, thread: usize) {
        if let Some(pool) = self.of_thread[thread].take() {
            let running = &mut self.now[pool as usize].running;
            *running = running.saturating_sub(1);
        }
    }

    /// The pool whose worker ran `strand`.
    fn pool_of(&self, strand: StrandId) -> Option<u32> {
        let (strands, s) = (&self.dag.strands, strand as usize);
        self.dag.pools.of(strands.thread[s], strands.start[s])
    }

    /// Advances the time.
    pub(crate) fn moment(&mut self, begin: u64, ticks: u64) {
        for (pool, now) in self.dag.pools.list.iter().zip(&mut self.now) {
            let is_there = (pool.from..pool.to).contains(&begin);
            let is_free = is_there && now.running < u64::from(pool.size);
            if is_free != now.is_free {
                now.changes.push((begin, now.free, is_free));
                now.is_free = is_free;
            }
            if is_free {
                now.free = now.free.saturating_add(ticks);
            }
        }
    }

    /// Ticks since `ready` in which a worker of the pool of `strand` was free; the strand starts
    /// now. `None` on a thread outside of pools.
    pub(crate) fn free_since(&self, strand: StrandId, ready: u64) -> Option<u64> {
        let now = &self.now[self.pool_of(strand)? as usize];
        let after = now.changes.partition_point(|&(time, ..)| time <= ready);
        let before = match after.checked_sub(1).map(|last| now.changes[last]) {
            Some((time, free, true)) => free + (ready - time),
            Some((_, free, false)) => free,
            None => 0,
        };
        Some(now.free.saturating_sub(before))
    }

    /// The number of `idle` workers in the pool of `strand`, which runs; all of them if it runs on
    /// a thread outside of pools.
    pub(crate) fn idle_in_other_pools(&self, strand: StrandId, idle: u64) -> u64 {
        match self.pool_of(strand) {
            None => idle,
            Some(pool) => {
                let size = u64::from(self.dag.pools.list[pool as usize].size);
                let running = self.now[pool as usize].running;
                idle.min(size.saturating_sub(running))
            }
        }
    }
}
