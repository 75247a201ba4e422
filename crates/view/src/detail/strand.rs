//! `strand`: the details of a strand.

use serde::Serialize;
use workspan_analysis::{hot_functions, ready_event};
use workspan_dag::{Counter, Dag, NONE, StrandId};

use super::{PlaceWords, no_strand, since, start_kind, words};
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};
use crate::timeline::{Index, sums_alone};

/// Maximum number of functions in an answer.
const MAX_FUNCTIONS: usize = 20;

/// The contract's `StrandDetail`.
#[derive(Serialize)]
struct StrandDetail<'a> {
    id: StrandId,
    task: u32,
    /// The size that the task told.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Number of strands of that task.
    of: u32,
    row: u16,
    start: u64,
    end: u64,
    weight: u64,
    descheduled: u64,
    blocked: u64,
    recording: u64,
    /// Ticks between the strands inside a folded one.
    between: u64,
    code: u16,
    site: u16,
    from: PlaceWords<'a>,
    to: PlaceWords<'a>,
    critical: bool,
    ready_path: bool,
    ready: Option<u64>,
    made_ready_by: Option<MadeReady>,
    stolen: Option<Stolen>,
    meanwhile: f64,
    counters: Vec<(&'a str, u64)>,
    functions: Vec<Function>,
    previous: Option<StrandId>,
    next: Option<StrandId>,
    previous_on_row: Option<StrandId>,
    next_on_row: Option<StrandId>,
    /// Number of tasks that a folded strand stands for.
    folded: u64,
    /// The trace has only sums of those tasks.
    sums_alone: bool,
    waits: Vec<super::waits::WaitWords>,
    all_waits: super::waits::Sum,
    ended_waits: super::waits::Ended,
}

#[derive(Serialize)]
struct MadeReady {
    strand: StrandId,
    task: u32,
    row: u16,
    edge: &'static str,
}

#[derive(Serialize)]
struct Stolen {
    victim: Option<u16>,
    leap: bool,
}

#[derive(Serialize)]
struct Function {
    function: String,
    file: Option<String>,
    line: Option<u32>,
    samples: u64,
}

/// `strand`: everything known about a strand.
///
/// # Errors
/// The strand does not exist, or the run is loading.
pub(crate) fn strand(run: &Run, id: StrandId) -> Result<Reply, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    let dag = &*model.dag;
    let i = id as usize;
    if i >= dag.strands.len() {
        return Err(no_strand());
    }
    let (strands, facts) = (&dag.strands, &model.facts);
    let task = strands.task[i];
    let row = |s: StrandId| model.rows.of(strands.thread[s as usize]);
    let (of, next) = in_task(model, id);
    let by = ready_event(dag, id);
    let victim = index.arcs.victim(id);
    let met = hot_functions(dag, (strands.start[i], strands.end[i]), &[], |s| s == id);
    let (previous_on_row, next_on_row) = on_row(model, index, id);
    let inside = index.waits.inside(model, id);
    Reply::json(&StrandDetail {
        id,
        task,
        size: model.sizes.of_strand(dag, id),
        of,
        row: row(id),
        start: since(model, strands.start[i]),
        end: since(model, strands.end[i]),
        weight: facts.weight.get(id as usize),
        descheduled: facts.descheduled.get(id as usize),
        blocked: facts.blocked.get(id as usize),
        recording: facts.recording.get(id as usize),
        between: facts.between.get(id as usize),
        code: model.codes.of(id),
        site: model.sites.of(dag.tasks.site[task as usize]),
        from: words(model, start_kind(strands.start_kind[i]), dag.starts_at(id)),
        to: words(model, strands.end_kind[i].name(), strands.to[i]),
        critical: model.critical(id),
        ready_path: index.source.on_ready_path(id),
        ready: model.ready(id).map(|r| since(model, r.0)),
        made_ready_by: by.map(|r| MadeReady {
            strand: r.by,
            task: strands.task[r.by as usize],
            row: row(r.by),
            edge: r.kind.name(),
        }),
        stolen: victim.map(|thread| Stolen {
            victim: Some(model.rows.of(thread)),
            leap: index.arcs.is_leap(id),
        }),
        meanwhile: index.mean_busy(model, strands.start[i], strands.end[i]),
        counters: counters(dag, id),
        functions: met
            .into_iter()
            .take(MAX_FUNCTIONS)
            .map(|f| Function {
                function: f.function,
                file: f.file,
                line: f.line,
                samples: f.samples,
            })
            .collect(),
        previous: Some(strands.prev[i]).filter(|&s| s != NONE),
        next,
        previous_on_row,
        next_on_row,
        folded: dag.fold_of(id).map_or(0, |fold| fold.tasks),
        sums_alone: sums_alone(dag, id),
        waits: super::waits::words(model, &inside),
        all_waits: super::waits::Sum::of(&inside),
        ended_waits: super::waits::Ended::of(model, &index.waits.ended_by(id)),
    })
}

/// The values of hardware counters for the strand.
fn counters(dag: &Dag, id: StrandId) -> Vec<(&str, u64)> {
    let value = |counter: &Counter| {
        let at = counter.values.binary_search_by_key(&id, |v| v.0).ok()?;
        Some(counter.values[at].1)
    };
    let counters = dag.counters.iter();
    counters
        .filter_map(|c| Some((c.name.as_str(), value(c)?)))
        .collect()
}

/// The number of strands of the strand's task, and the next of them.
fn in_task(model: &RunModel, id: StrandId) -> (u32, Option<StrandId>) {
    let dag = &*model.dag;
    let mut at = dag.tasks.last[dag.strands.task[id as usize] as usize];
    let (mut count, mut next) = (0, None);
    while at != NONE {
        count += 1;
        let prev = dag.strands.prev[at as usize];
        if prev == id {
            next = Some(at);
        }
        at = prev;
    }
    (count, next)
}

/// The previous and the next strand on the same thread, without strands of no length.
fn on_row(model: &RunModel, index: &Index, id: StrandId) -> (Option<StrandId>, Option<StrandId>) {
    let own = index
        .source
        .strands_of(model.dag.strands.thread[id as usize]);
    let (before, after) = match own.binary_search(&id) {
        Ok(at) => (at.checked_sub(1), at + 1),
        Err(at) => (at.checked_sub(1), at),
    };
    (before.map(|i| own[i]), own.get(after).copied())
}
