//! What a reader knows of a run beforehand, and folding has to respect.

use crate::Fold;

/// What to do at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// So many workers are idle from then on: what is as long as `short` (in ticks) is only folded
    /// where as many tasks as these stand ready outside of it, which its thread created before.
    Idle {
        /// How many.
        workers: u32,
        /// See there.
        short: u64,
    },
    /// The thread goes off the CPU: nothing that began before is folded, nor is what begins until
    /// it comes back.
    Leave,
    /// It comes back.
    Return,
}

/// The moments still to come.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// When the next one is.
    pub next: u64,
    /// Times off the CPU that are not over.
    pub off: u32,
    /// In reverse.
    rest: Vec<(u64, Cut)>,
}

impl Default for Cuts {
    fn default() -> Cuts {
        Cuts::new(Vec::new())
    }
}

impl Cuts {
    /// In the order of time.
    pub(crate) fn new(mut cuts: Vec<(u64, Cut)>) -> Cuts {
        cuts.reverse();
        Cuts {
            next: cuts.last().map_or(u64::MAX, |cut| cut.0),
            off: 0,
            rest: cuts,
        }
    }
}

impl Fold {
    /// The record to come is at `t`.
    #[cold]
    pub(crate) fn cut(&mut self, t: u64) {
        while let Some((_, cut)) = self.cuts.rest.pop_if(|cut| cut.0 <= t) {
            match cut {
                Cut::Idle { workers, short } => self.set_idle(workers, short),
                Cut::Leave => {
                    self.give_up();
                    self.cuts.off += 1;
                }
                Cut::Return => {
                    self.give_up();
                    self.cuts.off = self.cuts.off.saturating_sub(1);
                }
            }
        }
        self.cuts.next = self.cuts.rest.last().map_or(u64::MAX, |cut| cut.0);
    }
}
