//! Running and ready over time: the parallelism profile (MODEL.md §5).

use workspan_dag::StrandId;

use crate::sweep::{Moment, Observer};

/// Running and ready over time, in equal bins (mean numbers), for the report's strip and for plots.
///
/// Bin i of n covers [begin + ⌊elapsed·i/n⌋, begin + ⌊elapsed·(i+1)/n⌋); there are never more bins than ticks, and none
/// when there is no time at all. Running strands are not clamped to W.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Start of the first bin and end of the last.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Mean number of running strands per bin.
    pub running: Vec<f64>,
    /// Mean number of ready strands per bin, by edge kind.
    pub ready: Vec<[f64; 7]>,
    /// Mean of running over the whole run; 0 when there is no time at all.
    pub mean_running: f64,
}

/// Sums a profile up over a sweep.
pub(crate) struct Bins {
    begin: u64,
    end: u64,
    /// Strand-ticks per bin: running, and ready by kind.
    sums: Vec<(u128, [u128; 7])>,
    /// The bin that time is in, and its end.
    at: usize,
    edge: u64,
}

impl Bins {
    pub(crate) fn new((begin, end): (u64, u64), bins: usize) -> Bins {
        let bins = bins.min(usize::try_from(end - begin).unwrap_or(usize::MAX));
        let mut bins = Bins {
            begin,
            end,
            sums: vec![(0, [0; 7]); bins],
            at: 0,
            edge: 0,
        };
        bins.edge = bins.start_of(1);
        bins
    }

    fn start_of(&self, i: usize) -> u64 {
        let part = u128::from(self.end - self.begin) * i as u128 / self.sums.len().max(1) as u128;
        self.begin + part as u64
    }

    pub(crate) fn finish(self) -> Profile {
        let mut profile = Profile {
            begin: self.begin,
            end: self.end,
            ..Profile::default()
        };
        let mut total = 0;
        for (i, (running, ready)) in self.sums.iter().enumerate() {
            let width = (self.start_of(i + 1) - self.start_of(i)) as f64;
            profile.running.push(*running as f64 / width);
            profile.ready.push(ready.map(|r| r as f64 / width));
            total += running;
        }
        if self.begin < self.end {
            profile.mean_running = total as f64 / (self.end - self.begin) as f64;
        }
        profile
    }
}

impl Observer for Bins {
    fn start(&mut self, _: StrandId, _: usize) {}
    fn end(&mut self, _: StrandId, _: usize, _: u64) {}

    fn moment(&mut self, moment: &Moment) {
        let mut begin = moment.begin;
        while begin < moment.end && self.at < self.sums.len() {
            let end = self.edge.min(moment.end);
            let ticks = u128::from(end - begin);
            let sum = &mut self.sums[self.at];
            sum.0 += u128::from(moment.running()) * ticks;
            if moment.ready > 0 {
                for (sum, &n) in sum.1.iter_mut().zip(&moment.ready_by_kind) {
                    *sum += u128::from(n) * ticks;
                }
            }
            begin = end;
            if end == self.edge {
                self.at += 1;
                self.edge = self.start_of(self.at + 1);
            }
        }
    }
}
