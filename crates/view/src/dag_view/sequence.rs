//! The contents of a node in program order, before they are drawn.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use workspan_dag::{Dag, NONE, StrandId, TaskId};

use super::Index;
use crate::run::RunModel;

/// A node of the DAG, as requests name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeId {
    /// `r`: the run, whose items are the roots.
    Run,
    /// `gr.<from>.<to>`: some of the roots.
    Roots(Range<usize>),
    /// `t<task>`.
    Task(TaskId),
    /// `g<task>.<from>.<to>`: a stretch of the task's sequence.
    Group(TaskId, Range<usize>),
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeId::Run => write!(f, "r"),
            NodeId::Roots(range) => write!(f, "gr.{}.{}", range.start, range.end),
            NodeId::Task(task) => write!(f, "t{task}"),
            NodeId::Group(task, range) => write!(f, "g{task}.{}.{}", range.start, range.end),
        }
    }
}

impl NodeId {
    /// Parses the id of a node; `None` if the run has no such node.
    pub(super) fn parse(model: &RunModel, tree: &Index, id: &str) -> Option<NodeId> {
        fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        }
        let count = model.dag.tasks.len();
        if id == "r" {
            return Some(NodeId::Run);
        }
        let known = |task: &TaskId| (*task as usize) < count;
        if let Some(task) = id.strip_prefix('t') {
            return number(task).filter(known).map(NodeId::Task);
        }
        let mut parts = id.strip_prefix('g')?.split('.');
        let (of, from, to) = (
            parts.next()?,
            number(parts.next()?)?,
            number(parts.next()?)?,
        );
        if parts.next().is_some() || from >= to {
            return None;
        }
        if of == "r" {
            let inside = to <= tree.roots().count();
            return inside.then_some(NodeId::Roots(from..to));
        }
        let task = number(of).filter(known)?;
        let inside = to <= sequence(&model.dag, tree, task).len();
        inside.then_some(NodeId::Group(task, from..to))
    }
}

/// A step of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Strand(StrandId),
    Child(TaskId),
}

/// Sequences longer than this are cached until another one is requested.
const MAX_UNCACHED_STEPS: usize = 1000;

/// The strands of a task, and after each one the tasks created at its end.
pub(super) fn sequence(dag: &Dag, tree: &Index, task: TaskId) -> Arc<[Step]> {
    let known = || tree.last.lock().ok()?.clone().filter(|last| last.0 == task);
    if let Some((_, steps)) = known() {
        return steps;
    }
    let steps: Arc<[Step]> = walk(dag, tree, task).into();
    if steps.len() > MAX_UNCACHED_STEPS
        && let Ok(mut last) = tree.last.lock()
    {
        *last = Some((task, steps.clone()));
    }
    steps
}

fn walk(dag: &Dag, tree: &Index, task: TaskId) -> Vec<Step> {
    let strands = tree.strands_of(dag, task);
    let mut steps = Vec::with_capacity(strands.len());
    let mut next = tree.children(task).peekable();
    for s in strands {
        steps.push(Step::Strand(s));
        while let Some(child) = next.next_if(|&child| {
            let creator = dag.tasks.creator[child as usize];
            creator == s || creator == NONE
        }) {
            steps.push(Step::Child(child));
        }
    }
    // Children are sorted by the strand that created them, which is one of the task's, so all were
    // visited.
    steps.extend(next.map(Step::Child));
    steps
}

/// The steps of a node, which are a range of a task's sequence or of the roots.
pub(super) fn steps(model: &RunModel, tree: &Index, node: &NodeId) -> Vec<Step> {
    let roots = || tree.roots().map(Step::Child);
    match node {
        NodeId::Run => roots().collect(),
        NodeId::Roots(range) => roots().skip(range.start).take(range.len()).collect(),
        NodeId::Task(task) => sequence(&model.dag, tree, *task).to_vec(),
        NodeId::Group(task, range) => {
            let all = sequence(&model.dag, tree, *task);
            all.get(range.clone()).unwrap_or_default().to_vec()
        }
    }
}

/// The number of steps per piece if a node has `count` steps; `None` if all are shown one by one.
pub(super) fn cut(count: usize, most: usize) -> Option<usize> {
    if count <= most {
        return None;
    }
    let groups = count.div_ceil(most / 2).min(most);
    Some(count.div_ceil(groups))
}
