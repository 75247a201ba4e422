//! The moments in which every thread that could run had a CPU.
//!
//! They tell how often threads wait for each other where the machine is busy. But such moments are
//! not a fair sample. If a thread that can run has a CPU with probability q, a moment with r
//! threads that can run is undisturbed with probability q^r: the fewer threads can run because
//! others wait for a lock, the more likely the moment is seen. So each counts q^-r times.
//!
//! The longer a lock is held, the more threads meet it, and a thread that is preempted while it
//! holds one holds it long. So the moments of a wait count less, by their ratio to its length, if
//! they are fewer than such a wait has on average.

use workspan_dag::{Dag, StrandId};

use crate::off_cpu::OffCpuCursor;
use crate::sweep::Moment;

/// Minimum of the probability that a thread has a CPU.
const MIN_ON_CPU: f64 = 0.01;
/// Maximum weight of a moment: beyond, there are too few of its kind.
const MAX_WEIGHT: f64 = 1e6;

/// The undisturbed part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UndisturbedTime {
    /// W times its ticks.
    pub ticks: u128,
    /// W times its ticks, each moment weighted by how seldom such moments are undisturbed.
    pub weighted: f64,
}

/// How much the undisturbed moments of a wait of `ticks` ticks count, whose weights add up to
/// `weighted`. That is as much as the wait is long, on average over waits. Where it is much less,
/// the wait was long because a thread that had what it waited for was preempted.
pub(super) fn counted_part_of_wait(weighted: f64, ticks: u64) -> f64 {
    weighted * (weighted / ticks.max(1) as f64).min(1.0)
}

/// Adds up the undisturbed moments up to now.
pub(super) struct Undisturbed {
    /// The probability that a thread in a strand has a CPU if it can run.
    on_cpu: f64,
    ticks: u64,
    pub(super) weighted: f64,
}

impl Undisturbed {
    /// Before the run. O(n) in strands and off-CPU intervals.
    pub(super) fn new(dag: &Dag) -> Undisturbed {
        let mut offs = OffCpuCursor::new(dag);
        let (mut could_run, mut preempted) = (0u128, 0u128);
        for s in 0..dag.strands.len() as StrandId {
            let i = s as usize;
            let length = dag.strands.end[i].saturating_sub(dag.strands.start[i]);
            let off = offs.inside(s);
            could_run += u128::from(length.saturating_sub(off.blocked));
            preempted += u128::from(off.descheduled);
        }
        let on_cpu = could_run.saturating_sub(preempted) as f64 / could_run.max(1) as f64;
        Undisturbed {
            on_cpu: on_cpu.max(MIN_ON_CPU),
            ticks: 0,
            weighted: 0.0,
        }
    }

    pub(super) fn moment(&mut self, moment: &Moment) {
        if moment.is_undisturbed() {
            let ticks = moment.ticks();
            self.ticks += ticks;
            let could_run = i32::try_from(moment.working).unwrap_or(i32::MAX);
            let weight = self.on_cpu.powi(-could_run).min(MAX_WEIGHT);
            self.weighted += ticks as f64 * weight;
        }
    }

    pub(super) fn total(&self, workers: u64) -> UndisturbedTime {
        UndisturbedTime {
            ticks: u128::from(self.ticks) * u128::from(workers),
            weighted: self.weighted * workers as f64,
        }
    }
}
