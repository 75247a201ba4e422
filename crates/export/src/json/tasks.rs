//! Facts about all tasks in the report's JSON: whether they are small, and who reported them.

use serde::Serialize;
use workspan_analysis::{Options, Report, WorkSpan, short_strands, tasks_by_reporter};
use workspan_dag::{Dag, Reporter};

/// The average maximal strand is shorter than scheduling allows (MODEL.md §2).
#[derive(Serialize)]
pub(super) struct ShortStrandsJson {
    threshold: u64,
    rule: &'static str,
}

pub(super) fn short(work_span: &WorkSpan, measured: &Options) -> Option<ShortStrandsJson> {
    let short = short_strands(work_span, measured)?;
    Some(ShortStrandsJson {
        threshold: short.threshold,
        rule: short.rule.key(),
    })
}

/// Tasks by who reported them (MODEL.md §1).
#[derive(Serialize)]
pub(super) struct ReporterTasksJson {
    told_by: Option<&'static str>,
    tasks: u64,
    work: u128,
}

pub(super) fn reporters(dag: &Dag, report: &Report) -> Vec<ReporterTasksJson> {
    let groups = tasks_by_reporter(dag, &report.sites).into_iter();
    let row = |group: workspan_analysis::ReporterTasks| ReporterTasksJson {
        told_by: group.reporter.map(Reporter::name),
        tasks: group.tasks,
        work: group.work,
    };
    groups.map(row).collect()
}
