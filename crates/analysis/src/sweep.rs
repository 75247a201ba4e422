//! One pass over the run's time, from event to event (MODEL.md §5).
//!
//! Between two events the numbers of running and ready strands are constant: a [`Moment`]. Starts
//! come in the strands' own order. Ends come from a heap that never holds more than one strand per
//! thread. The ready strands are sorted once by (ready time, task number). A strand that a worker
//! is on its way to leaves that order and is served by that worker. The others get the rest of the
//! free workers in that order. So the strands served are a prefix of a linked list, whose boundary
//! moves by at most one for each event.

mod queue;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use workspan_dag::cancel::Checkpoint;
use workspan_dag::{Dag, NONE, OffCpuReason, StrandId};

use crate::off_cpu_events::{OffCpuEvent, off_cpu_events};
use crate::ready::{Readiness, ReadyInterval};
use crate::saturated::SaturatedInterval;
use queue::Queue;

/// An interval in which nothing changes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment {
    pub begin: u64,
    pub end: u64,
    /// Number of running strands on the CPU.
    pub working: u64,
    /// Number of running strands whose thread was preempted.
    pub descheduled: u64,
    /// Number of running strands of pool threads that were blocked.
    pub blocked: u64,
    /// Number of workers that were preempted between their strands.
    pub preempted_between: u64,
    /// Whether records of some worker are missing from here on ([`Dag::unread_from`]). What workers
    /// without a strand do is then not known.
    pub is_unread: bool,
    /// Number of ready strands; `ready_by_kind` counts them by the kind of edge that made them
    /// ready.
    pub ready: u64,
    pub ready_by_kind: [u64; 7],
    /// Number of ready strands for which there was a free worker: min(q, r); also by kind, and of
    /// buried ones.
    pub served: u64,
    pub served_by_kind: [u64; 7],
    pub served_buried: u64,
    /// The running thread, if only one runs.
    pub only_thread: usize,
}

impl Moment {
    pub(crate) fn ticks(&self) -> u64 {
        self.end - self.begin
    }
    pub(crate) fn running(&self) -> u64 {
        self.working + self.descheduled + self.blocked
    }

    /// Whether every thread that could run a strand or look for one had a CPU.
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.descheduled == 0 && self.preempted_between == 0 && !self.is_unread
    }

    /// The division of `workers` workers (MODEL.md §5).
    pub(crate) fn shares(&self, workers: u64) -> Shares {
        let work = self.working.min(workers);
        let descheduled = self.descheduled.min(workers - work);
        let blocked = self.blocked.min(workers - work - descheduled);
        let used = work + descheduled + blocked;
        let idle = workers - used;
        let (unread, free) = if self.is_unread { (idle, 0) } else { (0, idle) };
        Shares {
            work,
            descheduled,
            blocked,
            delay: self.served,
            no_work: free.saturating_sub(self.ready),
            free,
            unread,
            oversubscribed: self.running() - used,
        }
    }

    /// Number of workers, of `workers`, that are known to run nothing.
    pub(crate) fn free(&self, workers: u64) -> u64 {
        match self.is_unread {
            true => 0,
            false => workers.saturating_sub(self.running()),
        }
    }
}

/// Numbers of workers by what they do at a moment; all but `free` and `oversubscribed` add up to
/// the total number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shares {
    /// Workers that run strands on the CPU; the probes' time is included.
    pub work: u64,
    /// Workers preempted inside strands.
    pub descheduled: u64,
    /// Workers blocked inside strands.
    pub blocked: u64,
    /// Free workers that have a ready strand.
    pub delay: u64,
    /// Free workers that have no ready strand.
    pub no_work: u64,
    /// `delay` + `no_work`.
    pub free: u64,
    /// Workers without a strand while records are missing.
    pub unread: u64,
    /// Number of running strands beyond the workers.
    pub oversubscribed: u64,
}

/// Ticks for which a worker was free for a ready strand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FreeWorkerTicks {
    /// Ticks of any worker.
    pub all: u64,
    /// Ticks of the worker that then started it, on its way from its previous strand.
    pub approaching: u64,
    /// Ticks of a worker that was preempted between its strands, and on its way to none: it was
    /// free, but could do nothing.
    pub preempted: u64,
}

/// Receives the events of a sweep, in time order.
pub(crate) trait Observer {
    /// A strand that takes time starts on `thread`.
    fn start(&mut self, _strand: StrandId, _thread: usize) {}
    /// A strand that took time ends at `time`.
    fn end(&mut self, _strand: StrandId, _thread: usize, _time: u64) {}
    /// `thread` goes off the CPU, or comes back.
    fn off(&mut self, _thread: usize, _time: u64, _why: Option<OffCpuReason>) {}
    /// A strand that was ready for some time starts. Called in the order of starts, before
    /// [`Observer::start`] of the same strand.
    fn left(&mut self, _waiting: &ReadyInterval, _served: FreeWorkerTicks) {}
    /// A moment passes. Called after the events at `moment.begin`.
    fn moment(&mut self, _moment: &Moment) {}
}

/// First start and last end of any strand; zeros if there are no strands.
pub(crate) fn extent(dag: &Dag) -> (u64, u64) {
    let begin = dag.strands.start.iter().copied().min().unwrap_or(0);
    (begin, dag.strands.end.iter().copied().max().unwrap_or(0))
}

/// Reports the whole run to `observer`.
pub(crate) fn sweep(dag: &Dag, readiness: &Readiness, observer: &mut impl Observer) {
    sweep_over(dag, readiness, &[], observer);
}

/// Sweeps with each of the intervals `full` as one moment without ready strands
/// ([`crate::saturated`]). For strands in such an interval, only the starts of those that still run
/// at its end are reported, and the ends of those that ran at its beginning. Strands that were
/// ready within one interval only may be missing in `readiness`.
pub(crate) fn sweep_over(
    dag: &Dag,
    readiness: &Readiness,
    full: &[SaturatedInterval],
    observer: &mut impl Observer,
) {
    let offs = off_cpu_events(dag);
    let mut state = State::new(
        dag,
        &offs,
        dag.unread_from(),
        Queue::new(dag, &readiness.waiting),
    );
    let mut full = full.iter().copied().peekable();
    let mut steps = Checkpoint::default();
    while let Some(time) = state.next_time() {
        steps.step();
        state.events_at(time, observer);
        while full.next_if(|stretch| stretch.0 < time).is_some() {}
        if let Some((_, until)) = full.next_if(|stretch| stretch.0 == time) {
            state.pass(time, until, observer);
            if let Some(next) = state.next_time().filter(|&next| next > until) {
                let moment = state.moment(until, next);
                observer.moment(&moment);
            }
            continue;
        }
        let Some(next) = state.next_time() else { break };
        let moment = state.moment(time, next);
        observer.moment(&moment);
    }
}

/// The ready strands, in the form that an observer needs.
pub(crate) trait ReadyStrands<'a> {
    /// When the next strand becomes ready.
    fn next_time(&self) -> Option<u64>;
    /// Adds the strands that are ready at `time` or before.
    fn append_until(&mut self, time: u64);
    /// Called when strand `s` starts. Returns how long it was served, if it was ready.
    fn remove(&mut self, s: StrandId, time: u64) -> Option<(&'a ReadyInterval, FreeWorkerTicks)>;
    /// From `time` on, `free` workers serve; `preempted` of them are off the CPU and not on their
    /// way to a strand.
    fn serve(&mut self, free: u64, preempted: u64, time: u64);
    /// The strands that a worker is on its way to.
    fn approached(&self) -> impl Iterator<Item = StrandId>;
    /// The strand that starts first among those that are ready or will be.
    fn next_to_leave(&self) -> Option<StrandId>;
    /// Writes the numbers of ready and served strands.
    fn tell(&self, moment: &mut Moment);
}

/// The running and ready strands at a time.
pub(crate) struct State<'a, Q> {
    dag: &'a Dag,
    next_start: usize,
    ends: BinaryHeap<Reverse<(u64, StrandId)>>,
    queue: Q,
    offs: &'a [OffCpuEvent],
    next_off: usize,
    /// Time from which records of some worker are missing.
    unread_from: Option<u64>,
    is_unread: bool,
    now: Vec<ThreadNow>,
    /// Number of running strands by the state of their thread: working, descheduled, blocked.
    running: [u64; 3],
    /// XOR of the running threads: if one runs, it is that thread.
    running_threads: usize,
    /// Number of workers that are preempted between their strands.
    preempted_between: u64,
    workers: u64,
}

/// The current state of a thread.
#[derive(Debug, Clone, Copy, Default)]
struct ThreadNow {
    strands: u64,
    off: Option<OffCpuReason>,
    outside: bool,
}

impl ThreadNow {
    fn is_preempted_between(self) -> bool {
        self.strands == 0 && self.off == Some(OffCpuReason::Preempted)
    }

    /// Index into [`State::running`]; `None` if the thread does not count as running.
    fn column(self) -> Option<usize> {
        match self.off {
            None => Some(0),
            Some(OffCpuReason::Preempted) => Some(1),
            Some(OffCpuReason::Blocked) if self.outside => None,
            Some(OffCpuReason::Blocked) => Some(2),
        }
    }
}

impl<'a, Q: ReadyStrands<'a>> State<'a, Q> {
    /// The state before everything.
    pub(crate) fn new(
        dag: &'a Dag,
        offs: &'a [OffCpuEvent],
        unread_from: Option<u64>,
        queue: Q,
    ) -> State<'a, Q> {
        State {
            dag,
            next_start: 0,
            ends: BinaryHeap::new(),
            queue,
            offs,
            next_off: 0,
            unread_from,
            is_unread: false,
            now: vec![ThreadNow::default(); dag.meta.threads as usize],
            running: [0; 3],
            running_threads: 0,
            preempted_between: 0,
            workers: u64::from(dag.meta.workers.max(1)),
        }
    }

    /// The state after everything at `time` and before: `running` has the strands that run then,
    /// `queue` the ready ones.
    pub(crate) fn at(
        dag: &'a Dag,
        (offs, unread_from): (&'a [OffCpuEvent], Option<u64>),
        queue: Q,
        time: u64,
        running: impl Iterator<Item = StrandId>,
        observer: &mut impl Observer,
    ) -> State<'a, Q> {
        let mut state = State::new(dag, offs, unread_from, queue);
        state.is_unread = unread_from.is_some_and(|from| from <= time);
        state.next_start = dag.strands.start.partition_point(|&start| start <= time);
        state.next_off = offs.partition_point(|off| off.0 <= time);
        let threads = if offs.is_empty() { 0 } else { dag.meta.threads };
        for thread in 0..threads {
            let key = (thread, time);
            let first = dag.offs.partition_point(|o| (o.thread, o.end) <= key);
            let off = dag.offs.get(first);
            let off = off.filter(|o| o.thread == thread && o.start <= time);
            state.change(thread as usize, |now| now.off = off.map(|o| o.why));
        }
        for s in running {
            state.start(s, observer);
        }
        state
    }

    pub(crate) fn next_time(&self) -> Option<u64> {
        let start = self.dag.strands.start.get(self.next_start).copied();
        let end = self.ends.peek().map(|e| e.0.0);
        // If no strand runs or is still to come, nothing counts any more.
        let strand = [start, end].into_iter().flatten().min()?;
        let ready = self.queue.next_time();
        let off = self.offs.get(self.next_off).map(|o| o.0);
        let off = off.filter(|_| self.next_start > 0);
        [Some(strand), ready, off].into_iter().flatten().min()
    }

    pub(crate) fn events_at(&mut self, time: u64, observer: &mut impl Observer) {
        while let Some(&(at, thread, why)) = self.offs.get(self.next_off)
            && at <= time
        {
            self.change(thread as usize, |now| now.off = why);
            observer.off(thread as usize, at, why);
            self.next_off += 1;
        }
        while let Some(&Reverse((end, s))) = self.ends.peek()
            && end <= time
        {
            self.ends.pop();
            let thread = self.dag.strands.thread[s as usize] as usize;
            self.change(thread, |now| now.strands -= 1);
            observer.end(s, thread, end);
        }
        self.is_unread = self.unread_from.is_some_and(|from| from <= time);
        self.queue.append_until(time);
        while let Some(&start) = self.dag.strands.start.get(self.next_start)
            && start <= time
        {
            let s = self.next_start as StrandId;
            self.next_start += 1;
            if let Some((waiting, served)) = self.queue.remove(s, start) {
                observer.left(waiting, served);
            }
            if start < self.dag.strands.end[s as usize] {
                self.start(s, observer);
            }
        }
    }

    /// Passes an interval from `from`, whose events were reported, to before `until`. During it the
    /// same threads run, and no worker is free.
    fn pass(&mut self, from: u64, until: u64, observer: &mut impl Observer) {
        self.queue.serve(0, 0, from);
        let [working, descheduled, blocked] = self.running;
        observer.moment(&Moment {
            begin: from,
            end: until,
            working,
            descheduled,
            blocked,
            preempted_between: self.preempted_between,
            only_thread: self.running_threads,
            ..Moment::default()
        });
        let strands = &self.dag.strands;
        let rest = &strands.start[self.next_start..];
        let end = self.next_start + rest.partition_point(|&start| start < until);
        while let Some(s) = self.queue.next_to_leave().filter(|&s| (s as usize) < end) {
            let start = strands.start[s as usize];
            self.queue.append_until(start);
            if let Some((waiting, served)) = self.queue.remove(s, start) {
                observer.left(waiting, served);
            }
        }
        self.queue.append_until(until - 1);
        let mut last = vec![NONE; self.now.len()];
        for s in self.next_start..end {
            if strands.start[s] < strands.end[s] {
                last[strands.thread[s] as usize] = s as StrandId;
            }
        }
        self.next_start = end;
        for Reverse((ended, s)) in std::mem::take(&mut self.ends).into_sorted_vec() {
            let thread = strands.thread[s as usize] as usize;
            let runs = match last[thread] {
                NONE => s,
                now => {
                    observer.end(s, thread, ended);
                    observer.start(now, thread);
                    now
                }
            };
            self.ends.push(Reverse((strands.end[runs as usize], runs)));
        }
    }

    fn start(&mut self, s: StrandId, observer: &mut impl Observer) {
        let on = self.dag.strands.thread[s as usize];
        let thread = on as usize;
        let outside = !self.dag.is_worker(on);
        self.change(thread, |now| {
            now.strands += 1;
            now.outside = outside;
        });
        self.ends
            .push(Reverse((self.dag.strands.end[s as usize], s)));
        observer.start(s, thread);
    }

    fn change(&mut self, thread: usize, f: impl FnOnce(&mut ThreadNow)) {
        self.count(thread, false);
        f(&mut self.now[thread]);
        self.count(thread, true);
    }

    /// Adds the strand of `thread` to the running strands, or removes it.
    fn count(&mut self, thread: usize, add: bool) {
        let now = self.now[thread];
        if now.is_preempted_between() && self.dag.is_worker(thread as u32) {
            match add {
                true => self.preempted_between += 1,
                false => self.preempted_between -= 1,
            }
        }
        if let Some(column) = now.column()
            && now.strands > 0
        {
            let running = &mut self.running[column];
            *running = if add {
                *running + now.strands
            } else {
                *running - now.strands
            };
            self.running_threads ^= thread;
        }
    }

    pub(crate) fn moment(&mut self, begin: u64, end: u64) -> Moment {
        let [working, descheduled, blocked] = self.running;
        let free = self.workers.saturating_sub(working + descheduled + blocked);
        let free = if self.is_unread { 0 } else { free };
        let preempted = match self.preempted_between {
            0 => 0,
            all => {
                let thread = |s: StrandId| self.dag.strands.thread[s as usize] as usize;
                let is_off = |&s: &StrandId| self.now[thread(s)].is_preempted_between();
                all.saturating_sub(self.queue.approached().filter(is_off).count() as u64)
            }
        };
        self.queue.serve(free, preempted, begin);
        let mut moment = Moment {
            begin,
            end,
            working,
            descheduled,
            blocked,
            preempted_between: self.preempted_between,
            is_unread: self.is_unread,
            only_thread: self.running_threads,
            ..Moment::default()
        };
        self.queue.tell(&mut moment);
        moment
    }
}
