//! Predictions from a recorded run: for the run itself on one worker and two, and for a changed
//! program.

use std::path::Path;

use anyhow::{Context, bail};
use workspan_analysis::simulate::{Fix, Policy, Setup, Simulation, usual_attempt_cost};
use workspan_analysis::{Options, Target, report, strand_facts};
use workspan_cli::bench::runtime::Runtime;
use workspan_cli::trace;
use workspan_dag::{Dag, NONE, StartKind, StrandId};
use workspan_reader::OpenOptions;

use super::pairs::{FixKind, Pair};

/// Numbers of workers on which predictions are judged.
pub const JUDGED: [u32; 2] = [1, 2];
/// Numbers of workers for which there are only predictions.
pub const BEYOND: [u32; 2] = [8, 64];
/// Number of simulated runs for each number of workers.
const SEEDS: u64 = 3;

/// Measures of a run, recorded or simulated; times in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Logical {
    /// T1.
    pub work: f64,
    /// T∞.
    pub span: f64,
    /// T1 / T∞.
    pub parallelism: f64,
}

/// Elapsed times in ns: first on [`JUDGED`], then on [`BEYOND`].
pub type Elapsed = [f64; 4];

/// A recorded run.
pub struct Run {
    dag: Dag,
    /// Its measures.
    pub logical: Logical,
    /// Length of a tick in ns.
    tick: f64,
}

impl Run {
    /// Reads a recorded run.
    ///
    /// # Errors
    /// The trace can't be read, or has nothing parallel.
    pub fn read(file: &Path) -> anyhow::Result<Run> {
        let dag = trace::open(file, &OpenOptions::default())?;
        let tick = 1e9 / dag.meta.ticks_per_second.max(1) as f64;
        let logical = logical(&dag, tick)?;
        if dag.tasks.len() <= 1 {
            bail!("nothing parallel was seen in it");
        }
        Ok(Run { dag, logical, tick })
    }

    /// Simulates the run on every number of workers, with the default costs of `workspan simulate`.
    ///
    /// # Errors
    /// See [`Simulation::new`].
    pub fn elapsed(&self, fixes: &[Fix]) -> anyhow::Result<Elapsed> {
        let meta = &self.dag.meta;
        let simulation = Simulation::new(&self.dag, &Options::default(), meta.probe_cost, fixes)?;
        let mut out = Elapsed::default();
        for (out, workers) in out.iter_mut().zip(JUDGED.into_iter().chain(BEYOND)) {
            let runs = (1..=SEEDS).map(|seed| {
                let setup = Setup {
                    workers,
                    policy: Policy::HelpFirst,
                    steal_cost: meta.burden,
                    attempt_cost: usual_attempt_cost(meta.burden),
                    seed,
                };
                simulation.run(&setup).elapsed as f64
            });
            *out = runs.sum::<f64>() / SEEDS as f64 * self.tick;
        }
        Ok(out)
    }

    /// Work and span of the changed program, as in a what-if profile: the new tasks cost nothing.
    ///
    /// # Errors
    /// See [`Simulation::new`].
    pub fn changed(&self, fixes: &[Fix]) -> anyhow::Result<Logical> {
        let simulation = Simulation::new(&self.dag, &Options::default(), 0, fixes)?;
        let setup = Setup {
            workers: 1,
            policy: Policy::HelpFirst,
            steal_cost: 0,
            attempt_cost: 0,
            seed: 1,
        };
        logical(&simulation.trace(&setup)?.1, self.tick)
    }

    /// The fix of a pair; this is the run before it.
    ///
    /// # Errors
    /// The changed code is not in the trace.
    pub fn fix(&self, pair: &Pair, runtime: Runtime) -> anyhow::Result<Fix> {
        let (file, from, to) = pair
            .code(runtime)
            .context("the kernel's source has changed")?;
        let dag = &self.dag;
        let inside = |place: u32| {
            dag.places.get(place as usize).is_some_and(|place| {
                let here = place.file.as_deref().is_some_and(|f| f.ends_with(&file));
                here && place.line.is_some_and(|line| (from..=to).contains(&line))
            })
        };
        let created = |task: u32| inside(dag.tasks.site[task as usize]);
        let is_in_part = |&strand: &StrandId| {
            let s = strand as usize;
            let from = dag.starts_at(strand);
            match pair.how {
                FixKind::AfterWaits(_) => {
                    let goes_on = matches!(
                        dag.strands.start_kind[s],
                        StartKind::AfterWait | StartKind::AfterYield
                    );
                    goes_on && from != NONE && inside(from)
                }
                FixKind::Tasks(_) => created(dag.strands.task[s]),
                FixKind::Cutoff(..) => false,
            }
        };
        let pieces = match pair.how {
            FixKind::AfterWaits(pieces) => pieces,
            FixKind::Tasks(factor) => {
                let strands: Vec<StrandId> =
                    (0..dag.strands.len() as u32).filter(is_in_part).collect();
                if strands.is_empty() {
                    bail!("no task was created in {file}:{from}-{to}");
                }
                let (target, factor) = (Target::Strands(strands), f64::from(factor));
                return Ok(Fix::Spread { target, factor });
            }
            FixKind::Cutoff(rust, cpp) => {
                let mut places: Vec<u32> = (0..dag.tasks.len() as u32)
                    .filter(|&task| created(task))
                    .map(|task| dag.tasks.site[task as usize])
                    .collect();
                places.sort_unstable();
                places.dedup();
                if places.is_empty() {
                    bail!("no task was created in {file}:{from}-{to}");
                }
                let tasks = if runtime == Runtime::Rayon { rust } else { cpp };
                return Ok(Fix::Cutoff { places, tasks });
            }
        };
        let strands: Vec<StrandId> = (0..dag.strands.len() as u32).filter(is_in_part).collect();
        let weight = strand_facts(dag, &Options::default())?.weight;
        let all: u64 = strands.iter().map(|&s| weight.get(s as usize)).sum();
        if all == 0 {
            bail!("no strand was found in {file}:{from}-{to}");
        }
        let target = Target::Strands(strands);
        let ticks = all.div_ceil(pieces.max(1));
        Ok(Fix::Pieces { target, ticks })
    }
}

fn logical(dag: &Dag, tick: f64) -> anyhow::Result<Logical> {
    let found = report(dag, &Options::default())?.work_span;
    Ok(Logical {
        work: found.work as f64 * tick,
        span: found.span as f64 * tick,
        parallelism: found.parallelism(),
    })
}
