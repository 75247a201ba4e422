//! What workers do when they have nothing to run.

use super::{Engine, Frame, State};
use crate::simulate::Policy;

/// Maximum number of empty queues drawn for one steal.
const MAX_ATTEMPTS: u64 = 1000;

impl Engine<'_> {
    /// Called when worker `w` has nothing to run.
    pub(super) fn seek(&mut self, w: u32, t: u64) {
        self.workers[w as usize].state = State::Idle;
        if self.setup.policy == Policy::BreadthFirst {
            return match self.shared.front() {
                Some(&(task, by)) if by == w => {
                    self.shared.pop_front();
                    self.start(w, task, t);
                }
                Some(_) => self.set_out(w, t),
                None => self.asleep.add(w),
            };
        }
        let restrained = self.setup.policy == Policy::RestrainedStealing;
        let worker = &mut self.workers[w as usize];
        let waits = match worker.stack.last() {
            Some(&Frame::Wait(task, _)) if restrained => Some(task),
            _ => None,
        };
        let mine = worker.queue.back().copied();
        let may = |task: &u32| waits.is_none_or(|by| self.program.parent[*task as usize] == by);
        if let Some(task) = mine.filter(may) {
            worker.queue.pop_back();
            if worker.queue.is_empty() {
                self.full.remove(w);
            }
            return self.start(w, task, t);
        }
        if waits.is_some() {
            // The worker sleeps until its wait is over.
            return;
        }
        if self.full.list.is_empty() {
            self.asleep.add(w);
        } else {
            self.set_out(w, t);
        }
    }

    /// Called when worker `w` sets out to steal.
    pub(super) fn set_out(&mut self, w: u32, t: u64) {
        let mut attempts = 0;
        if self.setup.policy != Policy::BreadthFirst {
            let others = self.workers.len() - 1;
            let full = self.full.list.len();
            while attempts < MAX_ATTEMPTS && self.random.below(others) >= full {
                attempts += 1;
            }
        }
        self.result.failed += attempts;
        let lost = self.setup.attempt_cost.saturating_mul(attempts);
        let cost = self.setup.steal_cost.saturating_add(lost);
        let worker = &mut self.workers[w as usize];
        worker.state = State::Seeking;
        worker.epoch = worker.epoch.wrapping_add(1);
        self.at(t.saturating_add(cost), w);
    }

    /// Called when worker `w` arrives at its destination.
    pub(super) fn arrive(&mut self, w: u32, t: u64) {
        let taken = if self.setup.policy == Policy::BreadthFirst {
            self.shared.pop_front()
        } else {
            self.full.random(&mut self.random).and_then(|victim| {
                let queue = &mut self.workers[victim as usize].queue;
                let task = queue.pop_front();
                if queue.is_empty() {
                    self.full.remove(victim);
                }
                task.map(|task| (task, victim))
            })
        };
        let Some((task, victim)) = taken else {
            return self.seek(w, t);
        };
        if victim != w {
            self.result.steals += 1;
            let leap = !self.workers[w as usize].stack.is_empty();
            if let Some(schedule) = &mut self.schedule {
                schedule.stolen(t, w, victim, task, leap);
            }
        }
        self.start(w, task, t);
    }
}
