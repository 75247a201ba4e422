//! Measured and predicted speedups as JSON.

use serde_json::{Value as Json, json};
use workspan_analysis::scale::{Point, Reason, RecordedRun, Remark};

use super::ScaleView;
use super::text::sentence;
use crate::compare::ratio_json;
use crate::json::document;
use crate::limits::limits_json_of;
use crate::what_if::json::whole;

/// One JSON object, followed by a newline. Times in nanoseconds; work and spans in ticks of the
/// recorded run.
pub fn scale_json(view: &ScaleView) -> String {
    let scale = view.scale;
    // For another tool's table, the number of tasks is not known.
    let counted = !scale.recorded.is_empty();
    let logical = scale.logical.map(|l| {
        json!({
            "work": whole(l.work), "span": whole(l.span), "burdened_span": whole(l.burdened_span),
            "spawns": counted.then_some(l.spawns), "syncs": counted.then_some(l.syncs), "burden": view.burden,
            "parallelism": ratio_json(l.parallelism()), "burdened_parallelism": ratio_json(l.burdened_parallelism()),
            "average_maximal_strand": counted.then(|| ratio_json(l.average_maximal_strand())),
            "limits": limits_json_of(&l.limits, view.region.as_deref().unwrap_or("?")),
        })
    });
    let root = json!({
        "workspan_scale": 1, "only": view.section, "program": view.program, "command": view.command,
        "cpus": view.cpus, "pinned": view.pinned, "ticks_per_second": view.ticks_per_second,
        "recorded": scale.recorded.iter().map(recorded).collect::<Vec<_>>(), "unrecorded": view.unrecorded,
        "predictions": logical, "policy": view.policy, "seeds": view.seeds,
        "points": scale.points.iter().map(point).collect::<Vec<_>>(),
        "remarks": scale.remarks.iter().map(|r| remark(view, r)).collect::<Vec<_>>(),
        "kept": view.kept_folder,
    });
    document(&root)
}

fn recorded(run: &RecordedRun) -> Json {
    json!({
        "asked": run.asked, "workers": run.workers, "tasks": run.tasks, "work_ns": ratio_json(run.work),
        "descheduled": ratio_json(run.descheduled), "blocked": ratio_json(run.blocked), "delay": ratio_json(run.delay),
    })
}

fn point(point: &Point) -> Json {
    let measured = point.measured.as_ref().map(|m| {
        json!({
            "elapsed_ns": m.times, "median_ns": m.median(), "speedup": m.speedup.map(ratio_json),
            "best_speedup": m.best.map(ratio_json),
        })
    });
    let simulated = point.simulated.map(|s| {
        json!({ "speedup": ratio_json(s.mean), "least": ratio_json(s.least), "most": ratio_json(s.most) })
    });
    json!({
        "workers": point.workers, "crowded": point.crowded, "measured": measured, "simulated": simulated,
        "lower": point.bounds.map(|b| ratio_json(b.0)), "upper": point.bounds.map(|b| ratio_json(b.1)),
    })
}

fn remark(view: &ScaleView, remark: &Remark) -> Json {
    let (kind, workers) = match remark {
        Remark::Ignores { asked, .. } => ("ignores", asked.clone()),
        Remark::Differs { asked, .. } => ("differs", vec![*asked]),
        Remark::Noisy(workers) => ("noisy", workers.clone()),
        Remark::Below { workers, .. } => ("below", workers.clone()),
        Remark::Above(workers) => ("above", workers.clone()),
        Remark::Inside => ("inside", Vec::new()),
        Remark::Unjudged => ("unjudged", Vec::new()),
        Remark::Crowded(workers) => ("crowded", workers.clone()),
        Remark::Enough(workers) => ("enough", vec![*workers]),
        Remark::Short(_) => ("short", Vec::new()),
    };
    let reason = match remark {
        Remark::Below { reason, .. } => Some(match reason {
            Reason::Stretch(_) => "stretch",
            Reason::Descheduled(_) => "descheduled",
            Reason::Blocked(_) => "blocked",
            Reason::Delay(_) => "delay",
            Reason::Unknown => "unknown",
        }),
        _ => None,
    };
    let text: String = sentence(view, remark).into_iter().map(|p| p.1).collect();
    json!({ "kind": kind, "workers": workers, "reason": reason, "text": text.replace(crate::quantity::NBSP, " ") })
}
