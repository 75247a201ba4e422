//! Puts a run on another clock, for runs of several hosts (MODEL.md §1).

use super::{RawRegion, RawTrace};
use crate::meta::{Meta, TimeUnit};

/// How the ticks of one clock become those of another one.
pub struct ClockChange<F> {
    /// The time on the new clock of a time on the old one. Never falls.
    pub time: F,
    /// Ticks of the new clock in a tick of the old one.
    pub scale: f64,
    /// Ticks of the new clock in a second.
    pub ticks_per_second: u64,
}

impl<F: Fn(u64) -> u64> ClockChange<F> {
    /// A length whose place in time is not known.
    fn length(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.scale) as u64
    }

    /// The length of an interval.
    fn length_at(&self, begin: u64, ticks: u64) -> u64 {
        let end = (self.time)(begin.saturating_add(ticks));
        end.saturating_sub((self.time)(begin))
    }

    /// Replaces each time by the one on the new clock.
    fn times<'a>(&self, times: impl IntoIterator<Item = &'a mut u64>) {
        times.into_iter().for_each(|t| *t = (self.time)(*t));
    }

    fn lengths<'a>(&self, lengths: impl IntoIterator<Item = &'a mut u64>) {
        lengths.into_iter().for_each(|t| *t = self.length(*t));
    }

    /// The classes of a histogram of lengths, each of which is twice as long as the one before.
    fn classes(&self, counts: &mut Vec<u64>) {
        let by = self.scale.log2().round() as isize;
        if by == 0 {
            return;
        }
        let mut moved: Vec<u64> = Vec::new();
        for (class, &count) in counts.iter().enumerate() {
            let class = (class as isize + by).clamp(0, 63) as usize;
            if moved.len() <= class {
                moved.resize(class + 1, 0);
            }
            moved[class] = moved[class].saturating_add(count);
        }
        *counts = moved;
    }

    fn meta(&self, meta: &mut Meta) {
        meta.time_unit = TimeUnit::Ns;
        meta.ticks_per_second = self.ticks_per_second;
        self.lengths([&mut meta.burden, &mut meta.probe_cost, &mut meta.join_cost]);
        let known = [&mut meta.run.cpu_time, &mut meta.run.cpu_time_of_others];
        self.lengths(known.into_iter().flatten());
    }

    fn regions(&self, regions: &mut [RawRegion]) {
        for region in regions {
            self.times([&mut region.begin.1, &mut region.end.1]);
        }
    }

    fn samples(&self, raw: &mut RawTrace) {
        let samples = &mut raw.samples;
        self.times(samples.list.iter_mut().map(|sample| &mut sample.t));
        self.times(samples.others.iter_mut().map(|(t, _)| t));
        for stop in &mut samples.stops {
            stop.ticks = self.length_at(stop.t, stop.ticks);
            if let Some(wait) = &mut stop.wait {
                wait.held = self.length_at(stop.t, wait.held);
            }
            stop.t = (self.time)(stop.t);
        }
        for (_, call) in &mut raw.rank_calls {
            call.ticks = self.length_at(call.begin, call.ticks);
            call.begin = (self.time)(call.begin);
        }
    }

    fn folds(&self, raw: &mut RawTrace) {
        let folded = std::mem::take(&mut raw.folded);
        raw.folded = folded
            .iter()
            .map(|(strand, mut fold)| {
                self.lengths([
                    &mut fold.work,
                    &mut fold.span,
                    &mut fold.ready_integral,
                    &mut fold.probes,
                    &mut fold.between,
                    &mut fold.off_cpu,
                    &mut fold.folding_off_cpu,
                ]);
                self.lengths(fold.envelope.iter_mut().map(|(weight, _)| weight));
                self.lengths(fold.blocks.iter_mut().map(|(_, _, ticks)| ticks));
                for site in &mut fold.sites {
                    self.lengths([&mut site.work, &mut site.span, &mut site.critical_work]);
                    self.classes(&mut site.lengths);
                }
                (strand, fold)
            })
            .collect();
        for (_, bounds) in &mut raw.skipped {
            self.lengths([&mut bounds.span.0, &mut bounds.span.1]);
        }
    }
}

impl RawTrace {
    /// Puts the run on another clock, whose unit is the nanosecond. Lengths are rounded down, so
    /// parts of an interval are not longer than the whole.
    pub fn change_clock<F: Fn(u64) -> u64>(&mut self, change: &ClockChange<F>) {
        change.meta(&mut self.meta);
        change.times(self.strands.start.iter_mut());
        change.times(self.strands.end.iter_mut());
        change.times(
            self.offs
                .iter_mut()
                .flat_map(|o| [&mut o.start, &mut o.end]),
        );
        let runs = self.recorder_runs.iter_mut();
        change.times(runs.flat_map(|run| [&mut run.start, &mut run.end]));
        change.lengths(self.start_waits.iter_mut().map(|(_, ticks)| ticks));
        change.regions(&mut self.regions);
        change.regions(&mut self.parts);
        change.times(self.steals.iter_mut().map(|steal| &mut steal.t));
        change.times(self.thread_events.iter_mut().map(|(t, _, _)| t));
        let pools = self.pools.list.iter_mut();
        change.times(pools.flat_map(|pool| [&mut pool.from, &mut pool.to]));
        let members = self.pools.members.iter_mut();
        change.times(members.flat_map(|member| [&mut member.from, &mut member.to]));
        change.samples(self);
        change.folds(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::Folded;
    use crate::raw::{RawEnd, RawStrand};
    use workspan_trace::entry::RankCall;

    #[test]
    fn times_and_lengths_are_those_of_the_new_clock() {
        let mut raw = RawTrace::default();
        raw.meta.burden = 300;
        raw.strands.push(RawStrand {
            task: 0,
            thread: 0,
            start: 1000,
            end: 3001,
            end_op: RawEnd::End,
            at: 0,
            keep: true,
        });
        let call = RankCall {
            begin: 1001,
            ticks: 1999,
            ..RankCall::default()
        };
        raw.rank_calls.push((0, call));
        let fold = Folded {
            work: 2001,
            ..Folded::default()
        };
        raw.folded.push(0, &fold);
        let mut counts = vec![0, 5, 0, 7];
        let change = ClockChange {
            time: |t| 10 + t / 2,
            scale: 0.5,
            ticks_per_second: 1_000_000_000,
        };
        raw.change_clock(&change);
        change.classes(&mut counts);
        let strand = raw.strands.get(0);
        assert_eq!((strand.start, strand.end), (510, 1510));
        let call = raw.rank_calls[0].1;
        assert_eq!((call.begin, call.begin + call.ticks), (510, 1510));
        // Never more than the strand.
        assert_eq!(raw.folded.get(0).work, 1000);
        assert_eq!((raw.meta.burden, counts), (150, vec![5, 0, 7]));
    }
}
