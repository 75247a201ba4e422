//! `regions`: regions and parts as spans over the rows.

use serde::Serialize;
use workspan_dag::{Region, TaskId};

use super::since;
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;

/// Maximum number of spans in an answer; the longest ones are kept.
const MAX_SPANS: usize = 5000;

/// The contract's `RegionSpan`.
#[derive(Serialize)]
struct RegionSpan<'a> {
    label: &'a str,
    task: TaskId,
    row: u16,
    start: u64,
    end: u64,
    tree: bool,
    part: bool,
}

/// `regions`, in the order of their starts.
///
/// # Errors
/// The run is loading.
pub(crate) fn regions(run: &Run) -> Result<Reply, ApiError> {
    let model = run.model()?;
    let dag = &*model.dag;
    let span = |region: &Region, part: bool| RegionSpan {
        label: dag
            .labels
            .get(region.label as usize)
            .map_or("?", String::as_str),
        task: region.task,
        row: model.rows.of(dag.strands.thread[region.begin.0 as usize]),
        start: since(model, region.begin.1),
        end: since(model, region.end.1),
        tree: region.tree,
        part,
    };
    let mut spans: Vec<RegionSpan<'_>> = dag.regions.iter().map(|r| span(r, false)).collect();
    spans.extend(dag.parts.iter().map(|r| span(r, true)));
    if spans.len() > MAX_SPANS {
        spans.sort_by_key(|s| std::cmp::Reverse(s.end.saturating_sub(s.start)));
        spans.truncate(MAX_SPANS);
    }
    spans.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end), s.task));
    Reply::json(&spans)
}
