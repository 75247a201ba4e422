//! Whose worker was free: a worker takes the tasks of its own pool alone.

use workspan_dag::{Dag, StrandId};

/// Follows the pools of a run that has several at one moment.
pub(crate) struct PoolUse<'a> {
    dag: &'a Dag,
    now: Vec<PoolNow>,
    /// By thread: the pool of the strand that it runs.
    of_thread: Vec<Option<u32>>,
}

/// A pool as time goes.
#[derive(Default)]
struct PoolNow {
    running: u64,
    /// Ticks in which a worker of it was free.
    free: u64,
    is_free: bool,
    /// When a worker became free, or the last one busy, with `free` then.
    changes: Vec<(u64, u64, bool)>,
}

impl<'a> PoolUse<'a> {
    /// `None` where all workers are alike.
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

    /// The pool on whose worker `strand` ran.
    fn pool_of(&self, strand: StrandId) -> Option<u32> {
        let (strands, s) = (&self.dag.strands, strand as usize);
        self.dag.pools.of(strands.thread[s], strands.start[s])
    }

    /// Time passes.
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

    /// Ticks since `ready` in which a worker of the pool of `strand`, which starts now, was free;
    /// `None` on a thread of no pool.
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

    /// Of `idle` workers those that are of the pool of `strand`, which runs; all of them where it
    /// runs on a thread of no pool.
    pub(crate) fn idle_beside(&self, strand: StrandId, idle: u64) -> u64 {
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
