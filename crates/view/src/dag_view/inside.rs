//! The items of an expanded node.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_dag::{StrandId, TaskId};

use super::folded::{self, Folded};
use super::sequence::{NodeId, Step, cut, sequence, steps};
use super::{Index, MOST_ITEMS};
use crate::inside::tree::{Sums, can_open};
use crate::run::Picture;
use crate::timeline::Source;

/// Signals of a wait that are named.
const MOST_SIGNALS: usize = 50;

/// The contract's `DagItem`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Item {
    /// A strand of the task.
    Strand(Strand),
    /// A child with all below it.
    Task(Folded),
    /// A stretch of the inside with all below it.
    Group(Folded),
}

/// The contract's `DagStrand`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Strand {
    pub id: StrandId,
    pub task: TaskId,
    pub row: u16,
    pub start: u64,
    pub end: u64,
    pub weight: u64,
    pub code: u16,
    pub site: u16,
    pub critical: bool,
    pub ready_path: bool,
    pub ready: Option<u64>,
    pub creates: Vec<String>,
    pub joins: Vec<String>,
    pub signals: Vec<StrandId>,
    pub end_kind: u8,
    /// Tasks that it stands for, of a subtree that was folded.
    pub folded: u64,
    /// What is inside of it, when it can be opened.
    pub inside: Option<Sums>,
    /// Of a strand inside of a folded one, whose `id` and `task` it has: which one it is there.
    pub inner: Option<u32>,
}

/// A stretch of a node's steps, or one of them.
fn pieces(node: &NodeId, steps: &[Step]) -> Vec<(Option<NodeId>, std::ops::Range<usize>)> {
    let Some(size) = cut(steps.len(), MOST_ITEMS) else {
        return (0..steps.len()).map(|i| (None, i..i + 1)).collect();
    };
    let first = match node {
        NodeId::Group(_, range) | NodeId::Roots(range) => range.start,
        NodeId::Task(_) | NodeId::Run => 0,
    };
    let group = |from: usize| {
        let to = (from + size).min(steps.len());
        let id = match *node {
            NodeId::Task(task) | NodeId::Group(task, _) => {
                NodeId::Group(task, first + from..first + to)
            }
            NodeId::Run | NodeId::Roots(_) => NodeId::Roots(first + from..first + to),
        };
        (Some(id), from..to)
    };
    (0..steps.len()).step_by(size).map(group).collect()
}

/// The items of a node, at most [`MOST_ITEMS`].
pub(super) fn items(picture: &Picture, source: &Source, tree: &Index, node: NodeId) -> Vec<Item> {
    let steps = steps(picture, tree, &node);
    let pieces = pieces(&node, &steps);
    // Under which name each child is shown here.
    let mut shown: BTreeMap<TaskId, String> = BTreeMap::new();
    for (group, range) in &pieces {
        for step in &steps[range.clone()] {
            if let Step::Child(task) = *step {
                let id = group.clone().unwrap_or(NodeId::Task(task));
                shown.insert(task, id.to_string());
            }
        }
    }
    let names = |tasks: &[TaskId], own: &str| {
        let mut names: Vec<String> = Vec::new();
        for name in tasks.iter().filter_map(|task| shown.get(task)) {
            if name != own && names.last() != Some(name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    };
    let depends_of = |task: TaskId| {
        let dag = &*picture.dag;
        match dag.dependents.binary_search(&task) {
            Ok(at) => dag.depends.get(at),
            Err(_) => &[],
        }
    };
    let item = |(group, range): &(Option<NodeId>, std::ops::Range<usize>)| {
        let inside = &steps[range.clone()];
        if let Some(id) = group {
            let mut on: Vec<TaskId> = Vec::new();
            for step in inside {
                if let Step::Child(task) = *step {
                    on.extend(depends_of(task));
                }
            }
            let depends = names(&on, &id.to_string());
            return Item::Group(folded::group(picture, tree, id, inside, depends));
        }
        match inside[0] {
            Step::Child(task) => {
                let depends = names(depends_of(task), "");
                Item::Task(folded::task(picture, tree, task, depends))
            }
            Step::Strand(s) => {
                let after = &steps[range.end..];
                let created = after.iter().map_while(|step| match *step {
                    Step::Child(task) => Some(task),
                    Step::Strand(_) => None,
                });
                let creates: Vec<TaskId> = created.collect();
                Item::Strand(strand(
                    picture,
                    source,
                    s,
                    |tasks| names(tasks, ""),
                    &creates,
                ))
            }
        }
    };
    pieces.iter().map(item).collect()
}

fn strand(
    picture: &Picture,
    source: &Source,
    s: StrandId,
    names: impl Fn(&[TaskId]) -> Vec<String>,
    creates: &[TaskId],
) -> Strand {
    let (dag, i) = (&*picture.dag, s as usize);
    let since = |t: u64| t.saturating_sub(picture.begin);
    let wait = dag.waits.index_of(s);
    let joined = wait.map_or(&[][..], |w| dag.waits.tasks.get(w));
    let signals = wait.map_or(&[][..], |w| dag.waits.signals.get(w));
    let task = dag.strands.task[i];
    Strand {
        id: s,
        task,
        row: picture.rows.of(dag.strands.thread[i]),
        start: since(dag.strands.start[i]),
        end: since(dag.strands.end[i]),
        weight: picture.weight(s),
        code: picture.codes.of(s),
        site: picture.sites.of(dag.tasks.site[task as usize]),
        critical: picture.critical(s),
        ready_path: source.on_ready_path(s),
        ready: picture.ready(s).map(|r| since(r.0)),
        creates: names(creates),
        joins: names(joined),
        signals: signals.iter().take(MOST_SIGNALS).copied().collect(),
        end_kind: dag.strands.end_kind[i] as u8,
        folded: dag.fold_of(s).map_or(0, |fold| fold.tasks),
        inside: sums(picture, s),
        inner: None,
    }
}

/// What strand `s` stands for, when it can be opened.
fn sums(picture: &Picture, s: StrandId) -> Option<Sums> {
    let fold = picture.dag.fold_of(s).filter(|_| can_open(picture, s))?;
    let critical = picture.critical(s);
    Some(Sums {
        tasks: fold.tasks,
        strands: fold.strands,
        work: fold.work,
        span: fold.span,
        critical_work: if critical { fold.span } else { 0 },
    })
}

/// The groups to expand, outermost first, to see a step of `around` (or a root) once that is
/// expanded.
pub(super) fn groups_to(
    picture: &Picture,
    tree: &Index,
    around: Option<TaskId>,
    sought: Step,
) -> Vec<NodeId> {
    let (mut node, all) = match around {
        None => (NodeId::Run, steps(picture, tree, &NodeId::Run).into()),
        Some(task) => {
            // Most tasks have few steps, and a walk over a million of their names is long enough.
            let few = tree.children(task).count() as u64 + tree.subtrees.strands.get(task as usize);
            if few <= MOST_ITEMS as u64 {
                return Vec::new();
            }
            (NodeId::Task(task), sequence(&picture.dag, tree, task))
        }
    };
    let mut groups = Vec::new();
    let mut inside = 0..all.len();
    let Some(at) = all.iter().position(|&step| step == sought) else {
        return groups;
    };
    loop {
        let found = pieces(&node, &all[inside.clone()])
            .into_iter()
            .find(|(_, range)| range.contains(&(at - inside.start)));
        let Some((Some(group), range)) = found else {
            return groups;
        };
        inside = inside.start + range.start..inside.start + range.end;
        groups.push(group.clone());
        node = group;
    }
}
