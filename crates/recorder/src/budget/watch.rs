//! Decides when a thread has a budget at all.

use super::{Budget, JoinTicket, Settings};

/// The number of joins that a thread begins before it checks again whether it needs a budget.
const JOINS_PER_CHECK: u32 = 1 << 12;
/// The number of joins before the next check if there is never a budget.
const JOINS_WITHOUT_CHECK: u32 = (1 << 31) - 1;

/// A thread's budget, which exists from the first time that recording cost too much.
#[derive(Debug)]
pub struct Watch {
    settings: Settings,
    budget: Option<Budget>,
    /// The number of joins begun at the last check, and the time of that check.
    begun: u64,
    since: u64,
}

impl Watch {
    /// For a thread that begins its first join at time `now`, in ticks.
    pub fn new(settings: Settings, now: u64) -> Watch {
        Watch {
            settings,
            budget: None,
            begun: 0,
            since: now,
        }
    }

    /// The budget of the thread with this number, at time `now`. If there is none, returns the
    /// number of joins that may begin before the next call. `tasks` is the number of tasks of a
    /// join.
    pub fn budget(&mut self, thread: u32, now: u64, tasks: u32) -> Result<&mut Budget, u32> {
        if self.budget.is_none() {
            if self.settings.per_million == 0 {
                return Err(JOINS_WITHOUT_CHECK);
            }
            if !self.is_exceeded(now, tasks) {
                return Err(JOINS_PER_CHECK);
            }
        }
        let settings = self.settings;
        Ok(self.budget.get_or_insert_with(|| {
            let budget = Budget::new(settings, thread, now);
            match tasks {
                1 => budget.of_tasks(),
                _ => budget,
            }
        }))
    }

    /// Compares the cost of the joins since the last check with the time passed. If no tasks are
    /// recorded in full first, there is a budget at once.
    fn is_exceeded(&mut self, now: u64, tasks: u32) -> bool {
        let passed = now.saturating_sub(self.since);
        let begun = u64::from(JOINS_PER_CHECK) * u64::from(passed > 0);
        self.since = now;
        self.begun += begun;
        let hold = u64::from(self.settings.hold);
        let is_held = self.begun * u64::from(tasks) < hold;
        hold == 0 || !is_held && self.settings.exceeded(begun, passed)
    }

    /// The join that the budget decided about has ended ([`Budget::end`]).
    pub fn end(&mut self, begun: JoinTicket, now: u64, joins: u64) {
        if let Some(budget) = &mut self.budget {
            budget.end(begun, now, joins);
        }
    }
}
