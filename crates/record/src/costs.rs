//! Notes on the costs of recording, skipping and stealing in a run, for the readers of its trace.

pub mod calibration;
pub mod library_measurement;
pub mod steals;

use std::path::Path;

use workspan_calibrate::TaskCost;
use workspan_runtimes::{Budget, Runtime};
use workspan_trace::entry::Note;
use workspan_trace::note_keys as key;

use crate::kernel::clock::Clock;
use crate::trace_file::process_facts::ProcessFacts;

/// The costs of probes, skipped joins and tasks, recorded tasks and steals, in ticks, and the
/// measurement that the cost of a steal comes from. `tool` is the folder that has this machine's
/// costs.
pub(crate) fn costs(facts: &ProcessFacts, clock: &Clock, tool: &Path) -> Vec<Note> {
    if facts.tasks == 0 {
        return Vec::new();
    }
    let calibration = calibration::of_this_machine(tool);
    let notes = facts.all(key::RUNTIME);
    let runtimes: Vec<Option<&Runtime>> = notes.iter().map(|n| Runtime::from_note(n)).collect();
    let known: Vec<&Runtime> = runtimes.iter().copied().flatten().collect();
    let libraries = facts.mappings.iter().map(|mapping| mapping.path.as_path());
    let burden = steals::burden(tool, &calibration, &known, libraries);
    let ticks = |ns: f64| {
        let known = ns.is_finite() && ns > 0.0;
        let ticks = clock.length((ns * 1000.0).round() as u64) / 1000;
        (known && ticks > 0).then(|| ticks.to_string())
    };
    let mut notes = Vec::new();
    if let Some(probe) = ticks(calibration.probe_ns) {
        notes.push(Note::new(key::PROBE_COST, probe));
    }
    let has_joins = known.iter().any(|r| r.budget == Budget::MeasuredJoins);
    if let Some(join) = calibration.join_ns.filter(|_| has_joins).and_then(ticks) {
        notes.push(Note::new(key::BARE_JOIN, join));
    }
    let join = calibration.left_out_join_ns.filter(|_| has_joins);
    let task = task_cost(&known, calibration.probe_ns);
    // A probe of Rayon or of an API has the calibrated cost.
    let skips_tasks = |r: &Runtime| matches!(r.budget, Budget::Tasks { .. });
    let alone = runtimes.iter().all(|r| r.is_some_and(skips_tasks));
    let all = [
        (key::SKIPPED_JOIN, join),
        (key::SKIPPED_TASK, task.map(|cost| cost.skip_ns)),
        (
            key::RECORDED_TASK,
            task.filter(|_| alone).map(|cost| cost.recorded_ns),
        ),
    ];
    notes.extend(all.into_iter().filter_map(|(key, ns)| {
        let millionths = clock.length((ns? * 1e6) as u64);
        Some(Note::new(key, format!("{:.2}", millionths as f64 / 1e6)))
    }));
    if let Some((ns, source)) = burden
        && let Some(burden) = ticks(ns)
    {
        notes.push(Note::new(key::BURDEN, burden));
        notes.push(Note::new(key::BURDEN_SOURCE, source));
    }
    notes
}

/// The cost of a task of these runtimes: the smallest one, because a reader does not know which
/// runtime a task belongs to.
fn task_cost(runtimes: &[&Runtime], probe_ns: f64) -> Option<TaskCost> {
    runtimes
        .iter()
        .filter_map(|runtime| TaskCost::new(runtime, probe_ns))
        .reduce(|a, b| TaskCost {
            skip_ns: a.skip_ns.min(b.skip_ns),
            recorded_ns: a.recorded_ns.min(b.recorded_ns),
            ..a
        })
}

#[cfg(test)]
mod tests {
    use workspan_runtimes::Id::{self, Libgomp, Libomp, Rayon};

    use super::task_cost;

    #[test]
    fn of_several_runtimes_the_least_cost_counts() {
        let cost = |runtimes: &[Id]| {
            let runtimes: Vec<_> = runtimes.iter().map(|id| id.runtime()).collect();
            task_cost(&runtimes, 5.0).map(|cost| (cost.skip_ns, cost.recorded_ns))
        };
        let gomp = cost(&[Libgomp]).expect("known");
        let omp = cost(&[Libomp, Rayon]).expect("known");
        assert!(gomp.0 < omp.0 && gomp.1 < omp.1, "{gomp:?} {omp:?}");
        assert_eq!(cost(&[Libomp, Libgomp]), Some(gomp));
        assert_eq!(cost(&[Rayon]), None);
    }
}
