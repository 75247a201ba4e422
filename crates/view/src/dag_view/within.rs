//! The DAG inside a folded strand. Its nodes are `s<strand>` (the strand), `s<strand>.<task>` (its
//! tasks), and `s<strand>.<task>.<from>.<to>` (stretches of a task's sequence).

mod id;

use std::ops::Range;

use workspan_dag::NONE;
use workspan_reader::recorded::expand::ExpandedFold;

use super::MAX_ITEMS;
use super::folded::{BINS, Folded, label};
use super::inside::{Item, Strand};
use super::sequence::cut;
use crate::detail::since;
use crate::inside::tree::{Index, Tree};
use crate::run::RunModel;
pub(crate) use id::WithinId;

/// A step of a task's sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Strand(Index),
    Child(Index),
}

/// The strands of a task, and after each one the tasks created at its end.
fn sequence(tree: &Tree, task: Index) -> Vec<Step> {
    let (strands, children) = (tree.strands_of(task), tree.children(task));
    let mut steps = Vec::with_capacity(strands.len() + children.len());
    let mut next = children.iter().peekable();
    for &s in strands {
        steps.push(Step::Strand(s));
        while let Some(&child) = next.next_if(|c| tree.whole.creators[**c as usize] <= s) {
            steps.push(Step::Child(child));
        }
    }
    steps.extend(next.map(|&child| Step::Child(child)));
    steps
}

/// The pieces that some steps of a task's sequence are shown as: groups, or single steps. Ranges
/// are in numbers of the sequence.
fn pieces(tree: &Tree, task: Index, steps: &Range<usize>) -> Vec<(Option<WithinId>, Range<usize>)> {
    let Some(size) = cut(steps.len(), MAX_ITEMS) else {
        return steps.clone().map(|i| (None, i..i + 1)).collect();
    };
    let piece = |from: usize| {
        let range = from..(from + size).min(steps.end);
        let id = WithinId {
            strand: tree.strand,
            task,
            range: Some(range.clone()),
        };
        (Some(id), range)
    };
    steps.clone().step_by(size).map(piece).collect()
}

/// The items of a node; their number is limited to [`MAX_ITEMS`]. `None` if the strand has no such
/// node.
pub(super) fn items(model: &RunModel, tree: &Tree, node: &WithinId) -> Option<Vec<Item>> {
    if node.task as usize >= tree.tasks.len() {
        return None;
    }
    let all = sequence(tree, node.task);
    let range = node.range.clone().unwrap_or(0..all.len());
    let steps = all.get(range.clone())?;
    let pieces = pieces(tree, node.task, &range);
    // The piece that each child, and so every task below it, is in.
    let mut piece_of = vec![NONE; tree.tasks.len()];
    let mut piece_of_strand = vec![
        NONE;
        if pieces.len() < steps.len() {
            tree.strands.len()
        } else {
            0
        }
    ];
    for (number, (_, piece)) in (0u32..).zip(&pieces) {
        for step in &all[piece.clone()] {
            match *step {
                Step::Child(task) => piece_of[task as usize] = number,
                Step::Strand(s) => {
                    if let Some(piece) = piece_of_strand.get_mut(s as usize) {
                        *piece = number;
                    }
                }
            }
        }
    }
    for i in 1..piece_of.len() {
        let parent = tree.whole.tasks[i].parent as usize;
        if piece_of[i] == NONE && parent < i && parent != node.task as usize {
            piece_of[i] = piece_of[parent];
        }
    }
    let piece_of = |s: usize| match piece_of_strand.get(s) {
        Some(&piece) if piece != NONE => piece,
        _ => match piece_of.get(tree.whole.strands[s].task as usize) {
            Some(&piece) if tree.whole.strands[s].task != node.task => piece,
            _ => NONE,
        },
    };
    let name = |(id, piece): &(Option<WithinId>, Range<usize>)| match (id, all[piece.start]) {
        (Some(id), _) => Some(id.clone()),
        (None, Step::Child(task)) => Some(WithinId {
            strand: tree.strand,
            task,
            range: None,
        }),
        (None, Step::Strand(_)) => None,
    };
    let mut cards: Vec<Option<Folded>> = pieces
        .iter()
        .map(|piece| {
            Some(card(
                model,
                tree,
                node.task,
                &all[piece.1.clone()],
                &name(piece)?,
            ))
        })
        .collect();
    run_in(model, tree, piece_of, &mut cards);
    // For strands that are items themselves: the tasks that each created and waited for.
    let mut items = Vec::with_capacity(pieces.len());
    for (at, ((group, piece), card)) in pieces.iter().zip(cards).enumerate() {
        items.push(match (card, all[piece.start]) {
            (Some(card), _) if group.is_some() => Item::Group(card),
            (Some(card), _) => Item::Task(card),
            (None, Step::Child(_)) => continue,
            (None, Step::Strand(s)) => {
                let created = pieces[at + 1..]
                    .iter()
                    .map_while(|(_, p)| match all[p.start] {
                        Step::Child(task) => Some(task),
                        Step::Strand(_) => None,
                    });
                let joins = &tree.whole.joins;
                let first = joins.partition_point(|j| j.0 < s);
                let joined = joins[first..].iter().take_while(|j| j.0 == s).map(|j| j.1);
                let shown = |task: &Index| {
                    let shown = steps.contains(&Step::Child(*task));
                    shown.then(|| child_id(tree, *task))
                };
                let creates = created.filter_map(|t| shown(&t)).collect();
                let joins = joined.filter_map(|t| shown(&t)).collect();
                Item::Strand(strand(model, tree, s, creates, joins))
            }
        });
    }
    Some(items)
}

fn child_id(tree: &Tree, task: Index) -> String {
    let id = WithinId {
        strand: tree.strand,
        task,
        range: None,
    };
    id.to_string()
}

fn strand(
    model: &RunModel,
    tree: &Tree,
    s: Index,
    creates: Vec<String>,
    joins: Vec<String>,
) -> Strand {
    let dag = &*model.dag;
    let (of, known) = (&tree.whole.strands[s as usize], &tree.strands[s as usize]);
    let outer = tree.strand as usize;
    Strand {
        id: tree.strand,
        task: dag.strands.task[outer],
        size: None,
        row: model.rows.of(dag.strands.thread[outer]),
        start: since(model, of.start),
        end: since(model, of.end),
        weight: known.weight,
        blocked: 0,
        code: known.code,
        site: site(model, tree, of.task),
        critical: known.critical,
        ready_path: known.ready_path,
        ready: (known.ready < of.start).then(|| since(model, known.ready)),
        creates,
        joins,
        signals: Vec::new(),
        end_kind: of.end_kind as u8,
        folded: fold_of(tree, s).map_or(0, |fold| fold.tasks),
        inside: None,
        inner: Some(s),
    }
}

/// The sums in the record of a strand that was folded while it was recorded.
fn fold_of(tree: &Tree, s: Index) -> Option<&ExpandedFold> {
    let fold = tree.whole.strands.get(s as usize)?.fold;
    tree.whole.folds.get(fold as usize)
}

fn site(model: &RunModel, tree: &Tree, task: Index) -> u16 {
    let dag = &*model.dag;
    match tree.whole.tasks.get(task as usize) {
        Some(known) if task > 0 => model.sites.of(known.site),
        _ => {
            let own = dag.strands.task[tree.strand as usize];
            model.sites.of(dag.tasks.site[own as usize])
        }
    }
}

/// The collapsed form of some steps of a task.
fn card(model: &RunModel, tree: &Tree, of: Index, steps: &[Step], id: &WithinId) -> Folded {
    let dag = &*model.dag;
    let outer = tree.strand as usize;
    let is_task = id.range.is_none();
    let (mut tasks, mut strands, mut children) = (0, 0, 0);
    let (mut work, mut critical_work, mut critical) = (0u64, 0u64, false);
    let (mut start, mut end) = (u64::MAX, 0);
    // The path through a stretch runs along its strands, and through each child until the strand
    // that waited for it.
    let (mut cursor, mut span) = (0u64, 0u64);
    let mut ends: Vec<(Index, u64)> = Vec::new();
    let mut code = (u16::MAX, 0);
    for step in steps {
        match *step {
            Step::Strand(s) => {
                let (at, known) = (&tree.whole.strands[s as usize], tree.strands[s as usize]);
                let joins = &tree.whole.joins;
                let first = joins.partition_point(|j| j.0 < s);
                for &(_, task) in joins[first..].iter().take_while(|j| j.0 == s) {
                    if let Some(end) = ends.iter().find(|e| e.0 == task) {
                        cursor = cursor.max(end.1);
                    }
                }
                if !joins[first..].is_empty() && joins[first].0 == s {
                    ends.clear();
                }
                cursor += known.path;
                span = span.max(cursor);
                let fold = fold_of(tree, s);
                tasks += fold.map_or(0, |fold| fold.tasks);
                strands += fold.map_or(1, |fold| fold.strands);
                work += known.weight;
                critical |= known.critical;
                critical_work += if known.critical { known.path } else { 0 };
                (start, end) = (start.min(at.start), end.max(at.end));
                if known.weight >= code.1 {
                    code = (known.code, known.weight);
                }
            }
            Step::Child(task) => {
                let below = tree.tasks[task as usize];
                let sums = below.sums;
                ends.push((task, cursor + sums.span));
                span = span.max(cursor + sums.span);
                children += 1;
                tasks += sums.tasks;
                strands += sums.strands;
                work += sums.work;
                critical |= below.critical;
                critical_work += sums.critical_work;
                (start, end) = (start.min(below.start), end.max(below.end));
                if sums.work >= code.1 {
                    code = (below.code, sums.work);
                }
            }
        }
    }
    let sited = steps.iter().find_map(|step| match *step {
        Step::Child(task) => Some(task),
        Step::Strand(_) => None,
    });
    let start = start.min(end);
    let first = tree.strands_of(id.task).first().filter(|_| is_task);
    let ready = first.map(|&s| {
        (
            tree.strands[s as usize].ready,
            tree.whole.strands[s as usize].start,
        )
    });
    Folded {
        id: id.to_string(),
        site: site(model, tree, sited.unwrap_or(of)),
        code: code.0,
        label: label(model, code.0),
        task: dag.strands.task[outer],
        size: None,
        tasks,
        strands,
        children: if is_task {
            tree.children(id.task).len()
        } else {
            children
        },
        work,
        span,
        blocked: 0,
        start: since(model, start),
        end: since(model, end),
        ready: ready.filter(|r| r.0 < r.1).map(|r| since(model, r.0)),
        critical,
        critical_work,
        rows: Vec::new(),
        running: Vec::new(),
        depends: Vec::new(),
        expandable: !is_task || strands > 1,
        section: false,
    }
}

/// Fills the times at which the strands of each card ran. All of them ran on one thread.
fn run_in(
    model: &RunModel,
    tree: &Tree,
    piece_of: impl Fn(usize) -> u32,
    cards: &mut [Option<Folded>],
) {
    let row = model
        .rows
        .of(model.dag.strands.thread[tree.strand as usize]);
    let mut busy = vec![0u64; cards.len()];
    for card in cards.iter_mut().flatten() {
        card.running = vec![0.0; BINS];
    }
    for (i, s) in tree.whole.strands.iter().enumerate() {
        let at = piece_of(i) as usize;
        let Some(Some(card)) = cards.get_mut(at) else {
            continue;
        };
        busy[at] += s.end - s.start;
        let width = (card.end - card.start) as f64 / BINS as f64;
        if width <= 0.0 {
            continue;
        }
        let bins = |t: u64| since(model, t).saturating_sub(card.start) as f64 / width;
        let (from, to) = (bins(s.start), bins(s.end));
        let mut bin = (from as usize).min(BINS - 1);
        while bin < BINS && (bin as f64) < to {
            card.running[bin] += (to.min((bin + 1) as f64) - from.max(bin as f64)).max(0.0);
            bin += 1;
        }
    }
    for (card, busy) in cards.iter_mut().zip(busy) {
        if let Some(card) = card {
            card.rows = vec![(row, busy)];
        }
    }
}

/// The nodes to expand, outermost first, to see strand `s` once the folded strand is expanded.
pub(super) fn way_to_strand(tree: &Tree, s: Index) -> Vec<WithinId> {
    let task = tree.whole.strands.get(s as usize).map_or(0, |s| s.task);
    way(tree, task, Some(Step::Strand(s)))
}

/// The nodes to expand, outermost first, to see a node; the second to last shows it.
pub(super) fn way_to_node(tree: &Tree, node: &WithinId) -> Vec<WithinId> {
    let mut way = way(tree, node.task, None);
    if node.range.is_none() {
        way.pop();
    }
    way
}

/// The nodes to expand, outermost first, to see a task, or a step of it.
fn way(tree: &Tree, task: Index, step: Option<Step>) -> Vec<WithinId> {
    let mut line = vec![task];
    while let Some(&task) = line.last().filter(|&&t| t > 0) {
        let parent = tree.whole.tasks.get(task as usize).map_or(0, |t| t.parent);
        line.push(if parent < task { parent } else { 0 });
    }
    line.reverse();
    let mut way = Vec::new();
    for (at, &task) in line.iter().enumerate() {
        let id = |range| WithinId {
            strand: tree.strand,
            task,
            range,
        };
        if task > 0 {
            way.push(id(None));
        }
        let sought = line.get(at + 1).map(|&child| Step::Child(child)).or(step);
        // Most tasks have few steps.
        if tree.strands_of(task).len() + tree.children(task).len() <= MAX_ITEMS {
            continue;
        }
        let all = sequence(tree, task);
        let place = sought.and_then(|sought| all.iter().position(|&step| step == sought));
        let Some(place) = place else { continue };
        let mut range = 0..all.len();
        while let Some((Some(group), piece)) = pieces(tree, task, &range)
            .into_iter()
            .find(|(_, piece)| piece.contains(&place))
        {
            way.push(group);
            range = piece;
        }
    }
    way
}
