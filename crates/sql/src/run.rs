//! A run to be loaded into tables. Sums that only some tables need are computed on first use.

use std::cell::OnceCell;
use std::collections::HashMap;

use workspan_analysis::{
    AsyncRole, IdleTime, Options, Report, SiteRow, StrandFacts, async_roles, idle_times, report,
    strand_facts,
};
use workspan_dag::{Dag, EdgeKind, NONE, StrandId, TaskId, TaskKind};

use crate::database::{ReadColumns, table_of_tasks};
use crate::error::Error;

/// A run to be loaded.
pub struct Run {
    /// Its number in the `run` column.
    pub(crate) number: i64,
    /// The name of its file, for people.
    pub(crate) file: String,
    pub(crate) dag: Dag,
    pub(crate) facts: StrandFacts,
    pub(crate) report: Report,
    pub(crate) begin: u64,
    rate: u128,
    edges: OnceCell<Vec<(StrandId, StrandId, EdgeKind)>>,
    tasks: OnceCell<TaskSums>,
    threads: OnceCell<Vec<ThreadSums>>,
    idle: OnceCell<Vec<IdleTime>>,
    async_roles: OnceCell<Vec<Option<AsyncRole>>>,
    sites: OnceCell<HashMap<u32, usize>>,
    counters: OnceCell<Vec<(usize, usize)>>,
    folded: OnceCell<FoldedTasks>,
}

/// Numbers of tasks that were folded and therefore have no rows.
pub(crate) struct FoldedTasks {
    /// By record, in the order of [`workspan_dag::Folds::strands`]: number of tasks in it.
    strands: Vec<u64>,
    /// By task: number of tasks that are folded into its strands.
    pub tasks: Vec<u64>,
}

/// Sums over the strands of every task.
pub(crate) struct TaskSums {
    /// Weight of the task's own strands.
    pub own: Vec<u64>,
    /// Weight of the task's strands and those of all its descendants.
    pub work: Vec<u128>,
    pub strands: Vec<u32>,
    pub children: Vec<u32>,
    /// Index of each task among its parent's children, in the order of creation.
    pub rank: Vec<u32>,
}

/// Sums over the strands of a thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadSums {
    pub strands: u64,
    pub work: u128,
    pub descheduled: u128,
    pub blocked: u128,
    pub first: Option<u64>,
    pub last: u64,
    pub steals: u64,
    /// Whether a root began on it.
    pub began_root: bool,
    /// Whether it ran strands of a thread that the program started.
    pub ran_thread: bool,
}

/// The note that `folded` tasks of a run have no rows in `table`.
pub(crate) fn missing_rows_note(number: i64, file: &str, table: &str, folded: u64) -> String {
    format!(
        "run {number} ({file}): {folded} tasks are folded and have no rows in `{table}`; folded strands include their \
        time. The column `folded` of tasks and strands counts them. The tables runs and sites include all tasks"
    )
}

impl Run {
    /// Measures a run. `number` is its value in the `run` column, `file` its name for people.
    ///
    /// # Errors
    /// A measure failed.
    pub fn new(number: i64, file: String, dag: Dag, options: &Options) -> Result<Run, Error> {
        let report = report(&dag, options)?;
        let facts = strand_facts(&dag, options)?;
        let rate = u128::from(dag.meta.tick_rate());
        Ok(Run {
            number,
            file,
            begin: report.breakdown.begin,
            dag,
            facts,
            report,
            rate,
            edges: OnceCell::new(),
            tasks: OnceCell::new(),
            threads: OnceCell::new(),
            idle: OnceCell::new(),
            async_roles: OnceCell::new(),
            sites: OnceCell::new(),
            counters: OnceCell::new(),
            folded: OnceCell::new(),
        })
    }

    /// A note for a query that reads the columns in `read`, if its tables lack rows of folded
    /// tasks.
    pub fn missing_rows_note(&self, read: &ReadColumns) -> Option<String> {
        let table = table_of_tasks(read)?;
        let folded: u64 = self.dag.folded.sums().map(|(_, sums)| sums.tasks).sum();
        (folded > 0).then(|| missing_rows_note(self.number, &self.file, table, folded))
    }

    /// Converts ticks to whole nanoseconds.
    pub(crate) fn ns(&self, ticks: u128) -> u128 {
        (ticks * 1_000_000_000 + self.rate / 2) / self.rate
    }

    /// A point in time, in nanoseconds after the beginning of the run. Off-CPU times may be
    /// negative.
    pub(crate) fn at(&self, t: u64) -> i64 {
        let ns = |ticks: u64| i64::try_from(self.ns(ticks.into())).unwrap_or(i64::MAX);
        if t >= self.begin {
            ns(t - self.begin)
        } else {
            -ns(self.begin - t)
        }
    }

    pub(crate) fn edges(&self) -> &[(StrandId, StrandId, EdgeKind)] {
        self.edges.get_or_init(|| {
            let mut edges = Vec::new();
            for s in 0..self.dag.strands.len() as StrandId {
                self.dag
                    .for_each_predecessor(s, |p, kind| edges.push((p, s, kind)));
            }
            edges
        })
    }

    pub(crate) fn tasks(&self) -> &TaskSums {
        self.tasks.get_or_init(|| {
            let (strands, tasks) = (&self.dag.strands, &self.dag.tasks);
            let mut sums = TaskSums {
                own: vec![0; tasks.len()],
                work: vec![0; tasks.len()],
                strands: vec![0; tasks.len()],
                children: vec![0; tasks.len()],
                rank: vec![0; tasks.len()],
            };
            // A task's first strand comes after its parent's. So in reverse order, a task's sums
            // are complete before they are added to its parent's.
            for s in (0..strands.len()).rev() {
                let task = strands.task[s] as usize;
                let weight = self.facts.weight.get(s);
                sums.own[task] = sums.own[task].saturating_add(weight);
                sums.work[task] += u128::from(weight);
                sums.strands[task] += 1;
                let parent: TaskId = tasks.parent[task];
                if tasks.first[task] as usize == s && parent != NONE {
                    sums.work[parent as usize] += sums.work[task];
                    sums.children[parent as usize] += 1;
                }
            }
            let order = |&t: &TaskId| {
                let i = t as usize;
                (tasks.parent[i], tasks.creator[i], tasks.create_rank[i], t)
            };
            let mut created: Vec<TaskId> = (0..tasks.len() as TaskId).collect();
            created.sort_unstable_by_key(order);
            for siblings in created.chunk_by(|a, b| order(a).0 == order(b).0) {
                for (rank, &task) in (0..).zip(siblings) {
                    sums.rank[task as usize] = rank;
                }
            }
            sums
        })
    }

    /// The role of a thread of an async runtime.
    pub(crate) fn async_role(&self, thread: usize) -> Option<AsyncRole> {
        let roles = self.async_roles.get_or_init(|| async_roles(&self.dag));
        roles.get(thread).copied().flatten()
    }

    /// The idle time of a worker; `None` if it is not known.
    pub(crate) fn idle(&self, thread: usize) -> Option<&IdleTime> {
        let idle = self.idle.get_or_init(|| idle_times(&self.dag));
        idle.get(thread)
            .filter(|_| self.dag.is_worker(thread as u32))
    }

    pub(crate) fn threads(&self) -> &[ThreadSums] {
        self.threads.get_or_init(|| {
            let strands = &self.dag.strands;
            let mut sums = vec![ThreadSums::default(); self.dag.meta.threads as usize];
            for s in 0..strands.len() {
                let sum = &mut sums[strands.thread[s] as usize];
                sum.strands += 1;
                sum.work += u128::from(self.facts.weight.get(s));
                sum.descheduled += u128::from(self.facts.descheduled.get(s));
                sum.blocked += u128::from(self.facts.blocked.get(s));
                sum.first = Some(
                    sum.first
                        .map_or(strands.start[s], |f| f.min(strands.start[s])),
                );
                sum.last = sum.last.max(strands.end[s]);
                let task = strands.task[s];
                let tasks = &self.dag.tasks;
                let is_root = tasks.kind[task as usize] == TaskKind::Root;
                sum.began_root |= is_root && tasks.first[task as usize] as usize == s;
                sum.ran_thread |= self.dag.is_thread_task(task);
            }
            for steal in &self.dag.steals {
                if let Some(sum) = sums.get_mut(steal.thief as usize) {
                    sum.steals += 1;
                }
            }
            sums
        })
    }

    /// The report's row for a place, if it is a spawn site.
    pub(crate) fn site(&self, place: usize) -> Option<&SiteRow> {
        let index = self.sites.get_or_init(|| {
            let rows = self.report.sites.iter().enumerate();
            rows.map(|(i, row)| (row.site, i)).collect()
        });
        index.get(&(place as u32)).map(|&i| &self.report.sites[i])
    }

    /// Numbers of tasks folded into each task's strands, and into each folded strand.
    pub(crate) fn folded(&self) -> &FoldedTasks {
        self.folded.get_or_init(|| {
            let mut tasks = vec![0; self.dag.tasks.len()];
            let mut strands = Vec::with_capacity(self.dag.folded.len());
            for (strand, sums) in self.dag.folded.sums() {
                tasks[self.dag.strands.task[strand as usize] as usize] += sums.tasks;
                strands.push(sums.tasks);
            }
            FoldedTasks { strands, tasks }
        })
    }

    /// The number of tasks folded into a strand.
    pub(crate) fn folded_into(&self, strand: StrandId) -> u64 {
        let record = self.dag.folded.strands().binary_search(&strand);
        record.map_or(0, |record| self.folded().strands[record])
    }

    /// All values of all counters: (counter, index of the value).
    pub(crate) fn counters(&self) -> &[(usize, usize)] {
        self.counters.get_or_init(|| {
            let counters = self.dag.counters.iter().enumerate();
            counters
                .flat_map(|(c, counter)| (0..counter.values.len()).map(move |v| (c, v)))
                .collect()
        })
    }
}
