//! `what_if`: predicts the gain of faster code.

use anyhow::bail;
use serde_json::{Value as Json, json};
use workspan_analysis::named_code::{self, line_range};
use workspan_analysis::{Outcome, Target, limits, what_if};
use workspan_export::{WhatIfView, what_if_json};

use super::{present, run, time};
use crate::Shared;
use crate::runs::Run;
use crate::tools::WhatIfArgs;

const FACTORS: [f64; 3] = [2.0, 4.0, 8.0];
/// Maximum number of targets and of factors in a request.
const MAX_ASKED: usize = 16;

pub(crate) fn answer(shared: &Shared, args: &WhatIfArgs) -> anyhow::Result<String> {
    let (path, run) = run(shared, args.trace.as_deref())?;
    let (targets, names) = targets(&run, args)?;
    let factors = if args.factors.is_empty() {
        FACTORS.to_vec()
    } else {
        args.factors.clone()
    };
    if targets.len() > MAX_ASKED || factors.len() > MAX_ASKED {
        bail!("at most {MAX_ASKED} targets and factors at once");
    }
    let (dag, measured) = (&run.dag, &run.measured);
    let result = what_if(dag, measured, &targets, &factors)?;
    if result.now.span <= 0.0 {
        bail!("the run has no critical path, because all its strands have no weight");
    }
    let mut workers = vec![dag.meta.workers.max(1), 16, 64];
    workers.sort_unstable();
    workers.dedup();
    let view = WhatIfView {
        sites: None,
        dag,
        measured,
        result: &result,
        limits: &limits(dag, measured)?,
        names: &names,
        workers: &workers,
    };
    let said: Json = serde_json::from_str(&what_if_json(&view))?;
    let rows = |said: &Json, outcomes: &[Outcome]| -> Json {
        let said = said.as_array().into_iter().flatten();
        said.zip(outcomes)
            .map(|(row, outcome)| with_time(&run, row.clone(), outcome))
            .collect()
    };
    let each: Vec<Json> = result
        .targets
        .iter()
        .zip(said["regions"].as_array().into_iter().flatten())
        .map(|(target, row)| {
            json!({
                "code": row["region"], "work": time(dag, target.work),
                "faster": rows(&row["what_if"], &target.outcomes),
            })
        })
        .collect();
    let together = (targets.len() > 1).then(|| rows(&said["all"], &result.all));
    let answer = json!({
        "trace": shared.folders.shown(&path),
        "now": with_time(&run, said["now"].clone(), &result.now),
        "each": each,
        "together": together,
    });
    Ok(present(answer).to_string())
}

/// The row with its span in a readable form.
fn with_time(run: &Run, mut row: Json, outcome: &Outcome) -> Json {
    row["span"] = time(&run.dag, outcome.span_ticks()).into();
    if let Some(object) = row.as_object_mut() {
        object.remove("least_span");
    }
    row
}

fn targets(run: &Run, args: &WhatIfArgs) -> anyhow::Result<(Vec<Target>, Vec<String>)> {
    let (dag, mut targets, mut names) = (&run.dag, Vec::new(), Vec::new());
    for name in &args.sites {
        targets.push(named_code::site(dag, name, args.subtree)?);
        names.push(name.clone());
    }
    for text in &args.lines {
        let range = line_range(text).map_err(anyhow::Error::msg)?;
        targets.push(named_code::lines(dag, &range)?);
        names.push(text.clone());
    }
    for name in &args.blocks {
        targets.push(named_code::block(dag, name)?);
        names.push(name.clone());
    }
    for name in &args.regions {
        targets.push(named_code::region(dag, name)?);
        names.push(name.clone());
    }
    if targets.is_empty() {
        bail!(
            "say what is to be faster: `sites`, `lines`, `blocks` or `regions`, as `findings` gives them"
        );
    }
    Ok((targets, names))
}
