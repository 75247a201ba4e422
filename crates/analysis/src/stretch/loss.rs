//! The performance loss and its parts (MODEL.md §6).

use crate::breakdown::Breakdown;

/// The parts of W · elapsed − serial work, in ticks of the parallel run. They add up to `total`, to
/// the tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loss {
    /// Number of workers of the parallel run.
    pub workers: u32,
    /// Elapsed time of the parallel run.
    pub elapsed: u64,
    /// Work of the serial run.
    pub serial_work: u128,
    /// W · elapsed − serial work.
    pub total: i128,
    /// The same work took longer: parallel work − serial work.
    pub stretch: i128,
    /// Time descheduled (MODEL.md §5, like the following ones).
    pub descheduled: i128,
    /// Time blocked.
    pub blocked: i128,
    /// Time that recording took.
    pub recording: i128,
    /// Delay.
    pub delay: i128,
    /// No work because of the scheduler.
    pub no_work_sched: i128,
    /// No work because of the program.
    pub no_work_app: i128,
    /// Work that ran in addition to W other strands (negative), or on threads that don't count: it
    /// is in the work, but not in W · elapsed.
    pub oversubscribed: i128,
}

impl Loss {
    /// The parts, with their names.
    pub fn parts(&self) -> [(&'static str, i128); 8] {
        [
            ("stretch", self.stretch),
            ("delay", self.delay),
            ("no work, scheduler", self.no_work_sched),
            ("no work, program", self.no_work_app),
            ("descheduled", self.descheduled),
            ("blocked", self.blocked),
            ("recording", self.recording),
            ("oversubscribed", self.oversubscribed),
        ]
    }
}

/// The loss of a run with the breakdown `b` and the work `work`, compared with a serial run of
/// `serial_work`.
pub fn loss(b: &Breakdown, serial_work: u128, work: u128) -> Loss {
    let signed = |v: u128| i128::try_from(v).unwrap_or(i128::MAX);
    Loss {
        workers: b.workers,
        elapsed: b.elapsed(),
        serial_work,
        total: signed(b.total()) - signed(serial_work),
        stretch: signed(work) - signed(serial_work),
        descheduled: signed(b.descheduled),
        blocked: signed(b.blocked),
        recording: signed(b.recording),
        delay: signed(b.delay),
        no_work_sched: signed(b.no_work_sched),
        no_work_app: signed(b.no_work_app),
        oversubscribed: signed(b.work) - signed(work),
    }
}
