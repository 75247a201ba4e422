//! The number of ready tasks over time.

use workspan_dag::{Dag, ThreadEvent};

use super::DEPTH_BINS;
use crate::sweep::{Moment, Observer, extent};

/// A number over time, in equal bins from the run's first start to its last end.
///
/// Bin i of n covers [begin + ⌊elapsed·i/n⌋, begin + ⌊elapsed·(i+1)/n⌋); there are at most
/// [`DEPTH_BINS`], never more than ticks, and none if no time passed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Depth {
    /// Start of the first bin.
    pub begin: u64,
    /// End of the last bin.
    pub end: u64,
    /// Mean over each bin.
    pub mean: Vec<f64>,
    /// Largest value in each bin.
    pub maximum: Vec<u64>,
    /// Mean over the whole run.
    pub mean_all: f64,
    /// Largest value of the run.
    pub maximum_all: u64,
}

/// Sums a number over time.
pub(super) struct DepthBins {
    begin: u64,
    end: u64,
    /// Value · ticks, and the largest value, by bin.
    sums: Vec<(u128, u64)>,
    /// The bin of the current time.
    at: usize,
}

impl DepthBins {
    pub(super) fn from_run(dag: &Dag) -> DepthBins {
        let (begin, end) = extent(dag);
        let bins = DEPTH_BINS.min(usize::try_from(end - begin).unwrap_or(usize::MAX));
        DepthBins {
            begin,
            end,
            sums: vec![(0, 0); bins],
            at: 0,
        }
    }

    fn start_of(&self, i: usize) -> u64 {
        let part = u128::from(self.end - self.begin) * i as u128 / self.sums.len().max(1) as u128;
        self.begin + part as u64
    }

    /// Adds that the value was `value` in `[from, to)`; the interval must not begin before the
    /// previous one ended.
    fn add(&mut self, mut from: u64, to: u64, value: u64) {
        while from < to && self.at < self.sums.len() {
            let edge = self.start_of(self.at + 1);
            let until = edge.min(to);
            if from < until {
                let sum = &mut self.sums[self.at];
                sum.0 += u128::from(value) * u128::from(until - from);
                sum.1 = sum.1.max(value);
                from = until;
            }
            if until == edge {
                self.at += 1;
            }
        }
    }

    pub(super) fn finish(self) -> Depth {
        let mut depth = Depth {
            begin: self.begin,
            end: self.end,
            ..Depth::default()
        };
        let mut total = 0;
        for (i, &(sum, maximum)) in self.sums.iter().enumerate() {
            let width = (self.start_of(i + 1) - self.start_of(i)) as f64;
            depth.mean.push(sum as f64 / width);
            depth.maximum.push(maximum);
            depth.maximum_all = depth.maximum_all.max(maximum);
            total += sum;
        }
        depth.mean_all = total as f64 / (self.end - self.begin).max(1) as f64;
        depth
    }
}

impl Observer for DepthBins {
    fn moment(&mut self, moment: &Moment) {
        self.add(moment.begin, moment.end, moment.ready);
    }
}

/// Number of tasks in all workers' own queues: each queue is as deep as its thread last reported, 0
/// before. `None` if no thread ever reported it.
pub(super) fn queues(dag: &Dag) -> Option<Depth> {
    let reported = dag.thread_events.iter().filter_map(|e| match e.2 {
        ThreadEvent::Queue(depth) => Some((e.0, e.1, depth)),
        _ => None,
    });
    let mut bins = DepthBins::from_run(dag);
    let mut depths = vec![0u64; dag.meta.threads as usize];
    let mut total = 0u128;
    let mut since = bins.begin;
    let mut any = false;
    for (t, thread, depth) in reported {
        let t = t.clamp(since, bins.end);
        bins.add(since, t, u64::try_from(total).unwrap_or(u64::MAX));
        since = t;
        any = true;
        if let Some(known) = depths.get_mut(thread as usize) {
            total = total - u128::from(*known) + u128::from(depth);
            *known = depth;
        }
    }
    bins.add(since, bins.end, u64::try_from(total).unwrap_or(u64::MAX));
    any.then(|| bins.finish())
}
