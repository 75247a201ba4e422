//! `whatif`: what if some code were faster (MODEL.md §4).

use std::ops::Range;

use serde::Serialize;
use workspan_analysis::{Outcome, Target, TargetSet, speedup_bounds};

use super::scalability::{Point, WORKERS};
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};

/// Maximum number of factors in one request. The maximum number of targets is 64 times as large.
const MAX_FACTORS: usize = 32;

#[derive(Serialize)]
struct WhatIf {
    rows: Vec<Row>,
    critical: Vec<Critical>,
}

#[derive(Serialize)]
struct Row {
    factor: f64,
    span: u128,
    parallelism: f64,
    speedups: Vec<Point>,
}

/// The critical path's weight by code, at the first factor.
#[derive(Serialize)]
struct Critical {
    code: u16,
    weight: f64,
}

pub(crate) fn answer(run: &Run, what: &str, factors: &str) -> Result<Reply, ApiError> {
    let factors = parse_factors(factors)?;
    let asked = WhatIfAnswer::new(run, what, &factors)?;
    asked.reply(0..factors.len())
}

/// The gain if some code were faster, by factor.
pub(crate) struct WhatIfAnswer<'a> {
    model: &'a RunModel,
    together: TargetSet<'a>,
    outcomes: Vec<Outcome>,
}

impl<'a> WhatIfAnswer<'a> {
    /// The answer for `what`, which is in the page's form: targets separated by commas.
    ///
    /// # Errors
    /// The run has no such code, or is not loaded yet.
    pub(crate) fn new(
        run: &'a Run,
        what: &str,
        factors: &[f64],
    ) -> Result<WhatIfAnswer<'a>, ApiError> {
        let model = run.model()?;
        let mut targets = Vec::new();
        for one in what.split(',').filter(|one| !one.is_empty()) {
            targets.extend(target(model, one)?);
        }
        if targets.is_empty() || targets.len() > 64 * MAX_FACTORS {
            return Err(ApiError::bad_request(
                "There is nothing in it to be faster.",
            ));
        }
        let together = TargetSet::new(&model.dag, &model.options, &targets).map_err(wrong)?;
        let outcomes = together.outcomes(factors).map_err(wrong)?;
        Ok(WhatIfAnswer {
            model,
            together,
            outcomes,
        })
    }

    /// The reply for some of the factors, with the critical path at the first of them.
    ///
    /// # Errors
    /// There are no such factors.
    pub(crate) fn reply(&self, factors: Range<usize>) -> Result<Reply, ApiError> {
        let outcomes = self.outcomes.get(factors).unwrap_or_default();
        let first = outcomes.first().ok_or_else(no_factors)?.factor;
        let path = self.together.critical_path(first).map_err(wrong)?;
        let mut by_code = vec![0.0; self.model.codes.all.len()];
        for strand in path {
            by_code[usize::from(self.model.codes.of(strand.strand))] += strand.weight;
        }
        let codes = (0u16..).zip(by_code).filter(|(_, weight)| *weight > 0.0);
        let mut critical: Vec<Critical> = codes
            .map(|(code, weight)| Critical { code, weight })
            .collect();
        critical.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.code.cmp(&b.code)));
        Reply::json(&WhatIf {
            rows: outcomes.iter().map(row).collect(),
            critical,
        })
    }
}

fn wrong(error: workspan_analysis::Error) -> ApiError {
    ApiError::bad_request(format!("{error}."))
}

fn row(outcome: &Outcome) -> Row {
    let (span, burdened) = (
        outcome.span_ticks(),
        outcome.burdened_span.round().max(0.0) as u128,
    );
    let speedups = WORKERS.map(|workers| {
        let (lower, upper) = speedup_bounds(outcome.work, span, burdened, workers);
        Point {
            workers,
            lower,
            upper,
        }
    });
    Row {
        factor: outcome.factor,
        span,
        parallelism: outcome.parallelism(),
        speedups: speedups.into(),
    }
}

fn parse_factors(text: &str) -> Result<Vec<f64>, ApiError> {
    let factors = text.split(',').map(|factor| factor.parse::<f64>());
    let factors: Vec<f64> = factors
        .collect::<Result<_, _>>()
        .map_err(|_| no_factors())?;
    let sound = factors.iter().all(|f| (1.0..=1e6).contains(f));
    if !sound || factors.is_empty() || factors.len() > MAX_FACTORS {
        return Err(no_factors());
    }
    Ok(factors)
}

fn no_factors() -> ApiError {
    ApiError::bad_request("Factors are numbers from 1 to a million, at most 32 of them.")
}

/// The targets that `text` names: `site:<place>`, `code:<index>`, `lines:<file>:<from>-<to>` or
/// `region:<label>`.
fn target(model: &RunModel, text: &str) -> Result<Vec<Target>, ApiError> {
    let absent = || ApiError::not_found("The run has no such code to be faster.");
    let (kind, what) = text.split_once(':').ok_or_else(absent)?;
    let dag = &*model.dag;
    match kind {
        "site" => {
            let place = what.parse::<u32>().map_err(|_| absent())?;
            if !model.sites.places.contains(&place) {
                return Err(absent());
            }
            Ok(vec![Target::Site {
                places: vec![place],
                subtree: false,
            }])
        }
        "code" => {
            let number = what.parse::<usize>().map_err(|_| absent())?;
            let code = model.codes.all.get(number).ok_or_else(absent)?;
            let blocks = code.blocks.iter().copied().map(Target::Block);
            Ok(blocks.collect())
        }
        "lines" => {
            let (file, lines) = what.rsplit_once(':').ok_or_else(absent)?;
            let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
            let line = |text: &str| text.parse::<u32>().map_err(|_| absent());
            Ok(vec![Target::Lines {
                file: file.to_owned(),
                from: line(from)?,
                to: line(to)?,
            }])
        }
        "region" => {
            let label = dag.labels.iter().position(|label| label == what);
            let label = label.ok_or_else(absent)?;
            Ok(vec![Target::Region(label as u32)])
        }
        _ => Err(absent()),
    }
}
