//! Who used the CPUs while threads of the run were preempted: other programs, or more threads of
//! the program than there are CPUs.

use workspan_dag::Dag;

use crate::breakdown::Breakdown;
use crate::sweep::Moment;

/// The preempted time for which other programs can be responsible.
#[derive(Debug, Default)]
pub(super) struct Preemption {
    /// Number of CPUs that the process may use.
    cpus: Option<u64>,
    /// Ticks of preempted strands.
    all: u128,
    /// The part of it for which there were CPUs on which no strand ran.
    others: u128,
}

/// Minimum share of the CPU time, in percent, at which threads outside of the run count.
const MIN_OUTSIDE_PERCENT: f64 = 3.0;

impl Preemption {
    pub(super) fn new(dag: &Dag) -> Preemption {
        Preemption {
            cpus: dag.meta.cpus.map(u64::from).filter(|&cpus| cpus > 0),
            ..Preemption::default()
        }
    }

    pub(super) fn moment(&mut self, moment: &Moment) {
        let (Some(cpus), false) = (self.cpus, moment.descheduled == 0) else {
            return;
        };
        let left = cpus.saturating_sub(moment.working);
        let ticks = u128::from(moment.ticks());
        self.all += u128::from(moment.descheduled) * ticks;
        self.others += u128::from(moment.descheduled.min(left)) * ticks;
    }

    /// The part of `lost` that threads of the program itself caused.
    pub(super) fn own(&self, dag: &Dag, breakdown: &Breakdown, lost: u128) -> u128 {
        let Some(cpus) = self.cpus else { return 0 };
        let used = cpu_ticks(dag, breakdown);
        let of_others = dag.meta.run.cpu_time_of_others.map_or(0, u128::from);
        let notable = crate::warnings::percent(of_others, used) >= MIN_OUTSIDE_PERCENT;
        if u64::from(breakdown.workers) <= cpus && !notable {
            return 0;
        }
        let by_moments = match self.all {
            0 => lost,
            all => (lost as f64 * (self.others as f64 / all as f64)) as u128,
        };
        let left = (u128::from(cpus) * u128::from(breakdown.elapsed())).saturating_sub(used);
        let own = lost - lost.min(by_moments).min(left);
        match u64::from(breakdown.workers) <= cpus {
            true => own.min(of_others),
            false => own,
        }
    }
}

/// CPU time of the process over the run, in ticks: as the kernel reports it, else a lower bound.
pub(crate) fn cpu_ticks(dag: &Dag, breakdown: &Breakdown) -> u128 {
    // The process's own clock is the best source: in a virtual machine, switches include the host's
    // time.
    if let Some(ns) = dag.meta.cpu.as_ref().and_then(|cpu| cpu.process) {
        return u128::from(ns) * u128::from(dag.meta.ticks_per_second) / 1_000_000_000;
    }
    if let Some(ticks) = dag.meta.run.cpu_time {
        return u128::from(ticks);
    }
    let samples = &dag.samples;
    let taken = (samples.len() + samples.others.len()) as u128;
    let sampled = taken * u128::from(dag.meta.ticks_per_second);
    let sampled = sampled.checked_div(u128::from(samples.hertz)).unwrap_or(0);
    sampled.max(breakdown.work + breakdown.recording)
}
