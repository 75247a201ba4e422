//! What the analyses know of every single strand, for tables and pictures.

use workspan_dag::wanted::watched;
use workspan_dag::{Dag, EdgeKind, StrandId};

use crate::heaviest::Heaviest;
use crate::options::{Error, Options};
use crate::ready::Readiness;
use crate::sites::{SiteRow, sites};
use crate::weight::{OffCursor, Weights, on_cpu};

/// Columns over the strands of a run, in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct StrandFacts {
    /// Weight (MODEL.md §2).
    pub weight: Vec<u64>,
    /// Preempted inside.
    pub descheduled: Vec<u64>,
    /// Blocked inside.
    pub blocked: Vec<u64>,
    /// What the weight left out for probes.
    pub recording: Vec<u64>,
    /// When it was ready, and by which edge (MODEL.md §5), for strands that stood ready for some time; by strand.
    pub ready: Vec<(StrandId, u64, EdgeKind)>,
    /// On the critical path (MODEL.md §3).
    pub critical: Vec<bool>,
}

impl StrandFacts {
    /// When strand `s` was ready and by which edge; `None` when it started the moment it was.
    pub fn ready(&self, s: StrandId) -> Option<(u64, EdgeKind)> {
        let i = self.ready.binary_search_by_key(&s, |r| r.0).ok()?;
        Some((self.ready[i].1, self.ready[i].2))
    }
}

/// Measures every strand. O(n log n).
///
/// # Errors
/// See [`Error`].
pub fn strand_facts(dag: &Dag, options: &Options) -> Result<StrandFacts, Error> {
    let weights = Weights::new(dag, options)?;
    let path = Heaviest::unburdened(dag, &weights).critical_path(dag);
    Ok(facts(dag, &weights, &path))
}

/// The same, with the spawn sites as [`crate::report`] has them, for whoever needs both before the report.
///
/// # Errors
/// See [`Error`].
pub fn strand_facts_and_sites(
    dag: &Dag,
    options: &Options,
) -> Result<(StrandFacts, Vec<SiteRow>), Error> {
    let weights = Weights::new(dag, options)?;
    let heaviest = Heaviest::unburdened(dag, &weights);
    let path = heaviest.critical_path(dag);
    let sites = sites(dag, &weights, &heaviest, &path).rows;
    drop(heaviest);
    Ok((facts(dag, &weights, &path), sites))
}

fn facts(dag: &Dag, weights: &Weights, critical_path: &[StrandId]) -> StrandFacts {
    let strands = dag.strands.len();
    let mut facts = StrandFacts {
        weight: Vec::with_capacity(strands),
        descheduled: Vec::with_capacity(strands),
        blocked: Vec::with_capacity(strands),
        recording: Vec::with_capacity(strands),
        ready: Vec::new(),
        critical: vec![false; strands],
    };
    let mut offs = OffCursor::new(dag);
    for s in watched(0..strands) {
        let off = offs.inside(s as StrandId);
        let weight = weights.work(s as StrandId);
        facts.weight.push(weight);
        facts.descheduled.push(off.descheduled);
        facts.blocked.push(off.blocked);
        facts
            .recording
            .push(on_cpu(dag, s, off).saturating_sub(weight));
    }
    let waiting = Readiness::new(dag).waiting;
    facts.ready = waiting
        .iter()
        .map(|w| (w.strand, w.ready, w.kind))
        .collect();
    for &s in critical_path {
        facts.critical[s as usize] = true;
    }
    facts
}
