//! The longest intervals of low parallelism, with the strands that ran in them.
//!
//! Parallelism is *low* while at most W/4 strands run, and at least one worker is free: at most 1
//! on 2 to 7 workers, 2 on 8 to 11. An interval lasts as long as that holds without a break. A run
//! on one worker has no such intervals.

use workspan_dag::{Dag, StrandId, TaskId, ThreadId};

use crate::sweep::{Moment, Observer};

/// An interval in which few strands ran.
#[derive(Debug, Clone, PartialEq)]
pub struct LowParallelism {
    /// Start, in ticks.
    pub begin: u64,
    /// End, in ticks.
    pub end: u64,
    /// Free worker-ticks in it: Σ (W − running).
    pub lost: u128,
    /// `lost` in percent of all worker-ticks that were not work.
    pub lost_percent: f64,
    /// The strands that ran in it, in descending order of their time inside it, at most 8.
    pub strands: Vec<LowStrand>,
}

/// A strand that ran while parallelism was low.
#[derive(Debug, Clone, PartialEq)]
pub struct LowStrand {
    /// The strand.
    pub strand: StrandId,
    /// Its task.
    pub task: TaskId,
    /// Its thread.
    pub thread: ThreadId,
    /// Ticks for which it ran inside the interval.
    pub ticks: u64,
    /// The part of them in which no other strand ran.
    pub alone: u64,
}

/// Maximum number of intervals in the result.
const MAX_INTERVALS: usize = 10;
/// Maximum number of strands of an interval in the result.
const MAX_STRANDS: usize = 8;

/// Finds the intervals in a sweep.
pub(crate) struct LowParallelismFinder<'a> {
    dag: &'a Dag,
    workers: u64,
    most: u64,
    found: Vec<LowParallelism>,
    current: Option<LowParallelism>,
    /// By thread: the strand that it runs.
    running: Vec<Option<RunningStrand>>,
    /// Threads that run something, in any order. `place` has the index of each thread in this list.
    busy: Vec<usize>,
    place: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct RunningStrand {
    strand: StrandId,
    /// Ticks of the current interval in which one strand ran.
    alone: u64,
}

impl<'a> LowParallelismFinder<'a> {
    pub(crate) fn new(dag: &'a Dag) -> LowParallelismFinder<'a> {
        let workers = u64::from(dag.meta.workers.max(1));
        let threads = dag.meta.threads as usize;
        LowParallelismFinder {
            dag,
            workers,
            most: if workers == 1 {
                0
            } else {
                (workers / 4).max(1)
            },
            found: Vec::new(),
            current: None,
            running: vec![None; threads],
            busy: Vec::new(),
            place: vec![0; threads],
        }
    }

    /// The intervals, in descending order of loss, then by time. `lost` is everything that was not
    /// work.
    pub(crate) fn finish(mut self, lost: u128, end: u64) -> Vec<LowParallelism> {
        self.close(end);
        for low in &mut self.found {
            if lost > 0 {
                low.lost_percent = 100.0 * low.lost as f64 / lost as f64;
            }
        }
        self.found
    }

    /// Ends the current interval at `time`.
    fn close(&mut self, time: u64) {
        let Some(mut low) = self.current.take() else {
            return;
        };
        low.end = time;
        for i in 0..self.busy.len() {
            let thread = self.busy[i];
            if let Some(running) = self.running[thread] {
                self.add(&mut low, running, time);
            }
        }
        let at = self.found.partition_point(|l| l.lost >= low.lost);
        if at < MAX_INTERVALS && low.lost > 0 {
            self.found.insert(at, low);
            self.found.truncate(MAX_INTERVALS);
        }
    }

    /// Notes that `running` ran in `low` until `time`.
    fn add(&self, low: &mut LowParallelism, running: RunningStrand, time: u64) {
        let (s, strands) = (running.strand as usize, &self.dag.strands);
        let ticks = time - strands.start[s].max(low.begin);
        let before = |l: &LowStrand| (l.ticks, running.strand) >= (ticks, l.strand);
        let at = low.strands.partition_point(before);
        if at < MAX_STRANDS && ticks > 0 {
            let strand = LowStrand {
                strand: running.strand,
                task: strands.task[s],
                thread: strands.thread[s],
                ticks,
                alone: running.alone,
            };
            low.strands.insert(at, strand);
            low.strands.truncate(MAX_STRANDS);
        }
    }
}

impl Observer for LowParallelismFinder<'_> {
    fn start(&mut self, strand: StrandId, thread: usize) {
        self.running[thread] = Some(RunningStrand { strand, alone: 0 });
        self.place[thread] = self.busy.len();
        self.busy.push(thread);
    }

    fn end(&mut self, _: StrandId, thread: usize, time: u64) {
        let Some(running) = self.running[thread].take() else {
            return;
        };
        let place = self.place[thread];
        self.busy.swap_remove(place);
        if let Some(&moved) = self.busy.get(place) {
            self.place[moved] = place;
        }
        if let Some(mut low) = self.current.take() {
            self.add(&mut low, running, time);
            self.current = Some(low);
        }
    }

    fn moment(&mut self, moment: &Moment) {
        let running = moment.running();
        // Where records are missing, others may have run.
        if self.most == 0 || running > self.most || moment.is_unread {
            self.close(moment.begin);
            return;
        }
        if self.current.is_none() {
            for &thread in &self.busy {
                if let Some(running) = &mut self.running[thread] {
                    running.alone = 0;
                }
            }
        }
        let low = self.current.get_or_insert_with(|| LowParallelism {
            begin: moment.begin,
            end: moment.begin,
            lost: 0,
            lost_percent: 0.0,
            strands: Vec::new(),
        });
        low.lost += u128::from(self.workers - running) * u128::from(moment.ticks());
        if running == 1
            && let Some(only) = &mut self.running[moment.only_thread]
        {
            only.alone += moment.ticks();
        }
    }
}
