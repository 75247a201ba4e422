//! Decides which subtrees are recorded and which are skipped.

use super::class::{Classes, MAX_TIME_RATIO};
use super::cost_comparison::CostComparison;
use super::{Choice, JoinTicket, Settings};

/// A subtree that takes less time than recording this many joins is not worth the two records of
/// skipping it.
const MIN_JOINS: u64 = 8;
/// A subtree that takes more time than recording this many joins is entered at first. The shorter
/// skipped subtrees are, the more of them are sampled for the same cost, and the better are the
/// estimates. But deciding about each, and recording that it is skipped, costs as much as a join or
/// two.
const INITIAL_GRAIN_JOINS: u64 = 300;

/// The decisions of a thread.
#[derive(Debug)]
pub struct Budget {
    settings: Settings,
    /// Whether each level is measured by itself.
    learns_each: bool,
    classes: Classes,
    random: u64,
    /// The position of the next subtree on a line on which probabilities are laid end to end, and
    /// the position of the point that draws one. Both count from the last whole number.
    along: u64,
    point: u64,
    /// Subtrees that take longer on average are entered, in ticks.
    grain: u64,
    /// The time since which entered joins are counted, and their number.
    since: u64,
    entered: u64,
    /// The time since then that passed in fully recorded subtrees, in ticks.
    sampled: u64,
    compared: CostComparison,
}

impl Budget {
    /// For the thread with this number, at time `now`.
    pub fn new(settings: Settings, thread: u32, now: u64) -> Budget {
        let mut seed = settings.seed ^ (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if seed == 0 {
            seed = 1;
        }
        let mut budget = Budget {
            settings,
            learns_each: false,
            classes: Classes::new(),
            random: seed,
            along: 0,
            point: 0,
            grain: (settings.join_ticks.saturating_mul(INITIAL_GRAIN_JOINS))
                .clamp(settings.millisecond / 100, settings.millisecond / 10),
            since: now,
            entered: 0,
            sampled: 0,
            compared: CostComparison::default(),
        };
        budget.point = budget.draw();
        budget
    }

    /// Makes the decisions for tasks that are created and waited for. Tasks of a level differ much
    /// more in size than joins, because a task may create several, each smaller than the one
    /// before. The first of a level is one of the largest, and recording it in full reduces the
    /// variance.
    pub fn of_tasks(self) -> Budget {
        Budget {
            learns_each: true,
            ..self
        }
    }

    /// 32 random bits (xorshift64*, G. Marsaglia and S. Vigna).
    fn draw(&mut self) -> u64 {
        let mut x = self.random;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.random = x;
        x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    /// Whether the next subtree is drawn, with this probability in 2^-32, at most 1. Probabilities
    /// are laid end to end on a line, and a random point in each unit interval draws the subtree
    /// that it falls on. The number of samples thus matches the sum of the probabilities in every
    /// phase of the program, and no pattern in the program can coincide with the sampling.
    fn falls_on(&mut self, chance: u64) -> bool {
        let whole = 1 << 32;
        let mut drawn = self.along <= self.point && self.point < self.along + chance;
        self.along += chance;
        if self.along >= whole {
            self.along -= whole;
            self.point = self.draw();
            drawn |= self.point < self.along;
        }
        drawn
    }

    /// A join of this site and level begins at time `now`.
    pub fn begin(&mut self, site: u32, level: u32, now: u64) -> (Choice, JoinTicket) {
        let mut class = self.classes.known(site, level);
        let is_short = class.is_measured() && class.ticks <= self.grain;
        if is_short && class.join_time == 0 && !self.learns_each {
            let correction = self.compared.correction(self.settings.join_ticks);
            class = self
                .classes
                .by_level_below(class, correction, &self.settings);
        }
        let least = self.settings.join_ticks.saturating_mul(MIN_JOINS);
        let choice = if !class.is_measured() || class.ticks < least || class.ticks > self.grain {
            Choice::Enter
        } else if class.join_time == 0 {
            Choice::Learn
        } else if class.chance > u32::MAX as u64 {
            Choice::Enter
        } else if self.falls_on(class.chance) {
            Choice::Sample
        } else {
            Choice::Skip
        };
        if choice == Choice::Enter {
            self.enter(now);
        }
        let begun = JoinTicket {
            site,
            level,
            start: now,
            choice,
            chance: class.chance,
        };
        (choice, begun)
    }

    /// Counts a join that is recorded on the way to short subtrees.
    fn enter(&mut self, now: u64) {
        self.entered += 1;
        let passed = now.saturating_sub(self.since);
        // Long enough for the first measurements not to matter.
        if passed < self.settings.millisecond.saturating_mul(4) {
            return;
        }
        let rest = passed.saturating_sub(self.sampled);
        if self.settings.exceeded(self.entered, rest) {
            // Subtrees of a tenth of a second are long enough for any program.
            let most = self.settings.millisecond.saturating_mul(100);
            self.grain = self.grain.saturating_mul(2).min(most);
        }
        (self.since, self.entered, self.sampled) = (now, 0, 0);
    }

    /// The join returned at time `now`. `joins` recorded joins began meanwhile on its thread,
    /// including itself.
    pub fn end(&mut self, begun: JoinTicket, now: u64, joins: u64) {
        let passed = now.saturating_sub(begun.start);
        let added = joins.saturating_mul(self.settings.join_ticks);
        // A join takes some time of its own, however high its recording cost is estimated.
        let bare = passed.saturating_sub(added).max(passed / 16);
        let whole = matches!(begun.choice, Choice::Learn | Choice::Sample);
        if whole {
            self.sampled = self.sampled.saturating_add(passed);
        }
        let Some(class) = self.classes.get(begun.site, begun.level) else {
            return;
        };
        class.ended(passed, bare, begun.choice == Choice::Skip);
        let drawn = begun.choice == Choice::Sample;
        if let Some(bare) = class.comparable().filter(|_| drawn) {
            let recorded = passed.min(bare.saturating_mul(MAX_TIME_RATIO));
            self.compared.add(joins, recorded, bare);
        }
        if whole {
            let correction = self.compared.correction(self.settings.join_ticks);
            class.learn(passed, joins, correction, &self.settings);
        }
    }
}
