//! Who stole from whom, when each worker first did, and what the workers did while they had no
//! work.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, TaskKind, ThreadEvent, ThreadId};

use super::distribution::Distribution;
use super::ready_times::ReadyCounts;
use super::wait_intervals::WaitIntervals;
use crate::idle::idle_times;
use crate::sweep::extent;

/// Maximum number of workers with a row of their own.
pub const MAX_WORKERS: usize = 256;

/// Steals by and from a thread, and its sleep.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkerSteals {
    /// The thread.
    pub thread: ThreadId,
    /// Number of steals by it.
    pub steals: u64,
    /// Number of its steals with an unknown victim.
    pub unknown_victim: u64,
    /// Number of its steals that the runtime marked as leapfrogs, or that happened while a task of
    /// the thread was in a wait.
    pub leapfrogs: u64,
    /// Number of steals from it.
    pub stolen: u64,
    /// Ticks from [`StealStatistics::first_spawn`] to its first steal.
    pub first: Option<u64>,
    /// Number of failed attempts, if the runtime reports them.
    pub failed: u64,
    /// How often it went to sleep, if the runtime reports it.
    pub sleeps: u64,
    /// Ticks asleep inside the run.
    pub asleep: u64,
    /// Number of deferred tasks that it created.
    pub spawns: u64,
    /// Number of them that began on it: no other thread took them.
    pub inlined: u64,
    /// Number of attempts to steal, successful or not, while a task of the thread was in a wait.
    /// The others of [`WorkerSteals::tries`] were made without one.
    pub leap_tries: u64,
    /// Ticks on a CPU without a task (spinning); `None` if context switches were not recorded.
    pub spinning: Option<u64>,
}

impl WorkerSteals {
    /// Number of attempts to steal, successful or not. If the runtime does not report failed ones,
    /// the number of steals.
    pub fn tries(&self) -> u64 {
        self.steals + self.failed
    }

    /// Number of attempts made while no task of the thread was in a wait.
    pub fn steal_tries(&self) -> u64 {
        self.tries() - self.leap_tries
    }
}

/// Who stole from whom, and what the workers did while they had no work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StealStatistics {
    /// True if the runtime reported the steals. False if they were inferred from the strands
    /// (MODEL.md §5); then the victim is the thread that made the strand ready.
    pub reported: bool,
    /// Number of steals.
    pub count: u64,
    /// Steals per second of the run; 0 if no time passed.
    pub per_second: f64,
    /// When the first deferred task was created; the run's begin if none was. Nothing could be
    /// stolen before.
    pub first_spawn: u64,
    /// Times to the first steal of the threads that stole.
    pub first: Distribution,
    /// How long thieves took to begin a child, from when it was ready and the thief had ended its
    /// previous strand; by the rule of MODEL.md §5, whatever the runtime reported.
    pub to_child: Distribution,
    /// How long thieves took to begin a continuation: after a create, or after a wait.
    pub to_continuation: Distribution,
    /// Number of pool workers that never stole.
    pub never: u64,
    /// Sum of [`WorkerSteals::leapfrogs`] over all threads.
    pub leapfrogs: u64,
    /// Sum of [`WorkerSteals::failed`] over all threads.
    pub failed: u64,
    /// Sum of [`WorkerSteals::sleeps`] over all threads.
    pub sleeps: u64,
    /// Sum of [`WorkerSteals::asleep`] over all threads.
    pub asleep: u128,
    /// The pool's workers and other threads that stole or slept, ascending, at most
    /// [`MAX_WORKERS`].
    pub workers: Vec<WorkerSteals>,
    /// Number of further such threads.
    pub more_workers: usize,
    /// `matrix[i][j]`: steals by `workers[i]` from `workers[j]`.
    pub matrix: Vec<Vec<u64>>,
    /// Number of steals in which a thread without a row took part.
    pub beyond: u64,
}

/// A steal, reported or inferred.
struct StealRecord {
    t: u64,
    thief: ThreadId,
    victim: ThreadId,
    leap: bool,
}

pub(super) fn steals(dag: &Dag, starts: &ReadyCounts) -> StealStatistics {
    let reported = !dag.steals.is_empty();
    let taken: Vec<StealRecord> = if reported {
        let steals = dag.steals.iter();
        let taken = steals.map(|s| StealRecord {
            t: s.t,
            thief: s.thief,
            victim: s.victim,
            leap: s.leap,
        });
        taken.collect()
    } else {
        let steals = starts.steals.iter();
        let taken = steals.map(|&(t, thief, victim)| StealRecord {
            t,
            thief,
            victim,
            leap: false,
        });
        taken.collect()
    };
    let mut all = StealStatistics {
        reported,
        count: taken.len() as u64,
        per_second: per_second(dag, taken.len()),
        first_spawn: first_spawn(dag).unwrap_or(extent(dag).0),
        to_child: took(starts, true),
        to_continuation: took(starts, false),
        ..StealStatistics::default()
    };
    let mut threads: Vec<WorkerSteals> = (0..dag.meta.threads)
        .map(|thread| WorkerSteals {
            thread,
            ..WorkerSteals::default()
        })
        .collect();
    let mut pairs: BTreeMap<(ThreadId, ThreadId), u64> = BTreeMap::new();
    take(dag, &taken, all.first_spawn, &mut threads, &mut pairs);
    idle(dag, &mut threads);
    spawned(dag, &mut threads);
    for (worker, time) in threads.iter_mut().zip(idle_times(dag)) {
        worker.spinning = dag.is_worker(worker.thread).then_some(time.on_cpu());
    }
    sum_up(dag, &mut all, &threads);
    let is_shown = |w: &&WorkerSteals| dag.is_worker(w.thread) || **w != idle_thread(w.thread);
    let mut rows: Vec<WorkerSteals> = threads.iter().filter(is_shown).cloned().collect();
    all.more_workers = rows.len().saturating_sub(MAX_WORKERS);
    rows.truncate(MAX_WORKERS);
    all.matrix = vec![vec![0; rows.len()]; rows.len()];
    let row = |thread| rows.binary_search_by_key(&thread, |w| w.thread);
    for ((thief, victim), n) in pairs {
        match (row(thief), row(victim)) {
            (Ok(i), Ok(j)) => all.matrix[i][j] = n,
            (Ok(_), Err(_)) if victim == NONE => {}
            _ => all.beyond += n,
        }
    }
    all.workers = rows;
    all
}

/// The time that steals of children took, or that steals of continuations took.
fn took(starts: &ReadyCounts, of_children: bool) -> Distribution {
    let times = starts.steal_times.iter().filter(|t| t.0 == of_children);
    let mut times: Vec<u64> = times.map(|t| t.1).collect();
    Distribution::from_values(&mut times)
}

/// The counts of a thread that did none of this.
fn idle_thread(thread: ThreadId) -> WorkerSteals {
    WorkerSteals {
        thread,
        ..WorkerSteals::default()
    }
}

/// Counts the steals at thief and victim.
fn take(
    dag: &Dag,
    taken: &[StealRecord],
    first_spawn: u64,
    threads: &mut [WorkerSteals],
    pairs: &mut BTreeMap<(ThreadId, ThreadId), u64>,
) {
    if taken.is_empty() {
        return;
    }
    let waits = WaitIntervals::new(dag);
    for steal in taken {
        *pairs.entry((steal.thief, steal.victim)).or_default() += 1;
        if let Some(thief) = threads.get_mut(steal.thief as usize) {
            thief.steals += 1;
            thief.unknown_victim += u64::from(steal.victim == NONE);
            let leap = steal.leap || waits.at(steal.thief, steal.t);
            thief.leapfrogs += u64::from(leap);
            thief.leap_tries += u64::from(leap);
            let after = steal.t.saturating_sub(first_spawn);
            thief.first = Some(thief.first.map_or(after, |first| first.min(after)));
        }
        if let Some(victim) = threads.get_mut(steal.victim as usize) {
            victim.stolen += 1;
        }
    }
}

/// Counts failed attempts and sleep.
fn idle(dag: &Dag, threads: &mut [WorkerSteals]) {
    let (begin, end) = extent(dag);
    let mut asleep: Vec<Option<u64>> = vec![None; threads.len()];
    let attempts = |e: &&(u64, ThreadId, ThreadEvent)| matches!(e.2, ThreadEvent::StealFailed(_));
    let waits = dag.thread_events.iter().find(attempts);
    let waits = waits.map(|_| WaitIntervals::new(dag));
    let inside = |from: u64, to: u64| to.min(end).saturating_sub(from.max(begin));
    for &(t, thread, what) in &dag.thread_events {
        let i = thread as usize;
        let Some(worker) = threads.get_mut(i) else {
            continue;
        };
        match what {
            ThreadEvent::StealFailed(_) => {
                worker.failed += 1;
                let waits = waits.as_ref().is_some_and(|waits| waits.at(thread, t));
                worker.leap_tries += u64::from(waits);
            }
            ThreadEvent::Sleep if asleep[i].is_none() => {
                worker.sleeps += 1;
                asleep[i] = Some(t);
            }
            ThreadEvent::Wake => {
                if let Some(since) = asleep[i].take() {
                    worker.asleep += inside(since, t);
                }
            }
            _ => {}
        }
    }
    for (worker, since) in threads.iter_mut().zip(asleep) {
        if let Some(since) = since {
            worker.asleep += inside(since, end);
        }
    }
}

/// Counts deferred tasks where they were created and where they began. Those inside a folded strand
/// count at its thread, where all of them ran.
fn spawned(dag: &Dag, threads: &mut [WorkerSteals]) {
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    for task in 0..tasks.len() {
        let (creator, first) = (tasks.creator[task], tasks.first[task]);
        if tasks.kind[task] != TaskKind::Deferred || creator == NONE {
            continue;
        }
        let by = strands.thread[creator as usize];
        let Some(worker) = threads.get_mut(by as usize) else {
            continue;
        };
        worker.spawns += 1;
        let here = first != NONE && strands.thread[first as usize] == by;
        worker.inlined += u64::from(here);
    }
    for (strand, sums) in dag.folded.sums() {
        if let Some(worker) = threads.get_mut(strands.thread[strand as usize] as usize) {
            worker.spawns += sums.spawns;
            worker.inlined += sums.spawns;
        }
    }
}

fn sum_up(dag: &Dag, all: &mut StealStatistics, threads: &[WorkerSteals]) {
    let mut firsts: Vec<u64> = threads.iter().filter_map(|w| w.first).collect();
    all.first = Distribution::from_values(&mut firsts);
    for worker in threads {
        all.never += u64::from(dag.is_worker(worker.thread) && worker.steals == 0);
        all.leapfrogs += worker.leapfrogs;
        all.failed += worker.failed;
        all.sleeps += worker.sleeps;
        all.asleep += u128::from(worker.asleep);
    }
}

/// When the first deferred task was created; `None` if none was. O(n).
pub fn first_spawn(dag: &Dag) -> Option<u64> {
    let (tasks, ends) = (&dag.tasks, &dag.strands.end);
    let deferred = (0..tasks.len()).filter(|&t| tasks.kind[t] == TaskKind::Deferred);
    let created = deferred.filter_map(|t| ends.get(tasks.creator[t] as usize));
    created.min().copied()
}

fn per_second(dag: &Dag, steals: usize) -> f64 {
    let (begin, end) = extent(dag);
    if begin == end {
        return 0.0;
    }
    steals as f64 * dag.meta.tick_rate() as f64 / (end - begin) as f64
}
