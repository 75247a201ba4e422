//! How many tasks a tick of an unrecorded subtree stands for, and how far off that may be.
//!
//! Two estimates, of which the surer one is taken (W. G. Cochran, Sampling Techniques, 1977):
//!
//! * *Expansion* (ch. 5): the drawn subtrees of a site and level are a sample of all, so their mean count of tasks times the number of the
//!   others is what those hold. Right where a class's subtrees are alike or many are drawn, whatever the probes did to the drawn ones' times.
//! * *Ratio* (ch. 6): tasks to time of the drawn ones, without their probes. Hardly touched by how large a subtree is, but only as good as what is
//!   known of a probe's cost: sure where tasks are long beside that.

/// Subtrees of one site and level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Class {
    /// Not recorded, with nothing else on the thread meanwhile.
    pub passed: u64,
    passed_ticks: f64,
    /// Drawn.
    pub drawn: u64,
    /// Of the drawn ones: tasks, time without probes, time with them.
    tasks: f64,
    bare: f64,
    ticks: f64,
    /// Sums of squares, and of products.
    tasks_tasks: f64,
    tasks_bare: f64,
    bare_bare: f64,
}

impl Class {
    pub(super) fn pass(&mut self, ticks: f64) {
        self.passed += 1;
        self.passed_ticks += ticks;
    }

    pub(super) fn draw(&mut self, tasks: f64, bare: f64, ticks: f64) {
        self.drawn += 1;
        self.tasks += tasks;
        self.bare += bare;
        self.ticks += ticks;
        self.tasks_tasks += tasks * tasks;
        self.tasks_bare += tasks * bare;
        self.bare_bare += bare * bare;
    }

    fn mean(&self) -> f64 {
        self.tasks / self.drawn.max(1) as f64
    }

    /// Subtrees that one drawn one stands for.
    fn weight(&self) -> f64 {
        self.passed as f64 / self.drawn.max(1) as f64
    }

    fn tells(&self) -> bool {
        self.drawn > 0 && self.passed > 0 && self.passed_ticks > 0.0
    }
}

/// Tasks a tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rate {
    /// 0 when nothing is known.
    pub tasks: f64,
    /// It lies between this / (1 + off) and this · (1 + off), 95 times of 100.
    pub off: f64,
}

/// What is thought to be a probe's cost may be off by that part of it: it was measured before the program's own code shared the caches.
const PROBES_OFF: f64 = 0.7;
/// No estimate is thought to be worse than by that factor, less 1.
const MOST: f64 = 15.0;

impl Rate {
    /// Of a site's classes. `apart`: the variance of single tasks' own times, in squares of their mean.
    pub(super) fn of(classes: &[Class], apart: f64) -> Rate {
        let both = [expansion(classes), ratio(classes, apart)];
        let best = both.into_iter().flatten().filter(|r| r.tasks > 0.0);
        let mut best = best
            .min_by(|a, b| a.off.total_cmp(&b.off))
            .unwrap_or_default();
        best.off = best.off.min(MOST);
        best
    }
}

/// Student's t for 95 %, near enough: 12.7 for one degree of freedom, 1.96 for many.
fn student(free: u64) -> f64 {
    let free = free.max(1) as f64;
    1.96 + 2.4 / free + 8.3 / free.powi(3)
}

fn expansion(classes: &[Class]) -> Option<Rate> {
    let both = || classes.iter().filter(|c| c.tells());
    let ticks: f64 = both().map(|c| c.passed_ticks).sum();
    let tasks: f64 = both().map(|c| c.mean() * c.passed as f64).sum();
    // How subtrees of one class differ, relative to their mean: few of each are drawn, so over all classes, once each subtree counting
    // alike, once each class as much as it adds to the variance of the whole. What is large in one of them is not made small by many others.
    let (mut squares, mut free) = (0.0, 0u64);
    let (mut weighed, mut weights) = (0.0, 0.0);
    for class in classes.iter().filter(|c| c.drawn > 1 && c.tasks > 0.0) {
        let (mean, drawn) = (class.mean(), class.drawn as f64);
        let about = (class.tasks_tasks - drawn * mean * mean).max(0.0) / (mean * mean);
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
    Some(Rate {
        tasks: tasks / ticks,
        off: student(free) * variance.sqrt() / tasks,
    })
}

fn ratio(classes: &[Class], apart: f64) -> Option<Rate> {
    // Classes that none was left out of count where no other is known.
    let known = classes.iter().any(Class::tells);
    let weighed = || {
        let of = move |c: &&Class| c.drawn > 0 && (c.tells() || !known);
        let weight = move |c: &Class| if known { c.weight() } else { 1.0 };
        classes.iter().filter(of).map(move |c| (weight(c), c))
    };
    let sum = |of: fn(&Class) -> f64| weighed().map(|(w, c)| w * of(c)).sum::<f64>();
    let (tasks, bare, ticks) = (sum(|c| c.tasks), sum(|c| c.bare), sum(|c| c.ticks));
    let count: f64 = weighed().map(|(_, c)| c.tasks).sum();
    let drawn: u64 = weighed().map(|(_, c)| c.drawn).sum();
    if tasks <= 0.0 || bare <= 0.0 {
        return None;
    }
    let rate = tasks / bare;
    // What subtrees have more or less than their time says.
    let left = |c: &Class| {
        (c.tasks_tasks - 2.0 * rate * c.tasks_bare + rate * rate * c.bare_bare).max(0.0)
    };
    let between: f64 = weighed().map(|(w, c)| w * w * left(c)).sum();
    let free = drawn.saturating_sub(1).max(1);
    let between = between * drawn as f64 / free as f64 / (tasks * tasks);
    // What so many tasks would show if each had its time by itself.
    let within = apart / count.max(1.0);
    let chance = student(free) * between.max(within).sqrt();
    let probes = PROBES_OFF * (ticks - bare).max(0.0) / bare;
    Some(Rate {
        tasks: rate,
        off: chance + probes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(passed: &[f64], drawn: &[(f64, f64, f64)]) -> Class {
        let mut class = Class::default();
        passed.iter().for_each(|&ticks| class.pass(ticks));
        for &(tasks, bare, ticks) in drawn {
            class.draw(tasks, bare, ticks);
        }
        class
    }

    #[test]
    fn subtrees_that_are_alike_are_counted_whatever_their_probes_cost() {
        // 100 tasks in 2000 ticks, of which probes make 8000: they are thought to be 7000.
        let alike = class(&[2000.0; 20], &[(100.0, 1000.0, 8000.0); 4]);
        let rate = Rate::of(&[alike], 0.5);
        assert!((rate.tasks - 0.05).abs() < 1e-9, "{rate:?}");
        assert!(rate.off < 0.01, "{rate:?}");
    }

    #[test]
    fn long_tasks_are_counted_by_their_time_where_sizes_differ() {
        let drawn = [(10.0, 10_000.0, 10_500.0), (1000.0, 990_000.0, 1e6)];
        let odd = class(&[300_000.0; 20], &drawn);
        let rate = Rate::of(&[odd], 0.2);
        assert!((rate.tasks - 0.00101).abs() < 1e-5, "{rate:?}");
        assert!(rate.off < 0.25, "{rate:?}");
    }

    #[test]
    fn one_subtree_is_not_much_to_go_by() {
        let one = class(&[2000.0; 20], &[(100.0, 1000.0, 8000.0)]);
        let rate = Rate::of(&[one], 1.0);
        assert!(rate.tasks > 0.0 && rate.off > 2.0, "{rate:?}");
        assert_eq!(Rate::of(&[], 0.0).tasks, 0.0);
    }
}
