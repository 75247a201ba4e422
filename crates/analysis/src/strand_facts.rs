//! The measures of each strand, for tables and pictures.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, StrandId};

use crate::column::{Column, Marks};
use crate::heaviest_paths::Heaviest;
use crate::off_cpu::OffCpuCursor;
use crate::options::{Error, Options};
use crate::ready::Readiness;
use crate::ready_intervals::ReadyIntervals;
use crate::runtime_gaps::runtime_gaps;
use crate::sites::{SiteRow, sites};
use crate::weight::{Weights, on_cpu};

/// Columns over the strands of a run, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrandFacts {
    /// Weight (MODEL.md §2), in ticks.
    pub weight: Column,
    /// Preempted time inside.
    pub descheduled: Column,
    /// Blocked time inside.
    pub blocked: Column,
    /// Probe time that the weight leaves out.
    pub recording: Column,
    /// For folded strands, the time between the strands inside (MODEL.md §5): it is not work, but
    /// delay.
    pub between: Column,
    /// The strands that were ready for some time, and when they became ready.
    pub ready: ReadyIntervals,
    /// The strands on the critical path (MODEL.md §3).
    pub critical: Marks,
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

/// Measures every strand, and also the spawn sites as in [`crate::report`], for callers that need
/// both before the report.
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
    let all = || checked(0..dag.strands.len());
    let weight = |s: usize| weights.work(s as StrandId);
    let offs = || {
        let mut offs = OffCpuCursor::new(dag);
        all().map(move |s| (s, offs.inside(s as StrandId)))
    };
    let inside = runtime_gaps(dag);
    let between = || {
        let mut inside = inside.iter().peekable();
        all().map(move |s| {
            let here = inside.next_if(|b| b.strand as usize == s);
            here.map_or(0, |b| b.ticks)
        })
    };
    let recording = |((s, off), between)| {
        let rest = on_cpu(dag, s, off).saturating_sub(weight(s));
        rest.saturating_sub(between)
    };
    StrandFacts {
        weight: Column::new(|| all().map(weight)),
        descheduled: Column::new(|| offs().map(|(_, off)| off.descheduled)),
        blocked: Column::new(|| offs().map(|(_, off)| off.blocked)),
        recording: Column::new(|| offs().zip(between()).map(recording)),
        between: Column::new(between),
        ready: ReadyIntervals::new(dag, &Readiness::new(dag).waiting),
        critical: Marks::new(critical_path.iter().copied()),
    }
}
