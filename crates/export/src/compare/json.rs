//! A comparison as JSON. Times are in nanoseconds.

use serde_json::{Value as Json, json};
use workspan_analysis::CodeBlock;
use workspan_analysis::compare::{Comparison, Difference, Quantity, Value};
use workspan_dag::{Dag, NONE, PlaceId};

use super::change::noise_key;
use super::names::names;
use crate::json::document;
use crate::position::{label, place};

/// A ratio to six decimals; `null` if it is not finite.
pub(crate) fn ratio_json(v: f64) -> Json {
    if v.is_finite() {
        json!((v * 1e6).round() / 1e6)
    } else {
        Json::Null
    }
}

/// A time in nanoseconds, to a thousandth.
pub(super) fn ns_json(v: f64) -> Json {
    if v.is_finite() {
        json!((v * 1e3).round() / 1e3)
    } else {
        Json::Null
    }
}

fn value_json(v: &Value) -> Json {
    json!({
        "mean": ns_json(v.mean), "min": ns_json(v.min), "max": ns_json(v.max),
        "deviation": v.deviation.map(ns_json), "runs": v.runs,
    })
}

fn difference_json(d: &Difference) -> Json {
    json!({
        "absolute": ns_json(d.absolute),
        "relative": d.relative.map(ratio_json),
        "interval": d.interval.map(|(low, high)| [ns_json(low), ns_json(high)]),
        "noise": noise_key(d.noise),
    })
}

fn values(values: &[Value]) -> Json {
    values.iter().map(value_json).collect()
}

fn differences(differences: &[Difference]) -> Json {
    differences.iter().map(difference_json).collect()
}

/// A position: label, file, line, function; `null` if it is unknown.
pub(crate) fn place_json(dag: &Dag, id: PlaceId) -> Json {
    let Some(at) = place(dag, id).filter(|_| id != NONE) else {
        return Json::Null;
    };
    json!({
        "at": label(dag, id), "file": at.file, "line": at.line, "function": at.function, "primitive": at.primitive,
    })
}

/// The start and end of a block, with their kinds.
pub(crate) fn position_json(dag: &Dag, block: &CodeBlock) -> Json {
    json!({
        "from_kind": block.from_kind.name(), "from": place_json(dag, block.from),
        "to_kind": block.to_kind.name(), "to": place_json(dag, block.to),
    })
}

/// The comparison as one JSON object, followed by a newline. The first side is the base;
/// `differences` has an entry for each other side.
pub fn compare_json(comparison: &Comparison) -> String {
    let dag = names(&comparison.places);
    let sides: Vec<Json> = comparison
        .sides
        .iter()
        .map(
            |s| json!({"name": s.name, "only": s.section, "runs": s.runs, "workers": s.workers, "runtime": s.runtime}),
        )
        .collect();
    let unit = |q: Quantity| {
        if q.is_time() { "ns" } else { "count" }
    };
    let quantities: serde_json::Map<String, Json> = comparison
        .quantities
        .iter()
        .map(|row| {
            let body = json!({
                "unit": unit(row.quantity),
                "values": values(&row.values),
                "differences": differences(&row.differences),
            });
            (row.quantity.key().to_string(), body)
        })
        .collect();
    let sites: Vec<Json> = comparison
        .sites
        .iter()
        .map(|s| {
            json!({
                "site": place_json(&dag, s.key),
                "work": values(&s.work), "work_differences": differences(&s.work_differences),
                "critical_work": values(&s.critical_work),
                "critical_differences": differences(&s.critical_differences),
                "count": values(&s.count),
            })
        })
        .collect();
    let blocks: Vec<Json> = comparison
        .blocks
        .iter()
        .map(|b| {
            json!({
                "site": place_json(&dag, b.key.site), "block": position_json(&dag, &b.key),
                "work": values(&b.work), "work_differences": differences(&b.work_differences),
                "critical_work": values(&b.critical_work),
                "critical_differences": differences(&b.critical_differences),
                "count": values(&b.count),
            })
        })
        .collect();
    let regions: Vec<Json> = comparison
        .regions
        .iter()
        .map(|r| {
            json!({
                "region": r.key,
                "work": values(&r.work), "work_differences": differences(&r.work_differences),
                "critical_work": values(&r.critical_work),
                "critical_differences": differences(&r.critical_differences),
                "count": values(&r.count),
            })
        })
        .collect();
    let root = json!({
        "workspan_compare": 1, "sides": sides, "quantities": quantities, "sites": sites, "blocks": blocks, "regions": regions,
        "positions_recognised_by_source": comparison.moved, "noise_known": !comparison.noise_unknown(),
        "warnings": comparison.warnings,
    });
    document(&root)
}
