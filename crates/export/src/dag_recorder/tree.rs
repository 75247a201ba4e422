//! A run as DAG Recorder's hierarchy of tasks, sections and intervals.

use std::collections::{BTreeMap, VecDeque};

use workspan_dag::{Dag, EdgeKind, EndKind, NONE, PlaceId, StartKind, StrandId, TaskId};

/// Kinds of nodes, as the file numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
#[repr(i32)]
pub(crate) enum Kind {
    Create,
    Wait,
    Other,
    End,
    Section,
    Task,
}

/// A node; a parent comes before its children, a create before its task.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub kind: Kind,
    pub start: u64,
    pub end: u64,
    pub first_worker: u32,
    /// `None` if several workers ran it.
    pub worker: Option<u32>,
    pub work: u64,
    pub span: u64,
    /// When it became ready. The next field is the kind of edge, in the numbers of the file.
    pub ready: u64,
    pub in_edge: i32,
    /// Ticks for which it was ready, by kind of edge.
    pub ready_ticks: [u64; 5],
    /// Number of intervals inside by kind: create, wait, other, end.
    pub intervals: [u64; 4],
    pub from: PlaceId,
    pub to: PlaceId,
    pub children: Vec<usize>,
    /// The task that a create creates.
    pub task: Option<usize>,
    /// The strand of an interval; `None` if it is the rest of one, without length.
    pub strand: Option<StrandId>,
    /// The task, if the node is a task.
    pub of: Option<TaskId>,
}

/// The file's numbers of edges.
pub(super) const END_EDGE: i32 = 0;
pub(super) const CREATE_EDGE: i32 = 1;
pub(super) const CREATE_CONTINUATION_EDGE: i32 = 2;
pub(super) const WAIT_CONTINUATION_EDGE: i32 = 3;
pub(super) const OTHER_CONTINUATION_EDGE: i32 = 4;

/// Numbers in the file are signed.
const MAX_NUMBER: u64 = i64::MAX as u64;

/// A step of a task.
struct Item {
    node: Node,
    /// The task that it creates.
    creates: Option<TaskId>,
    /// The tasks that it waits for.
    joins: Vec<TaskId>,
}

/// The tree, the root first; or a message about what the format can't express.
pub(crate) fn tree(dag: &Dag) -> Result<Vec<Node>, String> {
    if !dag.depends.is_empty() {
        return Err("a task depends on another (only creates and waits are in it)".into());
    }
    let strands = &dag.strands;
    let mut of_task: Vec<Vec<StrandId>> = vec![Vec::new(); dag.tasks.len()];
    for (s, &task) in strands.task.iter().enumerate() {
        of_task[task as usize].push(s as StrandId);
    }
    let mut created: BTreeMap<StrandId, Vec<TaskId>> = BTreeMap::new();
    let mut roots = Vec::new();
    for task in 0..dag.tasks.len() as TaskId {
        match dag.tasks.creator[task as usize] {
            NONE => roots.push(task),
            by => created.entry(by).or_default().push(task),
        }
    }
    for tasks in created.values_mut() {
        tasks.sort_by_key(|&task| dag.tasks.create_rank[task as usize]);
    }
    let &[root] = roots.as_slice() else {
        return Err(format!("it has {} roots", roots.len()));
    };
    let mut nodes = vec![task_node(dag, root)];
    let mut queue = VecDeque::from([(root, 0)]);
    while let Some((task, node)) = queue.pop_front() {
        let items = items(dag, &of_task[task as usize], &created)?;
        nest(dag, task, node, items, &mut nodes, &mut queue)?;
    }
    sum_up(&mut nodes);
    let fits = |n: &u64| *n <= MAX_NUMBER;
    let all_fit = nodes.iter().all(|node| {
        let [a, b] = [&node.ready_ticks[..], &node.intervals[..]];
        let sums = [node.start, node.end, node.work, node.span, node.ready];
        sums.iter().chain(a).chain(b).all(fits)
    });
    if !all_fit {
        return Err("its times and counts are beyond 2^63".into());
    }
    Ok(nodes)
}

fn task_node(dag: &Dag, task: TaskId) -> Node {
    let first = dag.tasks.first[task as usize];
    Node {
        kind: Kind::Task,
        strand: None,
        of: Some(task),
        ..interval(dag, first, Kind::Task)
    }
}

/// A strand as an interval of that kind.
fn interval(dag: &Dag, s: StrandId, kind: Kind) -> Node {
    let i = s as usize;
    let (start, end) = (dag.strands.start[i], dag.strands.end[i]);
    let thread = dag.strands.thread[i];
    let mut last = None;
    dag.for_each_predecessor(s, |p, kind| {
        let end = dag.strands.end[p as usize];
        if last.is_none_or(|(at, _)| end > at) {
            last = Some((end, kind));
        }
    });
    let (ready, in_edge) = match last {
        Some((at, EdgeKind::End)) => (at, END_EDGE),
        Some((at, _)) => (at, continuation(dag.strands.start_kind[i])),
        None => (start, CREATE_EDGE),
    };
    let mut ready_ticks = [0; 5];
    ready_ticks[in_edge as usize] = start.saturating_sub(ready);
    Node {
        kind,
        start,
        end,
        first_worker: thread,
        worker: Some(thread),
        work: end - start,
        span: end - start,
        ready,
        in_edge,
        ready_ticks,
        intervals: [0; 4],
        from: dag.starts_at(s),
        to: dag.strands.to[i],
        children: Vec::new(),
        task: None,
        strand: Some(s),
        of: None,
    }
}

fn continuation(start: StartKind) -> i32 {
    match start {
        StartKind::Begin => CREATE_EDGE,
        StartKind::AfterCreate => CREATE_CONTINUATION_EDGE,
        StartKind::AfterWait => WAIT_CONTINUATION_EDGE,
        StartKind::AfterYield | StartKind::AfterSignal | StartKind::AfterHandoff => {
            OTHER_CONTINUATION_EDGE
        }
    }
}

/// The intervals and folded sections of a task, in program order.
fn items(
    dag: &Dag,
    strands: &[StrandId],
    created: &BTreeMap<StrandId, Vec<TaskId>>,
) -> Result<Vec<Item>, String> {
    let mut items: Vec<Item> = Vec::new();
    for (i, &s) in strands.iter().enumerate() {
        let next = strands.get(i + 1).copied();
        let mut piece = interval(dag, s, Kind::Other);
        let item = |node: Node, creates, joins| Item {
            node,
            creates,
            joins,
        };
        if let Some(record) = dag.fold_of(s) {
            let other_ends = record.tasks.saturating_mul(2).saturating_add(record.syncs);
            let others = record.strands.saturating_sub(other_ends).saturating_sub(1);
            let mut fold = Node {
                kind: Kind::Section,
                strand: None,
                work: record.work,
                span: record.span,
                // A section includes its own wait.
                intervals: [record.tasks, record.syncs.max(1), others, record.tasks],
                ..piece.clone()
            };
            let ready = &mut fold.ready_ticks[CREATE_EDGE as usize];
            *ready = ready.saturating_add(record.ready_integral);
            items.push(item(fold, None, Vec::new()));
            piece = after(&piece, WAIT_CONTINUATION_EDGE);
        }
        for &task in created.get(&s).map_or(&[][..], Vec::as_slice) {
            let node = Node {
                kind: Kind::Create,
                to: dag.tasks.site[task as usize],
                ..piece.clone()
            };
            items.push(item(node, Some(task), Vec::new()));
            piece = after(&piece, CREATE_CONTINUATION_EDGE);
        }
        let kind = match (dag.strands.end_kind[s as usize], next) {
            (_, None) => Kind::End,
            (EndKind::Create, _) => continue,
            (EndKind::Wait, _) => Kind::Wait,
            (EndKind::Signal, _) => return Err("a task sets a signal".into()),
            (EndKind::Yield | EndKind::End | EndKind::Handoff, _) => Kind::Other,
        };
        let mut joins = Vec::new();
        if let (Kind::Wait, Some(next)) = (kind, next)
            && let Some(wait) = dag.waits.index_of(next)
        {
            if !dag.waits.signals.get(wait).is_empty() {
                return Err("a task waits for a signal".into());
            }
            joins = dag.waits.tasks.get(wait).to_vec();
        }
        items.push(item(Node { kind, ..piece }, None, joins));
    }
    Ok(items)
}

/// The interval that follows immediately at the end of `piece`.
fn after(piece: &Node, in_edge: i32) -> Node {
    Node {
        start: piece.end,
        work: 0,
        span: 0,
        ready: piece.end,
        in_edge,
        ready_ticks: [0; 5],
        from: piece.to,
        strand: None,
        ..piece.clone()
    }
}

/// Puts a task's items into the sections that its waits close.
fn nest(
    dag: &Dag,
    task: TaskId,
    node: usize,
    items: Vec<Item>,
    nodes: &mut Vec<Node>,
    queue: &mut VecDeque<(TaskId, usize)>,
) -> Result<(), String> {
    let number = |task: TaskId| dag.tasks.number(task);
    let mut create_of: BTreeMap<TaskId, usize> = BTreeMap::new();
    for (i, item) in items.iter().enumerate() {
        create_of.extend(item.creates.map(|task| (task, i)));
    }
    // By first create: the waits whose section begins there.
    let mut opens: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (w, item) in items.iter().enumerate() {
        if item.node.kind != Kind::Wait {
            continue;
        }
        let mut first = w;
        for &joined in &item.joins {
            match create_of.get(&joined) {
                Some(&at) if at < w => first = first.min(at),
                _ => {
                    return Err(format!(
                        "task {} waits for task {}, which another task created",
                        number(task),
                        number(joined)
                    ));
                }
            }
        }
        opens.entry(first).or_default().push(w);
    }
    // The open sections: the wait that closes each, its node, and the tasks that it joins.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let joins: Vec<Vec<TaskId>> = items.iter().map(|item| item.joins.clone()).collect();
    for (i, item) in items.into_iter().enumerate() {
        // The outermost first.
        for &w in opens.get(&i).map_or(&[][..], Vec::as_slice).iter().rev() {
            let section = nodes.len();
            nodes.push(Node {
                kind: Kind::Section,
                strand: None,
                ..item.node.clone()
            });
            let parent = open.last().map_or(node, |o| o.1);
            nodes[parent].children.push(section);
            open.push((w, section));
        }
        let at = nodes.len();
        let parent = open.last().map_or(node, |o| o.1);
        nodes.push(item.node);
        nodes[parent].children.push(at);
        if let Some(child) = item.creates {
            let closed_by = open.last().filter(|o| joins[o.0].contains(&child));
            if closed_by.is_none() {
                return Err(format!(
                    "task {} is not waited for by task {}, which created it, in nested waits",
                    number(child),
                    number(task)
                ));
            }
            let created = nodes.len();
            nodes.push(task_node(dag, child));
            nodes[at].task = Some(created);
            queue.push_back((child, created));
        }
        if nodes[at].kind == Kind::Wait && open.pop().map(|o| o.0) != Some(i) {
            return Err(format!("the waits of task {} are not nested", number(task)));
        }
    }
    Ok(())
}

/// Sums the content of each node from the leaves up, as DAG Recorder accumulates it.
fn sum_up(nodes: &mut [Node]) {
    for i in (0..nodes.len()).rev() {
        if nodes[i].kind < Kind::Section {
            let kind = nodes[i].kind as usize;
            nodes[i].intervals[kind] = 1;
            continue;
        }
        if nodes[i].children.is_empty() {
            continue;
        }
        let children = std::mem::take(&mut nodes[i].children);
        let (first, last) = (&nodes[children[0]], &nodes[children[children.len() - 1]]);
        let mut sum = Node {
            kind: nodes[i].kind,
            end: last.end,
            to: last.to,
            work: 0,
            span: 0,
            ready_ticks: [0; 5],
            intervals: [0; 4],
            children: Vec::new(),
            task: None,
            strand: None,
            of: nodes[i].of,
            ..first.clone()
        };
        let mut longest = 0;
        for &child in &children {
            let child = &nodes[child];
            add(&mut sum, child);
            sum.span = sum.span.saturating_add(child.span);
            if let Some(task) = child.task {
                let task = &nodes[task];
                add(&mut sum, task);
                sum.end = sum.end.max(task.end);
                longest = longest.max(sum.span.saturating_add(task.span));
            }
        }
        sum.span = sum.span.max(longest);
        sum.children = children;
        nodes[i] = sum;
    }
}

fn add(sum: &mut Node, part: &Node) {
    sum.work = sum.work.saturating_add(part.work);
    if sum.worker != part.worker {
        sum.worker = None;
    }
    let ready = sum.ready_ticks.iter_mut().zip(part.ready_ticks);
    let intervals = sum.intervals.iter_mut().zip(part.intervals);
    for (all, n) in ready.chain(intervals) {
        *all = all.saturating_add(n);
    }
}
