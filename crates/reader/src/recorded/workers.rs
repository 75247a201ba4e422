//! Finds the pool's workers, and numbers all threads.
//!
//! W is the largest number of pool workers alive at the same moment (MODEL.md §5). A pool counts
//! with its size from its announcement to its end, whether or not all its workers ever ran
//! anything. Workers of a pool that was not announced count one by one. Threads that were workers
//! get the numbers below W. Two may share a number (pools that follow one another) if they were not
//! workers at the same moment, or, where that needs more than W numbers, if their times of running
//! tasks do not overlap. All others are numbered from W on. Without any pool,
//! [`super::plain_threads`] finds the workers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::places::Places;
use super::replay::{PoolLog, ReplayLog, ThreadLog};
use super::survey::LATEST;
use workspan_dag::pools::{Member, Pool, Pools};
use workspan_dag::raw::RawTrace;
use workspan_dag::{NONE, OffCpuInterval, OffCpuReason, ThreadEvent};

/// The numbers of threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// W, the number of workers.
    pub workers: u32,
    /// The total of numbers.
    pub total: u32,
    /// The number of each thread, by index in the file.
    pub number: Vec<u32>,
    /// For threads that share their number with others, by index: the time in which the number is
    /// theirs.
    shared: Vec<Option<(u64, u64)>>,
}

/// The largest size of a pool; a larger one is damage.
const MAX_POOL_SIZE: u64 = 1 << 16;
/// The largest number of threads outside of pools that get a number each. If there are more, they
/// share numbers.
const MAX_UNSHARED_THREADS: usize = 4096;

/// Numbers the threads.
pub(super) fn assign(log: &ReplayLog, last: u64) -> Threads {
    let threads = &log.threads;
    let pooled = |t: &&ThreadLog| !t.worker.is_empty();
    let mut threads_of = Threads {
        workers: alive(log, last),
        total: 0,
        number: vec![NONE; threads.len()],
        shared: Vec::new(),
    };
    let busy = |t: &ThreadLog| t.busy.map(|(from, to)| (from, to, t.index));
    let life = |t: &ThreadLog| {
        let begins = t.worker.iter().map(|worker| worker.1);
        let ends = t.worker.iter().map(|worker| worker.2.unwrap_or(last));
        let (from, to) = t.busy?;
        let (from, to) = (begins.fold(from, u64::min), ends.fold(to, u64::max));
        Some((from, to, t.index))
    };
    let mut are_by_life = false;
    if threads_of.workers == 0 {
        let counted = threads.iter().filter(|thread| !thread.is_plain);
        let mut all: Vec<_> = counted.filter_map(busy).collect();
        let slots = slots(&mut all, u32::MAX);
        threads_of.workers = slots.iter().map(|&(_, slot)| slot + 1).max().unwrap_or(1);
        threads_of.take(slots);
    } else {
        // A thread that became a worker later (the main thread, in a pool that uses it) counts as
        // outside of the pool if necessary.
        let mut all: Vec<_> = threads.iter().filter(pooled).filter_map(life).collect();
        let count = all.len();
        let mut found = slots(&mut all, threads_of.workers);
        are_by_life = found.len() == count;
        if !are_by_life {
            let mut all: Vec<_> = threads.iter().filter(pooled).filter_map(busy).collect();
            found = slots(&mut all, threads_of.workers);
        }
        if found.len() < count {
            let from_birth = |t: &&ThreadLog| {
                t.busy
                    .zip(t.worker.first())
                    .is_some_and(|(b, w)| w.1 <= b.0)
            };
            let mut all: Vec<_> = threads.iter().filter(from_birth).filter_map(busy).collect();
            found = slots(&mut all, threads_of.workers);
        }
        threads_of.take(found);
        // Workers that never ran a task get the remaining numbers.
        let mut used: Vec<bool> = vec![false; threads_of.workers as usize];
        threads_of
            .number
            .iter()
            .filter(|&&n| n != NONE)
            .for_each(|&n| used[n as usize] = true);
        let free = (0..threads_of.workers).filter(|&n| !used[n as usize]);
        let idle = threads.iter().filter(pooled).filter(|t| t.busy.is_none());
        threads_of.take(free.zip(idle).map(|(slot, t)| (t.index, slot)).collect());
    }
    let outside: Vec<_> = threads
        .iter()
        .filter(|t| threads_of.number[t.index as usize] == NONE)
        .collect();
    let numbers: Vec<(u32, u32)> = if outside.len() <= MAX_UNSHARED_THREADS {
        (0..).zip(outside).map(|(n, t)| (t.index, n)).collect()
    } else {
        let mut all: Vec<_> = outside
            .iter()
            .map(|t| busy(t).unwrap_or((last, last, t.index)))
            .collect();
        slots(&mut all, u32::MAX)
    };
    let workers = threads_of.workers;
    threads_of.take(numbers.into_iter().map(|(t, n)| (t, workers + n)).collect());
    threads_of.total = threads_of
        .number
        .iter()
        .map(|&n| n + 1)
        .max()
        .unwrap_or(0)
        .max(workers);
    let own = |t: &ThreadLog| {
        let is_by_life = are_by_life && threads_of.number[t.index as usize] < workers;
        let own = if is_by_life { life(t) } else { busy(t) };
        own.map_or((last, last), |(from, to, _)| (from, to))
    };
    threads_of.shared = shared_times(threads.iter().map(own).collect(), &threads_of.number);
    threads_of
}

impl Threads {
    fn take(&mut self, numbers: Vec<(u32, u32)>) {
        for (thread, number) in numbers {
            self.number[thread as usize] = number;
        }
    }

    /// The times between two threads with the same number, as times off the CPU.
    fn absences(&self) -> impl Iterator<Item = OffCpuInterval> {
        let shared = self.number.iter().zip(&self.shared);
        let mut own: Vec<(u32, u64, u64)> = shared
            .filter_map(|(&number, own)| own.map(|(from, to)| (number, from, to)))
            .collect();
        own.sort_unstable();
        let absences: Vec<OffCpuInterval> = own
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 < pair[1].1)
            .map(|pair| OffCpuInterval {
                thread: pair[0].0,
                start: pair[0].2,
                end: pair[1].1,
                why: OffCpuReason::Blocked,
                on: None,
            })
            .collect();
        absences.into_iter()
    }
}

/// For each thread that shares its number, the time in which the number is its own. `own` has the
/// time of each thread's tasks, or as a worker. The last thread of a number keeps it.
fn shared_times(own: Vec<(u64, u64)>, number: &[u32]) -> Vec<Option<(u64, u64)>> {
    let mut by_number: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (thread, &number) in number.iter().enumerate() {
        by_number.entry(number).or_default().push(thread);
    }
    let mut shared = vec![None; own.len()];
    for mut threads in by_number.into_values().filter(|threads| threads.len() > 1) {
        threads.sort_by_key(|&thread| own[thread]);
        for &thread in &threads {
            shared[thread] = Some(own[thread]);
        }
        if let Some((_, to)) = threads.last().and_then(|&last| shared[last].as_mut()) {
            *to = u64::MAX;
        }
    }
    shared
}

/// The pools of the run, if there were several at the same moment. `last` is the run's last tick.
pub(super) fn pools(log: &ReplayLog, threads: &Threads, places: &Places, last: u64) -> Pools {
    // A damaged time may exceed what a trace can hold.
    let last = last.min(LATEST);
    let mut pools = Pools::default();
    let mut known: Vec<(u32, &PoolLog)> = log.pools.iter().map(|(&n, pool)| (n, pool)).collect();
    known.retain(|(_, pool)| (1..=MAX_POOL_SIZE).contains(&pool.size));
    known.sort_by_key(|(number, pool)| (pool.from, *number));
    let numbers: Vec<u32> = known.iter().map(|&(number, _)| number).collect();
    pools.list = known
        .into_iter()
        .map(|(_, pool)| Pool {
            size: pool.size as u32,
            from: pool.from.min(last),
            to: pool.to.unwrap_or(last).min(last),
            built: pool
                .site
                .map(|site| places.list[places.of(site) as usize].label.clone()),
        })
        .collect();
    let is_built = pools.list.iter().any(|pool| pool.built.is_some());
    if !pools.are_several() && !is_built {
        return Pools::default();
    }
    for thread in &log.threads {
        for &(pool, from, to) in &thread.worker {
            if let Some(pool) = numbers.iter().position(|&number| number == pool) {
                pools.members.push(Member {
                    thread: threads.number[thread.index as usize],
                    from: from.min(last),
                    to: to.unwrap_or(last).min(last),
                    pool: pool as u32,
                });
            }
        }
    }
    pools
}

/// The largest number of workers alive at the same moment.
fn alive(log: &ReplayLog, last: u64) -> u32 {
    let mut changes: Vec<(u64, i64)> = Vec::new();
    let mut interval = |from: u64, to: u64, size: u64| {
        changes.push((from, size as i64));
        changes.push((to.max(from).saturating_add(1), -(size as i64)));
    };
    let announced = |pool: &PoolLog| (1..=MAX_POOL_SIZE).contains(&pool.size);
    for pool in log.pools.values().filter(|pool| announced(pool)) {
        interval(pool.from, pool.to.unwrap_or(last).min(last), pool.size);
    }
    for thread in &log.threads {
        for &(pool, from, to) in &thread.worker {
            if !log.pools.get(&pool).is_some_and(announced) {
                interval(from, to.unwrap_or(last), 1);
            }
        }
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0i64, 0i64);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most as u32
}

/// Assigns to each (from, to, thread) the lowest number below `limit` that is free for its time, if
/// there is one.
fn slots(threads: &mut [(u64, u64, u32)], limit: u32) -> Vec<(u32, u32)> {
    threads.sort_unstable();
    let mut busy: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut next = 0;
    let mut found = Vec::with_capacity(threads.len());
    for &(from, to, thread) in threads.iter() {
        while let Some(&Reverse((end, slot))) = busy.peek()
            && end <= from
        {
            busy.pop();
            free.push(Reverse(slot));
        }
        let slot = match free.pop() {
            Some(Reverse(slot)) => slot,
            None if next < limit => {
                next += 1;
                next - 1
            }
            None => continue,
        };
        busy.push(Reverse((to.max(from), slot)));
        found.push((thread, slot));
    }
    found
}

/// Replaces thread indices by their numbers. Where threads share a number, each has its off-CPU
/// times while the number is its own: a worker of a pool that has ended may still be waiting to
/// exit while a worker of the next pool has its number. Between two of them, the number is off the
/// CPU, or it would seem to search for tasks.
pub(super) fn renumber(threads: &Threads, raw: &mut RawTrace) {
    if (0..)
        .zip(&threads.number)
        .all(|(place, &number)| place == number)
    {
        return;
    }
    let number = |thread: u32| threads.number.get(thread as usize).copied().unwrap_or(NONE);
    for thread in &mut raw.strands.thread {
        *thread = number(*thread);
    }
    let is_watched = !raw.offs.is_empty();
    raw.offs.retain_mut(|off| {
        if let Some(&Some((from, to))) = threads.shared.get(off.thread as usize) {
            off.start = off.start.max(from);
            off.end = off.end.min(to);
        }
        off.thread = number(off.thread);
        off.start < off.end
    });
    if is_watched {
        raw.offs.extend(threads.absences());
    }
    for run in &mut raw.recorder_runs {
        run.thread = number(run.thread);
    }
    for sample in &mut raw.samples.list {
        sample.thread = number(sample.thread);
    }
    for stop in &mut raw.samples.stops {
        stop.thread = number(stop.thread);
        if let Some(wait) = &mut stop.wait {
            wait.by = number(wait.by);
        }
    }
    for (thread, _) in &mut raw.rank_calls {
        *thread = number(*thread);
    }
    for steal in &mut raw.steals {
        (steal.thief, steal.victim) = (number(steal.thief), number(steal.victim));
    }
    for (_, thread, what) in &mut raw.thread_events {
        *thread = number(*thread);
        if let ThreadEvent::StealFailed(victim) = what {
            *victim = number(*victim);
        }
    }
}
