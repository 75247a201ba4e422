//! The spawn sites that matter most.

use workspan_analysis::SiteRow;
use workspan_dag::{Dag, ROOT_PLACE};

use super::super::figure::{Figure, HorizontalAxis, Mark, Scale};
use super::super::fill::{DELAY, Fill, WORK};
use super::{PlotRun, series};
use crate::position::{label, short_function};
use crate::quantity::percent;

/// Spawn sites by their share of the critical path and of the work of their own strands.
pub fn sites(run: &PlotRun, most: usize) -> Figure {
    let rows: Vec<_> = run.report.sites.iter().take(most).collect();
    let work = run.report.work_span.work.max(1) as f64;
    let own = |row: &SiteRow| -> u128 { row.blocks.iter().map(|b| b.work).sum() };
    let bars = |name: &str, fill: Fill, f: &dyn Fn(&SiteRow) -> f64| {
        let values: Vec<f64> = rows.iter().map(|r| f(r)).collect();
        let points = values.iter().enumerate().map(|(i, &v)| (i as f64, v));
        let mut shares = series(name, fill, Mark::Bars, points.collect());
        shares.labels = values.iter().map(|&v| percent(v)).collect();
        shares
    };
    Figure {
        title: format!("{}: spawn sites", run.program()),
        subtitle: run.verdict(),
        horizontal: HorizontalAxis::Categories {
            names: rows.iter().map(|r| name(run.dag, r.site)).collect(),
            lying: true,
        },
        up: "per cent".into(),
        at_least: 10.0,
        scale: Scale::Linear,
        level: None,
        series: vec![
            bars("of the critical path", DELAY, &|r| r.critical_percent),
            bars("of the work", WORK, &|r| own(r) as f64 * 100.0 / work),
        ],
    }
}

/// `sort.rs:43 merge`: the file without its folder, as in the page.
fn name(dag: &Dag, site: u32) -> String {
    let whole = label(dag, site);
    let at = whole.rsplit(['/', '\\']).next().unwrap_or(whole);
    let function = dag.places.get(site as usize);
    let function = function
        .and_then(|p| p.function.as_deref())
        .filter(|_| site != ROOT_PLACE);
    match function {
        Some(f) => format!("{at} {}", short_function(f)),
        None => at.to_owned(),
    }
}
