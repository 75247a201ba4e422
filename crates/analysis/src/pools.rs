//! Statistics of each pool: how busy its workers were, and how many would have been enough.

use workspan_dag::{Dag, NONE, StrandId};

use crate::causes::pools::PoolUse;
use crate::heaviest_paths::Heaviest;
use crate::off_cpu::OffCpuCursor;
use crate::ready::{Readiness, ReadyInterval};
use crate::runtime_gaps::runtime_gaps;
use crate::sweep::{FreeWorkerTicks, Moment, Observer, sweep};
use crate::weight::Weights;

/// Maximum share of a pool's time in which more workers may run strands than a smaller size has,
/// for that size to be enough.
const MAX_EXCEEDED_SHARE: f64 = 0.02;

/// Statistics of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolRow {
    /// Index into the pools of the run.
    pub pool: u32,
    /// Number of its workers.
    pub size: u32,
    /// How long it existed, in ticks.
    pub elapsed: u64,
    /// Number of strands that its workers ran.
    pub strands: u64,
    /// Their weight.
    pub work: u128,
    /// The heaviest part of it on one path of the DAG.
    pub span: u128,
    /// Worker-ticks in which a strand of the pool was ready and a worker free for it.
    pub delay: u128,
    /// Ticks in which its workers had given up the CPU.
    pub blocked: u128,
    /// The smallest size that more workers than it exceeded for less than a fiftieth of the time.
    pub enough: u32,
}

impl PoolRow {
    /// Mean number of busy workers.
    pub fn busy(&self) -> f64 {
        self.work as f64 / self.elapsed.max(1) as f64
    }

    /// The upper bound of the speedup of the pool's work over one worker, for any number of
    /// workers.
    pub fn parallelism(&self) -> f64 {
        self.work as f64 / self.span.max(1) as f64
    }
}

/// The pools of the run, if there were several or the program built one. O(n log n) then.
pub(crate) fn pools(dag: &Dag, weights: &Weights) -> Vec<PoolRow> {
    let list = &dag.pools.list;
    if list.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<PoolRow> = (0..)
        .zip(list)
        .map(|(pool, pool_facts)| PoolRow {
            pool,
            size: pool_facts.size,
            elapsed: pool_facts.to.saturating_sub(pool_facts.from),
            strands: 0,
            work: 0,
            span: 0,
            delay: 0,
            blocked: 0,
            enough: 0,
        })
        .collect();
    // By pool: the times at which workers began and stopped running strands.
    let mut changes: Vec<Vec<(u64, bool)>> = vec![Vec::new(); list.len()];
    let mut pool_of = vec![NONE; dag.strands.len()];
    let mut offs = OffCpuCursor::new(dag);
    for s in 0..dag.strands.len() as StrandId {
        let off = offs.inside(s);
        let i = s as usize;
        let (start, end) = (dag.strands.start[i], dag.strands.end[i]);
        let Some(pool) = dag.pools.of(dag.strands.thread[i], start) else {
            continue;
        };
        pool_of[i] = pool;
        let row = &mut rows[pool as usize];
        row.strands += 1;
        row.work += u128::from(weights.work(s));
        row.blocked += u128::from(off.blocked);
        if start < end {
            changes[pool as usize].extend([(start, true), (end, false)]);
        }
    }
    for (row, changes) in rows.iter_mut().zip(&mut changes) {
        // Ends come first, so that a worker that goes from strand to strand counts once.
        changes.sort_unstable();
        row.enough = enough(changes, row.size, row.elapsed);
    }
    for (row, delay) in rows.iter_mut().zip(delays(dag, &pool_of, list.len())) {
        row.delay = delay;
        row.span = Heaviest::inside(dag, weights, |s| pool_of[s as usize] == row.pool).span(dag);
    }
    rows
}

/// Delay by pool: the delay of the strands that its workers ran.
fn delays(dag: &Dag, pool_of: &[u32], pools: usize) -> Vec<u128> {
    let mut sums = Delays {
        pool_of,
        pools: PoolUse::new(dag),
        by_pool: vec![0; pools],
    };
    sweep(dag, &Readiness::new(dag), &mut sums);
    for gap in runtime_gaps(dag) {
        sums.add(gap.strand, gap.ticks);
    }
    sums.by_pool
}

struct Delays<'a> {
    pool_of: &'a [u32],
    /// Which workers were free for which strands, if there are several pools.
    pools: Option<PoolUse<'a>>,
    by_pool: Vec<u128>,
}

impl Delays<'_> {
    fn add(&mut self, strand: StrandId, ticks: u64) {
        if let Some(sum) = self.by_pool.get_mut(self.pool_of[strand as usize] as usize) {
            *sum += u128::from(ticks);
        }
    }
}

impl Observer for Delays<'_> {
    fn start(&mut self, strand: StrandId, thread: usize) {
        if let Some(pools) = &mut self.pools {
            pools.start(strand, thread);
        }
    }

    fn end(&mut self, _strand: StrandId, thread: usize, _time: u64) {
        if let Some(pools) = &mut self.pools {
            pools.end(thread);
        }
    }

    fn moment(&mut self, moment: &Moment) {
        if let Some(pools) = &mut self.pools {
            pools.moment(moment.begin, moment.ticks());
        }
    }

    fn left(&mut self, waiting: &ReadyInterval, served: FreeWorkerTicks) {
        let s = waiting.strand;
        let own = self
            .pools
            .as_ref()
            .and_then(|p| p.free_since(s, waiting.ready));
        self.add(s, own.map_or(served.all, |own| served.all.min(own)));
    }
}

/// The smallest number of running workers that is exceeded rarely.
fn enough(changes: &[(u64, bool)], size: u32, elapsed: u64) -> u32 {
    let mut ticks_at = vec![0u64; size as usize + 1];
    let (mut running, mut since) = (0usize, 0);
    for &(t, starts) in changes {
        let level = running.min(size as usize);
        ticks_at[level] = ticks_at[level].saturating_add(t - since);
        since = t;
        running = match starts {
            true => running + 1,
            false => running.saturating_sub(1),
        };
    }
    let rarely = MAX_EXCEEDED_SHARE * elapsed as f64;
    let mut above = 0u64;
    for level in (1..=size as usize).rev() {
        above = above.saturating_add(ticks_at[level]);
        if above as f64 >= rarely {
            return level as u32;
        }
    }
    1.min(size)
}
