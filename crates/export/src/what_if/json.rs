//! A what-if profile as JSON (TEXT_TRACE.md, "The report as JSON").

use serde_json::{Map, Value as Json, json};
use workspan_analysis::{FasterSite, Metric, Outcome};

use super::WhatIfView;
use crate::compare::{place_json, ratio_json};
use crate::json::{document, unit};
use crate::limits::limits_json;
use crate::position::label;
use crate::section::section_json;

/// The profile as one JSON object, followed by a newline.
pub fn what_if_json(view: &WhatIfView) -> String {
    let result = view.result;
    let (metric, metric_unit) = match &view.measured.metric {
        Metric::Counter(name) => (name.as_str(), "count"),
        Metric::Time => ("time", unit(view.dag.meta.time_unit)),
    };
    let list = |outcomes: &[Outcome]| -> Vec<Json> {
        outcomes.iter().map(|o| outcome(o, view.workers)).collect()
    };
    let targets: Vec<Json> = result
        .targets
        .iter()
        .zip(view.names)
        .map(|(target, name)| {
            json!({
                "region": name, "work": whole(target.work), "keep": target.keep.map(|p| label(view.dag, p)),
                "what_if": list(&target.outcomes),
            })
        })
        .collect();
    let sites = view.sites.map(|(k, sites)| {
        let row = |site: &FasterSite| {
            json!({
                "site": place_json(view.dag, site.site), "work": whole(site.work), "span": whole(site.span),
                "span_then": site.span_then.round(), "parallelism": ratio_json(site.parallelism()),
                "parallelism_then": ratio_json(site.parallelism_then()), "critical_work": site.critical_work.round(),
                "critical_work_then": site.critical_work_then.round(),
            })
        };
        json!({"factor": factor(k), "sites": sites.iter().map(row).collect::<Vec<_>>()})
    });
    let root = json!({
        "workspan_whatif": 1, "metric": metric, "metric_unit": metric_unit,
        "ticks_per_second": view.dag.meta.ticks_per_second, "section": section_json(&view.dag.meta), "work": whole(result.work),
        "limits": limits_json(view.dag, view.limits), "now": outcome(&result.now, view.workers), "all": list(&result.all), "regions": targets,
        "by_site": sites,
    });
    document(&root)
}

/// A whole number; if JSON readers could not represent it exactly, the nearest floating-point
/// number.
pub(crate) fn whole(v: u128) -> Json {
    u64::try_from(v).map_or_else(|_| json!(v as f64), |v| json!(v))
}

/// A factor; a whole number if possible.
fn factor(v: f64) -> Json {
    if v.fract() == 0.0 && v < 1e15 {
        json!(v as u64)
    } else {
        json!(v)
    }
}

/// One row of a profile. If folded records leave it uncertain, `least_span` and `most_parallelism`
/// are its other end.
pub(crate) fn outcome(outcome: &Outcome, workers: &[u32]) -> Json {
    let mut row = Map::new();
    row.insert("factor".into(), factor(outcome.factor));
    row.insert("span".into(), whole(outcome.span_ticks()));
    row.insert("parallelism".into(), ratio_json(outcome.parallelism()));
    if outcome.least_span < outcome.span {
        let least = outcome.least_span.round() as u128;
        row.insert("least_span".into(), whole(least));
        let most = ratio_json(outcome.most_parallelism());
        row.insert("most_parallelism".into(), most);
    }
    if !workers.is_empty() {
        let bound = |&p: &u32| {
            let (lower, upper) = outcome.speedup(p);
            json!({"workers": p, "lower": ratio_json(lower), "upper": ratio_json(upper)})
        };
        row.insert("speedup".into(), workers.iter().map(bound).collect());
    }
    Json::Object(row)
}
