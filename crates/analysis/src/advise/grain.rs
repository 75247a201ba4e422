//! The right size for a site's tasks.

use workspan_dag::{Dag, PlaceId, ROOT_PLACE, TaskKind};

use super::Goal;
use crate::causes::Cause;
use crate::off_cpu::off_between;
use crate::options::{Error, Options};
use crate::ready::{Readiness, stolen_strands};
use crate::report::Report;
use crate::statistics::{Distribution, statistics};
use crate::weight::Weights;

/// Minimum length of a task worth stealing, in steals; the causes use the same measure.
const MIN_STEALS_PER_TASK: u64 = 2;
/// Minimum length of a task as a multiple of the cost of creating it.
const MIN_SPAWNS_PER_TASK: u64 = 20;
/// Share of the work that creating and stealing takes when tasks are too fine, in percent.
const MAX_LOST_PERCENT: f64 = 10.0;
/// Maximum share of a task that counts as the cost of creating it: the calibrated cost is that of
/// the cheapest tasks.
const MAX_INSIDE_SHARE: f64 = 0.95;
/// Number of tasks per worker needed for an even end.
const TASKS_PER_WORKER: u64 = 8;

/// What to do about a site's grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GrainChange {
    /// Larger tasks: the number of today's tasks to put into one (a cutoff, `with_min_len`, a grain
    /// size).
    Coarsen(f64),
    /// Smaller tasks: the number of parts to make of each task.
    Split(f64),
    /// No change.
    Keep,
}

/// A size of tasks and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Number of tasks.
    pub tasks: f64,
    /// Mean work of one task's own strands, without the part counted in [`Grain::spawning`].
    pub work: f64,
    /// Work spent on creating the tasks.
    pub spawning: f64,
    /// Work spent on stealing the tasks.
    pub stealing: f64,
    /// Lower bound of the time on the goal's workers: (T1 + spawning + stealing) / P, or the span.
    pub least_time: f64,
}

impl GrainAdvice {
    /// Whether creating and stealing tasks takes so large a share of their work that larger tasks
    /// are the first thing to try.
    pub fn is_too_fine(&self) -> bool {
        matches!(self.change, GrainChange::Coarsen(_))
            && self.now.lost_percent() >= MAX_LOST_PERCENT
    }
}

impl Grain {
    /// Share of the site's own work that is spent on spawning and stealing in addition, in percent.
    pub fn lost_percent(&self) -> f64 {
        let work = self.tasks * self.work;
        if work <= 0.0 {
            return 0.0;
        }
        100.0 * (self.spawning + self.stealing) / work
    }
}

/// Advice on the grain of one spawn site.
#[derive(Debug, Clone, PartialEq)]
pub struct GrainAdvice {
    /// The site.
    pub site: PlaceId,
    /// Lengths of its tasks' strands.
    pub strands: Distribution,
    /// The current grain.
    pub now: Grain,
    /// The cost of creating tasks is only a lower bound: the runtime's part of it on the tasks' own
    /// thread is part of their work, and its size is not known.
    pub cost_is_least: bool,
    /// The cost of creating tasks is part of their strands, and was taken out of their work.
    pub cost_is_inside: bool,
    /// What to do.
    pub change: GrainChange,
    /// The grain after the change; the current one if there is no change.
    pub then: Grain,
}

/// Advice for every site of deferred tasks, most work first.
pub(super) fn grain(
    dag: &Dag,
    options: &Options,
    weights: &Weights,
    report: &Report,
    goal: Goal,
) -> Result<Vec<GrainAdvice>, Error> {
    let spawns = spawns(dag);
    let mut steals = vec![0u64; dag.places.len()];
    for (strand, _) in stolen_strands(dag) {
        steals[dag.tasks.site[dag.strands.task[strand as usize] as usize] as usize] += 1;
    }
    let spawn_cost = match goal.spawn_cost {
        Some(cost) => SpawnCost::Between(cost),
        None => SpawnCost::of_run(dag),
    };
    let cost = spawn_cost.ticks();
    let sites = statistics(dag, options)?.sites;
    let mut rows = Vec::new();
    for site in sites {
        let spawned = spawns.get(site.site as usize).copied().unwrap_or(0);
        if site.site == ROOT_PLACE || spawned == 0 || site.task_lengths.sum == 0 {
            continue;
        }
        let ws = &report.work_span;
        let tasks = site.tasks.max(1) as f64;
        let sum = site.task_lengths.sum as f64;
        let mut spawning = (spawned as f64) * cost as f64;
        let cost_is_inside = matches!(spawn_cost, SpawnCost::Inside(_));
        let mut cost_is_least = matches!(spawn_cost, SpawnCost::AtLeast(_));
        if cost_is_inside {
            // If tasks are not long in comparison, recording and the runtime cost more than what
            // was calibrated.
            cost_is_least = sum < spawning * MIN_SPAWNS_PER_TASK as f64;
            spawning = spawning.min(MAX_INSIDE_SHARE * sum);
        }
        let inside = if cost_is_inside { spawning } else { 0.0 };
        let now = Grain {
            tasks,
            work: (sum - inside) / tasks,
            spawning,
            stealing: steals[site.site as usize] as f64 * weights.burden as f64,
            least_time: 0.0,
        };
        let least = |grain: &Grain, span: f64| {
            let spent = ws.work as f64 - inside + grain.spawning + grain.stealing;
            (spent / f64::from(goal.cores.max(1))).max(span)
        };
        let said_fine = report
            .causes
            .findings()
            .iter()
            .any(|f| f.cause == Cause::GrainFine && f.block.site == site.site);
        let change = change(&now, weights.burden, cost, goal.cores, said_fine);
        let size = match change {
            GrainChange::Coarsen(n) => n,
            GrainChange::Split(n) => 1.0 / n,
            GrainChange::Keep => 1.0,
        };
        let fewer = Grain {
            tasks: now.tasks / size,
            work: now.work * size,
            spawning: now.spawning / size,
            stealing: now.stealing.min(now.stealing / size.max(1.0)),
            least_time: 0.0,
        };
        // A chain of the path that ends in one task will end in one of the new size.
        let longer = (fewer.work - now.work).max(0.0);
        let span = ws.span as f64;
        rows.push(GrainAdvice {
            site: site.site,
            strands: site.strand_lengths,
            now: Grain {
                least_time: least(&now, span),
                ..now
            },
            cost_is_least,
            cost_is_inside,
            change,
            then: Grain {
                least_time: least(&fewer, span + longer),
                ..fewer
            },
        });
    }
    rows.sort_by(|a, b| {
        let work = |r: &GrainAdvice| r.now.tasks * r.now.work;
        work(b).total_cmp(&work(a)).then(a.site.cmp(&b.site))
    });
    Ok(rows)
}

/// Deferred creates by site, including those inside folded records. A folded record has the number
/// of tasks of each site and the number of all spawns, which is divided among the sites by their
/// tasks.
fn spawns(dag: &Dag) -> Vec<u64> {
    let mut spawns = vec![0u64; dag.places.len()];
    for (&site, &kind) in dag.tasks.site.iter().zip(&dag.tasks.kind) {
        spawns[site as usize] += u64::from(kind == TaskKind::Deferred);
    }
    let mut folds = dag.folded.cursor();
    for fold in dag.folded.strands().iter() {
        let Some(fold) = folds.record(*fold) else {
            continue;
        };
        for site in &fold.sites {
            let part = u128::from(site.count) * u128::from(fold.spawns);
            let part = part / u128::from(fold.tasks.max(1));
            let sum = &mut spawns[site.site as usize];
            *sum = sum.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
        }
    }
    spawns
}

/// The cost on its own thread of creating a task and waiting for it, in ticks.
#[derive(Debug, Clone, Copy)]
enum SpawnCost {
    /// The cost lies between the tasks' strands.
    Between(u64),
    /// The cost lies inside the tasks' strands.
    Inside(u64),
    /// A lower bound of the cost between strands; the part inside them is not known.
    AtLeast(u64),
}

impl SpawnCost {
    fn ticks(self) -> u64 {
        match self {
            SpawnCost::Between(ticks) | SpawnCost::Inside(ticks) | SpawnCost::AtLeast(ticks) => {
                ticks
            }
        }
    }

    /// The cost per spawn as far as the run shows it: the time that workers took from a strand to
    /// the next. If the runtime's own time lies inside strands, as Rayon's does, that time is zero,
    /// and the calibrated cost of a join is used. Without calibration it is at least a probe, which
    /// is about the size of a join that is not stolen.
    fn of_run(dag: &Dag) -> SpawnCost {
        let between = u64::try_from(runtime_time(dag)).unwrap_or(u64::MAX);
        if between > dag.meta.probe_cost {
            SpawnCost::Between(between)
        } else if dag.meta.join_cost > 0 {
            SpawnCost::Inside(dag.meta.join_cost)
        } else {
            SpawnCost::AtLeast(dag.meta.probe_cost)
        }
    }
}

/// The time between the strands of workers, without preempted time, per task that could be stolen.
fn runtime_time(dag: &Dag) -> u128 {
    let (mut ticks, mut spawns) = (0u128, 0u128);
    for (_, fold) in dag.folded.iter().filter(|(_, fold)| fold.between > 0) {
        ticks += u128::from(fold.between);
        spawns += u128::from(fold.spawns);
    }
    let starts = &dag.strands.start;
    for waiting in Readiness::new(dag).waiting.iter().filter(|w| w.local) {
        let (from, to) = (waiting.approached, starts[waiting.strand as usize]);
        if from < to {
            let off = off_between(dag, waiting.strand, from, to).descheduled;
            ticks += u128::from((to - from).saturating_sub(off));
        }
    }
    let deferred = |kind: &&TaskKind| **kind == TaskKind::Deferred;
    spawns += dag.tasks.kind.iter().filter(deferred).count() as u128;
    ticks.checked_div(spawns).unwrap_or(0)
}

/// The smallest grain that is worth a steal and twenty times its creation, as long as every worker
/// has eight tasks.
fn change(now: &Grain, burden: u64, spawn_cost: u64, cores: u32, said_fine: bool) -> GrainChange {
    let least =
        (MIN_STEALS_PER_TASK * burden).max(MIN_SPAWNS_PER_TASK.saturating_mul(spawn_cost)) as f64;
    let enough = (TASKS_PER_WORKER * u64::from(cores.max(1))) as f64;
    if (now.work < least || said_fine) && now.work > 0.0 {
        let factor = (least / now.work).max(2.0).ceil();
        let most = (now.tasks / enough).floor();
        return if most >= 2.0 || said_fine {
            GrainChange::Coarsen(factor.min(most).max(2.0))
        } else {
            GrainChange::Keep
        };
    }
    if now.tasks < enough && now.work >= 2.0 * least.max(1.0) {
        let per_task = (enough / now.tasks).ceil();
        let most = (now.work / least.max(1.0)).floor();
        let parts = per_task.min(most);
        if parts >= 2.0 {
            return GrainChange::Split(parts);
        }
    }
    GrainChange::Keep
}
