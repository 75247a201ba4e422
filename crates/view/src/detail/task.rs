//! `task`: the details of a task.

use serde::Serialize;
use workspan_dag::{NONE, StartKind, StrandId, TaskId};

use super::{PlaceWords, since, words};
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};
use crate::timeline::Index;

/// Maximum number of items in each list of an answer.
const MAX_LIST_ITEMS: usize = 500;

/// Maximum number of children given.
const FIRST_CHILDREN: usize = 20;

/// The contract's `TaskDetail`.
#[derive(Serialize)]
struct TaskDetail<'a> {
    task: TaskId,
    number: u64,
    /// The size that it told.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    kind: &'static str,
    level: u32,
    site: u16,
    code: u16,
    first: StrandId,
    last: StrandId,
    start: u64,
    end: u64,
    strands: Vec<StrandId>,
    more_strands: usize,
    children: usize,
    first_children: Vec<TaskId>,
    work: u64,
    span: u64,
    tasks: u64,
    stack: Vec<Frame<'a>>,
    joined_by: Option<StrandId>,
    waits: Vec<Wait<'a>>,
    depends: Vec<TaskId>,
    longest: bool,
}

#[derive(Serialize)]
struct Frame<'a> {
    task: TaskId,
    site: u16,
    code: u16,
    row: u16,
    start: u64,
    spawned_on: Option<u16>,
    stolen_by: Option<u16>,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct Wait<'a> {
    at: PlaceWords<'a>,
    from: u64,
    to: u64,
    tasks: usize,
}

/// `task`: everything known about a task.
///
/// # Errors
/// The task does not exist, or the run is loading.
pub(crate) fn task(run: &Run, id: TaskId) -> Result<Reply, ApiError> {
    let (model, index, tree) = (run.model()?, run.timeline()?, run.tree()?);
    let dag = &*model.dag;
    let i = id as usize;
    if i >= dag.tasks.len() {
        return Err(ApiError::not_found("There is no such task in this run."));
    }
    let strands = tree.strands_of(dag, id);
    let (first, last) = (dag.tasks.first[i], dag.tasks.last[i]);
    let joined_by = (0..dag.waits.after.len())
        .find(|&w| dag.waits.tasks.get(w).binary_search(&id).is_ok())
        .map(|w| dag.waits.after[w]);
    let depends = match dag.dependents.binary_search(&id) {
        Ok(at) => dag
            .depends
            .get(at)
            .iter()
            .take(MAX_LIST_ITEMS)
            .copied()
            .collect(),
        Err(_) => Vec::new(),
    };
    Reply::json(&TaskDetail {
        task: id,
        number: dag.tasks.number(id),
        size: model.sizes.of(id),
        kind: dag.tasks.kind[i].name(),
        level: dag.tasks.level[i],
        site: model.sites.of(dag.tasks.site[i]),
        code: model.codes.of(first),
        first,
        last,
        start: since(model, dag.strands.start[first as usize]),
        end: since(model, dag.strands.end[last as usize]),
        more_strands: strands.len().saturating_sub(MAX_LIST_ITEMS),
        waits: waits(model, &strands),
        strands: strands.into_iter().take(MAX_LIST_ITEMS).collect(),
        children: tree.children(id).count(),
        first_children: tree.children(id).take(FIRST_CHILDREN).collect(),
        work: tree.subtrees.work.get(i),
        span: tree.subtrees.span.get(i),
        tasks: tree.subtrees.tasks.get(i),
        stack: stack(model, index, id),
        joined_by,
        depends,
        longest: tree.is_longest(dag, id),
    })
}

/// The task and its ancestors up to the root; for a deep task the innermost ones and the root.
fn stack<'a>(model: &'a RunModel, index: &Index, task: TaskId) -> Vec<Frame<'a>> {
    let dag = &*model.dag;
    let parent = |t: &TaskId| Some(dag.tasks.parent[*t as usize]).filter(|&p| p != NONE);
    let mut tasks: Vec<TaskId> = Vec::new();
    for (depth, t) in std::iter::successors(Some(task), parent).enumerate() {
        if depth < MAX_LIST_ITEMS {
            tasks.push(t);
        } else {
            tasks[MAX_LIST_ITEMS - 1] = t;
        }
    }
    let frame = |t: TaskId| {
        let i = t as usize;
        let first = dag.tasks.first[i];
        let row = |s: StrandId| model.rows.of(dag.strands.thread[s as usize]);
        let place = dag.places.get(dag.tasks.site[i] as usize);
        let creator = Some(dag.tasks.creator[i]).filter(|&s| s != NONE);
        Frame {
            task: t,
            site: model.sites.of(dag.tasks.site[i]),
            code: model.codes.of(first),
            row: row(first),
            start: since(model, dag.strands.start[first as usize]),
            spawned_on: creator.map(row),
            stolen_by: index.arcs.victim(first).map(|_| row(first)),
            function: place.and_then(|p| p.function.as_deref()),
            file: place.and_then(|p| p.file.as_deref()),
            line: place.and_then(|p| p.line),
        }
    };
    tasks.into_iter().map(frame).collect()
}

/// The waits of a task whose strands are `strands`.
fn waits<'a>(model: &'a RunModel, strands: &[StrandId]) -> Vec<Wait<'a>> {
    let dag = &*model.dag;
    let after_wait = |&&s: &&StrandId| dag.strands.start_kind[s as usize] == StartKind::AfterWait;
    let wait = |&s: &StrandId| {
        let i = s as usize;
        let before = dag.strands.prev[i];
        let joined = dag.waits.index_of(s).map(|w| dag.waits.tasks.get(w).len());
        Wait {
            at: words(model, "wait", dag.starts_at(s)),
            from: since(model, dag.strands.end[before as usize]),
            to: since(model, dag.strands.start[i]),
            tasks: joined.unwrap_or(0),
        }
    };
    strands
        .iter()
        .filter(after_wait)
        .take(MAX_LIST_ITEMS)
        .map(wait)
        .collect()
}
