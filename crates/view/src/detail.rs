//! Strands and tasks one by one, the critical path, the regions (`ui/src/data/contract.ts`).

mod critical;
mod regions;
mod spawned;
mod strand;
mod task;
mod waits;

pub(crate) use critical::critical;
pub(crate) use regions::regions;
pub(crate) use spawned::spawned;
pub(crate) use strand::strand;
pub(crate) use task::task;

use serde::Serialize;
use workspan_dag::{PlaceId, StartKind, TaskId};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::dag_view;
use crate::run::{Run, RunModel};

/// Converts an absolute time to ticks from the run's begin.
pub(crate) fn since(model: &RunModel, t: u64) -> u64 {
    t.saturating_sub(model.begin)
}

/// The error for a strand that does not exist.
pub(crate) fn no_strand() -> ApiError {
    ApiError::not_found("There is no such strand in this run.")
}

/// A position in the program.
#[derive(Serialize)]
pub(crate) struct PlaceWords<'a> {
    kind: &'static str,
    at: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    function: Option<&'a str>,
}

pub(crate) fn words<'a>(model: &'a RunModel, kind: &'static str, place: PlaceId) -> PlaceWords<'a> {
    let place = model.dag.places.get(place as usize);
    PlaceWords {
        kind,
        at: place.map(|p| p.label.as_str()),
        file: place.and_then(|p| p.file.as_deref()),
        line: place.and_then(|p| p.line),
        function: place.and_then(|p| p.function.as_deref()),
    }
}

fn start_kind(kind: StartKind) -> &'static str {
    match kind {
        StartKind::Begin => "begin",
        StartKind::AfterCreate => "after_create",
        StartKind::AfterWait => "after_wait",
        StartKind::AfterYield => "after_yield",
        StartKind::AfterSignal => "after_signal",
        StartKind::AfterHandoff => "after_handoff",
    }
}

/// `ancestors`: the nodes to expand, from the root down, to see a task.
///
/// # Errors
/// The task does not exist, or the run is loading.
pub(crate) fn ancestors(run: &Run, task: TaskId, sections: bool) -> Result<Reply, ApiError> {
    Reply::json(&dag_view::ancestors(run, task, sections)?)
}
