//! The number of tasks per tick of a skipped subtree, and its error.
//!
//! There are two estimates. The one with the smaller error is used (W. G. Cochran, Sampling
//! Techniques, 1977), or the whole range between them if they exclude each other:
//!
//! * *Expansion* (ch. 5): the sampled subtrees of a site and level are a sample of all, so their
//!   mean number of tasks times the number of the others estimates the others' tasks. It is
//!   accurate if a class's subtrees are similar or many are sampled, whatever the probes did to
//!   their times.
//! * *Ratio* (ch. 6): tasks to time of the sampled ones, without their probes. It hardly depends on
//!   the size of a subtree, but is only as good as the known cost of a probe: accurate if tasks are
//!   long compared with it.

/// The subtrees of one site and level.
///
/// Each sampled one is weighted by its probability: drawn with a probability of one in a hundred,
/// it counts a hundredfold (J. Hájek, 1971). Probabilities depend on earlier samples, so they
/// differ systematically.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Class {
    /// The number of skipped subtrees with nothing else on their thread meanwhile.
    pub passed: u64,
    passed_ticks: f64,
    /// The number of tasks counted in those, and the number of subtrees whose tasks were not
    /// counted.
    passed_tasks: f64,
    uncounted: u64,
    /// The number of sampled subtrees.
    pub drawn: u64,
    /// The sum of the sampled subtrees' weights; and weighted sums of their tasks, of their times
    /// without probes, and of their times with probes.
    weight: f64,
    tasks: f64,
    bare: f64,
    ticks: f64,
    /// Sums of squares and products of the weighted values.
    weight_weight: f64,
    weight_tasks: f64,
    tasks_tasks: f64,
    tasks_bare: f64,
    bare_bare: f64,
    /// Weighted sums of the ticks in which threads ran sampled subtrees, and of the probes in them.
    ran: f64,
    probes: f64,
}

/// A sampled subtree of a class compared with a skipped one, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CostOfRecording {
    /// The ticks that recording added to it.
    pub added: f64,
    /// The number of its probes.
    pub probes: f64,
}

impl Class {
    pub(super) fn pass(&mut self, ticks: f64, counted: Option<u64>) {
        self.passed += 1;
        self.passed_ticks += ticks;
        match counted {
            Some(tasks) => self.passed_tasks += tasks as f64,
            None => self.uncounted += 1,
        }
    }

    /// Adds a sampled subtree, which represents `weight` subtrees of its class.
    pub(super) fn draw(&mut self, weight: f64, tasks: f64, bare: f64, ticks: f64) {
        self.drawn += 1;
        let (tasks, bare) = (weight * tasks, weight * bare);
        self.weight += weight;
        self.tasks += tasks;
        self.bare += bare;
        self.ticks += weight * ticks;
        self.weight_weight += weight * weight;
        self.weight_tasks += weight * tasks;
        self.tasks_tasks += tasks * tasks;
        self.tasks_bare += tasks * bare;
        self.bare_bare += bare * bare;
    }

    /// Adds the ticks for which a thread ran the last sampled subtree, and the number of its
    /// probes.
    pub(super) fn took(&mut self, weight: f64, ran: f64, probes: f64) {
        self.ran += weight * ran;
        self.probes += weight * probes;
    }

    /// The comparison; `None` if no sampled or no skipped subtree is known. Skipping a task took
    /// `left_out` ticks.
    pub(super) fn compared(&self, left_out: f64) -> Option<CostOfRecording> {
        self.tells().then(|| {
            let bare = self.time_left_out() - left_out * self.mean();
            CostOfRecording {
                added: self.ran / self.weight - bare.max(0.0),
                probes: self.probes / self.weight,
            }
        })
    }

    /// The ticks that a sampled subtree would have taken if it had been skipped.
    fn time_left_out(&self) -> f64 {
        // If tasks were counted, it does not matter by how much the sizes of the others happen to
        // differ.
        if self.uncounted == 0 && self.passed_tasks > 0.0 {
            return self.passed_ticks / self.passed_tasks * self.mean();
        }
        self.passed_ticks / self.passed as f64
    }

    /// The mean number of tasks of a sampled subtree.
    fn mean(&self) -> f64 {
        self.tasks / self.weight
    }

    /// The number of sampled subtrees per unit of weight: 1 if all probabilities are equal and
    /// count as 1.
    fn scale(&self) -> f64 {
        self.drawn as f64 / self.weight
    }

    /// The sum over the sampled subtrees of squared differences from the mean, relative to the
    /// squared mean.
    fn differences(&self) -> f64 {
        let mean = self.mean();
        let squares =
            self.tasks_tasks - 2.0 * mean * self.weight_tasks + mean * mean * self.weight_weight;
        squares.max(0.0) * (self.scale() / mean).powi(2)
    }

    /// The sum over the sampled subtrees of squared differences from this number of tasks per tick.
    fn left(&self, rate: f64) -> f64 {
        let squares =
            self.tasks_tasks - 2.0 * rate * self.tasks_bare + rate * rate * self.bare_bare;
        squares.max(0.0) * self.scale().powi(2)
    }

    /// The number of subtrees that a sampled one represents.
    fn times(&self) -> f64 {
        self.passed as f64 / self.drawn.max(1) as f64
    }

    fn tells(&self) -> bool {
        self.drawn > 0 && self.passed > 0 && self.passed_ticks > 0.0
    }
}

/// A number of tasks per tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rate {
    /// The estimate; 0 if nothing is known.
    pub tasks: f64,
    /// With a probability of 95 %, the true value is between this / (1 + off) and this · (1 + off).
    pub off: f64,
}

/// The largest relative error of a probe's estimated cost, which was measured when the program's
/// own code did not share the caches.
const PROBE_COST_ERROR: f64 = 0.7;
/// The largest relative error that an estimate is assumed to have.
const MAX_ERROR: f64 = 15.0;

impl Rate {
    /// The rate of a site's classes. `apart` is the variance of single tasks' own times, relative
    /// to their squared mean.
    pub(super) fn from_classes(classes: &[Class], apart: f64) -> Rate {
        let mut best = match (expansion(classes), ratio(classes, apart)) {
            (Some(expansion), Some(ratio)) => expansion.reconciled_with(ratio),
            (expansion, ratio) => expansion.or(ratio).unwrap_or_default(),
        };
        best.off = best.off.min(MAX_ERROR);
        best
    }

    /// The estimate with the smaller error, unless the other excludes it. Then sizes differ by more
    /// than the sampled subtrees show, or probes cost something else than estimated, and the true
    /// value may be anywhere in the range of both.
    fn reconciled_with(self, other: Rate) -> Rate {
        let apart = (self.tasks / other.tasks).max(other.tasks / self.tasks);
        if apart <= 1.0 + self.off.max(other.off) {
            return if other.off < self.off { other } else { self };
        }
        let low = |rate: Rate| rate.tasks / (1.0 + rate.off);
        let high = |rate: Rate| rate.tasks * (1.0 + rate.off);
        let (low, high) = (low(self).min(low(other)), high(self).max(high(other)));
        Rate {
            tasks: (low * high).sqrt(),
            off: (high / low).sqrt() - 1.0,
        }
    }
}

/// Student's t for 95 %, approximately: 12.7 for one degree of freedom, 1.96 for many.
fn student(free: u64) -> f64 {
    let free = free.max(1) as f64;
    1.96 + 2.4 / free + 8.3 / free.powi(3)
}

fn expansion(classes: &[Class]) -> Option<Rate> {
    let both = || classes.iter().filter(|c| c.tells());
    let ticks: f64 = both().map(|c| c.passed_ticks).sum();
    let tasks: f64 = both().map(|c| c.mean() * c.passed as f64).sum();
    // The variance of the subtrees of a class, relative to their mean. Few of each class are
    // sampled, so it is computed over all classes: once with equal weights of subtrees, once with
    // each class weighted by its share of the total variance. A large value in one class is thus
    // not averaged away by many others.
    let (mut squares, mut free) = (0.0, 0u64);
    let (mut weighed, mut weights) = (0.0, 0.0);
    for class in classes.iter().filter(|c| c.drawn > 1 && c.tasks > 0.0) {
        let (mean, drawn) = (class.mean(), class.drawn as f64);
        let about = class.differences();
        squares += about;
        free += class.drawn - 1;
        let weight = (mean * class.passed as f64).powi(2) / drawn;
        weighed += weight * about / (drawn - 1.0);
        weights += weight;
    }
    if free == 0 || ticks <= 0.0 || tasks <= 0.0 {
        return None;
    }
    let relative = (squares / free as f64).max(if weights > 0.0 {
        weighed / weights
    } else {
        0.0
    });
    let variance: f64 = both()
        .map(|c| {
            let whole = c.mean() * c.passed as f64;
            whole * whole * relative * (1.0 / c.drawn as f64 + 1.0 / c.passed as f64)
        })
        .sum();
    let off = student(free) * variance.sqrt() / tasks;
    Some(Rate {
        tasks: tasks / ticks,
        // The error is relative to the true value: if too few tasks are found, their variance is
        // underestimated too.
        off: off / (1.0 - off.min(MAX_ERROR / (1.0 + MAX_ERROR))),
    })
}

fn ratio(classes: &[Class], apart: f64) -> Option<Rate> {
    // Classes without skipped subtrees count if no other class is known.
    let known = classes.iter().any(Class::tells);
    let weighed = || {
        let is_usable = move |c: &&Class| c.drawn > 0 && (c.tells() || !known);
        let weight = move |c: &Class| if known { c.times() } else { 1.0 };
        classes
            .iter()
            .filter(is_usable)
            .map(move |c| (weight(c), c))
    };
    let sum = |value: fn(&Class) -> f64| {
        weighed()
            .map(|(w, c)| w * c.scale() * value(c))
            .sum::<f64>()
    };
    let (tasks, bare, ticks) = (sum(|c| c.tasks), sum(|c| c.bare), sum(|c| c.ticks));
    let count: f64 = weighed().map(|(_, c)| c.scale() * c.tasks).sum();
    let drawn: u64 = weighed().map(|(_, c)| c.drawn).sum();
    if tasks <= 0.0 || bare <= 0.0 {
        return None;
    }
    let rate = tasks / bare;
    // The differences of subtrees from what their time predicts.
    let between: f64 = weighed().map(|(w, c)| w * w * c.left(rate)).sum();
    let free = drawn.saturating_sub(1).max(1);
    let between = between * drawn as f64 / free as f64 / (tasks * tasks);
    // The variance that this many tasks would show if their times were independent.
    let within = apart / count.max(1.0);
    let chance = student(free) * between.max(within).sqrt();
    let probes = PROBE_COST_ERROR * (ticks - bare).max(0.0) / bare;
    Some(Rate {
        tasks: rate,
        off: chance + probes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Rate {
        fn holds(&self, tasks: f64) -> bool {
            (self.tasks / (1.0 + self.off)..=self.tasks * (1.0 + self.off)).contains(&tasks)
        }
    }

    fn class(passed: &[f64], drawn: &[(f64, f64, f64)]) -> Class {
        let mut class = Class::default();
        passed.iter().for_each(|&ticks| class.pass(ticks, None));
        for &(tasks, bare, ticks) in drawn {
            class.draw(1.0, tasks, bare, ticks);
        }
        class
    }

    #[test]
    fn subtrees_that_are_alike_are_counted_whatever_their_probes_cost() {
        // 100 tasks in 2000 ticks. Probes add 8000, but are estimated at 7000.
        let alike = class(&[2000.0; 20], &[(100.0, 1000.0, 8000.0); 4]);
        let rate = Rate::from_classes(&[alike], 0.5);
        assert!((rate.tasks - 0.05).abs() < 1e-9, "{rate:?}");
        assert!(rate.off < 0.01, "{rate:?}");
    }

    #[test]
    fn long_tasks_are_counted_by_their_time_where_sizes_differ() {
        let drawn = [(10.0, 10_000.0, 10_500.0), (1000.0, 990_000.0, 1e6)];
        let odd = class(&[300_000.0; 20], &drawn);
        let rate = Rate::from_classes(&[odd], 0.2);
        assert!((rate.tasks - 0.00101).abs() < 1e-5, "{rate:?}");
        assert!(rate.off < 0.25, "{rate:?}");
    }

    /// As if small ones had been drawn twice as often as large ones.
    #[test]
    fn each_counts_by_its_chance() {
        let mut odd = class(&[2000.0; 60], &[]);
        for _ in 0..8 {
            odd.draw(10.0, 50.0, 500.0, 4000.0);
            odd.draw(10.0, 50.0, 500.0, 4000.0);
            odd.draw(20.0, 150.0, 1500.0, 12_000.0);
        }
        let rate = Rate::from_classes(&[odd], 0.5);
        assert!((rate.tasks - 0.05).abs() < 1e-9, "{rate:?}");
        assert!((0.3..0.4).contains(&rate.off), "{rate:?}");
    }

    /// Probes cost ten times the estimate: the ratio is not used alone, however small its own error
    /// is.
    #[test]
    fn what_probes_cost_is_checked() {
        let drawn: Vec<_> = (1..9)
            .map(|n| f64::from(n) * 50.0)
            .map(|t| (t, 9.0 * t, 10.0 * t))
            .collect();
        let rate = Rate::from_classes(&[class(&[200.0; 40], &drawn)], 0.5);
        // 225 in 200, or one in 9.
        assert!(
            rate.holds(225.0 / 200.0) && rate.holds(1.0 / 9.0),
            "{rate:?}"
        );
    }

    /// Eleven subtrees of a class were skipped, the largest of which has nearly all tasks; the five
    /// sampled ones are small.
    #[test]
    fn sizes_that_no_drawn_one_has_are_seen_by_their_time() {
        let mut passed = [300.0; 11];
        passed[7] = 1e6;
        let drawn = [10.0, 11.0, 12.0, 9.0, 10.0].map(|tasks| (tasks, tasks * 30.0, tasks * 40.0));
        let rate = Rate::from_classes(&[class(&passed, &drawn)], 0.5);
        assert!(rate.holds(1.0 / 30.0), "{rate:?}");
    }

    #[test]
    fn one_subtree_is_not_much_to_go_by() {
        let one = class(&[2000.0; 20], &[(100.0, 1000.0, 8000.0)]);
        let rate = Rate::from_classes(&[one], 1.0);
        assert!(rate.tasks > 0.0 && rate.off > 2.0, "{rate:?}");
        assert_eq!(Rate::from_classes(&[], 0.0).tasks, 0.0);
    }
}
