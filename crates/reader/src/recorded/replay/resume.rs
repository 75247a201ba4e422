//! Tasks that stop and go on, here or on another thread.

use super::frame::Frame;
use super::{ParkCondition, Replay, ReplayThread, State};
use workspan_dag::NONE;
use workspan_dag::raw::RawEnd;

impl<'a> Replay<'a, '_> {
    /// The task on top goes on after a wait or a yield.
    pub(super) fn resume(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
    ) -> Result<(), ParkCondition> {
        let Some(top) = lane.stack.last_mut().filter(|top| top.stopped) else {
            self.log.repair("Tasks said to go on that had not stopped");
            return Ok(());
        };
        let task = top.task;
        // It may have gone on elsewhere meanwhile; then the stop there must come first.
        let holder = self.holders.get(&task).and_then(|threads| threads.last());
        let elsewhere = self.handed.contains_key(&task)
            || self.states[task as usize] != State::Stopped
            || holder.is_some_and(|&thread| thread != lane.log.index);
        if elsewhere
            && self.states[task as usize] != State::Ended
            && !std::mem::take(&mut self.forced)
        {
            return Err(ParkCondition::Stopped(task));
        }
        if self.states[task as usize] == State::Stopped {
            (top.stopped, top.interrupted, top.start) = (false, false, t);
            self.states[task as usize] = State::Running;
            top.due = std::mem::take(&mut top.all);
        } else {
            self.log
                .repair("Tasks said to go on that had ended or ran elsewhere");
        }
        Ok(())
    }

    pub(super) fn stop(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        site: Option<u32>,
        leave: bool,
    ) {
        let at = self.counts.yields[number] + lane.yields;
        lane.yields += 1;
        // It may leave while it waits. Then it keeps waiting, on no thread's stack.
        let waiting = lane.stack.last().filter(|top| {
            let here = leave && top.stopped && !top.interrupted;
            here && self.states[top.task as usize] == State::Stopped
        });
        let frame = match waiting {
            Some(_) => lane.stack.len() - 1,
            None => {
                let Some(frame) = self.current(lane, t) else {
                    return;
                };
                let place = self.places.of_optional(site);
                self.strand(lane, frame, t, RawEnd::Yield, place);
                frame
            }
        };
        let task = lane.stack[frame].task;
        self.states[task as usize] = State::Stopped;
        self.yielded[at as usize] = task;
        let handed = self.counts.taken[at as usize];
        if handed {
            self.handed.insert(task, at);
        }
        if leave {
            if let Some(threads) = self.holders.get_mut(&task)
                && threads.last() == Some(&lane.log.index)
            {
                threads.pop();
                if threads.is_empty() {
                    self.holders.remove(&task);
                }
            }
            lane.stack.pop();
            if let Some(below) = lane.stack.last_mut()
                && below.interrupted
                && self.states[below.task as usize] == State::Stopped
            {
                (below.stopped, below.interrupted, below.start) = (false, false, t);
                self.states[below.task as usize] = State::Running;
            }
        } else {
            lane.stack[frame].stopped = true;
        }
        self.wake(ParkCondition::Yielded(at));
        if !handed {
            self.wake(ParkCondition::Stopped(task));
        }
        self.halt(lane, task, t, RawEnd::Yield);
    }

    pub(super) fn resume_yielded(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
        name: (u32, u64),
    ) -> Result<(), ParkCondition> {
        let known = self.counts.yielded(&self.chunks.threads, name);
        let task = match known {
            Some(at) if self.yielded[at as usize] == NONE && !std::mem::take(&mut self.forced) => {
                return Err(ParkCondition::Yielded(at));
            }
            Some(at) => self.yielded[at as usize],
            None => NONE,
        };
        if task == NONE || self.states[task as usize] != State::Stopped {
            self.begin(lane, None, t);
            return Ok(());
        }
        self.handed.remove(&task);
        self.holders.entry(task).or_default().push(lane.log.index);
        self.go_on(lane, task, t);
        Ok(())
    }

    /// A task that stopped elsewhere goes on on top of this stack.
    pub(super) fn go_on(&mut self, lane: &mut ReplayThread<'a>, task: u32, t: u64) {
        if let Some(top) = lane.stack.last()
            && !top.stopped
        {
            let frame = lane.stack.len() - 1;
            self.interrupt(lane, frame, t);
        }
        self.states[task as usize] = State::Running;
        lane.stack.push(Frame::new(task, t));
    }
}
