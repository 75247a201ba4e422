//! Sampled joins that become one strand each ([`crate::recorded::skipped::as_one_record`]).

use super::frame::Pending;
use super::{Replay, ReplayThread, log};
use crate::recorded::skipped::as_one_record::FoldedSample;
use workspan_dag::NONE;
use workspan_dag::raw::RawEnd;

impl<'a> Replay<'a, '_> {
    /// The last join that the thread sampled, if it becomes one strand.
    fn last_drawn(&self, lane: &ReplayThread<'a>, number: usize) -> Option<&FoldedSample> {
        let nth = lane.drawn.checked_sub(1)?;
        self.counts.skipped.short(number, nth)
    }

    /// A join of that site is called. Returns true if it becomes one strand, which begins here.
    pub(super) fn short_begins(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        site: u32,
    ) -> bool {
        if !std::mem::take(&mut lane.short) {
            return false;
        }
        let Some(records) = self.last_drawn(lane, number).map(|short| short.records) else {
            return false;
        };
        lane.within = records;
        if let Some(frame) = self.current(lane, t) {
            let place = self.places.of(site);
            self.strand(lane, frame, t, RawEnd::Yield, place);
        }
        true
    }

    /// Whether a record belongs to a join that becomes one strand. With the join's last record the
    /// strand ends.
    #[inline]
    pub(super) fn is_within_short(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
    ) -> bool {
        if lane.within == 0 {
            return false;
        }
        lane.within -= 1;
        if lane.within == 0 {
            self.short_ends(lane, number, t);
        }
        true
    }

    fn short_ends(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64) {
        let Some(folded) = self.last_drawn(lane, number).map(|s| s.folded.clone()) else {
            return;
        };
        if let Some(frame) = self.current(lane, t) {
            let folded = log::folded(folded, self.places);
            self.pend(lane, frame, Pending::Folded(Box::new(folded)));
            self.strand(lane, frame, t, RawEnd::Yield, NONE);
        }
    }
}
