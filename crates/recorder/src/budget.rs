//! Which subtrees of joins are recorded when recording all would cost more than was allowed. Tasks that are created and waited for are
//! decided upon alike, a task for a join.
//!
//! Decisions of one thread, from what it is told alone: sites, levels, times, a seed. So a recorded stream of joins can be replayed through
//! it, and gives the same decisions. This file is compiled into front ends as it stands; it uses `core` alone.
//!
//! Subtrees are taken by *class*: their site and level (creates below the root). A class's subtrees that are short enough are left
//! out, all but some: with budget b (a part of the time), and d what recording a subtree adds to its time, each is recorded with
//! the chance b / d, so that what is recorded costs b. Where d is below b, because strands are long, that is all of them. A subtree that is longer than the
//! *grain* is entered instead, so that the next level decides; while what is recorded on the way costs too much, the grain grows.
//!
//! Calibration finds the least that a record costs; in a program that shares its caches and processors it is more. So drawn subtrees
//! are compared with those of their class that were left out, and chances are lowered by what was thought too little.

/// What a front end asks the recorder for once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Millionths of the time that recording may add; 0: no limit.
    pub per_million: u32,
    /// Tasks that a thread records before there is a limit.
    pub hold: u32,
    /// What recording a join adds, in ticks.
    pub join_ticks: u64,
    /// Ticks of a millisecond.
    pub millisecond: u64,
    /// Where chance begins.
    pub seed: u64,
}

/// What is to become of a join that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is recorded, and those inside are asked for.
    Enter,
    /// It is recorded with everything inside, to learn what that costs.
    Learn,
    /// So too, drawn by chance to stand for those that are not.
    Sample,
    /// Nothing inside is recorded.
    Skip,
}

/// Added to the level that is recorded of a subtree recorded to learn from: it was not drawn by chance, so it says nothing of how many there
/// are, but as much as others of what is inside.
pub const LEARNT: u64 = 1 << 32;
/// Added to the level that is recorded where the class is one of tasks, not of joins: what is left out, or recorded in full, is all that the
/// current task does.
pub const OF_TASKS: u64 = 1 << 33;

/// Classes that a thread knows; a power of two.
const CLASSES: usize = 256;
/// Subtrees of a class that are measured before any is left out.
const MEASURED: u32 = 2;
/// A mean is over about so many, so that it follows the program.
const MEAN_OF: u32 = 32;
/// Subtrees left out of a class before those drawn of it are compared with them.
const COMPARABLE: u32 = 4;
/// Drawn subtrees that are compared before anything follows from it.
const COMPARED: u32 = 16;
/// About so many of the last ones are compared. Were they few, chances would follow what those happened to hold: lower after large ones,
/// of which there would then be too many among all that are drawn.
const REMEMBERED: u32 = 512;
/// So many times as long as those left out, a drawn one was interrupted, or was of another size.
const ODD: u64 = 32;
/// A subtree that takes less time than recording so many joins is not worth the two records of leaving it out.
const WORTH: u64 = 8;

/// Subtrees of one site and level.
#[derive(Debug, Clone, Copy)]
struct Class {
    site: u32,
    level: u32,
    /// Measured, up to [`MEAN_OF`].
    seen: u32,
    /// Mean time, in ticks, without what recording added.
    ticks: u64,
    /// Time a join, in 2^-4 ticks, where it was recorded whole: near the least, as threads are interrupted; 0 while that is
    /// not known.
    join_time: u64,
    /// Chance in 2^32 of being recorded that follows.
    chance: u64,
    /// Left out so far, up to [`MEAN_OF`], and their mean time in ticks.
    left: u32,
    left_ticks: u64,
}

const NONE: Class = Class {
    site: 0,
    level: u32::MAX,
    seen: 0,
    ticks: 0,
    join_time: 0,
    chance: 0,
    left: 0,
    left_ticks: 0,
};

/// Drawn subtrees, beside what those of their classes took that were left out.
#[derive(Debug, Clone, Copy, Default)]
struct Compared {
    drawn: u32,
    /// Joins in them.
    joins: u64,
    /// Time they took, and would have taken, in ticks.
    recorded: u64,
    bare: u64,
}

impl Compared {
    fn add(&mut self, joins: u64, recorded: u64, bare: u64) {
        self.drawn += 1;
        self.joins = self.joins.saturating_add(joins);
        self.recorded = self.recorded.saturating_add(recorded);
        self.bare = self.bare.saturating_add(bare);
        if self.drawn == REMEMBERED {
            // So that it follows the program.
            self.drawn /= 2;
            self.joins /= 2;
            self.recorded /= 2;
            self.bare /= 2;
        }
    }

    /// What chances are to be multiplied by, in 2^-16, where a join was thought to cost `join_ticks`: from a 64th to 1.
    fn correction(&self, join_ticks: u64) -> u64 {
        let thought = self.joins as u128 * join_ticks as u128;
        let added = self.recorded.saturating_sub(self.bare) as u128;
        if self.drawn < COMPARED || added == 0 {
            return 1 << 16;
        }
        // Chances are in proportion to bare time / added time. What was thought of the former is what is left of the recorded.
        let rest = (self.recorded as u128).saturating_sub(thought);
        let rest = rest.max(self.recorded as u128 / 16).max(1);
        let factor = ((thought << 16) / added) * self.bare as u128 / rest;
        factor.clamp(1 << 10, 1 << 16) as u64
    }
}

/// A thread's decisions.
#[derive(Debug)]
pub struct Budget {
    settings: Settings,
    classes: [Class; CLASSES],
    random: u64,
    /// Where on the line of chances laid end to end the next subtree begins, and where the point lies that draws one, both
    /// counted from the last whole chance.
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

/// What is known of a join when it begins; given back when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    site: u32,
    level: u32,
    start: u64,
    choice: Choice,
}

impl Settings {
    /// Whether `joins` recorded joins in `ticks` are more than is allowed.
    pub const fn exceeded(&self, joins: u64, ticks: u64) -> bool {
        let cost = joins.saturating_mul(self.join_ticks) as u128;
        let rest = (ticks as u128).saturating_sub(cost);
        self.per_million > 0 && cost * 1_000_000 > rest * self.per_million as u128
    }
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
            classes: [NONE; CLASSES],
            random: seed,
            along: 0,
            point: 0,
            grain: settings.millisecond / 20,
            since: now,
            entered: 0,
            sampled: 0,
            compared: Compared::default(),
        };
        budget.point = budget.draw();
        budget
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

    /// Whether the next subtree is drawn, with that chance in 2^32, at most 1. Chances are laid end to end, and in each whole one a point
    /// at random draws the subtree it falls on: so as many are drawn as the chances add up to, in every phase of the program, and
    /// no pattern in it can fall in with the drawing.
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

    /// Where a class stands, or would.
    fn place(&self, site: u32, level: u32) -> usize {
        let mixed = (site as u64 ^ (level as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> 56) as usize % CLASSES;
        let is = |c: &Class| c.site == site && c.level == level;
        match is(&self.classes[at ^ 1]) {
            true => at ^ 1,
            // A newcomer takes the place that knows less.
            false if is(&self.classes[at]) => at,
            false if self.classes[at ^ 1].seen < self.classes[at].seen => at ^ 1,
            false => at,
        }
    }

    /// A join of that site and level begins at time `now`.
    pub fn begin(&mut self, site: u32, level: u32, now: u64) -> (Choice, Begun) {
        let at = self.place(site, level);
        if self.classes[at].site != site || self.classes[at].level != level {
            self.classes[at] = Class {
                site,
                level,
                ..NONE
            };
        }
        let class = self.classes[at];
        let least = self.settings.join_ticks.saturating_mul(WORTH);
        let choice = if class.seen < MEASURED || class.ticks < least || class.ticks > self.grain {
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

    /// It returned at time `now`; `joins` of those recorded began meanwhile on its thread, itself among them.
    pub fn end(&mut self, begun: Begun, now: u64, joins: u64) {
        let passed = now.saturating_sub(begun.start);
        let added = joins.saturating_mul(self.settings.join_ticks);
        // A join takes some time of its own, however much recording it is thought to cost.
        let bare = passed.saturating_sub(added).max(passed / 16);
        let whole = matches!(begun.choice, Choice::Learn | Choice::Sample);
        if whole {
            self.sampled = self.sampled.saturating_add(passed);
        }
        let at = self.place(begun.site, begun.level);
        let class = &mut self.classes[at];
        if class.site != begun.site || class.level != begun.level {
            return;
        }
        class.seen = if class.seen < MEAN_OF {
            class.seen + 1
        } else {
            MEAN_OF
        };
        let n = class.seen as u64;
        // A thread that lost its processor meanwhile says nothing of the class.
        let bare = if n > MEASURED as u64 {
            bare.min(class.ticks.saturating_mul(8))
        } else {
            bare
        };
        class.ticks = (class.ticks / n) * (n - 1) + (class.ticks % n) * (n - 1) / n + bare / n;
        if begun.choice == Choice::Skip {
            let passed = match class.left {
                0 => passed,
                _ => passed.min(class.left_ticks.saturating_mul(ODD)),
            };
            class.left = (class.left + 1).min(MEAN_OF);
            let n = class.left as u64;
            class.left_ticks = class.left_ticks - class.left_ticks / n + passed / n;
        }
        if begun.choice == Choice::Sample && class.left >= COMPARABLE {
            let bare = class.left_ticks;
            let recorded = passed.min(bare.saturating_mul(ODD));
            self.compared.add(joins, recorded, bare);
        }
        if whole {
            let correction = self.compared.correction(self.settings.join_ticks);
            let seen = (passed.saturating_mul(16) / joins.max(1)).max(1);
            let known = class.join_time;
            class.join_time = if known == 0 || seen < known {
                seen
            } else {
                known + (seen.min(known.saturating_mul(2)) - known) / 16
            };
            let added = self.settings.join_ticks.saturating_mul(16).max(1);
            let bare = class.join_time.saturating_sub(added);
            let bare = bare.max(class.join_time / 16);
            let part = self.settings.per_million as u128 * bare as u128;
            let part = part * correction as u128;
            let chance = (part << 16) / (added as u128 * 1_000_000);
            let most = 1 << 40;
            let chance = if chance > most { most } else { chance };
            // Not rarer than that, lest nothing is ever known of it.
            class.chance = (chance as u64).max(1 << 20);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        per_million: 50_000,
        hold: 0,
        join_ticks: 60,
        millisecond: 1_000_000,
        seed: 7,
    };

    /// Recursion of that depth whose tasks do `strand` ticks of work; what is recorded, and the time it took.
    struct Run {
        budget: Budget,
        now: u64,
        bare: u64,
        recorded: u64,
        skipped: u64,
        strand: u64,
        whole: bool,
        /// What recording a join really takes.
        cost: u64,
    }

    impl Run {
        fn new(strand: u64) -> Run {
            let budget = Budget::new(SETTINGS, 0, 0);
            Run {
                budget,
                now: 0,
                bare: 0,
                recorded: 0,
                skipped: 0,
                strand,
                whole: false,
                cost: SETTINGS.join_ticks,
            }
        }

        fn tree(&mut self, depth: u32, level: u32, recorded: bool) {
            self.now += self.strand;
            self.bare += self.strand;
            if depth == 0 {
                return;
            }
            let asked = recorded && !self.whole;
            let begun = asked.then(|| self.budget.begin(1, level, self.now));
            let skip = matches!(begun, Some((Choice::Skip, _)));
            let inside = recorded && !skip;
            if matches!(begun, Some((Choice::Sample | Choice::Learn, _))) {
                self.whole = true;
            }
            let before = self.recorded;
            if inside {
                self.recorded += 1;
                self.now += self.cost;
            }
            self.skipped += u64::from(skip);
            self.tree(depth - 1, level + 1, inside);
            self.tree(depth - 1, level + 1, inside);
            if let Some((choice, begun)) = begun {
                self.whole &= !matches!(choice, Choice::Sample | Choice::Learn);
                self.budget.end(begun, self.now, self.recorded - before);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "millions of tasks, without any unsafe code")]
    fn short_tasks_are_recorded_for_about_what_is_allowed() {
        let mut run = Run::new(8);
        run.tree(22, 0, true);
        let added = (run.now - run.bare) as f64 / run.bare as f64;
        assert!(added < 0.15, "{added}");
        assert!(run.skipped > 100, "{}", run.skipped);
        assert!(run.recorded > 10_000, "{}", run.recorded);
    }

    /// Calibration told too little: fewer are drawn than would be otherwise.
    #[test]
    #[cfg_attr(miri, ignore = "millions of tasks, without any unsafe code")]
    fn what_recording_costs_is_seen() {
        let mut run = Run::new(8);
        run.cost = 4 * SETTINGS.join_ticks;
        run.tree(24, 0, true);
        let added = (run.now - run.bare) as f64 / run.bare as f64;
        assert!(added < 0.1, "{added}");
        assert!(run.skipped > 100, "{}", run.skipped);
        assert!(run.recorded > 1000, "{}", run.recorded);
    }

    /// One slow machine's moment, as a drawn subtree that was interrupted, doesn't end drawing.
    #[test]
    fn chances_are_lowered_to_a_64th_at_most() {
        let mut compared = Compared::default();
        for _ in 0..COMPARED {
            assert_eq!(compared.correction(60), 1 << 16);
            compared.add(100, 1 << 40, 10);
        }
        assert_eq!(compared.correction(60), 1 << 10);
        let mut compared = Compared::default();
        for _ in 0..1000 {
            // As was thought, or less.
            compared.add(100, 7000, 1000);
            assert_eq!(compared.correction(60), 1 << 16);
        }
        assert!(compared.drawn < REMEMBERED);
    }

    #[test]
    fn long_strands_are_recorded_all() {
        let mut run = Run::new(10_000);
        run.tree(12, 0, true);
        assert_eq!((run.skipped, run.recorded), (0, 4095));
    }

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let run = |seed| {
            let mut budget = Budget::new(Settings { seed, ..SETTINGS }, 3, 0);
            let mut now = 0;
            let choices = (0..2000).map(|_| {
                let (choice, begun) = budget.begin(5, 2, now);
                now += 20_000;
                let joins = if choice == Choice::Skip { 0 } else { 250 };
                budget.end(begun, now, joins);
                choice
            });
            choices.collect::<Vec<Choice>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        let drawn = run(1).iter().filter(|&&c| c == Choice::Sample).count();
        // A thirtieth or so: 5 % of 5000 ticks for 15000.
        assert!((8..200).contains(&drawn), "{drawn}");
    }
}
