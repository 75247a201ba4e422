//! `whatif`: what if some code were faster (MODEL.md §4).

use serde::Serialize;
use workspan_analysis::{Target, faster_path, speedup_bounds, what_if};

use super::scalability::{Point, WORKERS};
use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::{Picture, Run};

/// Targets and factors that one request may have.
const MOST: usize = 32;

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

/// The critical path's weight by code, with the first factor.
#[derive(Serialize)]
struct Critical {
    code: u16,
    weight: f64,
}

pub(crate) fn answer(run: &Run, what: &str, factors: &str) -> Result<Reply, Failure> {
    let picture = run.picture()?;
    let factors = parse_factors(factors)?;
    let mut targets = Vec::new();
    for one in what.split(',').filter(|one| !one.is_empty()) {
        targets.extend(target(picture, one)?);
    }
    if targets.is_empty() || targets.len() > 64 * MOST {
        return Err(Failure::wrong("There is nothing in it to be faster."));
    }
    let (dag, measured) = (&*picture.dag, &picture.measured);
    let wrong = |e: workspan_analysis::Error| Failure::wrong(format!("{e}."));
    let profile = what_if(dag, measured, &targets, &factors).map_err(wrong)?;
    let rows = profile.all.iter().map(|outcome| {
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
    });
    let path = faster_path(dag, measured, &targets, factors[0]).map_err(wrong)?;
    let mut by_code = vec![0.0; picture.codes.all.len()];
    for strand in path {
        by_code[usize::from(picture.codes.of(strand.strand))] += strand.weight;
    }
    let codes = (0u16..).zip(by_code).filter(|(_, weight)| *weight > 0.0);
    let mut critical: Vec<Critical> = codes
        .map(|(code, weight)| Critical { code, weight })
        .collect();
    critical.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.code.cmp(&b.code)));
    Reply::json(&WhatIf {
        rows: rows.collect(),
        critical,
    })
}

fn parse_factors(text: &str) -> Result<Vec<f64>, Failure> {
    let wrong = || Failure::wrong("Factors are numbers from 1 to a million, at most 32 of them.");
    let factors = text.split(',').map(|factor| factor.parse::<f64>());
    let factors: Vec<f64> = factors.collect::<Result<_, _>>().map_err(|_| wrong())?;
    let sound = factors.iter().all(|f| (1.0..=1e6).contains(f));
    if !sound || factors.is_empty() || factors.len() > MOST {
        return Err(wrong());
    }
    Ok(factors)
}

/// What one of `site:<place>`, `code:<index>`, `lines:<file>:<from>-<to>`, `region:<label>` names.
fn target(picture: &Picture, text: &str) -> Result<Vec<Target>, Failure> {
    let absent = || Failure::absent("The run has no such code to be faster.");
    let (kind, what) = text.split_once(':').ok_or_else(absent)?;
    let dag = &*picture.dag;
    match kind {
        "site" => {
            let place = what.parse::<u32>().map_err(|_| absent())?;
            if !picture.sites.places.contains(&place) {
                return Err(absent());
            }
            Ok(vec![Target::Site {
                places: vec![place],
                subtree: false,
            }])
        }
        "code" => {
            let number = what.parse::<usize>().map_err(|_| absent())?;
            let code = picture.codes.all.get(number).ok_or_else(absent)?;
            let blocks = code.blocks.iter().map(|block| Target::Block {
                site: block.site,
                from: block.from,
                from_kind: block.from_kind(),
                to: block.to,
                to_kind: block.to_kind(),
            });
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
