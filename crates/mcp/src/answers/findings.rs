//! `findings`: the first screen of the report.

use std::path::Path;

use serde_json::{Value as Json, json};
use workspan_analysis::causes::Finding;
use workspan_analysis::checks;
use workspan_analysis::{block_name, block_strands, hot_function_of};
use workspan_dag::{Dag, NONE, ROOT_PLACE};
use workspan_export::{FindingText, plain_words, summary};

use super::{link, link_to, present, rounded, run, time};
use crate::Shared;
use crate::runs::Run;
use crate::tools::FindingsArgs;

/// Maximum number of warnings in the answer.
const MAX_WARNINGS: usize = 3;

pub(crate) fn answer(shared: &Shared, args: &FindingsArgs) -> anyhow::Result<String> {
    let (path, run) = run(shared, args.trace.as_deref())?;
    Ok(findings(shared, &path, &run).to_string())
}

/// The findings of a run as an object.
pub(crate) fn findings(shared: &Shared, path: &Path, run: &Run) -> Json {
    let Run {
        dag,
        report,
        measured,
    } = run;
    let said = summary(dag, report, measured);
    let (ws, b) = (&report.work_span, &report.breakdown);
    let trace = shared.folders.shown(path);
    let found = report.causes.findings_program_first().into_iter();
    // There are no words for findings of a run that lost nearly nothing.
    let named: Vec<Json> = found
        .filter_map(|(index, finding)| Some(one(shared, run, finding, said.findings.get(index)?)))
        .collect();
    // If other programs used the CPUs, this is the finding about the program itself.
    let quiet = report.on_a_quiet_machine().map(|quiet| {
        json!({
            "block": block_name(dag, &quiet.block), "critical_percent": rounded(quiet.percent()),
            "place": position(shared, dag, quiet.block.telling_place()),
        })
    });
    let warnings = report.warnings.iter().take(MAX_WARNINGS);
    let broken = checks::contradictions(dag, &report.checks);
    present(json!({
        "trace": trace,
        "program": dag.meta.name,
        "verdict": said.verdict,
        "why": said.why.iter().map(|words| plain_words(words)).collect::<Vec<_>>(),
        "workers": b.workers,
        "elapsed": time(dag, b.elapsed().into()),
        "work": time(dag, ws.work),
        "span": time(dag, ws.span),
        "parallelism": rounded(ws.parallelism()),
        "tasks": ws.tasks,
        "findings": named,
        "limits_on_a_quiet_machine": quiet,
        "broken_checks": some(broken),
        "warnings": some(warnings.map(|warning| warning.text.clone()).collect()),
        "in_a_browser": format!("workspan view {trace}"),
    }))
}

fn some(list: Vec<String>) -> Option<Vec<String>> {
    (!list.is_empty()).then_some(list)
}

fn one(shared: &Shared, run: &Run, finding: &Finding, said: &FindingText) -> Json {
    let dag = &run.dag;
    let block = block_name(dag, &finding.block);
    let hot = hot_function_of(dag, finding).map(|hot| {
        let link = hot.file.as_deref().zip(hot.line);
        json!({
            "function": hot.function, "file": hot.file, "line": hot.line,
            "samples": hot.samples, "of": hot.of,
            "link": link.and_then(|(file, line)| link_to(shared, dag, file, line)),
        })
    });
    let what_if = if block_strands(dag, &block).is_empty() {
        site_name(dag, finding.block.site).map(|site| json!({"sites": [site]}))
    } else {
        Some(json!({"blocks": [block]}))
    };
    json!({
        "id": format!("{}@{block}", finding.cause.id()),
        "cause": finding.cause.id(),
        "what": plain_words(&said.title),
        "loss_and_remedy": plain_words(&said.evidence),
        "lost_percent": rounded(run.report.causes.percent(finding.lost)),
        "place": position(shared, dag, finding.block.telling_place()),
        "hottest_code": hot,
        "what_if": what_if,
    })
}

/// File, line and function of a place.
pub(crate) fn position(shared: &Shared, dag: &Dag, place: u32) -> Option<Json> {
    let place = dag.places.get(place as usize)?;
    Some(json!({
        "at": place.label, "file": place.file, "line": place.line, "function": place.function,
        "link": link(shared, dag, place),
    }))
}

/// A spawn site in the form that the tools accept.
pub(crate) fn site_name(dag: &Dag, site: u32) -> Option<&str> {
    match site {
        NONE => None,
        ROOT_PLACE => Some("root"),
        site => dag.places.get(site as usize).map(|p| p.label.as_str()),
    }
}
