//! The measurements of each class of subtrees.

use super::Settings;

/// The number of classes that a thread keeps; a power of two.
const CLASSES: usize = 256;
/// The number of subtrees of a class that are measured before any is skipped.
const MIN_MEASURED_SUBTREES: u32 = 2;
/// The number of subtrees that a mean is taken over (approximately), so that it follows the
/// program.
const SUBTREES_PER_MEAN: u32 = 32;
/// The number of joins in a fully recorded subtree from which its measurement also counts for the
/// level above.
const MIN_MEASURED_JOINS: u64 = 1024;
/// A level may have other content than the level below if it takes more than this many times as
/// long on average.
const MAX_SIMILAR_RATIO: u64 = 4;
/// The number of skipped subtrees of a class from which its sampled ones are compared with them.
const MIN_SKIPPED_SUBTREES: u32 = 4;
/// A sampled subtree that takes more than this many times as long as skipped ones was interrupted,
/// or was of another size.
pub(super) const MAX_TIME_RATIO: u64 = 32;

/// The subtrees of one site and level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Class {
    site: u32,
    level: u32,
    /// The number of measured subtrees, up to [`SUBTREES_PER_MEAN`].
    seen: u32,
    /// Their mean time, in ticks, without the time that recording added.
    pub(super) ticks: u64,
    /// The time per join in fully recorded subtrees, in 2^-4 ticks; 0 if not known. It stays near
    /// the minimum, because threads are interrupted.
    pub(super) join_time: u64,
    /// The largest number of joins in a subtree that this was measured in.
    learnt: u64,
    /// The resulting probability of being recorded, in 2^-32.
    pub(super) chance: u64,
    /// The number of skipped subtrees, up to [`SUBTREES_PER_MEAN`], and their mean time in ticks.
    left: u32,
    left_ticks: u64,
}

const NONE: Class = Class {
    site: 0,
    level: u32::MAX,
    seen: 0,
    ticks: 0,
    join_time: 0,
    learnt: 0,
    chance: 0,
    left: 0,
    left_ticks: 0,
};

impl Class {
    /// Whether enough subtrees were measured to skip one.
    pub(super) fn is_measured(&self) -> bool {
        self.seen >= MIN_MEASURED_SUBTREES
    }

    /// A subtree has ended. It took `passed` ticks, of which `bare` remain without the time that
    /// recording added.
    pub(super) fn ended(&mut self, passed: u64, bare: u64, left_out: bool) {
        self.seen = if self.seen < SUBTREES_PER_MEAN {
            self.seen + 1
        } else {
            SUBTREES_PER_MEAN
        };
        let n = self.seen as u64;
        // The thread may have lost its processor meanwhile, so a much longer time is cut off.
        let bare = if n > MIN_MEASURED_SUBTREES as u64 {
            bare.min(self.ticks.saturating_mul(8))
        } else {
            bare
        };
        self.ticks = (self.ticks / n) * (n - 1) + (self.ticks % n) * (n - 1) / n + bare / n;
        if left_out {
            let passed = match self.left {
                0 => passed,
                _ => passed.min(self.left_ticks.saturating_mul(MAX_TIME_RATIO)),
            };
            self.left = (self.left + 1).min(SUBTREES_PER_MEAN);
            let n = self.left as u64;
            self.left_ticks = self.left_ticks - self.left_ticks / n + passed / n;
        }
    }

    /// The mean time in ticks of skipped subtrees, once there are enough to compare sampled ones
    /// with them.
    pub(super) fn comparable(&self) -> Option<u64> {
        (self.left >= MIN_SKIPPED_SUBTREES).then_some(self.left_ticks)
    }

    /// A fully recorded subtree with this many joins took `passed` ticks. Updates the probability
    /// of being recorded, multiplied by `correction` (in 2^-16).
    pub(super) fn learn(&mut self, passed: u64, joins: u64, correction: u64, settings: &Settings) {
        let seen = (passed.saturating_mul(16) / joins.max(1)).max(1);
        let known = self.join_time;
        self.join_time = if known == 0 || seen < known {
            seen
        } else {
            known + (seen.min(known.saturating_mul(2)) - known) / 16
        };
        self.learnt = self.learnt.max(joins);
        self.follow(correction, settings);
    }

    /// Computes the probability from the time per join.
    fn follow(&mut self, correction: u64, settings: &Settings) {
        let added = settings.join_ticks.saturating_mul(16).max(1);
        let bare = self.join_time.saturating_sub(added);
        let bare = bare.max(self.join_time / 16);
        let part = settings.per_million as u128 * bare as u128;
        let part = part * correction as u128;
        let chance = (part << 16) / (added as u128 * 1_000_000);
        let most = 1 << 40;
        let chance = if chance > most { most } else { chance };
        // A lower probability would leave the class without samples.
        self.chance = (chance as u64).max(1 << 20);
    }
}

/// The classes that a thread keeps. They are as large as the whole stack of some threads, so they
/// are never on the stack.
#[derive(Debug)]
pub(super) struct Classes(Box<[Class]>);

impl Classes {
    /// Creates an empty table.
    pub(super) fn new() -> Classes {
        Classes(vec![NONE; CLASSES].into_boxed_slice())
    }

    /// The index of a class, whether it is in the table or not.
    fn place(&self, site: u32, level: u32) -> usize {
        let mixed = (site as u64 ^ (level as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> 56) as usize % CLASSES;
        let is = |c: &Class| c.site == site && c.level == level;
        match is(&self.0[at ^ 1]) {
            true => at ^ 1,
            // A new class replaces the one with fewer measurements.
            false if is(&self.0[at]) => at,
            false if self.0[at ^ 1].seen < self.0[at].seen => at ^ 1,
            false => at,
        }
    }

    /// The class, which is added to the table if it is not in it.
    pub(super) fn known(&mut self, site: u32, level: u32) -> Class {
        let at = self.place(site, level);
        let class = &mut self.0[at];
        if class.site != site || class.level != level {
            *class = Class {
                site,
                level,
                ..NONE
            };
        }
        *class
    }

    /// The class. If it has no measurement, it takes that of the level below if both are alike.
    /// Recording one subtree of each level in full would cost as much as all samples within the
    /// first hundredth of a second.
    pub(super) fn by_level_below(
        &mut self,
        class: Class,
        correction: u64,
        settings: &Settings,
    ) -> Class {
        let below = self.get(class.site, class.level.saturating_add(1)).copied();
        let known = below.filter(|below| {
            below.learnt >= MIN_MEASURED_JOINS
                && class.ticks <= below.ticks.saturating_mul(MAX_SIMILAR_RATIO)
        });
        let Some((known, class)) = known.zip(self.get(class.site, class.level)) else {
            return class;
        };
        class.join_time = known.join_time;
        class.learnt = known.learnt;
        class.follow(correction, settings);
        *class
    }

    /// The class, unless another one took its place.
    pub(super) fn get(&mut self, site: u32, level: u32) -> Option<&mut Class> {
        let at = self.place(site, level);
        let class = &mut self.0[at];
        (class.site == site && class.level == level).then_some(class)
    }
}
