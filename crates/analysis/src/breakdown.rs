//! Where W · elapsed went (MODEL.md §5).
//!
//! The probes' time has no place of its own inside a strand, so it is not clamped moment by moment:
//! *recording* is what the weights took out for probes (at most the working time there is), the
//! time between the strands inside of folded ones is delay ([`crate::runtime_gaps`]), and *work* is
//! the rest of the working time. Blocked time is shown as blocked whether or not it counts in the
//! weights.

use workspan_dag::{Dag, EdgeKind};

use crate::ready_path::{Gaps, ReadyPath};
use crate::sweep::{Moment, Observer};

/// Where W · elapsed went (MODEL.md §5), in worker-ticks; work, descheduled, blocked, recording,
/// delay, no-work and unread add up to W · elapsed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Breakdown {
    /// First start and last end.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// W.
    pub workers: u32,
    /// Working.
    pub work: u128,
    /// Preempted inside strands.
    pub descheduled: u128,
    /// Blocked inside strands.
    pub blocked: u128,
    /// The probes' own time.
    pub recording: u128,
    /// Strand time beyond W (not part of the sum).
    pub oversubscribed: u128,
    /// Ticks in which more strands ran than the process had CPUs, as far as that number is known.
    pub beyond_cpus: u64,
    /// Free workers while strands were ready.
    pub delay: u128,
    /// `delay` by the edge that made the strand ready, indexed by `EdgeKind as usize`.
    pub delay_by_edge: [u128; 7],
    /// Part of `delay` between the strands inside of folded ones. By the edge it counts as that of
    /// a create: which strand of those that stood ready did so longest is not known.
    pub delay_folded: u128,
    /// Part of `delay` on strands *buried* under an unrelated task on their own thread.
    pub delay_buried: u128,
    /// Free workers and nothing ready, during the ready path's scheduler delay.
    pub no_work_sched: u128,
    /// The rest of no-work: the program gave nothing to do.
    pub no_work_app: u128,
    /// Workers without a strand after the first record that is missing: what they did or waited for
    /// is not known. 0 where all of the trace was read.
    pub unread: u128,
    /// Number of buried waits, and the time they stood ready.
    pub buried: u64,
    /// See `buried`.
    pub buried_ticks: u128,
    /// The ready path.
    pub ready_path: ReadyPath,
}

impl Breakdown {
    /// Last end − first start.
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
    /// Mean number of busy workers; 0 for no time.
    pub fn mean_busy(&self) -> f64 {
        self.work as f64 / self.elapsed().max(1) as f64
    }
    /// The share of the worker time that was off the CPU though it could have run.
    pub fn descheduled_share(&self) -> f64 {
        self.descheduled as f64 / self.total().max(1) as f64
    }
    /// W · elapsed.
    pub fn total(&self) -> u128 {
        u128::from(self.workers) * u128::from(self.elapsed())
    }
}

/// Sums a breakdown up over a sweep.
pub(crate) struct Sums<'a> {
    workers: u64,
    cpus: u64,
    gaps: Gaps<'a>,
    /// All but the ready path's strands; `work` still holds the recording.
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

    /// The breakdown; `recording` is what the weights took out for probes, `between` what folded
    /// strands have between the strands inside.
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
            // It may be long, and the path come and go in it.
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
