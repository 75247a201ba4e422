//! What is known of every strand, in little memory: most strands were never off the CPU.

use workspan_analysis::StrandFacts;
use workspan_dag::{EdgeKind, StrandId};

/// Columns over the strands of a run, in ticks.
#[derive(Debug)]
pub struct Facts {
    all: StrandFacts,
}

impl Facts {
    /// Takes them over.
    pub fn new(all: StrandFacts) -> Facts {
        Facts { all }
    }

    /// Weight (MODEL.md §2) of strand `s`.
    pub fn weight(&self, s: StrandId) -> u64 {
        self.all.weight[s as usize]
    }

    /// Ticks preempted inside strand `s`.
    pub fn descheduled(&self, s: StrandId) -> u64 {
        self.all.descheduled[s as usize]
    }

    /// Ticks blocked inside strand `s`.
    pub fn blocked(&self, s: StrandId) -> u64 {
        self.all.blocked[s as usize]
    }

    /// What the weight of strand `s` leaves out for probes.
    pub fn recording(&self, s: StrandId) -> u64 {
        self.all.recording[s as usize]
    }

    /// Strand `s` lies on the critical path (MODEL.md §3).
    pub fn critical(&self, s: StrandId) -> bool {
        self.all.critical[s as usize]
    }

    /// When strand `s` was ready (absolute) and by which edge; `None` when it started the moment it was.
    pub fn ready(&self, s: StrandId) -> Option<(u64, EdgeKind)> {
        self.all.ready(s)
    }

    /// All strands that stood ready for some time, ascending: (strand, when ready, by which edge).
    pub fn all_ready(&self) -> &[(StrandId, u64, EdgeKind)] {
        &self.all.ready
    }
}
