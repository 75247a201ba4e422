//! Formats advice as JSON.

use serde_json::{Value as Json, json};
use workspan_analysis::RightSize;
use workspan_analysis::advise::{
    Advice, AdviceStep, Change, FoldedAdvice, FoldedSite, Grain, GrainChange, Stop,
};
use workspan_dag::{Dag, PlaceId};

use crate::compare::{place_json, position_json, ratio_json};
use crate::json::document;
use crate::limits::limits_json;
use crate::section::section_json;
use crate::what_if::json::{outcome, whole};

/// The advice as one JSON object, followed by a newline. `counter` is the metric of the critical
/// path; `None` for time.
pub fn advise_json(dag: &Dag, advice: &Advice, counter: Option<&str>) -> String {
    let workers = [advice.goal.cores];
    let steps: Vec<Json> = advice
        .steps
        .iter()
        .map(|s| step(dag, s, &workers))
        .collect();
    let grain: Vec<Json> = advice
        .grain
        .iter()
        .map(|g| {
            let (change, times) = match g.change {
                GrainChange::Coarsen(n) => ("coarsen", Some(n)),
                GrainChange::Split(n) => ("split", Some(n)),
                GrainChange::Keep => ("keep", None),
            };
            json!({
                "site": place(dag, g.site), "change": change, "times": times,
                "strands": {"count": g.strands.count, "median": g.strands.median, "p90": g.strands.p90, "maximum": g.strands.maximum},
                "now": size(&g.now), "then": size(&g.then), "cost_is_least": g.cost_is_least, "cost_is_inside": g.cost_is_inside,
            })
        })
        .collect();
    let elsewhere: Vec<Json> = advice
        .elsewhere
        .iter()
        .map(|f| json!({"id": f.cause.id(), "site": place(dag, f.block.site), "lost": whole(f.lost)}))
        .collect();
    let root = json!({
        "workspan_advice": 1, "metric": counter.unwrap_or("time"), "section": section_json(&dag.meta), "target_parallelism": ratio_json(advice.goal.parallelism), "cores": advice.goal.cores,
        "now": outcome(&advice.now, &workers),
        "limits": limits_json(dag, &advice.limits), "steps": steps, "stop": stop(advice.stop), "grain": grain,
        "right_size": advice.right_size.as_ref().map(right_size),
        "elsewhere": elsewhere, "folded": advice.folded.as_ref().map(|f| folded(dag, f)),
    });
    document(&root)
}

/// Sizes as `[workers, elapsed, searching]`, in ticks.
fn right_size(right: &RightSize) -> Json {
    let size =
        |&(workers, elapsed, searching): &(u32, u64, u64)| json!([workers, elapsed, searching]);
    json!({"workers": right.workers, "sizes": right.sizes.iter().map(size).collect::<Vec<_>>()})
}

fn folded(dag: &Dag, folded: &FoldedAdvice) -> Json {
    let site = |s: &FoldedSite| json!({"site": place(dag, s.site), "tasks": s.tasks, "work": whole(s.work), "critical_work": whole(s.critical)});
    let block = folded
        .block
        .map(|(from, to, work)| json!({"from": place(dag, from), "to": place(dag, to), "work": whole(work)}));
    json!({
        "critical_work": whole(folded.critical), "sites": folded.sites.iter().map(site).collect::<Vec<_>>(), "block": block,
    })
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::Already => "already",
        Stop::Reached => "reached",
        Stop::Overhead => "overhead",
        Stop::Folded => "folded",
        Stop::Divided => "divided",
        Stop::Nothing => "nothing",
    }
}

fn place(dag: &Dag, id: PlaceId) -> Json {
    if dag.places.get(id as usize).is_some() {
        place_json(dag, id)
    } else {
        Json::Null
    }
}

fn step(dag: &Dag, step: &AdviceStep, workers: &[u32]) -> Json {
    let change = match step.change {
        Change::Parallelise => "parallelise",
        Change::Split => "split",
        Change::MoreThreads => "more-threads",
        Change::SpreadSpawns => "spread-spawns",
    };
    let block = &step.block;
    json!({
        "change": change, "site": place(dag, block.site),
        "block": position_json(dag, block),
        "strands": step.strands, "work": whole(step.work), "critical_work": whole(step.critical),
        "factor": ratio_json(step.factor), "after": outcome(&step.outcome, workers),
    })
}

fn size(grain: &Grain) -> Json {
    json!({
        "tasks": ratio_json(grain.tasks), "work": ratio_json(grain.work), "spawning": ratio_json(grain.spawning),
        "stealing": ratio_json(grain.stealing), "lost_percent": ratio_json(grain.lost_percent()),
        "least_time": ratio_json(grain.least_time),
    })
}
