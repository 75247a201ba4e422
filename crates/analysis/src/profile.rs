//! Running and ready over time: the parallelism profile (MODEL.md §5).

use workspan_dag::{Dag, EdgeKind};

use crate::ready::ReadyInterval;
use crate::runtime_gaps::{RuntimeGap, share_within};
use crate::sweep::{Moment, Observer};

/// Running and ready over time, in equal bins (mean numbers), for the report's strip and for plots.
///
/// Bin i of n covers [begin + ⌊elapsed·i/n⌋, begin + ⌊elapsed·(i+1)/n⌋); there are never more bins
/// than ticks, and none if no time passed. Running strands are not clamped to W; busy workers are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Start of the first bin.
    pub begin: u64,
    /// End of the last bin.
    pub end: u64,
    /// Mean number of running strands per bin.
    pub running: Vec<f64>,
    /// Mean number of busy workers per bin: on the CPU, in the program's own code. Recording time
    /// is spread evenly over the bins.
    pub busy: Vec<f64>,
    /// Mean number of ready strands per bin, by edge kind.
    pub ready: Vec<[f64; 7]>,
    /// Mean number of running strands over the whole run; 0 if no time passed.
    pub mean_running: f64,
}

/// The edges of the bins: one more than there are bins.
fn edges((begin, end): (u64, u64), bins: usize) -> Vec<u64> {
    let bins = bins.min(usize::try_from(end - begin).unwrap_or(usize::MAX));
    let start_of = |i: usize| {
        let part = u128::from(end - begin) * i as u128 / bins.max(1) as u128;
        begin + part as u64
    };
    (0..=bins).map(start_of).collect()
}

/// Sums the running strands over a sweep.
pub(crate) struct Bins {
    edges: Vec<u64>,
    /// Strand-ticks per bin.
    sums: Vec<u128>,
    /// The part of `sums` on the CPU, on no more than the workers.
    working: Vec<u128>,
    workers: u64,
    /// The bin of the current time.
    at: usize,
}

impl Bins {
    pub(crate) fn new(dag: &Dag, extent: (u64, u64), bins: usize) -> Bins {
        let edges = edges(extent, bins);
        Bins {
            sums: vec![0; edges.len() - 1],
            working: vec![0; edges.len() - 1],
            workers: u64::from(dag.meta.workers.max(1)),
            edges,
            at: 0,
        }
    }

    /// The profile. In the time between the strands inside folded ones a strand is ready, and none
    /// runs. `work` is the breakdown's, so busy workers add up to it.
    pub(crate) fn finish(
        mut self,
        dag: &Dag,
        ready: &ReadyBins,
        between: &[RuntimeGap],
        work: u128,
    ) -> Profile {
        let inside = self.spread(dag, between);
        let (Some(&begin), Some(&end)) = (self.edges.first(), self.edges.last()) else {
            return Profile::default();
        };
        let mut profile = Profile {
            begin,
            end: ready.end,
            ..Profile::default()
        };
        let working: u128 = self.working.iter().sum();
        let own = work as f64 / working.max(1) as f64;
        let mut whole = [0i64; 7];
        for (i, running) in self.sums.iter().enumerate() {
            let ticks = self.edges[i + 1] - self.edges[i];
            let width = ticks as f64;
            profile.running.push(*running as f64 / width);
            profile.busy.push(self.working[i] as f64 * own / width);
            let mut bin = ready.sums[i];
            bin[EdgeKind::Create as usize] += inside[i];
            for (kind, sum) in bin.iter_mut().enumerate() {
                whole[kind] += ready.changes[i][kind];
                *sum += u128::from(whole[kind].unsigned_abs()) * u128::from(ticks);
            }
            profile.ready.push(bin.map(|r| r as f64 / width));
        }
        if begin < end {
            let total: u128 = self.sums.iter().sum();
            profile.mean_running = total as f64 / (end - begin) as f64;
        }
        profile
    }

    /// Takes the time between strands inside folded ones out of the running time. Returns how much
    /// of it is in each bin.
    fn spread(&mut self, dag: &Dag, between: &[RuntimeGap]) -> Vec<u128> {
        let mut inside = vec![0; self.sums.len()];
        for b in between {
            let s = b.strand as usize;
            let extent = (dag.strands.start[s], dag.strands.end[s]);
            let first = self.edges.partition_point(|&edge| edge <= extent.0).max(1) - 1;
            let bins = self.edges.windows(2).map(|edge| (edge[0], edge[1]));
            let running = self.sums.iter_mut().zip(&mut self.working);
            let sums = running.zip(&mut inside);
            let touched = bins.zip(sums).skip(first).take_while(|t| t.0.0 < extent.1);
            for (bin, ((running, working), inside)) in touched {
                let ticks = u128::from(share_within(b.ticks, extent, bin)).min(*running);
                *running -= ticks;
                *working -= ticks.min(*working);
                *inside += ticks;
            }
        }
        inside
    }
}

impl Observer for Bins {
    fn moment(&mut self, moment: &Moment) {
        let working = u128::from(moment.shares(self.workers).work);
        let mut begin = moment.begin;
        while begin < moment.end && self.at < self.sums.len() {
            let edge = self.edges[self.at + 1];
            let end = edge.min(moment.end);
            self.sums[self.at] += u128::from(moment.running()) * u128::from(end - begin);
            self.working[self.at] += working * u128::from(end - begin);
            begin = end;
            if end == edge {
                self.at += 1;
            }
        }
    }
}

/// Sums the ready strands, each by itself: the number of ready strands in a bin is the sum of the
/// times for which each was ready in it.
pub(crate) struct ReadyBins {
    edges: Vec<u64>,
    end: u64,
    /// Strand-ticks by bin and kind, for bins in which a strand was not ready for the whole bin.
    sums: Vec<[u128; 7]>,
    /// For strands that were ready for a whole bin: the difference of their number to the bin
    /// before.
    changes: Vec<[i64; 7]>,
    /// The bin in which the last strand started.
    at: usize,
}

impl ReadyBins {
    pub(crate) fn new(extent: (u64, u64), bins: usize) -> ReadyBins {
        let edges = edges(extent, bins);
        ReadyBins {
            sums: vec![[0; 7]; edges.len()],
            changes: vec![[0; 7]; edges.len()],
            edges,
            end: extent.1,
            at: 0,
        }
    }

    /// Adds a strand that was ready; in the order of starts.
    pub(crate) fn add(&mut self, dag: &Dag, waiting: &ReadyInterval) {
        let (from, to) = (waiting.ready, dag.strands.start[waiting.strand as usize]);
        let kind = waiting.kind as usize;
        while self.at + 1 < self.edges.len() && self.edges[self.at + 1] <= to {
            self.at += 1;
        }
        let last = self.at;
        if self.edges[last] <= from {
            self.sums[last][kind] += u128::from(to - from);
            return;
        }
        let first = self.edges.partition_point(|&edge| edge <= from).max(1) - 1;
        self.sums[first][kind] += u128::from(self.edges[first + 1] - from);
        self.sums[last][kind] += u128::from(to - self.edges[last]);
        self.changes[first + 1][kind] += 1;
        self.changes[last][kind] -= 1;
    }
}
