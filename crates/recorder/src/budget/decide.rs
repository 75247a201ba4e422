//! Which subtree is recorded, and which is left out.

use super::class::{Classes, ODD};
use super::compared::Compared;
use super::{Begun, Choice, Settings};

/// A subtree that takes less time than recording so many joins is not worth the two records of
/// leaving it out.
const WORTH: u64 = 8;
/// One that takes more than recording so many is entered at first: the shorter those are that are
/// left out, the more of them are drawn for the same cost, and the surer is what follows; but
/// deciding of each, and telling that it is left out, costs as much as a join or two.
const GRAIN: u64 = 300;

/// A thread's decisions.
#[derive(Debug)]
pub struct Budget {
    settings: Settings,
    /// Each level is learnt of by itself.
    learns_each: bool,
    classes: Classes,
    random: u64,
    /// Where on the line of chances laid end to end the next subtree begins, and where the point
    /// lies that draws one, both counted from the last whole chance.
    along: u64,
    point: u64,
    /// Subtrees that take longer on average are entered.
    grain: u64,
    /// Since when the joins entered are counted, and how many they were.
    since: u64,
    entered: u64,
    /// Time since then that passed in subtrees recorded whole.
    sampled: u64,
    compared: Compared,
}

impl Budget {
    /// For a thread of that number, at time `now`.
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
            grain: (settings.join_ticks.saturating_mul(GRAIN))
                .clamp(settings.millisecond / 100, settings.millisecond / 10),
            since: now,
            entered: 0,
            sampled: 0,
            compared: Compared::default(),
        };
        budget.point = budget.draw();
        budget
    }

    /// The same for tasks that are created and waited for. Those of a level differ much more in
    /// size, as a task may create several, each smaller than the one before, and the first of a
    /// level is one of the largest: that this one is recorded whole leaves less to chance.
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

    /// Whether the next subtree is drawn, with that chance in 2^32, at most 1. Chances are laid end
    /// to end, and in each whole one a point at random draws the subtree it falls on: so as many
    /// are drawn as the chances add up to, in every phase of the program, and no pattern in it can
    /// fall in with the drawing.
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

    /// A join of that site and level begins at time `now`.
    pub fn begin(&mut self, site: u32, level: u32, now: u64) -> (Choice, Begun) {
        let mut class = self.classes.known(site, level);
        let is_short = class.is_measured() && class.ticks <= self.grain;
        if is_short && class.join_time == 0 && !self.learns_each {
            let correction = self.compared.correction(self.settings.join_ticks);
            class = self
                .classes
                .by_level_below(class, correction, &self.settings);
        }
        let least = self.settings.join_ticks.saturating_mul(WORTH);
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
        let begun = Begun {
            site,
            level,
            start: now,
            choice,
            chance: class.chance,
        };
        (choice, begun)
    }

    /// One more join that is recorded on the way to where subtrees are short enough.
    fn enter(&mut self, now: u64) {
        self.entered += 1;
        let passed = now.saturating_sub(self.since);
        // Long enough for what is learnt at first to matter little.
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

    /// It returned at time `now`; `joins` of those recorded began meanwhile on its thread, itself
    /// among them.
    pub fn end(&mut self, begun: Begun, now: u64, joins: u64) {
        let passed = now.saturating_sub(begun.start);
        let added = joins.saturating_mul(self.settings.join_ticks);
        // A join takes some time of its own, however much recording it is thought to cost.
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
            let recorded = passed.min(bare.saturating_mul(ODD));
            self.compared.add(joins, recorded, bare);
        }
        if whole {
            let correction = self.compared.correction(self.settings.join_ticks);
            class.learn(passed, joins, correction, &self.settings);
        }
    }
}
