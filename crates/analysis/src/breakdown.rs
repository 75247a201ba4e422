//! Divides W · elapsed into its parts (MODEL.md §5).
//!
//! Probes have no known moment inside a strand, so their time is not clamped moment by moment.
//! *Recording* is the time that the weights took out for probes, at most the working time. The time
//! between the strands inside folded ones is delay ([`crate::runtime_gaps`]). *Work* is the rest of
//! the working time. Blocked time is shown as blocked whether or not it counts in the weights.

use workspan_dag::{Dag, EdgeKind};

use crate::ready_path::{Gaps, ReadyPath};
use crate::sweep::{Moment, Observer};

/// The parts of W · elapsed (MODEL.md §5), in worker-ticks. All but `oversubscribed` add up to W ·
/// elapsed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Breakdown {
    /// First start, in ticks.
    pub begin: u64,
    /// Last end, in ticks.
    pub end: u64,
    /// W: the number of workers.
    pub workers: u32,
    /// Time in the program's own code on a CPU.
    pub work: u128,
    /// Time inside strands in which the thread was preempted.
    pub descheduled: u128,
    /// Time inside strands in which the thread was blocked.
    pub blocked: u128,
    /// Time that the probes took.
    pub recording: u128,
    /// Strand time beyond W (not part of the sum).
    pub oversubscribed: u128,
    /// Ticks in which more strands ran than the process had CPUs, if that number is known.
    pub beyond_cpus: u64,
    /// Time in which workers were free while strands were ready.
    pub delay: u128,
    /// `delay` by the edge that made the strand ready, indexed by `EdgeKind as usize`.
    pub delay_by_edge: [u128; 7],
    /// The part of `delay` that lies between the strands inside folded ones. By edge it counts as
    /// that of a create, because it is not known which ready strand waited longest.
    pub delay_folded: u128,
    /// The part of `delay` of strands *buried* under an unrelated task on their own thread.
    pub delay_buried: u128,
    /// Time in which workers were free and nothing was ready, during scheduler delay of the ready
    /// path.
    pub no_work_sched: u128,
    /// The rest of the no-work time: the program offered no work.
    pub no_work_app: u128,
    /// Time of workers without a strand after the first missing record: what they did is not known.
    /// 0 if all of the trace was read.
    pub unread: u128,
    /// Number of buried waits.
    pub buried: u64,
    /// Time for which the strands after buried waits were ready, in ticks.
    pub buried_ticks: u128,
    /// The ready path.
    pub ready_path: ReadyPath,
}

impl Breakdown {
    /// Last end − first start, in ticks.
    pub fn elapsed(&self) -> u64 {
        self.end - self.begin
    }
    /// Everything that is known not to be work.
    pub fn lost(&self) -> u128 {
        self.descheduled
            + self.blocked
            + self.recording
            + self.delay
            + self.no_work_sched
            + self.no_work_app
    }
    /// Mean number of busy workers; 0 if no time passed.
    pub fn mean_busy(&self) -> f64 {
        self.work as f64 / self.elapsed().max(1) as f64
    }
    /// The share of the worker time in which a thread could have run but was off the CPU.
    pub fn descheduled_share(&self) -> f64 {
        self.descheduled as f64 / self.total().max(1) as f64
    }
    /// W · elapsed.
    pub fn total(&self) -> u128 {
        u128::from(self.workers) * u128::from(self.elapsed())
    }
}

/// Accumulates a breakdown over a sweep.
pub(crate) struct Sums<'a> {
    workers: u64,
    cpus: u64,
    gaps: Gaps<'a>,
    /// Everything but the ready path's strands; `work` still includes the recording.
    out: Breakdown,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(dag: &'a Dag, path: &'a ReadyPath) -> Sums<'a> {
        let workers = dag.meta.workers.max(1);
        let out = Breakdown {
            workers,
            ..Breakdown::default()
        };
        Sums {
            workers: u64::from(workers),
            cpus: dag.meta.cpus.map_or(u64::MAX, u64::from),
            gaps: Gaps::new(dag, path),
            out,
        }
    }

    /// The breakdown. `recording` is the time that the weights took out for probes, `between` the
    /// time between the strands inside folded ones.
    pub(crate) fn finish(self, recording: u128, between: u128) -> Breakdown {
        let mut out = self.out;
        out.recording = recording.min(out.work);
        out.work -= out.recording;
        out.delay_folded = between.min(out.work);
        out.work -= out.delay_folded;
        out.delay += out.delay_folded;
        out.delay_by_edge[EdgeKind::Create as usize] += out.delay_folded;
        out
    }
}

impl Observer for Sums<'_> {
    fn moment(&mut self, moment: &Moment) {
        let ticks = moment.ticks();
        let area = |n: u64| u128::from(n) * u128::from(ticks);
        let shares = moment.shares(self.workers);
        let out = &mut self.out;
        out.work += area(shares.work);
        out.descheduled += area(shares.descheduled);
        out.blocked += area(shares.blocked);
        out.oversubscribed += area(shares.oversubscribed);
        out.unread += area(shares.unread);
        if moment.running() > self.cpus {
            out.beyond_cpus += ticks;
        }
        if moment.served > 0 {
            out.delay += area(moment.served);
            for (sum, &n) in out.delay_by_edge.iter_mut().zip(&moment.served_by_kind) {
                *sum += area(n);
            }
            out.delay_buried += area(moment.served_buried);
        }
        if shares.free == 0 {
            // The moment may be long and contain several gaps of the path.
            out.ready_path.busy_delay += self.gaps.within(moment.begin, moment.end);
            return;
        }
        let no_work = area(shares.no_work);
        if self.gaps.contain(moment.begin) {
            out.ready_path.scheduler_delay += ticks;
            out.no_work_sched += no_work;
        } else {
            out.no_work_app += no_work;
        }
    }
}
