//! Facts about a run that a reader knows in advance and that folding must respect.

use crate::Fold;

/// A change of the conditions for folding at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// From this time on, `workers` workers are idle. A section longer than `short` is folded only
    /// where the thread has created at least `workers` tasks outside of it that are ready
    /// meanwhile.
    Idle {
        /// The number of idle workers.
        workers: u32,
        /// The longest section that is folded regardless of idle workers, in ticks.
        short: u64,
    },
    /// The thread goes off the CPU: nothing that began before this time is folded, nor anything
    /// that begins before the thread comes back.
    Leave,
    /// The thread is back on a CPU.
    Return,
}

/// The cuts that are still to come.
#[derive(Debug)]
pub(crate) struct PendingConstraints {
    /// The time of the next cut.
    pub next: u64,
    /// The number of off-CPU times that have not ended.
    pub off: u32,
    /// The remaining cuts, latest first.
    rest: Vec<(u64, Constraint)>,
}

impl Default for PendingConstraints {
    fn default() -> PendingConstraints {
        PendingConstraints::new(Vec::new())
    }
}

impl PendingConstraints {
    /// Takes cuts in order of time.
    pub(crate) fn new(mut cuts: Vec<(u64, Constraint)>) -> PendingConstraints {
        cuts.reverse();
        PendingConstraints {
            next: cuts.last().map_or(u64::MAX, |cut| cut.0),
            off: 0,
            rest: cuts,
        }
    }
}

impl Fold {
    /// Applies all cuts before the record at `t`.
    #[cold]
    pub(crate) fn cut(&mut self, t: u64) {
        while let Some((_, cut)) = self.cuts.rest.pop_if(|cut| cut.0 <= t) {
            match cut {
                Constraint::Idle { workers, short } => self.set_idle(workers, short),
                Constraint::Leave => {
                    self.give_up();
                    self.cuts.off += 1;
                }
                Constraint::Return => {
                    self.give_up();
                    self.cuts.off = self.cuts.off.saturating_sub(1);
                }
            }
        }
        self.cuts.next = self.cuts.rest.last().map_or(u64::MAX, |cut| cut.0);
    }
}
