//! `site`: the spawn sites, or one of them.

use anyhow::Context;
use serde_json::{Value as Json, json};
use workspan_analysis::{SiteRow, Target, block_name, named_code, percent};

use super::findings::{position, site_name};
use super::{present, rounded, run, time};
use crate::Shared;
use crate::runs::Run;
use crate::tools::SiteArgs;

/// Maximum number of sites in a list.
const MAX_SITES: usize = 10;
/// Maximum number of code blocks of a site.
const MAX_BLOCKS: usize = 12;

pub(crate) fn answer(shared: &Shared, args: &SiteArgs) -> anyhow::Result<String> {
    let (path, run) = run(shared, args.trace.as_deref())?;
    let trace = shared.folders.shown(&path);
    let all = &run.report.sites;
    let answer = match &args.site {
        None => {
            let first = all.iter().take(MAX_SITES);
            let rows: Vec<Json> = first.map(|row| site(shared, &run, row)).collect();
            json!({"trace": trace, "sites": rows, "of": all.len()})
        }
        Some(name) => {
            let Target::Site { places, .. } = named_code::site(&run.dag, name, false)? else {
                anyhow::bail!("`{name}` is not a spawn site");
            };
            let found = all.iter().find(|row| places.contains(&row.site));
            let row = found.context("the site's tasks are all folded; ask about the site above")?;
            let mut answer = site(shared, &run, row);
            answer["trace"] = trace.into();
            answer["blocks"] = blocks(&run, row);
            answer
        }
    };
    Ok(present(answer).to_string())
}

fn site(shared: &Shared, run: &Run, row: &SiteRow) -> Json {
    let dag = &run.dag;
    let source = dag.places.get(row.site as usize);
    json!({
        "site": site_name(dag, row.site),
        "place": position(shared, dag, row.site),
        "source": source.and_then(|place| place.source.clone()),
        "tasks": row.count,
        "work": time(dag, row.work),
        "span": time(dag, row.span),
        "parallelism": rounded(row.parallelism()),
        "critical_percent": rounded(row.critical_percent),
    })
}

fn blocks(run: &Run, row: &SiteRow) -> Json {
    let (dag, span) = (&run.dag, run.report.work_span.span);
    let block = |block: &workspan_analysis::BlockRow| {
        json!({
            "block": block_name(dag, &block.block), "strands": block.count, "work": time(dag, block.work),
            "critical_percent": rounded(percent(block.critical_work, span)),
        })
    };
    row.blocks.iter().take(MAX_BLOCKS).map(block).collect()
}
