//! How large a site's tasks should be.

use workspan_dag::{Dag, PlaceId, ROOT_PLACE, TaskKind};

use super::Goal;
use crate::causes::Cause;
use crate::off_cpu::off_between;
use crate::options::{Error, Options};
use crate::ready::{Readiness, stolen_strands};
use crate::report::Report;
use crate::statistics::{Distribution, statistics};
use crate::weight::Weights;

/// Tasks of less than so many steals are not worth one: the causes' measure.
const STEALS_A_TASK: u64 = 2;
/// Creating a task may take this part of it.
const SPAWNS_A_TASK: u64 = 20;
/// Creating and stealing takes this part of the work of tasks that are too fine, in percent.
const TOO_FINE: f64 = 10.0;
/// No more of a task than this is taken for what creating it cost: the calibrated cost is that of
/// the cheapest tasks.
const MOST_INSIDE: f64 = 0.95;
/// Tasks a worker needs for an even end.
const TASKS_A_WORKER: u64 = 8;

/// What to do about a site's grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GrainChange {
    /// Larger tasks: this many of today's in one (a cutoff, `with_min_len`, a grain size).
    Coarsen(f64),
    /// Smaller ones: this many out of one of today's.
    Split(f64),
    /// Neither.
    Keep,
}

/// A size of tasks and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Number of tasks.
    pub tasks: f64,
    /// Mean work of one, its own strands alone, without what [`Grain::spawning`] is of it.
    pub work: f64,
    /// Spent on creating them.
    pub spawning: f64,
    /// Spent on stealing them.
    pub stealing: f64,
    /// Time on the goal's workers, at least: (T1 + spawning + stealing) / P, or the span.
    pub least_time: f64,
}

impl GrainAdvice {
    /// Whether creating and stealing tasks takes so much beside their work that larger ones are the
    /// first thing to try.
    pub fn is_too_fine(&self) -> bool {
        matches!(self.change, GrainChange::Coarsen(_)) && self.now.lost_percent() >= TOO_FINE
    }
}

impl Grain {
    /// Share of the site's own work that goes to spawning and stealing besides, in percent.
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
    /// As it is.
    pub now: Grain,
    /// What creating tasks costs is known from below only: what the runtime does for them on their
    /// own thread is part of their work, and how much of it is not known.
    pub cost_is_least: bool,
    /// What creating tasks costs is part of their strands, and was taken out of their work.
    pub cost_is_inside: bool,
    /// What to do.
    pub change: GrainChange,
    /// After it; as it is where nothing is to be done.
    pub then: Grain,
}

/// For every site of deferred tasks, most work first.
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
            // Of tasks that are not long against it, recording and the runtime make more than what
            // is calibrated.
            cost_is_least = sum < spawning * SPAWNS_A_TASK as f64;
            spawning = spawning.min(MOST_INSIDE * sum);
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
        // A chain of the path that ended in one task ends in one of the new size.
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

/// Deferred creates by site, those inside of folded records too: of these the number of a site's
/// tasks is known, and the number of all spawns, which is divided among the sites by their tasks.
fn spawns(dag: &Dag) -> Vec<u64> {
    let mut spawns = vec![0u64; dag.places.len()];
    for (&site, &kind) in dag.tasks.site.iter().zip(&dag.tasks.kind) {
        spawns[site as usize] += u64::from(kind == TaskKind::Deferred);
    }
    let mut folds = dag.folded.along();
    for fold in dag.folded.strands().iter() {
        let Some(fold) = folds.of(*fold) else {
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

/// What creating a task and waiting for it costs its thread, in ticks.
#[derive(Debug, Clone, Copy)]
enum SpawnCost {
    /// Beside the tasks' strands.
    Between(u64),
    /// Inside of them.
    Inside(u64),
    /// At least that, beside them; what lies inside of them is not known.
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

    /// As far as the run tells: the time in which workers were on their way from a strand to the
    /// next, for each spawn. Where a runtime's own time lies inside strands, as Rayon's does, that
    /// is nothing, and a join costs what was calibrated; without that, at least a probe, which is
    /// of the size of a join that nobody steals.
    fn of_run(dag: &Dag) -> SpawnCost {
        let between = u64::try_from(between(dag)).unwrap_or(u64::MAX);
        if between > dag.meta.probe_cost {
            SpawnCost::Between(between)
        } else if dag.meta.join_cost > 0 {
            SpawnCost::Inside(dag.meta.join_cost)
        } else {
            SpawnCost::AtLeast(dag.meta.probe_cost)
        }
    }
}

/// The time between the strands of a worker, preempted time left out, for each task that could be
/// stolen.
fn between(dag: &Dag) -> u128 {
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
    let least = (STEALS_A_TASK * burden).max(SPAWNS_A_TASK.saturating_mul(spawn_cost)) as f64;
    let enough = (TASKS_A_WORKER * u64::from(cores.max(1))) as f64;
    if (now.work < least || said_fine) && now.work > 0.0 {
        let wanted = (least / now.work).max(2.0).ceil();
        let most = (now.tasks / enough).floor();
        return if most >= 2.0 || said_fine {
            GrainChange::Coarsen(wanted.min(most).max(2.0))
        } else {
            GrainChange::Keep
        };
    }
    if now.tasks < enough && now.work >= 2.0 * least.max(1.0) {
        let wanted = (enough / now.tasks).ceil();
        let most = (now.work / least.max(1.0)).floor();
        let parts = wanted.min(most);
        if parts >= 2.0 {
            return GrainChange::Split(parts);
        }
    }
    GrainChange::Keep
}
