//! An expanded folded strand: its tasks and strands, with the same facts as in the DAG.

use std::sync::Arc;

use serde::Serialize;
use workspan_dag::{EndKind, NONE, StrandId};
use workspan_reader::recorded::expand::{ExpandedTask, WholeExpansion};

use super::codes::CodeOf;
use super::records;
use crate::api_error::ApiError;
use crate::lru::ByteLru;
use crate::run::{Run, RunModel};
use crate::session::Session;

/// Maximum number of tasks of a folded strand that can be opened. More would take more of the
/// server's memory than the run does.
pub(crate) const MAX_TASKS: u64 = 300_000;

/// Maximum number of strands in an expansion with [`MAX_TASKS`] tasks.
const MAX_STRANDS: usize = 4 * MAX_TASKS as usize;

/// Maximum bytes of all cached expansions; a single one may be larger.
const MAX_CACHED_BYTES: usize = 16 << 20;

/// Index of a task or a strand of a [`Tree`]. Task 0 is the folded strand's own.
pub(crate) type Index = u32;

/// An expanded folded strand.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The folded strand.
    pub strand: StrandId,
    /// The expansion as it was read.
    pub whole: WholeExpansion,
    pub strands: Vec<OpenedStrand>,
    pub tasks: Vec<Task>,
    /// Strands by task, and children by parent, in order.
    own: IndexLists,
    children: IndexLists,
}

/// The facts about a strand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenedStrand {
    /// Weight (MODEL.md §2).
    pub weight: u64,
    /// What the strand adds to a path through it: less than its weight if it stands for a subtree.
    pub path: u64,
    /// When the strand was ready, in absolute ticks; its start if it started at once.
    pub ready: u64,
    pub code: u16,
    /// Whether the strand is on the run's critical path, and on its ready path.
    pub critical: bool,
    pub ready_path: bool,
}

/// Sums over a subtree, in ticks.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Sums {
    pub tasks: u64,
    pub strands: u64,
    pub work: u64,
    pub span: u64,
    pub critical_work: u64,
}

/// A task with everything below it, in absolute ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub sums: Sums,
    pub critical: bool,
    pub start: u64,
    pub end: u64,
    /// The code of the task's own longest strand.
    pub code: u16,
}

/// Lists of indices, one for each key.
#[derive(Debug, Default)]
struct IndexLists {
    begins: Vec<u32>,
    all: Vec<Index>,
}

impl IndexLists {
    /// Groups the indices 0, 1, … by their keys; the key [`NONE`] leaves an index out.
    fn new(keys: impl Iterator<Item = u32> + Clone, count: usize) -> IndexLists {
        let mut begins = vec![0u32; count + 1];
        let known = |key: &u32| (*key as usize) < count;
        for key in keys.clone().filter(known) {
            begins[key as usize + 1] += 1;
        }
        for i in 1..begins.len() {
            begins[i] += begins[i - 1];
        }
        let mut next = begins.clone();
        let mut all = vec![0; begins[count] as usize];
        for (number, key) in (0..).zip(keys).filter(|(_, key)| known(key)) {
            all[next[key as usize] as usize] = number;
            next[key as usize] += 1;
        }
        IndexLists { begins, all }
    }

    fn of(&self, key: Index) -> &[Index] {
        let i = key as usize;
        match (self.begins.get(i), self.begins.get(i + 1)) {
            (Some(&from), Some(&to)) => &self.all[from as usize..to as usize],
            _ => &[],
        }
    }
}

impl Tree {
    fn new(
        model: &RunModel,
        strand: StrandId,
        mut whole: WholeExpansion,
        on_ready_path: bool,
    ) -> Tree {
        let count = whole.tasks.len();
        // The last of the task's own strands ends where the folded strand does.
        let last = whole.strands.iter_mut().rfind(|s| s.task == 0);
        if let Some(last) = last.filter(|s| s.end_kind == EndKind::Yield) {
            last.end_kind = model.dag.strands.end_kind[strand as usize];
        }
        let own = IndexLists::new(whole.strands.iter().map(|s| s.task), count);
        let children = IndexLists::new(whole.tasks.iter().map(|t| t.parent), count);
        let mut tree = Tree {
            strand,
            strands: Vec::with_capacity(whole.strands.len()),
            tasks: Vec::new(),
            own,
            children,
            whole,
        };
        let heaviest = tree.paths(model, on_ready_path);
        tree.sum_up(&heaviest);
        tree
    }

    /// The strands of a task.
    pub(crate) fn strands_of(&self, task: Index) -> &[Index] {
        self.own.of(task)
    }

    /// The strand that runs at `t`, in absolute ticks; otherwise a strand of no length at that
    /// time.
    pub(crate) fn at(&self, t: u64) -> Option<Index> {
        let after = self.whole.strands.partition_point(|s| s.start <= t);
        let before = self.whole.strands.get(..after)?;
        let running = before.iter().rposition(|s| t < s.end);
        // All ran on one thread, so the strand that runs at `t` is the last one that started
        // before.
        let found = running.or_else(|| before.iter().rposition(|s| s.start == t))?;
        Some(found as Index)
    }

    /// The tasks that a task created.
    pub(crate) fn children(&self, task: Index) -> &[Index] {
        self.children.of(task)
    }

    /// Fills `strands`. Returns the weight of the heaviest path from the folded strand's start to
    /// the end of each strand. Ties are resolved as in MODEL.md §3.
    fn paths(&mut self, model: &RunModel, on_ready_path: bool) -> Vec<u64> {
        let dag = &*model.dag;
        let codes = CodeOf::new(model);
        let own_site = dag.tasks.site[dag.strands.task[self.strand as usize] as usize];
        let otherwise = model.codes.of(self.strand);
        let probes = probes_of(model);
        let all = self.whole.strands.len();
        let mut heaviest = vec![0u64; all];
        // The previous strand on the heaviest path, and the predecessor that ended last.
        let mut before = vec![(NONE, NONE); all];
        // The last strand of each task so far.
        let mut last = vec![NONE; self.whole.tasks.len()];
        let mut joins = self.whole.joins.iter().peekable();
        for (i, s) in (0u32..).zip(&self.whole.strands) {
            let first = match last.get(s.task as usize) {
                Some(&NONE) | None => self.whole.creators.get(s.task as usize).copied(),
                Some(&last) => Some(last),
            };
            let first = first.filter(|&f| f < i).unwrap_or(NONE);
            let end = |of: u32| self.whole.strands.get(of as usize).map_or(0, |s| s.end);
            let path = |of: u32| heaviest.get(of as usize).copied().unwrap_or(0);
            let (mut by_weight, mut by_time) = (first, first);
            while let Some(&(_, task)) = joins.next_if(|j| j.0 == i) {
                let joined = last.get(task as usize).copied().filter(|&l| l < i);
                let Some(joined) = joined else { continue };
                if by_weight == NONE || path(joined) > path(by_weight) {
                    by_weight = joined;
                }
                if by_time == NONE || end(joined) > end(by_time) {
                    by_time = joined;
                }
            }
            let length = s.end - s.start;
            let plain = length - probes.min(length);
            let fold = self.whole.folds.get(s.fold as usize);
            let (weight, through) = fold.map_or((plain, plain), |fold| {
                let fold = fold.without_probes(probes);
                (fold.work, fold.span)
            });
            let ready = match (by_time, i) {
                (NONE, 0) => model.ready(self.strand).map_or(s.start, |r| r.0),
                (NONE, _) => s.start,
                _ => end(by_time).min(s.start),
            };
            let so_far = path(by_weight);
            heaviest[i as usize] = so_far.saturating_add(through);
            before[i as usize] = (by_weight, by_time);
            let task = self.whole.tasks.get(s.task as usize);
            let site = task.map_or(own_site, |t| if s.task == 0 { own_site } else { t.site });
            self.strands.push(OpenedStrand {
                weight,
                path: through,
                ready,
                code: codes.of(site, s.from, s.to, otherwise),
                critical: false,
                ready_path: false,
            });
            if let Some(last) = last.get_mut(s.task as usize) {
                *last = i;
            }
        }
        let out = last.first().copied().unwrap_or(NONE);
        if model.critical(self.strand) {
            let mut at = out;
            while let Some(known) = self.strands.get_mut(at as usize) {
                known.critical = true;
                at = before[at as usize].0;
            }
        }
        if on_ready_path {
            let mut at = out;
            while let Some(known) = self.strands.get_mut(at as usize) {
                known.ready_path = true;
                at = before[at as usize].1;
            }
        }
        heaviest
    }

    /// Fills `tasks`.
    fn sum_up(&mut self, heaviest: &[u64]) {
        let whole = &self.whole;
        let nothing = |task: &ExpandedTask| Task {
            sums: Sums {
                tasks: 1,
                ..Sums::default()
            },
            critical: false,
            start: task.begun.min(task.ended.max(task.created)),
            end: task.ended.max(task.created),
            code: u16::MAX,
        };
        let mut tasks: Vec<Task> = whole.tasks.iter().map(nothing).collect();
        // The weights of the heaviest paths to the begin of each task, and to the latest end below
        // it.
        let mut begins = vec![0u64; tasks.len()];
        let mut most = vec![0u64; tasks.len()];
        let mut longest = vec![None; tasks.len()];
        for (i, s) in whole.strands.iter().enumerate() {
            let of = s.task as usize;
            let (Some(task), known) = (tasks.get_mut(of), self.strands[i]) else {
                continue;
            };
            let sums = &mut task.sums;
            if sums.strands == 0 {
                begins[of] = heaviest[i] - known.path;
            }
            let fold = whole.folds.get(s.fold as usize);
            sums.tasks += fold.map_or(0, |fold| fold.tasks);
            sums.strands += fold.map_or(1, |fold| fold.strands);
            sums.work += known.weight;
            sums.critical_work += if known.critical { known.path } else { 0 };
            task.critical |= known.critical;
            (task.start, task.end) = (task.start.min(s.start), task.end.max(s.end));
            most[of] = most[of].max(heaviest[i]);
            if longest[of].is_none_or(|l| s.end - s.start > l) {
                longest[of] = Some(s.end - s.start);
                task.code = known.code;
            }
        }
        // Each parent comes before its children.
        for i in (1..tasks.len()).rev() {
            let (below, parent) = (tasks[i], whole.tasks[i].parent as usize);
            if parent >= i {
                continue;
            }
            let task = &mut tasks[parent];
            task.sums.tasks += below.sums.tasks;
            task.sums.strands += below.sums.strands;
            task.sums.work += below.sums.work;
            task.sums.critical_work += below.sums.critical_work;
            task.critical |= below.critical;
            (task.start, task.end) = (task.start.min(below.start), task.end.max(below.end));
            most[parent] = most[parent].max(most[i]);
        }
        for (i, task) in tasks.iter_mut().enumerate() {
            task.sums.span = most[i].saturating_sub(begins[i]);
        }
        self.tasks = tasks;
    }
}

/// Ticks of the recorder's probes in a strand inside, if weights exclude them.
pub(super) fn probes_of(model: &RunModel) -> u64 {
    match model.options.raw {
        true => 0,
        false => model.dag.meta.probe_cost.saturating_mul(2),
    }
}

/// The folded strands that were opened last.
#[derive(Debug)]
pub(crate) struct OpenTrees(ByteLru<StrandId, Tree>);

impl Default for OpenTrees {
    fn default() -> OpenTrees {
        OpenTrees(ByteLru::new(MAX_CACHED_BYTES))
    }
}

impl OpenTrees {
    /// Bytes of all cached expansions.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl Tree {
    fn bytes(&self) -> usize {
        let whole = &self.whole;
        let lists = [&self.own, &self.children];
        let lists = lists.map(|l| size_of_val(&*l.begins) + size_of_val(&*l.all));
        size_of::<Tree>()
            + size_of_val(&*whole.tasks)
            + size_of_val(&*whole.strands)
            + size_of_val(&*whole.creators)
            + size_of_val(&*whole.joins)
            + size_of_val(&*whole.folds)
            + size_of_val(&*self.strands)
            + size_of_val(&*self.tasks)
            + lists.iter().sum::<usize>()
    }
}

/// Whether the folded strand `strand` can be opened: it was folded while the trace was read, and
/// does not stand for too many tasks.
pub(crate) fn can_open(model: &RunModel, strand: StrandId) -> bool {
    let fold = model.dag.fold_of(strand);
    fold.is_some_and(|fold| fold.source.is_some() && fold.tasks <= MAX_TASKS)
}

/// The expansion of a folded strand.
///
/// # Errors
/// The strand is not folded or can't be opened, or the run is loading.
pub(crate) fn open(session: &Session, run: &Run, strand: StrandId) -> Result<Arc<Tree>, ApiError> {
    let (model, timeline) = (run.model()?, run.timeline()?);
    let dag = &*model.dag;
    let known = (strand as usize) < dag.strands.len();
    let fold = known.then(|| dag.fold_of(strand)).flatten();
    let fold =
        fold.ok_or_else(|| ApiError::not_found("There is no such folded strand in this run."))?;
    if fold.source.is_none() {
        return Err(ApiError::not_found(
            "The trace has no more than sums of this subtree: it was folded, or left out, while the program was recorded.",
        ));
    }
    if fold.tasks > MAX_TASKS {
        return Err(ApiError::not_found(format!(
            "This folded strand stands for {} tasks: too many to open at once. The timeline shows what is inside, closer up.",
            fold.tasks
        )));
    }
    if let Some(tree) = run.opened.0.get(&strand) {
        return Ok(tree);
    }
    let records = records(session, run)?;
    let whole = records.and_then(|records| records.expand_all(dag, strand, MAX_STRANDS));
    let whole = whole.ok_or_else(|| {
        ApiError::not_found("What is inside can't be read: the trace is no longer there as it was.")
    })?;
    let on_ready_path = timeline.source.on_ready_path(strand);
    let tree = Arc::new(Tree::new(model, strand, whole, on_ready_path));
    run.opened.0.keep(strand, tree.clone(), tree.bytes());
    Ok(tree)
}
