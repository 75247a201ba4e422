//! The moments in which every thread that could run had a CPU.
//!
//! They tell how often threads wait for each other where the machine is busy. But such moments are
//! not a fair sample. If a thread that can run has a CPU with probability q, a moment with r
//! threads that can run is undisturbed with probability q^r: the fewer threads can run because
//! others wait for a lock, the more likely the moment is seen. So each counts q^-r times.

use workspan_dag::{Dag, OffCpuReason};

use crate::sweep::Moment;

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

/// Adds up the undisturbed moments up to now.
pub(super) struct Undisturbed {
    /// The probability that a thread that can run has a CPU.
    on_cpu: f64,
    ticks: u64,
    pub(super) weighted: f64,
}

impl Undisturbed {
    pub(super) fn new(dag: &Dag) -> Undisturbed {
        let strands = &dag.strands;
        let in_strand = |s: usize| u128::from(strands.end[s].saturating_sub(strands.start[s]));
        let ran: u128 = (0..strands.len()).map(in_strand).sum();
        let off = |why: OffCpuReason| -> u128 {
            let offs = dag.offs.iter().filter(|off| off.why == why);
            let of_workers = offs.filter(|off| dag.is_worker(off.thread));
            of_workers
                .map(|off| u128::from(off.end.saturating_sub(off.start)))
                .sum()
        };
        let preempted = off(OffCpuReason::Preempted);
        let blocked = off(OffCpuReason::Blocked);
        let could_run = ran.saturating_sub(blocked).max(preempted);
        let on_cpu = could_run.saturating_sub(preempted);
        Undisturbed {
            on_cpu: match could_run {
                0 => 1.0,
                all => (on_cpu as f64 / all as f64).max(0.01),
            },
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
