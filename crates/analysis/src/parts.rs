//! Work and span of labelled parts (MODEL.md §4). A part consists of one task's strands between the
//! marks, and everything created inside.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use workspan_dag::{Dag, NONE, Region, StrandId, TaskId};

use crate::options::Options;
use crate::regions::weight_between;
use crate::site_span::strands_backwards;
use crate::task_tree::TaskTree;
use crate::weight::Weights;

/// Sums over the parts of one label. Instances inside an instance of the same label are not counted
/// again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// Index into `dag.labels`.
    pub label: u32,
    /// How often it was started, nested instances included.
    pub count: u64,
    /// Number of tasks created inside.
    pub tasks: u64,
    /// Work inside.
    pub work: u128,
    /// Σ of the heaviest path inside each instance. `None` if there are so many nested parts that
    /// computing it would take too long.
    pub span: Option<u128>,
    /// Σ of the time from start to stop, in ticks.
    pub elapsed: u128,
}

/// One row per label, in the order of their first start (ties: by name).
pub(crate) fn parts(dag: &Dag, weights: &Weights, options: &Options) -> Vec<PartRow> {
    if dag.parts.is_empty() {
        return Vec::new();
    }
    let mut inside = PartSums::new(dag, weights, options);
    let mut order: Vec<usize> = (0..dag.parts.len()).collect();
    // By start, so that an inner part comes after the one around it.
    order.sort_by_key(|&i| (dag.parts[i].begin.1, inside.place(&dag.parts[i]), i));
    let mut rows: Vec<(PartRow, CoveredTasks)> = Vec::new();
    // The number of each label's row. Rows are made in the order of their first start.
    let mut row_of: BTreeMap<u32, usize> = BTreeMap::new();
    for i in order {
        let part = &dag.parts[i];
        let at = *row_of.entry(part.label).or_insert_with(|| {
            let row = PartRow {
                label: part.label,
                count: 0,
                tasks: 0,
                work: 0,
                span: Some(0),
                elapsed: 0,
            };
            rows.push((row, CoveredTasks::default()));
            rows.len() - 1
        });
        let (row, covered) = &mut rows[at];
        row.count += 1;
        if covered.holds(part, inside.place(part)) {
            continue;
        }
        inside.add(part, row, covered);
    }
    let mut first_start: BTreeMap<u32, u64> = BTreeMap::new();
    for part in &dag.parts {
        let first = first_start.entry(part.label).or_insert(part.begin.1);
        *first = part.begin.1.min(*first);
    }
    let mut rows: Vec<PartRow> = rows.into_iter().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| (first_start.get(&row.label), &dag.labels[row.label as usize]));
    rows
}

/// What the instances of a label cover up to now.
#[derive(Default)]
struct CoveredTasks {
    /// Places of the tasks created inside.
    tasks: Vec<RangeInclusive<u32>>,
    /// For each task with a part, the last one that it opened; ascending by task.
    own: Vec<(TaskId, (StrandId, u64))>,
}

impl CoveredTasks {
    fn holds(&self, part: &Region, place: u32) -> bool {
        let at = self.tasks.partition_point(|range| *range.end() < place);
        if self
            .tasks
            .get(at)
            .is_some_and(|range| range.contains(&place))
        {
            return true;
        }
        let own = self.own.binary_search_by_key(&part.task, |o| o.0);
        own.is_ok_and(|i| part.begin < self.own[i].1)
    }

    fn add(&mut self, part: &Region, ranges: Vec<RangeInclusive<u32>>) {
        if let Some(first) = ranges.first() {
            let at = self.tasks.partition_point(|r| r.end() < first.start());
            self.tasks.splice(at..at, ranges);
        }
        match self.own.binary_search_by_key(&part.task, |o| o.0) {
            Ok(i) => self.own[i].1 = part.end,
            Err(i) => self.own.insert(i, (part.task, part.end)),
        }
    }
}

/// Sums over instances.
struct PartSums<'a> {
    dag: &'a Dag,
    weights: &'a Weights<'a>,
    options: &'a Options,
    /// Place of every task in a walk of the tree, and the tasks by place.
    place: Vec<u32>,
    by_place: Vec<TaskId>,
    /// Number of tasks in each task's tree, itself included.
    size: Vec<u32>,
    /// (creator, rank, task) of the tasks whose parent has a part, ascending.
    created: Vec<(StrandId, u32, TaskId)>,
    /// Number of strands that may still be visited.
    budget: u64,
}

impl<'a> PartSums<'a> {
    fn new(dag: &'a Dag, weights: &'a Weights<'a>, options: &'a Options) -> PartSums<'a> {
        let place = TaskTree::new(dag).preorder();
        let mut by_place = vec![0; place.len()];
        for (task, &at) in place.iter().enumerate() {
            by_place[at as usize] = task as TaskId;
        }
        let mut size = vec![1u32; place.len()];
        for &task in by_place.iter().rev() {
            let parent = dag.tasks.parent[task as usize];
            if parent != NONE {
                size[parent as usize] += size[task as usize];
            }
        }
        let has_part = |t: TaskId| dag.parts.binary_search_by_key(&t, |p| p.task).is_ok();
        let tasks = &dag.tasks;
        let mut created: Vec<(StrandId, u32, TaskId)> = (0..tasks.len() as TaskId)
            .filter(|&t| {
                let parent = tasks.parent[t as usize];
                parent != NONE && has_part(parent)
            })
            .map(|t| (tasks.creator[t as usize], tasks.create_rank[t as usize], t))
            .collect();
        created.sort_unstable();
        PartSums {
            dag,
            weights,
            options,
            place,
            by_place,
            size,
            created,
            budget: (dag.strands.len() as u64).saturating_mul(64) + 10_000_000,
        }
    }

    fn place(&self, part: &Region) -> u32 {
        self.place[part.task as usize]
    }

    /// The tasks created between the marks, each with its descendants, as places, ascending.
    fn ranges(&self, part: &Region) -> Vec<RangeInclusive<u32>> {
        let from = (part.begin.0, part.begin_creates_before);
        let to = (part.end.0, part.end_creates_before);
        let first = self.created.partition_point(|c| (c.0, c.1) < from);
        let last = self.created.partition_point(|c| (c.0, c.1) < to).max(first);
        // Strands and creates of other tasks lie between two strands of a task.
        let own = |c: &&(StrandId, u32, TaskId)| self.dag.tasks.parent[c.2 as usize] == part.task;
        let mut ranges: Vec<RangeInclusive<u32>> = self.created[first..last]
            .iter()
            .filter(own)
            .map(|c| {
                let place = self.place[c.2 as usize];
                place..=place + self.size[c.2 as usize] - 1
            })
            .collect();
        ranges.sort_unstable_by_key(|r| *r.start());
        ranges
    }

    fn add(&mut self, part: &Region, row: &mut PartRow, covered: &mut CoveredTasks) {
        let dag = self.dag;
        let ranges = self.ranges(part);
        let mut strands: Vec<StrandId> = strands_backwards(dag, part.task)
            .skip_while(|&s| s > part.end.0)
            .take_while(|&s| s >= part.begin.0)
            .collect();
        for range in &ranges {
            row.tasks += u64::from(range.end() - range.start()) + 1;
            for &task in &self.by_place[*range.start() as usize..=*range.end() as usize] {
                strands.extend(strands_backwards(dag, task));
            }
        }
        row.elapsed += u128::from(part.end.1.saturating_sub(part.begin.1));
        row.work += strands
            .iter()
            .map(|&s| self.weight(part, s).0)
            .sum::<u128>();
        let left = self.budget.checked_sub(strands.len() as u64);
        self.budget = left.unwrap_or(0);
        row.span = match (row.span, left) {
            (Some(span), Some(_)) => Some(span + self.span(part, &mut strands)),
            _ => None,
        };
        covered.add(part, ranges);
    }

    /// Work and path weight of a strand inside the part.
    fn weight(&self, part: &Region, s: StrandId) -> (u128, u128) {
        let strands = &self.dag.strands;
        let (start, end) = (strands.start[s as usize], strands.end[s as usize]);
        let begin = if s == part.begin.0 {
            part.begin.1.clamp(start, end)
        } else {
            start
        };
        let stop = if s == part.end.0 {
            part.end.1.clamp(start, end)
        } else {
            end
        };
        if (begin, stop) == (start, end) {
            return (u128::from(self.weights.work(s)), self.weights.path(s, 0));
        }
        if begin >= stop {
            return (0, 0);
        }
        let weight = weight_between(self.dag, self.weights, self.options, s, begin, stop);
        (weight.into(), weight.into())
    }

    /// The heaviest path that stays inside the part.
    fn span(&self, part: &Region, strands: &mut [StrandId]) -> u128 {
        strands.sort_unstable();
        let mut through: Vec<u128> = Vec::with_capacity(strands.len());
        for &s in strands.iter() {
            let mut best = 0;
            if s != part.begin.0 {
                self.dag.for_each_predecessor(s, |p, _| {
                    if let Ok(i) = strands.binary_search(&p) {
                        best = best.max(through[i]);
                    }
                });
            }
            through.push(best + self.weight(part, s).1);
        }
        through.into_iter().max().unwrap_or(0)
    }
}
