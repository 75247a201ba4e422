//! Tasks that go on on another thread than the one on which they wait, because their stack has
//! moved there without a record.
//!
//! The record of the continuation names the stop. The first pass finds which stops are named, so
//! all others cost nothing.

use super::{ParkCondition, Replay, ReplayThread, State};
use crate::recorded::survey::NamedStop;
use workspan_dag::NONE;
use workspan_dag::raw::RawEnd;

impl<'a> Replay<'a, '_> {
    /// A task stopped at time `t`: remembers it for the thread that goes on with it, if there is
    /// one.
    pub(super) fn halt(&mut self, lane: &ReplayThread<'a>, task: u32, t: u64, by: RawEnd) {
        if self.counts.named.is_empty() {
            return;
        }
        let subtree = lane.stack.last().map_or(NONE, |top| top.skipped);
        let task = (task, subtree);
        self.halted_at(
            task,
            NamedStop::At(lane.log.index, t.saturating_add(self.origin)),
        );
        if let RawEnd::WaitSignals(list) = by {
            for i in 0..self.raw.wait_signals.get(list as usize).len() {
                let signal = self.raw.wait_signals.get(list as usize)[i];
                self.halted_at(task, NamedStop::Signal(self.raw.signals[signal as usize]));
            }
        }
    }

    fn halted_at(&mut self, task: (u32, u32), stop: NamedStop) {
        if let Some(at) = self.counts.named(stop) {
            self.halted.insert(at, task);
            self.wake(ParkCondition::Named(at));
        }
    }

    /// The task that made this stop goes on here.
    pub(super) fn resume_stopped(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
        stop: Option<NamedStop>,
    ) -> Result<(), ParkCondition> {
        let Some(at) = stop.and_then(|stop| self.counts.named(stop)) else {
            self.begin(lane, None, t);
            return Ok(());
        };
        match self.halted.remove(&at) {
            Some((task, subtree)) if self.states[task as usize] == State::Stopped => {
                self.go_on(lane, task, t);
                if let Some(top) = lane.stack.last_mut() {
                    top.skipped = subtree;
                }
                self.waited(lane, t);
                Ok(())
            }
            None if !std::mem::take(&mut self.forced) => Err(ParkCondition::Named(at)),
            _ => {
                self.begin(lane, None, t);
                Ok(())
            }
        }
    }
}
