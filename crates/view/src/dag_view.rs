//! The DAG, node by node (`ui/src/data/contract.ts`): the contents of expanded tasks and groups.
//!
//! The contents of a task are its *sequence*: its strands, and after each one the tasks created at
//! its end, in program order. If the sequence is too long for a picture, stretches of it become
//! groups, which are expanded like tasks.

mod folded;
mod inside;
mod order;
mod sequence;
mod within;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use workspan_analysis::{Column, Subtrees, subtrees};
use workspan_dag::{Dag, NONE, StrandId, TaskId, memory};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::inside::tree;
use crate::lru::ByteLru;
use crate::run::{Run, RunModel};
use crate::session::Session;
use folded::SubtreeSums;
use inside::Item;
use order::Order;
use sequence::{NodeId, Step};
pub(crate) use within::WithinId;

/// Maximum number of items in one node.
const MAX_ITEMS: usize = 200;

/// Maximum number of items in one answer; nodes beyond it are omitted.
const MAX_ITEMS_IN_ANSWER: usize = 5000;

/// Maximum number of ancestors given: no picture shows more levels.
const MAX_ANCESTORS: usize = 2000;

/// Maximum bytes of cached sums over many strands.
const MAX_CACHED_SUM_BYTES: usize = 4 << 20;

/// The data that nodes are made from: about 20 bytes per task.
#[derive(Debug)]
pub(crate) struct Index {
    /// The sums over every task with all its descendants.
    pub(crate) subtrees: Subtrees,
    order: Order,
    /// By place: the longest time from start to end of any task created there.
    longest: Vec<u64>,
    /// Cached sums over many strands.
    known: ByteLru<TaskId, SubtreeSums>,
    /// The long sequence that was requested last: most of the following requests are about the same
    /// one.
    last: Mutex<Option<(TaskId, Arc<[Step]>)>>,
}

impl Index {
    pub(crate) fn new(model: &RunModel) -> Index {
        let dag = &*model.dag;
        let count = dag.tasks.len();
        let mut longest = vec![0; dag.places.len()];
        for task in 0..count as TaskId {
            let most = &mut longest[dag.tasks.site[task as usize] as usize];
            *most = (*most).max(length(dag, task));
        }
        // The run was measured with the same options before, so no counter can be missing.
        let measured = subtrees(dag, &model.options);
        let all = |value: u64| Column::new(|| std::iter::repeat_n(value, count));
        let subtrees = measured.unwrap_or_else(|_| Subtrees {
            work: all(0),
            span: all(0),
            critical_work: all(0),
            tasks: all(1),
            strands: all(1),
            bounded: 0,
        });
        let index = Index {
            subtrees,
            order: Order::new(dag),
            longest,
            known: ByteLru::new(MAX_CACHED_SUM_BYTES),
            last: Mutex::default(),
        };
        // Measuring used more memory than its result takes.
        memory::give_back();
        index
    }

    /// The children of a task, in the order of creation.
    pub(crate) fn children(&self, task: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        self.order.children(&self.subtrees.tasks, task)
    }

    /// Tasks without a creator, the main thread's first.
    fn roots(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.order.roots(&self.subtrees.tasks)
    }

    /// The task and all its descendants.
    pub(crate) fn with_descendants(&self, task: TaskId) -> &[TaskId] {
        self.order.with_descendants(&self.subtrees.tasks, task)
    }

    /// A task's strands, from first to last.
    pub(crate) fn strands_of(&self, dag: &Dag, task: TaskId) -> Vec<StrandId> {
        let mut strands = Vec::new();
        let mut at = dag.tasks.last[task as usize];
        while at != NONE {
            strands.push(at);
            at = dag.strands.prev[at as usize];
        }
        strands.reverse();
        strands
    }

    /// Bytes of the cached sums and sequence.
    pub(crate) fn kept(&self) -> usize {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_ref().map_or(0, |last| size_of_val(&*last.1));
        self.known.bytes() + last
    }

    /// Whether no task of the same site took longer.
    pub(crate) fn is_longest(&self, dag: &Dag, task: TaskId) -> bool {
        length(dag, task) == self.longest[dag.tasks.site[task as usize] as usize]
    }
}

/// Ticks from a task's start to its end.
fn length(dag: &Dag, task: TaskId) -> u64 {
    let (first, last) = (
        dag.tasks.first[task as usize],
        dag.tasks.last[task as usize],
    );
    dag.strands.end[last as usize].saturating_sub(dag.strands.start[first as usize])
}

/// The contract's `DagAnswer`.
#[derive(Serialize)]
struct DagAnswer {
    nodes: BTreeMap<String, DagInside>,
}

#[derive(Serialize)]
struct DagInside {
    items: Vec<Item>,
}

/// `dag`: the contents of the nodes with the given `ids`.
///
/// # Errors
/// A node does not exist, or the run is loading.
pub(crate) fn dag(
    session: &Session,
    run: &Run,
    ids: &[&str],
    sections: bool,
) -> Result<Reply, ApiError> {
    let (model, timeline, tree) = (run.model()?, run.timeline()?, run.tree()?);
    let mut answer = DagAnswer {
        nodes: BTreeMap::new(),
    };
    let mut count = 0;
    let absent = || ApiError::not_found("There is no such node in this run's DAG.");
    for &id in ids {
        let within = WithinId::parse(id);
        let node = NodeId::parse(model, tree, id);
        if within.is_none() && node.is_none() {
            return Err(absent());
        }
        if count >= MAX_ITEMS_IN_ANSWER {
            continue;
        }
        let sole = match node {
            Some(NodeId::Task(task)) => sole(model, task),
            _ => None,
        };
        let items = match (within.or(sole.map(WithinId::whole)), node) {
            (Some(within), _) => {
                let opened = tree::open(session, run, within.strand)?;
                within::items(model, &opened, &within).ok_or_else(absent)?
            }
            (None, node) => {
                let node = node.ok_or_else(absent)?;
                inside::items(model, &timeline.source, tree, node, sections)
            }
        };
        count += items.len();
        answer.nodes.insert(id.to_owned(), DagInside { items });
    }
    Reply::json(&answer)
}

/// The strand of a task that consists of one folded strand; expanding the task expands that strand.
fn sole(model: &RunModel, task: TaskId) -> Option<StrandId> {
    let (tasks, i) = (&model.dag.tasks, task as usize);
    let (first, last) = (tasks.first[i], tasks.last[i]);
    (first == last && tree::can_open(model, first)).then_some(first)
}

/// The nodes to expand, from the root down, to see a task. For a task deeper than any picture, only
/// the upper part of them.
///
/// # Errors
/// The task does not exist, or the run is loading.
pub(crate) fn ancestors(run: &Run, task: TaskId, sections: bool) -> Result<Vec<String>, ApiError> {
    let (model, tree) = (run.model()?, run.tree()?);
    let dag = &*model.dag;
    if task as usize >= dag.tasks.len() {
        return Err(ApiError::not_found("There is no such task in this run."));
    }
    let parent = |t: &TaskId| Some(dag.tasks.parent[*t as usize]).filter(|&p| p != NONE);
    let mut line: Vec<TaskId> = std::iter::successors(Some(task), parent).collect();
    line.reverse();
    let mut ids = Vec::new();
    for (i, &t) in line.iter().enumerate() {
        if ids.len() >= MAX_ANCESTORS {
            break;
        }
        let around = i.checked_sub(1).map(|above| line[above]);
        let groups = inside::groups_to(model, tree, around, Step::Child(t), sections);
        ids.extend(groups.into_iter().map(|group| group.to_string()));
        ids.push(NodeId::Task(t).to_string());
    }
    Ok(ids)
}

/// The nodes on the path from the root to a strand or to something inside it; `Way` in the
/// contract.
#[derive(Serialize)]
struct ExpansionPath {
    open: Vec<String>,
    inner: Option<u32>,
}

/// What to look for inside a folded strand.
#[derive(Debug)]
pub(crate) enum PathTarget {
    /// The strand itself.
    Itself,
    /// The strand that runs at this time, in ticks from the run's begin.
    At(u64),
    /// A node inside the strand.
    Node(WithinId),
}

impl PathTarget {
    /// Parses the parameters of a request.
    ///
    /// # Errors
    /// `node` is not the id of a node inside a folded strand.
    pub(crate) fn new(at: Option<u64>, node: Option<&str>) -> Result<PathTarget, ApiError> {
        match (at, node) {
            (Some(at), _) => Ok(PathTarget::At(at)),
            (None, Some(id)) => {
                let node = WithinId::parse(id).map(PathTarget::Node);
                node.ok_or_else(|| {
                    ApiError::bad_request("`node` is no node inside of a folded strand.")
                })
            }
            (None, None) => Ok(PathTarget::Itself),
        }
    }
}

/// `way`: the nodes to expand, from the root down, to see a strand or something inside it.
///
/// # Errors
/// The strand does not exist or can't be opened, or the run is loading.
pub(crate) fn way(
    session: &Session,
    run: &Run,
    strand: StrandId,
    target: PathTarget,
    sections: bool,
) -> Result<Reply, ApiError> {
    let (model, tree) = (run.model()?, run.tree()?);
    let dag = &*model.dag;
    let task = dag.strands.task.get(strand as usize);
    let task = *task.ok_or_else(crate::detail::no_strand)?;
    let mut open = ancestors(run, task, sections)?;
    let groups = inside::groups_to(model, tree, Some(task), Step::Strand(strand), sections);
    open.extend(groups.into_iter().map(|group| group.to_string()));
    let (inner, way) = match target {
        PathTarget::Itself => return Reply::json(&ExpansionPath { open, inner: None }),
        PathTarget::At(at) => {
            let opened = tree::open(session, run, strand)?;
            let t = model.begin.saturating_add(at);
            let found = opened.at(t).ok_or_else(crate::detail::no_strand)?;
            (Some(found), within::way_to_strand(&opened, found))
        }
        PathTarget::Node(node) if node.strand == strand => {
            let opened = tree::open(session, run, strand)?;
            (None, within::way_to_node(&opened, &node))
        }
        PathTarget::Node(_) => return Err(crate::detail::no_strand()),
    };
    if sole(model, task).is_none() {
        open.push(WithinId::whole(strand).to_string());
    }
    let room = MAX_ANCESTORS.saturating_sub(open.len());
    open.extend(way.into_iter().take(room).map(|id| id.to_string()));
    Reply::json(&ExpansionPath { open, inner })
}
