//! The number of workers that is enough: the smallest within a hundredth of the best elapsed time.

use workspan_dag::{Dag, TaskKind};

use crate::options::{Error, Options};
use crate::simulate::{Policy, Setup, Simulation, usual_attempt_cost};

/// Simulated elapsed times by number of workers, and the number that is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightSize {
    /// (workers, elapsed ticks, ticks on a CPU without a task), by workers.
    pub sizes: Vec<(u32, u64, u64)>,
    /// The smallest number whose elapsed time is within a hundredth of the best.
    pub workers: u32,
}

impl RightSize {
    /// Simulated elapsed time on that number of workers, in ticks.
    pub fn elapsed(&self, workers: u32) -> Option<u64> {
        let found = self.sizes.iter().find(|size| size.0 == workers);
        found.map(|size| size.1)
    }
}

/// Maximum ratio of two elapsed times that count as equal.
const SAME_TIME_RATIO: f64 = 1.01;
/// Numbers up to this one are all simulated; beyond it, in steps of an eighth. For a run with more
/// strands than [`MANY_STRANDS`], only doubled numbers are simulated.
const MAX_CONSECUTIVE_WORKERS: u32 = 16;
const MANY_STRANDS: usize = 200_000;

/// Simulates `dag` on 1 to `most` workers; `None` if it has no task that another worker could take.
/// Waits for locks and signals are kept, as they are edges of the DAG. O(n log P) for each of about
/// 16 + 6 · log2(most / 16) numbers.
///
/// # Errors
/// See [`Error`].
pub fn right_size(
    dag: &Dag,
    options: &Options,
    spawn_cost: Option<u64>,
    most: u32,
) -> Result<Option<RightSize>, Error> {
    if dag
        .tasks
        .kind
        .iter()
        .all(|&kind| kind != TaskKind::Deferred)
    {
        return Ok(None);
    }
    let spawn_cost = spawn_cost.unwrap_or(dag.meta.probe_cost);
    let simulation = Simulation::new(dag, options, spawn_cost, &[])?;
    let steal_cost = options.burden.unwrap_or(dag.meta.burden);
    let attempt_cost = usual_attempt_cost(steal_cost);
    let mut sizes = Vec::new();
    let mut workers = 1;
    while workers <= most.max(1) {
        let run = simulation.run(&Setup {
            workers,
            policy: Policy::HelpFirst,
            steal_cost,
            attempt_cost,
            seed: 1,
        });
        let searched = run.failed.saturating_mul(attempt_cost);
        sizes.push((workers, run.elapsed, searched));
        let step = match workers {
            _ if dag.strands.len() > MANY_STRANDS => workers,
            ..MAX_CONSECUTIVE_WORKERS => 1,
            more => more / 8,
        };
        workers = match workers.saturating_add(step) {
            next if next > most && workers < most => most,
            next => next,
        };
    }
    let best = sizes.iter().map(|size| size.1).min().unwrap_or(0);
    let enough = sizes
        .iter()
        .find(|size| size.1 as f64 <= SAME_TIME_RATIO * best as f64);
    Ok(enough.map(|&(workers, ..)| RightSize {
        sizes: sizes.clone(),
        workers,
    }))
}
