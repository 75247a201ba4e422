//! A standstill: a run in which no thread used a CPU until it was ended; what each of its threads
//! waited for.
//!
//! A program that hangs is ended from outside: by Ctrl-C, a signal, `record --stall`. Its open
//! tasks end at that moment, and the threads that ran them have been off the CPU for a while. If a
//! wait lies above a join on one thread, the task in the join cannot continue before the wait ends:
//!
//! ```text
//! thread 0  ── holds a lock ── join ┤ another task ── waits for the lock ┄┄┄┄┄┄┄┄┤ ended
//! ```

use std::collections::BTreeMap;

use workspan_dag::{
    CpuTimes, Dag, EndKind, NONE, OffCpuReason, PlaceId, StartKind, Stop, StrandId, TaskId,
    TaskKind, ThreadId, WaitKind, WaitKinds,
};

use crate::blocking_places::program_line;
use crate::holder::CodePlace;

/// The end of a run in which no thread used a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// Its start, in ticks.
    pub since: u64,
    /// Its length until the run was ended, in ticks.
    pub ticks: u64,
    /// The threads that ran a task and waited, by thread number.
    pub threads: Vec<WaitingThread>,
    /// Number of tasks that were created but had not begun, by spawn site, in descending order.
    pub never_began: Vec<(PlaceId, u64)>,
}

/// A thread that waited until the run's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingThread {
    /// The thread.
    pub thread: ThreadId,
    /// The task that it ran.
    pub task: TaskId,
    /// What it waited for, as far as the stack shows it.
    pub kind: WaitKind,
    /// The place of the wait; `None` without a stack.
    pub at: Option<CodePlace>,
    /// Tasks that wait for other tasks below it on this thread, with the place of each wait; the
    /// nearest first, at most 16.
    pub below: Vec<(TaskId, PlaceId)>,
}

impl Standstill {
    /// A thread that waits for a lock above a join, which is enough for a hang: the join may need
    /// the task that holds the lock.
    pub fn lock_above_join(&self) -> Option<&WaitingThread> {
        let is_lock = |kind| matches!(kind, WaitKind::Lock | WaitKind::Bridge);
        let mut threads = self.threads.iter();
        threads.find(|thread| is_lock(thread.kind) && !thread.below.is_empty())
    }
}

/// Minimum length of a standstill, in seconds.
const MIN_SECONDS: u64 = 1;
/// Threads of a killed process come onto a CPU once more; this is the maximum time before its end
/// at which they do, in seconds.
const MAX_DYING_SECONDS: f64 = 0.1;

/// Maximum number of tasks named below a wait: a recursion may be a million deep.
const MAX_BELOW: usize = 16;

/// `None` if something ran at the end, or the program ended by itself. O(n log n).
pub(crate) fn standstill(dag: &Dag) -> Option<Standstill> {
    // A process that ended in an orderly way reported its CPU time.
    let is_orderly = |cpu: &CpuTimes| cpu.process.is_some();
    if !dag.meta.recorded || dag.meta.cpu.as_ref().is_some_and(is_orderly) {
        return None;
    }
    let end = dag.strands.end.iter().copied().max()?;
    let rate = dag.meta.tick_rate();
    let dying = (MAX_DYING_SECONDS * rate as f64) as u64;
    let open: Vec<StrandId> = (0..dag.strands.len() as StrandId)
        .filter(|&s| dag.strands.end[s as usize] == end && dag.strands.start[s as usize] < end)
        .collect();
    let ended = dag.strands.end.iter().copied().filter(|&t| t < end);
    let mut since = ended.max().unwrap_or(0);
    for &s in &open {
        let off_since = off_at_end(dag, dag.strands.thread[s as usize], end, dying)?;
        since = since.max(off_since.max(dag.strands.start[s as usize]));
    }
    let ticks = end - since;
    if open.is_empty() || ticks < MIN_SECONDS.saturating_mul(rate) {
        return None;
    }
    // A strand's last stop is the one that never ended.
    let mut last_stops: BTreeMap<StrandId, &Stop> = BTreeMap::new();
    for stop in &dag.samples.stops {
        if stop.t.saturating_add(stop.ticks) >= end.saturating_sub(dying) {
            last_stops.insert(stop.strand, stop);
        }
    }
    let below = in_waits(dag, end);
    let mut kinds = WaitKinds::new(&dag.samples);
    let mut threads: Vec<WaitingThread> = open
        .iter()
        .map(|&s| {
            let thread = dag.strands.thread[s as usize];
            let task = dag.strands.task[s as usize];
            let stop = last_stops.get(&s);
            let at = stop.and_then(|stop| program_line(dag, stop.stack));
            let below = below.get(&thread).into_iter().flatten();
            let below = below.filter(|wait| wait.1 != task).take(MAX_BELOW);
            WaitingThread {
                thread,
                task,
                kind: stop.map_or(WaitKind::Other, |stop| kinds.of(stop)),
                at: at.map(CodePlace::from),
                below: below.map(|&(_, task, place)| (task, place)).collect(),
            }
        })
        .collect();
    threads.sort_by_key(|thread| thread.thread);
    Some(Standstill {
        since,
        ticks,
        threads,
        never_began: never_began(dag),
    })
}

/// Tasks that wait for other tasks when the run ends, by the thread on which they wait, the latest
/// first: when they began to wait, and where. The strand after such a wait has no length and lies
/// at the end.
fn in_waits(dag: &Dag, end: u64) -> BTreeMap<ThreadId, Vec<(u64, TaskId, PlaceId)>> {
    let strands = &dag.strands;
    let mut waits: BTreeMap<ThreadId, Vec<(u64, TaskId, PlaceId)>> = BTreeMap::new();
    for s in 0..strands.len() {
        let before = strands.prev[s] as usize;
        if strands.start_kind[s] == StartKind::AfterWait
            && strands.start[s] == end
            && strands.end_kind.get(before) == Some(&EndKind::Wait)
        {
            let wait = (strands.end[before], strands.task[s], strands.to[before]);
            waits.entry(strands.thread[before]).or_default().push(wait);
        }
    }
    for of_thread in waits.values_mut() {
        of_thread.sort_unstable_by(|a, b| b.cmp(a));
    }
    waits
}

/// The time since which the thread is off the CPU by its own choice, if that lasts until the end.
fn off_at_end(dag: &Dag, thread: ThreadId, end: u64, dying: u64) -> Option<u64> {
    let after = dag.offs.partition_point(|off| off.thread <= thread);
    let own = dag.offs[..after]
        .iter()
        .rev()
        .take_while(|off| off.thread == thread);
    // The last interval that does not come from the process's end.
    let mut own = own.skip_while(|off| {
        off.end - off.start < dying / 2 && off.start >= end.saturating_sub(dying)
    });
    let last = own.next()?;
    let lasts = last.end >= end.saturating_sub(dying) && last.why == OffCpuReason::Blocked;
    lasts.then_some(last.start)
}

/// Tasks that were created and never began: their strand is where they were created, without
/// length.
fn never_began(dag: &Dag) -> Vec<(PlaceId, u64)> {
    let mut sites: BTreeMap<PlaceId, u64> = BTreeMap::new();
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    for task in 0..tasks.len() {
        let (creator, first) = (tasks.creator[task], tasks.first[task] as usize);
        if creator != NONE
            && tasks.kind[task] != TaskKind::Inline
            && tasks.first[task] == tasks.last[task]
            && strands.start[first] == strands.end[first]
            && strands.start[first] == strands.end[creator as usize]
        {
            *sites.entry(tasks.site[task]).or_default() += 1;
        }
    }
    let mut sites: Vec<(PlaceId, u64)> = sites.into_iter().collect();
    sites.sort_by_key(|&(place, count)| (std::cmp::Reverse(count), place));
    sites
}
