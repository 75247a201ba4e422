//! Work time stretch as JSON: ticks are whole numbers, and `tick_ns` is the length of one.

use serde_json::{Value as Json, json};
use workspan_analysis::stretch::{Pair, RowKey, Stretch, StretchRow};
use workspan_dag::{Dag, Reporter};

use crate::compare::{names, place_json, position_json, ratio_json};
use crate::json::document;
use crate::what_if::json::whole;

/// The comparison as one JSON object, followed by a newline. `section` is the section that was
/// measured, for instance `region:solve`; `None` for whole runs.
pub fn stretch_json(stretch: &Stretch, section: Option<&str>) -> String {
    let dag = names(&stretch.places);
    let rows =
        |rows: &[StretchRow]| -> Json { rows.iter().map(|r| row(stretch, &dag, r)).collect() };
    let loss = &stretch.loss;
    let parts = json!({
        "stretch": signed(loss.stretch), "delay": signed(loss.delay), "no_work_sched": signed(loss.no_work_sched),
        "no_work_app": signed(loss.no_work_app), "descheduled": signed(loss.descheduled),
        "blocked": signed(loss.blocked), "recording": signed(loss.recording),
        "oversubscribed": signed(loss.oversubscribed),
    });
    let matched = &stretch.matched;
    let root = json!({
        "workspan_stretch": 1, "only": section, "metric": stretch.metric.map_or("time", |i| &stretch.counters[i]),
        "tick_ns": ratio_json(stretch.tick),
        "workers": loss.workers, "serial_workers": stretch.serial_workers, "elapsed": loss.elapsed,
        "serial_work": whole(loss.serial_work), "loss": signed(loss.total), "loss_parts": parts,
        "matched": {
            "path": pair(matched.path), "site_and_level": pair(matched.site_and_level),
            "site": pair(matched.site), "none": pair(matched.none),
        },
        "latencies": stretch.latencies.iter().map(|&(i, ns)| json!({"counter": stretch.counters[i], "ns": ratio_json(ns)}))
            .collect::<Vec<_>>(),
        "total": row(stretch, &dag, &stretch.total),
        "blocks": rows(&stretch.blocks), "sites": rows(&stretch.sites), "levels": rows(&stretch.levels),
        "regions": rows(&stretch.regions), "told_by": rows(&stretch.reporter), "subtrees": rows(&stretch.subtrees), "warnings": stretch.warnings,
    });
    document(&root)
}

/// A whole number; if JSON readers could not represent it exactly, the nearest floating-point
/// number.
fn signed(v: i128) -> Json {
    i64::try_from(v).map_or_else(|_| json!(v as f64), |v| json!(v))
}

fn pair(pair: Pair) -> Json {
    json!({"serial": whole(pair.serial), "parallel": whole(pair.parallel)})
}

fn row(stretch: &Stretch, dag: &Dag, row: &StretchRow) -> Json {
    let mut out = match row.key {
        RowKey::Block(block) => json!({
            "site": place_json(dag, block.site), "block": position_json(dag, &block),
        }),
        RowKey::Site(site) => json!({
            "site": place_json(dag, site), "told_by": stretch.places[site as usize].reporter.map(Reporter::name),
        }),
        RowKey::Level(level) => json!({"level": level}),
        RowKey::Reporter(side) => json!({"told_by": side.map(Reporter::name)}),
        RowKey::Region(label) => json!({"region": stretch.labels[label as usize]}),
        RowKey::Subtree {
            task,
            serial_task,
            site,
            level,
        } => json!({
            "task": task, "serial_task": serial_task, "level": level, "site": place_json(dag, site),
        }),
    };
    let counters: serde_json::Map<String, Json> = stretch
        .counters
        .iter()
        .zip(&row.counters)
        .map(|(name, &c)| (name.clone(), pair(c)))
        .collect();
    let explains: serde_json::Map<String, Json> = stretch
        .latencies
        .iter()
        .map(|&(i, ns)| {
            let times = row.explains(i, ns, stretch.tick).map(ratio_json);
            (stretch.counters[i].clone(), json!(times))
        })
        .collect();
    out["strands"] = pair(row.strands);
    out["time"] = pair(row.time);
    out["stretch"] = signed(row.time.surplus());
    out["relative"] = json!(row.time.relative().map(ratio_json));
    out["counters"] = Json::Object(counters);
    out["explains"] = Json::Object(explains);
    out
}
