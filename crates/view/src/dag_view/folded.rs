//! A collapsed task or group: the sums over everything inside.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use workspan_dag::{Dag, StrandId, TaskId};

use super::Index;
use super::sequence::{NodeId, Step};
use crate::inside::tree::can_open;
use crate::run::RunModel;
use crate::run::codes::shown;

/// Number of bins of `running`.
pub(super) const BINS: usize = 24;

/// Maximum number of rows given.
const MAX_ROWS_GIVEN: usize = 8;

/// Sums over more strands than this are cached.
const MAX_UNCACHED_STRANDS: u64 = 10_000;

/// The contract's `DagFolded`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Folded {
    pub id: String,
    pub site: u16,
    pub code: u16,
    pub label: String,
    pub task: TaskId,
    /// The size that the task told; a group has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    pub tasks: u64,
    pub strands: u64,
    pub children: usize,
    pub work: u64,
    pub span: u64,
    /// Of a task with a single strand: ticks off the CPU in which it waited, and was not preempted.
    #[serde(skip_serializing_if = "super::inside::is_zero")]
    pub blocked: u64,
    pub start: u64,
    pub end: u64,
    pub ready: Option<u64>,
    pub critical: bool,
    pub critical_work: u64,
    pub rows: Vec<(u16, u64)>,
    pub running: Vec<f64>,
    pub depends: Vec<String>,
    pub expandable: bool,
    /// A section: from where a task begins to create others to where it has waited for all of them.
    pub section: bool,
}

/// Sums over a set of strands.
#[derive(Debug)]
pub(super) struct SubtreeSums {
    start: u64,
    end: u64,
    critical: bool,
    code: u16,
    rows: Vec<(u16, u64)>,
    running: Vec<f64>,
    /// Numbers of tasks and strands in records that stand for whole subtrees.
    tasks: u64,
    strands: u64,
}

impl SubtreeSums {
    /// Sums over the strands that `each` visits. `each` is called twice.
    fn new(model: &RunModel, each: impl Fn(&mut dyn FnMut(StrandId))) -> SubtreeSums {
        let strands = &model.dag.strands;
        let (mut start, mut end) = (u64::MAX, 0);
        let mut critical = false;
        let mut rows = Vec::new();
        let mut codes = Vec::new();
        let (mut tasks, mut inside) = (0u64, 0u64);
        each(&mut |s| {
            if let Some(fold) = model.dag.fold_of(s) {
                tasks = tasks.saturating_add(fold.tasks);
                inside = inside.saturating_add(fold.strands.saturating_sub(1));
            }
            let (from, to) = (strands.start[s as usize], strands.end[s as usize]);
            (start, end) = (start.min(from), end.max(to));
            critical |= model.critical(s);
            let row = model.rows.of(strands.thread[s as usize]);
            add(&mut rows, row, to - from);
            add(&mut codes, model.codes.of(s), to - from);
        });
        let start = start.min(end);
        let mut running = vec![0.0; BINS];
        let width = (end - start) as f64 / BINS as f64;
        if width > 0.0 {
            each(&mut |s| {
                let from = (strands.start[s as usize] - start) as f64 / width;
                let to = (strands.end[s as usize] - start) as f64 / width;
                let mut bin = (from as usize).min(BINS - 1);
                while bin < BINS && (bin as f64) < to {
                    running[bin] += (to.min((bin + 1) as f64) - from.max(bin as f64)).max(0.0);
                    bin += 1;
                }
            });
        }
        rows.retain(|r: &(u16, u64)| r.1 > 0);
        rows.sort_by_key(|r| (std::cmp::Reverse(r.1), r.0));
        rows.truncate(MAX_ROWS_GIVEN);
        let code = codes
            .into_iter()
            .max_by_key(|c| (c.1, std::cmp::Reverse(c.0)));
        SubtreeSums {
            start: start.saturating_sub(model.begin),
            end: end.saturating_sub(model.begin),
            critical,
            code: code.map_or(u16::MAX, |c| c.0),
            rows,
            running,
            tasks,
            strands: inside,
        }
    }
}

impl SubtreeSums {
    fn bytes(&self) -> usize {
        size_of::<SubtreeSums>() + size_of_val(&*self.rows) + size_of_val(&*self.running)
    }
}

/// Adds to the sum of `key`. A linear search will do, as there are few keys.
fn add(sums: &mut Vec<(u16, u64)>, key: u16, ticks: u64) {
    match sums.iter_mut().find(|sum| sum.0 == key) {
        Some(sum) => sum.1 = sum.1.saturating_add(ticks),
        None => sums.push((key, ticks)),
    }
}

/// The sums over a task with its descendants.
fn of_task(model: &RunModel, tree: &Index, task: TaskId) -> Arc<SubtreeSums> {
    let many = tree.subtrees.strands.get(task as usize) > MAX_UNCACHED_STRANDS;
    if let Some(inside) = tree.known.get(&task).filter(|_| many) {
        return inside;
    }
    let dag = &*model.dag;
    let inside = Arc::new(SubtreeSums::new(model, |f| {
        for &t in tree.with_descendants(task) {
            each_strand(dag, t, f);
        }
    }));
    if many {
        tree.known.keep(task, inside.clone(), inside.bytes());
    }
    inside
}

fn each_strand(dag: &Dag, task: TaskId, f: &mut dyn FnMut(StrandId)) {
    let mut at = dag.tasks.last[task as usize];
    while at != workspan_dag::NONE {
        f(at);
        at = dag.strands.prev[at as usize];
    }
}

/// A collapsed task; `depends` are the nodes it depends on.
pub(super) fn task(model: &RunModel, tree: &Index, task: TaskId, depends: Vec<String>) -> Folded {
    let (dag, i) = (&*model.dag, task as usize);
    let inside = of_task(model, tree, task);
    let first = dag.tasks.first[i];
    let own = own_code(model, tree, task);
    let all = &tree.subtrees;
    let expandable = all.strands.get(i) > 1 || can_open(model, first);
    Folded {
        id: NodeId::Task(task).to_string(),
        site: model.sites.of(dag.tasks.site[i]),
        code: own,
        label: label(model, own),
        task,
        size: model.sizes.of(task),
        tasks: all.tasks.get(i).saturating_add(inside.tasks),
        strands: all.strands.get(i).saturating_add(inside.strands),
        children: tree.children(task).count(),
        work: all.work.get(i),
        span: all.span.get(i),
        blocked: match expandable {
            true => 0,
            false => model.facts.blocked.get(first as usize),
        },
        start: inside.start,
        end: inside.end,
        ready: model.ready(first).map(|r| r.0.saturating_sub(model.begin)),
        critical: inside.critical,
        critical_work: all.critical_work.get(i),
        rows: inside.rows.clone(),
        running: inside.running.clone(),
        depends,
        expandable,
        section: false,
    }
}

/// The code for which the task's own strands ran longest.
fn own_code(model: &RunModel, tree: &Index, task: TaskId) -> u16 {
    let dag = &*model.dag;
    let mut codes = Vec::new();
    for s in tree.strands_of(dag, task) {
        add(&mut codes, model.codes.of(s), model.weight(s));
    }
    let most = codes
        .into_iter()
        .max_by_key(|c| (c.1, std::cmp::Reverse(c.0)));
    most.map_or(u16::MAX, |c| c.0)
}

pub(super) fn label(model: &RunModel, code: u16) -> String {
    shown(model.codes.all.get(usize::from(code))).to_owned()
}

/// A collapsed stretch of a sequence.
pub(super) fn group(
    model: &RunModel,
    tree: &Index,
    id: &NodeId,
    steps: &[Step],
    depends: Vec<String>,
) -> Folded {
    let dag = &*model.dag;
    let inside = SubtreeSums::new(model, |f| {
        for step in steps {
            match *step {
                Step::Strand(s) => f(s),
                Step::Child(t) => tree
                    .with_descendants(t)
                    .iter()
                    .for_each(|&t| each_strand(dag, t, f)),
            }
        }
    });
    let all = &tree.subtrees;
    let (mut tasks, mut strands, mut children) = (inside.tasks, inside.strands, 0);
    let (mut work, mut critical_work) = (0u64, 0u64);
    for step in steps {
        match *step {
            Step::Strand(s) => {
                strands += 1;
                work = work.saturating_add(model.weight(s));
                if model.critical(s) {
                    critical_work = critical_work.saturating_add(model.path_weight(s));
                }
            }
            Step::Child(t) => {
                let t = t as usize;
                children += 1;
                tasks = tasks.saturating_add(all.tasks.get(t));
                strands = strands.saturating_add(all.strands.get(t));
                work = work.saturating_add(all.work.get(t));
                critical_work = critical_work.saturating_add(all.critical_work.get(t));
            }
        }
    }
    let task = match *id {
        NodeId::Group(task, _) | NodeId::Task(task) => task,
        _ => match steps.first() {
            Some(&Step::Child(task)) => task,
            _ => 0,
        },
    };
    let site = steps.iter().find_map(|step| match *step {
        Step::Child(t) => Some(dag.tasks.site[t as usize]),
        Step::Strand(_) => None,
    });
    let site = site.unwrap_or(dag.tasks.site[task as usize]);
    Folded {
        id: id.to_string(),
        site: model.sites.of(site),
        code: inside.code,
        label: label(model, inside.code),
        task,
        size: None,
        tasks,
        strands,
        children,
        work,
        span: span(model, tree, steps),
        blocked: 0,
        start: inside.start,
        end: inside.end,
        ready: None,
        critical: inside.critical,
        critical_work,
        rows: inside.rows,
        running: inside.running,
        depends,
        expandable: true,
        section: false,
    }
}

/// The heaviest path through a stretch of a sequence. It runs along the task's strands, and through
/// each child from where it is created to where it is waited for.
fn span(model: &RunModel, tree: &Index, steps: &[Step]) -> u64 {
    let dag = &*model.dag;
    let (mut cursor, mut most) = (0u64, 0u64);
    let mut ends: BTreeMap<TaskId, u64> = BTreeMap::new();
    for step in steps {
        match *step {
            Step::Strand(s) => {
                if let Some(wait) = dag.waits.index_of(s)
                    && !ends.is_empty()
                {
                    for joined in dag.waits.tasks.get(wait) {
                        if let Some(end) = ends.remove(joined) {
                            cursor = cursor.max(end);
                        }
                    }
                }
                cursor = cursor.saturating_add(model.path_weight(s));
            }
            Step::Child(t) => {
                let end = cursor.saturating_add(tree.subtrees.span.get(t as usize));
                ends.insert(t, end);
                most = most.max(end);
            }
        }
    }
    most.max(cursor)
}
