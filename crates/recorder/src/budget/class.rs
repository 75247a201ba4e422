//! What is known of each class of subtrees.

use super::Settings;

/// Classes that a thread knows; a power of two.
const CLASSES: usize = 256;
/// Subtrees of a class that are measured before any is left out.
const MEASURED: u32 = 2;
/// A mean is over about so many, so that it follows the program.
const MEAN_OF: u32 = 32;
/// Joins that were recorded whole before what they took stands for the level above as well.
const LEARNT_OF: u64 = 1024;
/// So many times as long on average as the level below, a level may hold something else.
const ALIKE: u64 = 4;
/// Subtrees left out of a class before those drawn of it are compared with them.
const COMPARABLE: u32 = 4;
/// So many times as long as those left out, a drawn one was interrupted, or was of another size.
pub(super) const ODD: u64 = 32;

/// Subtrees of one site and level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Class {
    site: u32,
    level: u32,
    /// Measured, up to [`MEAN_OF`].
    seen: u32,
    /// Mean time, in ticks, without what recording added.
    pub(super) ticks: u64,
    /// Time a join, in 2^-4 ticks, where it was recorded whole: near the least, as threads are
    /// interrupted; 0 while that is not known.
    pub(super) join_time: u64,
    /// Joins that this was learnt from, at the most of one subtree.
    learnt: u64,
    /// Chance in 2^32 of being recorded that follows.
    pub(super) chance: u64,
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
    learnt: 0,
    chance: 0,
    left: 0,
    left_ticks: 0,
};

impl Class {
    /// Whether so many were measured that one may be left out.
    pub(super) fn is_measured(&self) -> bool {
        self.seen >= MEASURED
    }

    /// One more of them has ended, which took `passed` ticks, `bare` of them without what recording
    /// it added.
    pub(super) fn ended(&mut self, passed: u64, bare: u64, left_out: bool) {
        self.seen = if self.seen < MEAN_OF {
            self.seen + 1
        } else {
            MEAN_OF
        };
        let n = self.seen as u64;
        // A thread that lost its processor meanwhile says nothing of the class.
        let bare = if n > MEASURED as u64 {
            bare.min(self.ticks.saturating_mul(8))
        } else {
            bare
        };
        self.ticks = (self.ticks / n) * (n - 1) + (self.ticks % n) * (n - 1) / n + bare / n;
        if left_out {
            let passed = match self.left {
                0 => passed,
                _ => passed.min(self.left_ticks.saturating_mul(ODD)),
            };
            self.left = (self.left + 1).min(MEAN_OF);
            let n = self.left as u64;
            self.left_ticks = self.left_ticks - self.left_ticks / n + passed / n;
        }
    }

    /// Mean time in ticks of those left out, once they are enough to compare drawn ones with.
    pub(super) fn comparable(&self) -> Option<u64> {
        (self.left >= COMPARABLE).then_some(self.left_ticks)
    }

    /// One of so many joins that was recorded whole took `passed` ticks: the chance of being
    /// recorded, times `correction` (in 2^-16), follows.
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

    /// The chance that follows from what a join takes.
    fn follow(&mut self, correction: u64, settings: &Settings) {
        let added = settings.join_ticks.saturating_mul(16).max(1);
        let bare = self.join_time.saturating_sub(added);
        let bare = bare.max(self.join_time / 16);
        let part = settings.per_million as u128 * bare as u128;
        let part = part * correction as u128;
        let chance = (part << 16) / (added as u128 * 1_000_000);
        let most = 1 << 40;
        let chance = if chance > most { most } else { chance };
        // Not rarer than that, lest nothing is ever known of it.
        self.chance = (chance as u64).max(1 << 20);
    }
}

/// The classes that a thread knows. They are as large as the whole stack of some threads, so they
/// never lie on it.
#[derive(Debug)]
pub(super) struct Classes(Box<[Class]>);

impl Classes {
    /// Nothing is known yet.
    pub(super) fn new() -> Classes {
        Classes(vec![NONE; CLASSES].into_boxed_slice())
    }

    /// Where a class stands, or would.
    fn place(&self, site: u32, level: u32) -> usize {
        let mixed = (site as u64 ^ (level as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> 56) as usize % CLASSES;
        let is = |c: &Class| c.site == site && c.level == level;
        match is(&self.0[at ^ 1]) {
            true => at ^ 1,
            // A newcomer takes the place that knows less.
            false if is(&self.0[at]) => at,
            false if self.0[at ^ 1].seen < self.0[at].seen => at ^ 1,
            false => at,
        }
    }

    /// That class, maybe of which nothing is known: it has a place from now on.
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

    /// That class, where nothing has been learnt of it, by what was of the level below, if both are
    /// alike: recording one of each level whole would cost as much as all that is drawn within the
    /// first hundredth of a second.
    pub(super) fn by_level_below(
        &mut self,
        class: Class,
        correction: u64,
        settings: &Settings,
    ) -> Class {
        let below = self.get(class.site, class.level.saturating_add(1)).copied();
        let known = below.filter(|below| {
            below.learnt >= LEARNT_OF && class.ticks <= below.ticks.saturating_mul(ALIKE)
        });
        let Some((known, class)) = known.zip(self.get(class.site, class.level)) else {
            return class;
        };
        class.join_time = known.join_time;
        class.learnt = known.learnt;
        class.follow(correction, settings);
        *class
    }

    /// That class, unless another one took its place.
    pub(super) fn get(&mut self, site: u32, level: u32) -> Option<&mut Class> {
        let at = self.place(site, level);
        let class = &mut self.0[at];
        (class.site == site && class.level == level).then_some(class)
    }
}
