//! The items of an expanded node.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;
use workspan_dag::{Dag, StrandId, TaskId};

use super::folded::{self, Folded};
use super::sequence::{NodeId, Step, cut, sequence, steps};
use super::{Index, MAX_ITEMS};
use crate::inside::tree::{Sums, can_open};
use crate::run::RunModel;
use crate::timeline::Source;

/// Maximum number of signals given for a wait.
const MAX_SIGNALS: usize = 50;

/// The contract's `DagItem`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Item {
    /// A strand of the task.
    Strand(Strand),
    /// A child with its whole subtree.
    Task(Folded),
    /// A stretch of the sequence with everything below it.
    Group(Folded),
}

/// The contract's `DagStrand`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Strand {
    pub id: StrandId,
    pub task: TaskId,
    /// The size that the task told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    pub row: u16,
    pub start: u64,
    pub end: u64,
    pub weight: u64,
    /// Ticks off the CPU in which it waited, and was not preempted.
    #[serde(skip_serializing_if = "is_zero")]
    pub blocked: u64,
    pub code: u16,
    pub site: u16,
    pub critical: bool,
    pub ready_path: bool,
    pub ready: Option<u64>,
    pub creates: Vec<String>,
    pub joins: Vec<String>,
    pub signals: Vec<StrandId>,
    pub end_kind: u8,
    /// Number of tasks that a folded strand stands for.
    pub folded: u64,
    /// The sums over what is inside the strand, if it can be opened.
    pub inside: Option<Sums>,
    /// For a strand inside a folded one, whose `id` and `task` it has: its number there.
    pub inner: Option<u32>,
}

/// Whether an answer leaves these ticks out.
pub(super) fn is_zero(ticks: &u64) -> bool {
    *ticks == 0
}

/// A stretch of a node's steps, or a single step.
struct Piece {
    /// The id of the group, if the piece is one.
    group: Option<NodeId>,
    steps: Range<usize>,
    is_section: bool,
}

impl Piece {
    fn one(at: usize) -> Piece {
        Piece {
            group: None,
            steps: at..at + 1,
            is_section: false,
        }
    }
}

/// The pieces of a node's steps. With `sections`, each section (from where a task begins to create
/// others to where it has waited for all of them) is one piece.
fn pieces(dag: &Dag, node: &NodeId, steps: &[Step], sections: bool) -> Vec<Piece> {
    let first = match node {
        NodeId::Group(_, range) | NodeId::Roots(range) => range.start,
        NodeId::Task(_) | NodeId::Run => 0,
    };
    let group = |range: Range<usize>, is_section: bool| {
        let own = first + range.start..first + range.end;
        let id = match *node {
            NodeId::Task(task) | NodeId::Group(task, _) => NodeId::Group(task, own),
            NodeId::Run | NodeId::Roots(_) => NodeId::Roots(own),
        };
        Piece {
            group: Some(id),
            steps: range,
            is_section,
        }
    };
    if sections && matches!(node, NodeId::Task(_) | NodeId::Group(..)) {
        let all = sections_of(dag, steps);
        let inside: usize = all.iter().map(Range::len).sum();
        let count = steps.len() - inside + all.len();
        if !all.is_empty() && count <= MAX_ITEMS {
            let mut pieces = Vec::with_capacity(count);
            let mut at = 0;
            for section in all {
                pieces.extend((at..section.start).map(Piece::one));
                at = section.end;
                pieces.push(group(section, true));
            }
            pieces.extend((at..steps.len()).map(Piece::one));
            return pieces;
        }
    }
    match cut(steps.len(), MAX_ITEMS) {
        None => (0..steps.len()).map(Piece::one).collect(),
        Some(size) => (0..steps.len())
            .step_by(size)
            .map(|from| group(from..(from + size).min(steps.len()), false))
            .collect(),
    }
}

/// The sections of a sequence: from a strand that creates tasks to the one before the wait after
/// which all of them have ended. A section that covers all steps is left out.
fn sections_of(dag: &Dag, steps: &[Step]) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut open: BTreeSet<TaskId> = BTreeSet::new();
    let (mut begin, mut last) = (None, 0);
    for (i, step) in steps.iter().enumerate() {
        match *step {
            Step::Strand(s) => {
                if let (Some(from), Some(wait)) = (begin, dag.waits.index_of(s)) {
                    for task in dag.waits.tasks.get(wait) {
                        open.remove(task);
                    }
                    if open.is_empty() {
                        all.push(from..i);
                        begin = None;
                    }
                }
                last = i;
            }
            Step::Child(task) => {
                begin.get_or_insert(last);
                open.insert(task);
            }
        }
    }
    all.retain(|section| section.len() < steps.len());
    all
}

/// The items of a node; their number is limited to [`MAX_ITEMS`].
pub(super) fn items(
    model: &RunModel,
    source: &Source,
    tree: &Index,
    node: NodeId,
    sections: bool,
) -> Vec<Item> {
    let steps = steps(model, tree, &node);
    let pieces = pieces(&model.dag, &node, &steps, sections);
    // The id under which each child is shown here.
    let mut shown: BTreeMap<TaskId, String> = BTreeMap::new();
    for Piece {
        group, steps: own, ..
    } in &pieces
    {
        for step in &steps[own.clone()] {
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
        let dag = &*model.dag;
        match dag.dependents.binary_search(&task) {
            Ok(at) => dag.depends.get(at),
            Err(_) => &[],
        }
    };
    let item = |piece: &Piece| {
        let inside = &steps[piece.steps.clone()];
        if let Some(id) = &piece.group {
            let mut on: Vec<TaskId> = Vec::new();
            for step in inside {
                if let Step::Child(task) = *step {
                    on.extend(depends_of(task));
                }
            }
            let depends = names(&on, &id.to_string());
            let group = folded::group(model, tree, id, inside, depends);
            return Item::Group(Folded {
                section: piece.is_section,
                ..group
            });
        }
        match inside[0] {
            Step::Child(task) => {
                let depends = names(depends_of(task), "");
                Item::Task(folded::task(model, tree, task, depends))
            }
            Step::Strand(s) => {
                let after = &steps[piece.steps.end..];
                let created = after.iter().map_while(|step| match *step {
                    Step::Child(task) => Some(task),
                    Step::Strand(_) => None,
                });
                let creates: Vec<TaskId> = created.collect();
                Item::Strand(strand(model, source, s, |tasks| names(tasks, ""), &creates))
            }
        }
    };
    pieces.iter().map(item).collect()
}

fn strand(
    model: &RunModel,
    source: &Source,
    s: StrandId,
    names: impl Fn(&[TaskId]) -> Vec<String>,
    creates: &[TaskId],
) -> Strand {
    let (dag, i) = (&*model.dag, s as usize);
    let since = |t: u64| t.saturating_sub(model.begin);
    let wait = dag.waits.index_of(s);
    let joined = wait.map_or(&[][..], |w| dag.waits.tasks.get(w));
    let signals = wait.map_or(&[][..], |w| dag.waits.signals.get(w));
    let task = dag.strands.task[i];
    Strand {
        id: s,
        task,
        size: model.sizes.of_strand(dag, s),
        row: model.rows.of(dag.strands.thread[i]),
        start: since(dag.strands.start[i]),
        end: since(dag.strands.end[i]),
        weight: model.weight(s),
        blocked: model.facts.blocked.get(i),
        code: model.codes.of(s),
        site: model.sites.of(dag.tasks.site[task as usize]),
        critical: model.critical(s),
        ready_path: source.on_ready_path(s),
        ready: model.ready(s).map(|r| since(r.0)),
        creates: names(creates),
        joins: names(joined),
        signals: signals.iter().take(MAX_SIGNALS).copied().collect(),
        end_kind: dag.strands.end_kind[i] as u8,
        folded: dag.fold_of(s).map_or(0, |fold| fold.tasks),
        inside: sums(model, s),
        inner: None,
    }
}

/// The sums over what strand `s` stands for, if it can be opened.
fn sums(model: &RunModel, s: StrandId) -> Option<Sums> {
    let fold = model.dag.fold_of(s).filter(|_| can_open(model, s))?;
    let critical = model.critical(s);
    Some(Sums {
        tasks: fold.tasks,
        strands: fold.strands,
        work: fold.work,
        span: fold.span,
        critical_work: if critical { fold.span } else { 0 },
    })
}

/// The groups to expand, outermost first, so that a step of `around` (or a root) can be seen once
/// `around` is expanded.
pub(super) fn groups_to(
    model: &RunModel,
    tree: &Index,
    around: Option<TaskId>,
    sought: Step,
    sections: bool,
) -> Vec<NodeId> {
    let (mut node, all) = match around {
        None => (NodeId::Run, steps(model, tree, &NodeId::Run).into()),
        Some(task) => {
            // Most tasks have few steps; computing the group names of a million steps takes long.
            let few = tree.children(task).count() as u64 + tree.subtrees.strands.get(task as usize);
            if few <= MAX_ITEMS as u64 && !sections {
                return Vec::new();
            }
            (NodeId::Task(task), sequence(&model.dag, tree, task))
        }
    };
    let mut groups = Vec::new();
    let mut inside = 0..all.len();
    let Some(at) = all.iter().position(|&step| step == sought) else {
        return groups;
    };
    loop {
        let found = pieces(&model.dag, &node, &all[inside.clone()], sections)
            .into_iter()
            .find(|piece| piece.steps.contains(&(at - inside.start)));
        let Some(Piece {
            group: Some(group),
            steps: range,
            ..
        }) = found
        else {
            return groups;
        };
        inside = inside.start + range.start..inside.start + range.end;
        groups.push(group.clone());
        node = group;
    }
}
