//! `inside_strand`: the details of a strand inside a folded one.

use serde::Serialize;
use workspan_dag::folded::Folded;
use workspan_dag::{NONE, PlaceId, StrandId};
use workspan_reader::recorded::expand::ExpandedFold;

use super::codes::CodeOf;
use super::{records, tree};
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::dag_view::WithinId;
use crate::detail::{PlaceWords, no_strand, since, words};
use crate::run::{Run, RunModel};
use crate::session::Session;

/// Maximum number of frames in an answer; the innermost come first.
const MAX_FRAMES: usize = 500;

/// Number of strands to read for one instant: at most one or two have it in common.
const MAX_STRANDS_AT_INSTANT: usize = 4;

/// The contract's `InsideDetail`.
#[derive(Serialize)]
struct InsideDetail<'a> {
    strand: StrandId,
    task: u32,
    row: u16,
    start: u64,
    end: u64,
    code: u16,
    site: u16,
    level: u32,
    from: PlaceWords<'a>,
    to: PlaceWords<'a>,
    stack: Vec<Frame<'a>>,
    more: usize,
    folded: Whole,
    /// The sums in the record, if the strand was folded while it was recorded.
    stands_for: Option<FoldSums>,
    /// Sums over a task and everything below it, if the details are a task's.
    all: Option<All>,
}

/// Sums over tasks that were folded while they were recorded.
#[derive(Serialize)]
struct FoldSums {
    tasks: u64,
    strands: u64,
    work: u64,
    span: u64,
}

/// A task inside a folded strand, with everything below it.
#[derive(Serialize)]
struct All {
    /// The task's number in the folded strand, by creation from 1; 0 is the strand's own task.
    number: u32,
    children: usize,
    tasks: u64,
    strands: u64,
    work: u64,
    span: u64,
}

/// An ancestor of the strand's task, inside the folded strand.
#[derive(Serialize)]
struct Frame<'a> {
    site: u16,
    created: u64,
    begun: u64,
    at: Option<&'a str>,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

/// The folded strand.
#[derive(Serialize)]
struct Whole {
    start: u64,
    end: u64,
    tasks: u64,
    strands: u64,
    work: u64,
    span: u64,
}

/// The strand that runs at `at` (in ticks from the run's begin) inside the folded strand `id`.
///
/// # Errors
/// No such strand exists, or the run is loading.
pub(crate) fn detail(
    session: &Session,
    run: &Run,
    id: StrandId,
    at: u64,
) -> Result<Reply, ApiError> {
    let model = run.model()?;
    let dag = &*model.dag;
    let i = id as usize;
    let fold = (i < dag.strands.len()).then(|| dag.fold_of(id)).flatten();
    let fold = fold.ok_or_else(no_strand)?;
    let t = model.begin.saturating_add(at);
    let read = if tree::can_open(model, id) {
        let opened = tree::open(session, run, id)?;
        let strand = opened.at(t).ok_or_else(no_strand)?;
        let whole = &opened.whole;
        let strand = whole.strands[strand as usize];
        (
            strand,
            told(model, &whole.folds, strand.fold),
            whole.tasks.clone(),
        )
    } else {
        let records = records(session, run)?.ok_or_else(no_strand)?;
        let read = records.expand(dag, id, (t, t.saturating_add(1)), MAX_STRANDS_AT_INSTANT);
        let found = read.strands.iter().find(|s| s.start <= t && t < s.end);
        let strand = *found.ok_or_else(no_strand)?;
        (strand, told(model, &read.folds, strand.fold), read.tasks)
    };
    let (strand, stands_for, tasks) = read;
    let own = dag.strands.task[i] as usize;
    // From the innermost task to the folded strand's own, which is in the run's DAG.
    let mut stack = Vec::new();
    let mut more = 0;
    let mut task = strand.task;
    while task != 0 && task != NONE {
        let Some(inside) = tasks.get(task as usize) else {
            break;
        };
        if stack.len() < MAX_FRAMES {
            stack.push(frame(model, inside.site, (inside.created, inside.begun)));
        } else {
            more += 1;
        }
        // A parent comes before its children, so this loop ends.
        task = inside.parent.min(task.saturating_sub(1));
    }
    let inner = tasks.get(strand.task as usize);
    let (site, level) = match inner {
        Some(inner) if strand.task != 0 => (inner.site, inner.level),
        _ => (dag.tasks.site[own], 0),
    };
    let (from, from_kind) = match (strand.from, strand.task) {
        (NONE, 0) => (dag.starts_at(id), "begin"),
        (NONE, _) => (site, "begin"),
        (from, _) => (from, if from == site { "begin" } else { "after" }),
    };
    Reply::json(&InsideDetail {
        strand: id,
        task: dag.strands.task[i],
        row: model.rows.of(dag.strands.thread[i]),
        start: since(model, strand.start),
        end: since(model, strand.end),
        code: CodeOf::new(model).of(site, strand.from, strand.to, model.codes.of(id)),
        site: model.sites.of(site),
        level: dag.tasks.level[own].saturating_add(level),
        from: words(model, from_kind, from),
        to: words(model, strand.end_kind.name(), strand.to),
        stack,
        more,
        folded: whole(model, id, &fold),
        stands_for,
        all: None,
    })
}

fn whole(model: &RunModel, id: StrandId, fold: &Folded) -> Whole {
    let strands = &model.dag.strands;
    Whole {
        start: since(model, strands.start[id as usize]),
        end: since(model, strands.end[id as usize]),
        tasks: fold.tasks,
        strands: fold.strands,
        work: fold.work,
        span: fold.span,
    }
}

/// `inside_task`: the details of the task of DAG node `id` (`s<strand>.<task>`, or a stretch of its
/// sequence).
///
/// # Errors
/// The node does not exist or can't be opened, or the run is loading.
pub(crate) fn task(session: &Session, run: &Run, id: &str) -> Result<Reply, ApiError> {
    let model = run.model()?;
    let dag = &*model.dag;
    let absent = || ApiError::not_found("There is no such task in this run.");
    let node = WithinId::parse(id).ok_or_else(absent)?;
    let opened = tree::open(session, run, node.strand)?;
    let number = node.task as usize;
    let fold = dag.fold_of(node.strand).ok_or_else(absent)?;
    let tasks = &opened.whole.tasks;
    let (task, below) = match (tasks.get(number), opened.tasks.get(number)) {
        (Some(task), Some(below)) => (task, below),
        _ => return Err(absent()),
    };
    let i = node.strand as usize;
    let own = dag.strands.task[i];
    let (mut stack, mut more) = (Vec::new(), 0);
    let mut at = node.task;
    while let Some(inside) = tasks.get(at as usize).filter(|_| at != 0) {
        if stack.len() < MAX_FRAMES {
            stack.push(frame(model, inside.site, (inside.created, inside.begun)));
        } else {
            more += 1;
        }
        at = inside.parent.min(at - 1);
    }
    let site = if number == 0 {
        dag.tasks.site[own as usize]
    } else {
        task.site
    };
    let strands = opened.strands_of(node.task);
    let ends = |s: Option<&u32>| s.and_then(|&s| opened.whole.strands.get(s as usize));
    let to = ends(strands.last());
    Reply::json(&InsideDetail {
        strand: node.strand,
        task: own,
        row: model.rows.of(dag.strands.thread[i]),
        start: since(model, below.start),
        end: since(model, below.end),
        code: below.code,
        site: model.sites.of(site),
        level: dag.tasks.level[own as usize].saturating_add(task.level),
        from: words(model, "begin", site),
        to: words(
            model,
            to.map_or("end", |s| s.end_kind.name()),
            to.map_or(NONE, |s| s.to),
        ),
        stack,
        more,
        folded: whole(model, node.strand, &fold),
        stands_for: None,
        all: Some(All {
            number: node.task,
            children: opened.children(node.task).len(),
            tasks: below.sums.tasks,
            strands: below.sums.strands,
            work: below.sums.work,
            span: below.sums.span,
        }),
    })
}

fn told(model: &RunModel, folds: &[ExpandedFold], fold: u32) -> Option<FoldSums> {
    let fold = folds
        .get(fold as usize)?
        .without_probes(tree::probes_of(model));
    Some(FoldSums {
        tasks: fold.tasks,
        strands: fold.strands,
        work: fold.work,
        span: fold.span,
    })
}

fn frame(model: &RunModel, site: PlaceId, (created, begun): (u64, u64)) -> Frame<'_> {
    let place = model.dag.places.get(site as usize);
    Frame {
        site: model.sites.of(site),
        created: since(model, created),
        begun: since(model, if begun == u64::MAX { created } else { begun }),
        at: place.map(|p| p.label.as_str()),
        function: place.and_then(|p| p.function.as_deref()),
        file: place.and_then(|p| p.file.as_deref()),
        line: place.and_then(|p| p.line),
    }
}
