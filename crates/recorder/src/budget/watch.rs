//! When a thread has a budget at all.

use super::{Begun, Budget, Settings};

/// Joins that a thread begins before it looks again whether there is a budget.
const WEIGHED: u32 = 1 << 12;
/// The same where there never is one.
const NEVER: u32 = (1 << 31) - 1;

/// A thread's budget, from the first time on that recording cost too much.
#[derive(Debug)]
pub struct Watch {
    settings: Settings,
    budget: Option<Budget>,
    /// Joins begun, as of when the cost was last looked at, and when that was.
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

    /// The budget of the thread of that number, at time `now`; where there is none, how many joins
    /// may begin before this is to be called again. `tasks`: those of a join.
    pub fn budget(&mut self, thread: u32, now: u64, tasks: u32) -> Result<&mut Budget, u32> {
        if self.budget.is_none() {
            if self.settings.per_million == 0 {
                return Err(NEVER);
            }
            if !self.is_exceeded(now, tasks) {
                return Err(WEIGHED);
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

    /// Compares what the joins since the last time have cost with the time that has passed. Where
    /// nothing is held, there is a budget at once.
    fn is_exceeded(&mut self, now: u64, tasks: u32) -> bool {
        let passed = now.saturating_sub(self.since);
        let begun = u64::from(WEIGHED) * u64::from(passed > 0);
        self.since = now;
        self.begun += begun;
        let hold = u64::from(self.settings.hold);
        let is_held = self.begun * u64::from(tasks) < hold;
        hold == 0 || !is_held && self.settings.exceeded(begun, passed)
    }

    /// What the budget was asked of has ended ([`Budget::end`]).
    pub fn end(&mut self, begun: Begun, now: u64, joins: u64) {
        if let Some(budget) = &mut self.budget {
            budget.end(begun, now, joins);
        }
    }
}
