//! The weight of each strand (MODEL.md §2).
//!
//! For time it is end − start − descheduled − blocked − probes · probe cost, not below 0. A strand
//! has a probe at its start (unless it continues after a signal) and one at its end (a handoff cuts
//! it without a probe). A zero-length strand that was merged into the one before it would have no
//! weight whatever its probes cost, so it adds none.
//!
//! The time in which the thread ran the recorder inside a strand is recording. In a folded strand
//! that a recorder made, it is the time in addition to the record's work and the time between its
//! strands ([`crate::runtime_gaps`]).
//!
//! A folded strand adds its record's work to the work, and the heaviest path through its record to
//! paths. Off-CPU time and probes are taken out of both in proportion, which is exact only within
//! the grain (§7), unless the record was made without the probes' time.

use workspan_dag::cancel::checked;
use workspan_dag::folded::Paths;
use workspan_dag::{Dag, EndKind, Folded, StartKind, StrandId};

use crate::column::{Marks, NarrowVec};
use crate::off_cpu::{OffCpu, OffCpuCursor, OffCpuShare, fold_pause, part_of, recorder_within};
use crate::options::{Error, Metric, Options};

/// Burden of a stolen edge in instructions (MODEL.md §2).
const BURDEN_IN_INSTRUCTIONS: u64 = 15_000;

/// Which end of the interval is used for an unrecorded strand's span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Estimate,
    Low,
    High,
}

/// The weights of all strands.
pub(crate) struct Weights<'a> {
    dag: &'a Dag,
    /// 32 bits are enough for all strands but the few that run for seconds.
    values: NarrowVec<u32>,
    folded: Marks,
    /// Burden per stolen edge.
    pub burden: u64,
    /// The side for paths through unrecorded strands.
    pub side: Side,
    /// Possible error of the time taken out for a strand's two probes.
    unsure: u64,
    /// Probe time inside strands; 0 if it is left in the weights.
    pub recording: u128,
    /// The part of it that was estimated from the calibrated cost of a probe.
    pub probes: u128,
    /// Preempted time inside strands.
    pub descheduled: u128,
    /// Blocked time inside strands.
    pub blocked: u128,
    /// Folded strands for which it is not known where their threads were off the CPU.
    pub unsure_folds: Option<AmbiguousFolds>,
}

impl<'a> Weights<'a> {
    pub(crate) fn new(dag: &'a Dag, options: &Options) -> Result<Weights<'a>, Error> {
        let mut weights = Weights {
            dag,
            values: NarrowVec::with_capacity(dag.strands.len(), 0),
            folded: Marks::new(dag.folded.strands().iter().copied()),
            burden: 0,
            side: Side::Estimate,
            unsure: 0,
            recording: 0,
            probes: 0,
            descheduled: 0,
            blocked: 0,
            unsure_folds: None,
        };
        weights.measure_time(options);
        weights.burden = match &options.metric {
            Metric::Time => options.burden.unwrap_or(dag.meta.burden),
            Metric::Counter(name) => {
                weights.use_counter(name)?;
                let usual = if name == "instructions" {
                    BURDEN_IN_INSTRUCTIONS
                } else {
                    0
                };
                options.burden.unwrap_or(usual)
            }
        };
        Ok(weights)
    }

    fn measure_time(&mut self, options: &Options) {
        let dag = self.dag;
        let probe_cost = if options.raw { 0 } else { dag.meta.probe_cost };
        if options.metric == Metric::Time {
            self.unsure = probe_cost.saturating_mul(14) / 10;
        }
        let mut offs = OffCpuCursor::new(dag);
        let mut folds = dag.folded.cursor();
        for s in checked(0..dag.strands.len()) {
            let off = offs.inside(s as StrandId);
            let fold = folds.record(s as StrandId);
            let probes = probe_ticks(dag, s, fold, probe_cost);
            let length = dag.strands.end[s] - dag.strands.start[s];
            let counted = if options.count_blocked {
                off.blocked
            } else {
                0
            };
            let off_out = off.descheduled + (off.blocked - counted);
            let recorder = match fold {
                _ if options.raw => 0,
                None => recorder_within(dag, s as StrandId),
                Some(fold) => fold_pause(dag, fold, length),
            };
            let (gross, taken_out, between, recorded) = match fold {
                None => (length, off_out.saturating_add(recorder), 0, recorder),
                // The thread was also off the CPU between the tasks and while it folded.
                Some(fold) => {
                    let off_ticks = off.descheduled + off.blocked;
                    let split = offs.split(s as StrandId, fold, (recorder, off_ticks));
                    let inside = split.tasks.scaled(off_out, off_ticks);
                    self.unsure_off(s as StrandId, &inside);
                    let gross = fold.work.saturating_add(fold.probes);
                    (
                        gross.saturating_add(part_of(fold.off_cpu, counted, off_ticks)),
                        inside.likely,
                        fold.between.saturating_sub(split.between),
                        recorder
                            .saturating_sub(split.folding)
                            .saturating_add(fold.off_cpu.saturating_sub(off_ticks)),
                    )
                }
            };
            let on_cpu = on_cpu(dag, s, off).saturating_sub(between);
            self.recording += u128::from(probes.saturating_add(recorded).min(on_cpu));
            self.probes += u128::from(probes.min(on_cpu));
            self.descheduled += u128::from(off.descheduled);
            self.blocked += u128::from(off.blocked);
            let weight = gross.saturating_sub(taken_out).saturating_sub(probes);
            self.values.push(weight);
        }
    }

    fn unsure_off(&mut self, s: StrandId, inside: &OffCpuShare) {
        let apart = (inside.likely - inside.least).max(inside.most - inside.likely);
        if apart == 0 {
            return;
        }
        let unsure = self.unsure_folds.get_or_insert_default();
        unsure.ticks += u128::from(apart);
        if apart > unsure.most {
            (unsure.strand, unsure.most) = (s, apart);
        }
    }

    fn use_counter(&mut self, name: &str) -> Result<(), Error> {
        let counters = &self.dag.counters;
        let Some(counter) = counters.iter().find(|c| c.name == name) else {
            let names = counters.iter().map(|c| c.name.clone()).collect();
            return Err(Error::NoSuchCounter(name.to_owned(), names));
        };
        let mut counted = counter.values.iter().peekable();
        self.values = NarrowVec::with_capacity(self.dag.strands.len(), 0);
        for s in 0..self.dag.strands.len() as StrandId {
            let value = counted.next_if(|v| v.0 == s).map_or(0, |v| v.1);
            self.values.push(value);
        }
        Ok(())
    }

    /// What strand `s` adds to the work.
    pub(crate) fn work(&self, s: StrandId) -> u64 {
        self.values.get(s as usize)
    }

    /// What strand `s` adds to a path through it, if each burdened edge on the path costs `burden`.
    pub(crate) fn path(&self, s: StrandId, burden: u64) -> u128 {
        let weight = self.values.get(s as usize);
        if !self.folded.has(s) {
            return self.unsure(u128::from(weight));
        }
        let bounds = self.dag.bounds_of(s);
        match (self.side, bounds) {
            (Side::Low, Some(bounds)) => u128::from(bounds.span.0.min(weight)),
            (Side::High, Some(bounds)) => u128::from(bounds.span.1.min(weight)),
            _ => self.unsure(path_weight(self.dag, s, weight, burden)),
        }
    }

    /// The weight of a path with the possible error of its probes.
    #[inline]
    fn unsure(&self, path: u128) -> u128 {
        match self.side {
            Side::Estimate => path,
            Side::Low => path.saturating_sub(u128::from(self.unsure)),
            Side::High => path + u128::from(self.unsure),
        }
    }

    /// What strand `s` adds to a path, in floating point, if all of the strand's own weight (and
    /// the weight folded into it) is multiplied by `factor`.
    pub(crate) fn path_scaled(&self, s: StrandId, burden: u64, factor: f64) -> f64 {
        let weight = self.values.get(s as usize);
        let folded = self.folded.has(s);
        match folded.then(|| self.dag.folded.paths_of(s)).flatten() {
            None => weight as f64 * factor,
            Some(fold) => {
                let part = match fold.work() {
                    0 => 0.0,
                    work => weight as f64 / work as f64 * factor,
                };
                let points = fold.envelope().iter();
                points
                    .map(|&(w, edges)| w as f64 * part + f64::from(edges) * burden as f64)
                    .reduce(f64::max)
                    .unwrap_or(fold.span() as f64 * part)
            }
        }
    }

    /// The weight of `ticks` of the work inside strand `s` with its record `fold`: time taken out
    /// of the strand is taken out of everything inside in proportion.
    pub(crate) fn inside(&self, s: StrandId, fold: &Folded, ticks: u64) -> u128 {
        let weight = self.values.get(s as usize);
        match fold.work {
            work if work == weight => u128::from(ticks),
            0 => 0,
            work => u128::from(ticks) * u128::from(weight) / u128::from(work),
        }
    }

    /// Sum over all strands.
    pub(crate) fn total(&self) -> u128 {
        self.values.total()
    }
}

/// What strand `s` with weight `weight` adds to a path through it, if each burdened edge on the
/// path costs `burden`: its weight, or for a folded subtree the heaviest path through the record.
pub fn path_weight(dag: &Dag, s: StrandId, weight: u64, burden: u64) -> u128 {
    if dag.folded.is_empty() {
        return u128::from(weight);
    }
    match dag.folded.paths_of(s) {
        None => u128::from(weight),
        Some(fold) => folded_path(&fold, weight, burden),
    }
}

/// The heaviest path through a fold whose work counts as `weight`.
fn folded_path(fold: &Paths, weight: u64, burden: u64) -> u128 {
    let work = fold.work();
    if weight == work {
        return fold.path(burden);
    }
    let scaled = |w: u64| {
        (u128::from(w) * u128::from(weight))
            .checked_div(u128::from(work))
            .unwrap_or(0)
    };
    let points = fold.envelope().iter();
    points
        .map(|&(w, edges)| scaled(w) + u128::from(edges) * u128::from(burden))
        .max()
        .unwrap_or_else(|| scaled(fold.span()))
}

/// Ticks of strand `s` on the CPU.
pub(crate) fn on_cpu(dag: &Dag, s: usize, off: OffCpu) -> u64 {
    let length = dag.strands.end[s] - dag.strands.start[s];
    length
        .saturating_sub(off.descheduled)
        .saturating_sub(off.blocked)
}

/// Ticks that the probes inside strand `s` took, at `cost` each; `fold` is its record if it is a
/// folded one. Time that a record has left out of its weights already is known by strand.
pub(crate) fn probe_ticks(dag: &Dag, s: usize, fold: Option<&Folded>, cost: u64) -> u64 {
    let probes = match fold {
        _ if cost == 0 => 0,
        Some(fold) if fold.probes > 0 => return fold.probes,
        Some(fold) => fold.strands.max(1).saturating_mul(2),
        None => u64::from(starts_with_probe(dag, s)) + u64::from(ends_with_probe(dag, s)),
    };
    probes.saturating_mul(cost)
}

/// False for a strand that continues after a signal, as the signal's own probe ended the strand
/// before, and for one after a handoff, which is not a probe.
pub(crate) fn starts_with_probe(dag: &Dag, s: usize) -> bool {
    !matches!(
        dag.strands.start_kind[s],
        StartKind::AfterSignal | StartKind::AfterHandoff
    )
}

/// False for a strand that ends in a handoff, which is not a probe.
pub(crate) fn ends_with_probe(dag: &Dag, s: usize) -> bool {
    dag.strands.end_kind[s] != EndKind::Handoff
}

/// Folded strands whose threads were off the CPU either in a task or while the recorder folded; it
/// is not known which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AmbiguousFolds {
    /// Uncertainty of the work, in ticks.
    pub ticks: u128,
    /// The strand with the largest part of it.
    pub strand: StrandId,
    /// That strand's part.
    pub most: u64,
}
