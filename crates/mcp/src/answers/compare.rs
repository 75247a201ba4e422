//! `compare`: compares the runs before and after a change.

use anyhow::bail;
use serde_json::{Map, Value as Json, json};
use workspan_analysis::compare::{Side, compare, measure};
use workspan_export::compare_json;

use super::{present, run};
use crate::Shared;
use crate::tools::CompareArgs;

/// Maximum number of runs of a side.
const MAX_RUNS: usize = 10;
/// Maximum number of sites and of code blocks in the answer.
const MAX_ROWS: usize = 5;

pub(crate) fn answer(shared: &Shared, args: &CompareArgs) -> anyhow::Result<String> {
    let sides = [("before", &args.before), ("after", &args.after)];
    let sides: Vec<Side> = sides
        .into_iter()
        .map(|(name, traces)| side(shared, name, traces))
        .collect::<anyhow::Result<_>>()?;
    let said: Json = serde_json::from_str(&compare_json(&compare(&sides)))?;
    let mut quantities = Map::new();
    for (name, row) in said["quantities"].as_object().into_iter().flatten() {
        let change = change(&row["values"], &row["differences"], &row["unit"]);
        quantities.insert(name.clone(), change);
    }
    let rows = |key: &str, name: fn(&Json) -> Json| -> Vec<Json> {
        let rows = said[key].as_array().into_iter().flatten().take(MAX_ROWS);
        rows.map(|row| {
            let unit = Json::from("ns");
            json!({
                "code": name(row),
                "work": change(&row["work"], &row["work_differences"], &unit),
                "critical_work": change(&row["critical_work"], &row["critical_differences"], &unit),
            })
        })
        .collect()
    };
    let answer = json!({
        "quantities": quantities,
        "sites": rows("sites", |row| row["site"]["at"].clone()),
        "noise_known": said["noise_known"],
        "warnings": said["warnings"].as_array().filter(|list| !list.is_empty()),
    });
    Ok(present(answer).to_string())
}

fn side(shared: &Shared, name: &str, traces: &[String]) -> anyhow::Result<Side> {
    if traces.is_empty() || traces.len() > MAX_RUNS {
        bail!("`{name}` needs between one and {MAX_RUNS} traces");
    }
    let mut runs = Vec::new();
    for trace in traces {
        let (path, run) = run(shared, Some(trace))?;
        runs.push(measure(&run.dag, &run.report, shared.folders.shown(&path)));
    }
    Ok(Side {
        name: name.to_owned(),
        runs,
    })
}

/// Means of both sides, the relative difference, and whether it is within the noise.
fn change(values: &Json, differences: &Json, unit: &Json) -> Json {
    let difference = &differences[0];
    json!({
        "unit": unit,
        "before": values[0]["mean"], "after": values[1]["mean"],
        "change": difference["relative"], "noise": difference["noise"],
    })
}
