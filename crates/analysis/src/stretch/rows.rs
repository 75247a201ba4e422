//! Times and counters of both runs, by code block, spawn site, level and subtree.

use std::cmp::Reverse;
use std::collections::HashMap;

use workspan_dag::{Dag, NONE, PlaceId, Reporter, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::stretch::matching::Pairs;
use crate::stretch::{MAX_SUBTREES, Pair, RowKey, StretchRow, convert};
use crate::weight::Weights;

/// Strands, ticks and counters.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSums {
    pub(super) strands: u128,
    pub(super) ticks: u128,
    pub(super) counters: Vec<u128>,
}

impl RowSums {
    pub(super) fn none(counters: usize) -> RowSums {
        RowSums {
            counters: vec![0; counters],
            ..RowSums::default()
        }
    }

    fn add(&mut self, other: &RowSums) {
        self.strands += other.strands;
        self.ticks += other.ticks;
        for (sum, more) in self.counters.iter_mut().zip(&other.counters) {
            *sum += more;
        }
    }
}

/// Strands, ticks and counters of every task.
#[derive(Clone)]
struct TaskSums {
    strands: Vec<u64>,
    ticks: Vec<u64>,
    counters: Vec<Vec<u64>>,
}

impl TaskSums {
    fn of_task(&self, task: usize) -> RowSums {
        RowSums {
            strands: self.strands[task].into(),
            ticks: self.ticks[task].into(),
            counters: self.counters.iter().map(|c| c[task].into()).collect(),
        }
    }

    /// Adds the sums of one task to those of another.
    fn add_to(&mut self, task: usize, to: usize) {
        for sums in [&mut self.strands, &mut self.ticks]
            .into_iter()
            .chain(&mut self.counters)
        {
            sums[to] = sums[to].saturating_add(sums[task]);
        }
    }
}

/// The sums of one run, by its own block numbers and tasks; converted to ticks of the parallel run
/// when read.
struct RunSums {
    blocks: Vec<(CodeBlock, RowSums)>,
    /// By task: the sums of its own strands.
    tasks: TaskSums,
    from: f64,
    to: f64,
}

impl RunSums {
    fn new(dag: &Dag, weights: &Weights, (from, to): (f64, f64), counters: &[String]) -> RunSums {
        let mut run = RunSums {
            blocks: Vec::new(),
            tasks: TaskSums {
                strands: vec![0; dag.tasks.len()],
                ticks: vec![0; dag.tasks.len()],
                counters: vec![vec![0; dag.tasks.len()]; counters.len()],
            },
            from,
            to,
        };
        let mut table: BlockTable<Option<RowSums>> = BlockTable::new();
        let none = || RowSums::none(counters.len());
        let mut folds = dag.folded.cursor();
        for s in 0..dag.strands.len() as StrandId {
            let key = CodeBlock::from_strand(dag, s);
            let mut own = weights.work(s);
            let task = dag.strands.task[s as usize] as usize;
            run.tasks.strands[task] += 1;
            let ticks = &mut run.tasks.ticks[task];
            *ticks = ticks.saturating_add(own);
            if let Some(fold) = folds.record(s) {
                for &(from, to, work) in &fold.blocks {
                    let work = work.min(own);
                    own -= work;
                    let inner = table.entry(CodeBlock { from, to, ..key });
                    inner.get_or_insert_with(none).ticks += u128::from(work);
                }
            }
            let sum = table.entry(key).get_or_insert_with(none);
            sum.strands += 1;
            sum.ticks += u128::from(own);
        }
        for (i, name) in counters.iter().enumerate() {
            let Some(counter) = dag.counters.iter().find(|c| c.name == *name) else {
                continue;
            };
            for &(s, value) in &counter.values {
                let block = table.entry(CodeBlock::from_strand(dag, s));
                block.get_or_insert_with(none).counters[i] += u128::from(value);
                let task = dag.strands.task[s as usize] as usize;
                let sum = &mut run.tasks.counters[i][task];
                *sum = sum.saturating_add(value);
            }
        }
        let sums = table.values.into_iter().map(Option::unwrap_or_default);
        run.blocks = table.keys.into_iter().zip(sums).collect();
        run
    }

    fn converted(&self, sum: &RowSums) -> RowSums {
        RowSums {
            ticks: convert(sum.ticks, self.from, self.to),
            ..sum.clone()
        }
    }
}

/// Both runs.
pub(super) struct Sums<'a> {
    dags: [&'a Dag; 2],
    maps: &'a [Vec<PlaceId>; 2],
    counters: usize,
    metric: Option<usize>,
    runs: Vec<RunSums>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(
        dags: [&'a Dag; 2],
        maps: &'a [Vec<PlaceId>; 2],
        weights: &[Weights; 2],
        rates: [f64; 2],
        (counters, metric): (&[String], Option<usize>),
    ) -> Sums<'a> {
        let runs = [0, 1].map(|side| {
            RunSums::new(
                dags[side],
                &weights[side],
                (rates[side], rates[1]),
                counters,
            )
        });
        Sums {
            dags,
            maps,
            counters: counters.len(),
            metric,
            runs: runs.into(),
        }
    }

    fn at(&self, side: usize, place: PlaceId) -> PlaceId {
        match place {
            NONE => NONE,
            place => self.maps[side].get(place as usize).copied().unwrap_or(NONE),
        }
    }

    /// Both runs as a whole.
    pub(super) fn total(&self) -> StretchRow {
        let sums = [0, 1].map(|side| {
            let mut all = RowSums::none(self.counters);
            for (_, sum) in &self.runs[side].blocks {
                all.add(sum);
            }
            self.runs[side].converted(&all)
        });
        row(RowKey::Level(0), [&sums[0], &sums[1]])
    }

    /// Blocks and sites by stretch, and levels from the root.
    pub(super) fn rows(&self) -> (Vec<StretchRow>, Vec<StretchRow>, Vec<StretchRow>) {
        let mut blocks = Table::new(self.counters);
        let mut sites = Table::new(self.counters);
        let mut levels = Table::new(self.counters);
        for side in 0..2 {
            let tasks = &self.dags[side].tasks;
            for (key, sum) in &self.runs[side].blocks {
                let common = key
                    .renumbered(|place| Some(self.at(side, place)))
                    .unwrap_or(*key);
                blocks.add(common, side, sum);
                sites.add(common.site, side, sum);
            }
            let mut by_level: Vec<RowSums> = Vec::new();
            for task in 0..tasks.len() {
                let level = tasks.level[task] as usize;
                if by_level.len() <= level {
                    by_level.resize_with(level + 1, || RowSums::none(self.counters));
                }
                by_level[level].add(&self.runs[side].tasks.of_task(task));
            }
            for (level, sum) in by_level.iter().enumerate() {
                levels.add(level as u32, side, sum);
            }
        }
        let mut blocks = blocks.finish(&self.runs, RowKey::Block);
        let mut sites = sites.finish(&self.runs, RowKey::Site);
        let levels = levels.finish(&self.runs, RowKey::Level);
        for rows in [&mut blocks, &mut sites] {
            self.most_surplus_first(rows);
        }
        (blocks, sites, levels)
    }

    fn most_surplus_first(&self, rows: &mut [StretchRow]) {
        rows.sort_by_key(|row| {
            let measured = row.measured(self.metric);
            Reverse((measured.surplus(), measured.parallel))
        });
    }

    /// Sums of each run by common keys as rows, in descending order of surplus.
    pub(super) fn rows_of(
        &self,
        sums: [Vec<(u32, RowSums)>; 2],
        row_key: impl Fn(u32) -> RowKey,
    ) -> Vec<StretchRow> {
        let mut table = Table::new(self.counters);
        for (side, sums) in sums.into_iter().enumerate() {
            for (key, sum) in sums {
                table.add(key, side, &sum);
            }
        }
        let mut rows = table.finish(&self.runs, row_key);
        self.most_surplus_first(&mut rows);
        rows
    }

    /// Rows by who reported the tasks, the program first; empty if only one side did.
    pub(super) fn reporter(&self) -> Vec<StretchRow> {
        let mut table = Table::new(self.counters);
        for side in 0..2 {
            let places = &self.dags[side].places;
            for (key, sum) in &self.runs[side].blocks {
                let place = places.get(key.site as usize);
                table.add(place.and_then(|place| place.reporter), side, sum);
            }
        }
        let both = Reporter::ALL
            .iter()
            .all(|&side| table.keys.contains(&Some(side)));
        if !both {
            return Vec::new();
        }
        let mut rows = table.finish(&self.runs, RowKey::Reporter);
        rows.sort_by_key(|row| match row.key {
            RowKey::Reporter(Some(side)) => side as usize,
            _ => Reporter::ALL.len(),
        });
        rows
    }

    /// Tasks matched by path with their descendants, in descending order of stretch. The first
    /// root, which is everything, is left out.
    pub(super) fn subtrees(&self, pairs: &Pairs) -> Vec<StretchRow> {
        let inclusive = [0, 1].map(|side| self.inclusive(side));
        let measured = |side: usize, task: u32| {
            let run = &self.runs[side];
            match self.metric {
                Some(counter) => inclusive[side].counters[counter][task as usize].into(),
                None => {
                    let own = inclusive[side].ticks[task as usize];
                    convert(own.into(), run.from, run.to)
                }
            }
        };
        let mut ranked: Vec<(i128, u32, u32)> = pairs
            .pairs
            .iter()
            .skip(1)
            .map(|&(s, p)| (measured(1, p) as i128 - measured(0, s) as i128, s, p))
            .collect();
        let order = |r: &(i128, u32, u32)| (Reverse(r.0.unsigned_abs()), r.2);
        if ranked.len() > MAX_SUBTREES {
            ranked.select_nth_unstable_by_key(MAX_SUBTREES, order);
            ranked.truncate(MAX_SUBTREES);
        }
        ranked.sort_by_key(|r| (Reverse(r.0), r.2));
        let [serial, parallel] = self.dags;
        let row_of = |&(_, s, p): &(i128, u32, u32)| {
            let key = RowKey::Subtree {
                task: parallel.tasks.number(p),
                serial_task: serial.tasks.number(s),
                site: self.at(1, parallel.tasks.site[p as usize]),
                level: parallel.tasks.level[p as usize],
            };
            let sum = |side: usize, task: u32| {
                let run: &RunSums = &self.runs[side];
                run.converted(&inclusive[side].of_task(task as usize))
            };
            let sums = [sum(0, s), sum(1, p)];
            row(key, [&sums[0], &sums[1]])
        };
        ranked.iter().map(row_of).collect()
    }

    /// The sums of every task with its descendants. Sums beyond 2^64 saturate.
    fn inclusive(&self, side: usize) -> TaskSums {
        let dag = self.dags[side];
        let mut sums = self.runs[side].tasks.clone();
        // A task's first strand comes after its parent's, so in descending order children are
        // complete before their parents.
        for s in (0..dag.strands.len()).rev() {
            let task = dag.strands.task[s] as usize;
            let parent = dag.tasks.parent[task];
            if dag.tasks.first[task] as usize == s && parent != NONE {
                sums.add_to(task, parent as usize);
            }
        }
        sums
    }
}

/// Rows of both runs by common keys.
struct Table<K> {
    keys: Vec<K>,
    index: HashMap<K, usize>,
    sums: Vec<[RowSums; 2]>,
    counters: usize,
}

impl<K: Copy + Eq + std::hash::Hash> Table<K> {
    fn new(counters: usize) -> Table<K> {
        Table {
            keys: Vec::new(),
            index: HashMap::new(),
            sums: Vec::new(),
            counters,
        }
    }

    fn add(&mut self, key: K, side: usize, sum: &RowSums) {
        let next = self.keys.len();
        let number = *self.index.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.sums
                .push([RowSums::none(self.counters), RowSums::none(self.counters)]);
        }
        self.sums[number][side].add(sum);
    }

    fn finish(self, runs: &[RunSums], row_key: impl Fn(K) -> RowKey) -> Vec<StretchRow> {
        let rows = self.keys.into_iter().zip(self.sums);
        rows.map(|(key, sums)| {
            let serial = runs[0].converted(&sums[0]);
            row(row_key(key), [&serial, &sums[1]])
        })
        .collect()
    }
}

fn row(key: RowKey, [serial, parallel]: [&RowSums; 2]) -> StretchRow {
    let pair = |serial: u128, parallel: u128| Pair { serial, parallel };
    let counters = serial.counters.iter().zip(&parallel.counters);
    StretchRow {
        key,
        strands: pair(serial.strands, parallel.strands),
        time: pair(serial.ticks, parallel.ticks),
        counters: counters.map(|(&s, &p)| pair(s, p)).collect(),
    }
}
