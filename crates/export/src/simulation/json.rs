//! Simulated runs as JSON.

use serde_json::{Value as Json, json};

use super::{SimulationRow, SimulationView};
use crate::compare::ratio_json;
use crate::json::document;
use crate::limits::limits_json;
use crate::section::section_json;
use crate::what_if::json::whole;

/// The runs as one JSON object, followed by a newline.
pub fn simulation_json(view: &SimulationView) -> String {
    let rows: Vec<Json> = view.rows.iter().map(|r| row(view, r)).collect();
    let setup = view.rows.first().map(|r| r.setup);
    let root = json!({
        "workspan_simulation": 1, "section": section_json(&view.dag.meta), "ticks_per_second": view.dag.meta.ticks_per_second,
        "policy": setup.map(|s| s.policy.to_string()), "steal_cost": setup.map(|s| s.steal_cost),
        "attempt_cost": setup.map(|s| s.attempt_cost), "spawn_cost": view.spawn_cost, "seed": setup.map(|s| s.seed),
        "fixes": view.fixes, "work": whole(view.work), "span": whole(view.span),
        "limits": limits_json(view.dag, &view.limits), "runs": rows,
    });
    document(&root)
}

fn row(view: &SimulationView, row: &SimulationRow) -> Json {
    let (mean, least, most) = row.speedup(view.work);
    let b = &row.breakdown;
    let elapsed: Vec<u64> = row.runs.iter().map(|r| r.elapsed).collect();
    let steals: Vec<u64> = row.runs.iter().map(|r| r.steals).collect();
    let unstuck: u64 = row.runs.iter().map(|r| r.unstuck).sum();
    json!({
        "workers": row.setup.workers, "elapsed": elapsed, "steals": steals, "unstuck": unstuck,
        "speedup": ratio_json(mean), "least_speedup": ratio_json(least), "most_speedup": ratio_json(most),
        "lower": ratio_json(row.bounds.0), "upper": ratio_json(row.bounds.1),
        "breakdown": {
            "work": whole(b.work), "delay": whole(b.delay), "no_work_sched": whole(b.no_work_sched),
            "no_work_app": whole(b.no_work_app),
        },
    })
}
