//! Estimates the contents of skipped subtrees from the sampled ones of the same site.
//!
//! *Counts*: the recorded subtrees were drawn at random among those of one site and level. So the
//! mean count of the sampled ones, each weighted by its probability, times the number of the others
//! is right on average. The error follows from the differences between the sampled ones (stratified
//! expansion, W. G. Cochran, Sampling Techniques, 1977, ch. 5). The probes' own time, which is
//! several times that of a task here, has no effect. If tasks are long compared with probes, few
//! subtrees are sampled and their sizes differ; then the ratio of tasks to time is more accurate
//! ([`super::task_rate`]).
//!
//! *Paths*: each strand gets those of a sampled join of about its size (hot-deck imputation), so
//! that the longest of many is as long as it would be among them.

use std::collections::BTreeMap;

use super::is_task_class;
use super::probe_from_pairs;
use super::sample::{Node, Path, Sample, SampledSite};
use super::skip_costs::SkipCosts;
use super::task_rate::{Class, Rate};

/// The spans of sampled subtrees.
#[derive(Debug, Clone, Copy, Default)]
struct Spans {
    sampled: u64,
    work: u64,
    span: u64,
    /// The heaviest path of the subtree with the shortest span.
    shortest: Path,
    levels: u32,
}

impl Spans {
    fn add(&mut self, whole: &Node) {
        let path = whole.paths.heaviest;
        if self.sampled == 0 || path.weight < self.shortest.weight {
            self.shortest = path;
        }
        self.sampled += 1;
        self.work = self.work.saturating_add(whole.work);
        self.span = self.span.saturating_add(path.weight);
        self.levels = self.levels.max(whole.levels);
    }
}

/// The subtrees of one site and level.
#[derive(Debug, Default)]
struct Stratum {
    counts: Class,
    spans: Spans,
}

/// The subtrees of one site.
#[derive(Debug, Default)]
struct Site {
    spans: Spans,
    /// The contents of all sampled ones.
    inside: BTreeMap<u32, SampledSite>,
    ticks: u64,
    ready: u64,
    tasks: u64,
    waits: u64,
    /// The number of tasks per tick.
    rate: Rate,
}

/// The subtrees of all sites.
#[derive(Debug, Default)]
pub(in crate::recorded) struct Estimator {
    /// The cost of a record for the strand beside it, in ticks.
    pub(super) probe: u64,
    pub(super) left_out: SkipCosts,
    classes: BTreeMap<(u32, u64), Stratum>,
    sites: BTreeMap<u32, Site>,
}

/// The estimated contents of a strand. Sites are the file's.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::recorded) struct Estimate {
    /// The part of its ticks that skipping its contents costs.
    pub cost: u64,
    pub tasks: u64,
    pub spawns: u64,
    pub waits: u64,
    pub tasks_within: (u64, u64),
    pub span_within: (u64, u64),
    pub path: Path,
    pub levels: u32,
    pub ready: u64,
    pub inside: Vec<InsideEstimate>,
}

/// The estimated contents of one site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::recorded) struct InsideEstimate {
    pub site: u32,
    pub count: u64,
    pub work: u64,
    pub span: u64,
    pub critical_work: u64,
    pub lengths: Vec<u64>,
}

/// The largest number of classes that are kept of a trace.
const MAX_CLASSES: usize = 1 << 16;

impl Estimator {
    /// Adds a skipped subtree during which its thread did nothing else and ran for `ticks`, and the
    /// number of tasks counted in it.
    pub(super) fn passed(&mut self, class: (u32, u64), ticks: u64, counted: Option<u64>) {
        if let Some(class) = self.class(class) {
            class.counts.pass(ticks as f64, counted);
        }
    }

    fn class(&mut self, class: (u32, u64)) -> Option<&mut Stratum> {
        if self.classes.len() >= MAX_CLASSES && !self.classes.contains_key(&class) {
            return None;
        }
        Some(self.classes.entry(class).or_default())
    }

    /// Adds a sampled subtree.
    pub(super) fn sample(&mut self, sample: Sample) {
        let tasks = sample.whole.tasks as f64;
        let Some(class) = self.class((sample.site, sample.level)) else {
            return;
        };
        // Skipped subtrees also count without their off-CPU time.
        let off = sample.whole.ticks.saturating_sub(sample.ran);
        let (bare, ran) = (sample.bare.saturating_sub(off) as f64, sample.ran as f64);
        class.counts.draw(sample.weight, tasks, bare, ran);
        class.counts.took(sample.weight, ran, sample.probes as f64);
        class.spans.add(&sample.whole);
        let site = self.sites.entry(sample.site).or_default();
        site.ticks = site.ticks.saturating_add(sample.whole.ticks);
        site.ready = site.ready.saturating_add(sample.ready);
        site.tasks = site.tasks.saturating_add(sample.whole.tasks);
        site.waits = site.waits.saturating_add(sample.waits);
        site.spans.add(&sample.whole);
        for (inner_site, add) in sample.inside {
            let sum = site.inside.entry(inner_site).or_default();
            sum.tasks = sum.tasks.saturating_add(add.tasks);
            sum.own = sum.own.saturating_add(add.own);
            sum.squares += add.squares;
            sum.work = sum.work.saturating_add(add.work);
            sum.span = sum.span.saturating_add(add.span);
            if sum.lengths.len() < add.lengths.len() {
                sum.lengths.resize(add.lengths.len(), 0);
            }
            for (sum, n) in sum.lengths.iter_mut().zip(add.lengths) {
                *sum = sum.saturating_add(n);
            }
        }
    }

    /// Completes the data after all subtrees.
    pub(super) fn settle(&mut self) {
        for (&number, site) in &mut self.sites {
            let classes = self.classes.range((number, 0)..=(number, u64::MAX));
            let classes: Vec<Class> = classes.map(|c| c.1.counts).collect();
            let inside = site.inside.values();
            let (own, squares) = inside.fold((0.0, 0.0), |sum, i| {
                (sum.0 + i.own as f64, sum.1 + i.squares)
            });
            let apart = site.tasks as f64 * squares / (own * own);
            site.rate = Rate::from_classes(
                &classes,
                if own > 0.0 {
                    (apart - 1.0).max(0.0)
                } else {
                    1.0
                },
            );
        }
    }

    /// The cost of a probe in this run, if it can be determined, but at least `calibrated`.
    pub(super) fn compared_probe(&self, calibrated: u64) -> Option<u64> {
        let classes = self.classes.iter();
        let classes =
            classes.map(|(&(_, level), class)| (&class.counts, self.left_out.a_task(level)));
        probe_from_pairs::probe(classes, calibrated)
    }

    /// The number of skipped and of sampled subtrees.
    pub(super) fn drawn(&self) -> (u64, u64) {
        let add = |sum: (u64, u64), c: &Stratum| (sum.0 + c.counts.passed, sum.1 + c.counts.drawn);
        self.classes.values().fold((0, 0), add)
    }

    /// The estimated contents of a strand of a subtree of this site and level. The strand took
    /// `ticks`, of which its thread ran for `ran`. The number of tasks is estimated if it was not
    /// counted.
    pub(super) fn estimate(
        &self,
        (site, level): (u32, u64),
        (ticks, ran): (u64, u64),
        counted: Option<u64>,
        draw: u64,
    ) -> Estimate {
        let of_tasks = is_task_class(level);
        if counted == Some(0) {
            return Estimate {
                tasks_within: (0, 0),
                ..Estimate::one_task(ticks, true)
            };
        }
        let known = self.sites.get(&site);
        let Some(model) = known.filter(|s| s.rate.tasks > 0.0) else {
            return match (counted, of_tasks) {
                (Some(tasks), _) => self.only_counted((site, level), (ticks, ran), tasks),
                (None, true) => Estimate::one_task(ticks, known.is_some()),
                (None, false) => Estimate::one_join(site, ticks),
            };
        };
        let least = if of_tasks { 0 } else { 2 };
        let (exact, off) = match counted {
            Some(tasks) => (tasks as f64, 0.0),
            None => (ran as f64 * model.rate.tasks, model.rate.off),
        };
        let cost = self.cost(level, exact, ran);
        let ticks = ticks - cost;
        // Rounded up with the probability of the fractional part, so that many short strands add
        // up.
        let rest = (mix(draw) >> 11) as f64 / (1u64 << 53) as f64;
        let tasks = (exact + rest).floor().max(least as f64);
        let class = self.classes.get(&(site, level)).map(|class| &class.spans);
        let spans = class.filter(|s| s.sampled > 0).unwrap_or(&model.spans);
        let path = Path {
            weight: spans.shortest.weight.min(ticks),
            ..spans.shortest
        };
        let off = 1.0 + off;
        let within = |tasks: f64| (tasks as u64).max(least);
        let (spawns, waits) = match of_tasks {
            true => (tasks as u64, part(model.waits, model.tasks, tasks as u64)),
            // One of a join's two tasks is spawned, and then the join waits for both.
            false => (tasks as u64 / 2, tasks as u64 / 2),
        };
        Estimate {
            cost,
            tasks: tasks as u64,
            spawns,
            waits,
            tasks_within: (within(tasks / off), within((tasks * off).ceil())),
            span_within: (path.weight, ticks),
            path,
            levels: spans.levels,
            ready: ((ticks + cost) as f64 * model.ready as f64 / model.ticks.max(1) as f64) as u64,
            inside: model.inside((site, of_tasks), ticks, tasks as u64, path.weight),
        }
    }
}

impl Estimator {
    /// The part of the `ran` ticks that skipping this many tasks took.
    fn cost(&self, level: u64, tasks: f64, ran: u64) -> u64 {
        // At least half of the time counts as the program's, however many tasks are estimated.
        ((tasks * self.left_out.a_task(level)) as u64).min(ran / 2)
    }

    /// The estimate if only the number of tasks is known: no subtree of its kind was sampled, or
    /// the sampled ones ran no tasks.
    fn only_counted(&self, class: (u32, u64), (ticks, ran): (u64, u64), tasks: u64) -> Estimate {
        let cost = self.cost(class.1, tasks as f64, ran);
        let inside = InsideEstimate {
            site: class.0,
            count: tasks,
            ..InsideEstimate::default()
        };
        Estimate {
            cost,
            tasks,
            spawns: tasks,
            tasks_within: (tasks, tasks),
            inside: vec![inside],
            ..Estimate::one_task(ticks - cost, false)
        }
    }
}

impl Estimate {
    /// The estimate if no subtree of its kind was sampled: at least the join itself, with the
    /// strand's length.
    fn one_join(site: u32, ticks: u64) -> Estimate {
        let path = Path {
            weight: ticks,
            edges: 1,
        };
        Estimate {
            cost: 0,
            tasks: 2,
            spawns: 1,
            waits: 1,
            tasks_within: (2, ticks.max(2)),
            span_within: (0, ticks),
            path,
            levels: 1,
            ready: 0,
            inside: vec![InsideEstimate {
                site,
                count: 2,
                work: ticks,
                span: ticks,
                critical_work: ticks,
                lengths: Vec::new(),
            }],
        }
    }

    /// The estimate for a task that is not known to run others: none of its kind was sampled, or
    /// those that were (`drawn`) ran none.
    fn one_task(ticks: u64, drawn: bool) -> Estimate {
        let path = Path {
            weight: ticks,
            edges: 0,
        };
        Estimate {
            tasks_within: (0, if drawn { 1 } else { ticks }),
            span_within: (if drawn { ticks } else { 0 }, ticks),
            path,
            ..Estimate::default()
        }
    }
}

/// A pseudo-random number.
fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The share of `whole` that corresponds to `count` in `all`.
fn part(count: u64, all: u64, whole: u64) -> u64 {
    let part = u128::from(count) * u128::from(whole) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(u64::MAX).min(whole)
}

impl Site {
    /// The contents of a strand by site, in the proportions of the sampled ones. The rounding error
    /// is assigned to the site itself. A join's work is all done by its own two tasks; a task's own
    /// work belongs to none of the tasks inside.
    fn inside(
        &self,
        (own, of_tasks): (u32, bool),
        ticks: u64,
        tasks: u64,
        span: u64,
    ) -> Vec<InsideEstimate> {
        let all_own = self
            .inside
            .values()
            .fold(0u64, |sum, i| sum.saturating_add(i.own));
        let outer = self.inside.get(&own);
        let (outer_work, outer_span) = match of_tasks {
            true => (self.spans.work, self.spans.span),
            false => outer.map_or((0, 0), |i| (i.work, i.span)),
        };
        let all_own = if of_tasks { self.spans.work } else { all_own };
        let mut rows: Vec<InsideEstimate> = Vec::with_capacity(self.inside.len());
        let (mut count_left, mut critical_left) = (tasks, span);
        for (&site, inside) in &self.inside {
            let mut row = InsideEstimate {
                site,
                count: part(inside.tasks, self.tasks, tasks),
                work: part(inside.work, outer_work, ticks),
                span: part(inside.span, self.spans.span, span.saturating_mul(2)),
                critical_work: part(inside.own, all_own, span),
                lengths: Vec::new(),
            };
            if site == own && !of_tasks {
                row.work = ticks;
                row.span = part(outer_span, self.spans.span, span.saturating_mul(2));
            }
            row.span = row.span.min(row.work);
            count_left = count_left.saturating_sub(row.count);
            critical_left = critical_left.saturating_sub(row.critical_work);
            rows.push(row);
        }
        let at = rows.iter().position(|row| row.site == own);
        // A task's own site may not be among those inside.
        if let Some(row) = rows.get_mut(at.unwrap_or(0)) {
            row.count += count_left;
            if !of_tasks {
                row.critical_work += critical_left;
            }
        }
        for row in &mut rows {
            if let Some(inside) = self.inside.get(&row.site) {
                row.lengths = spread(&inside.lengths, row.count);
            }
        }
        rows
    }
}

/// Distributes `count` tasks in the proportions of a histogram. The rounding error goes to the
/// largest entry.
fn spread(lengths: &[u64], count: u64) -> Vec<u64> {
    let all: u128 = lengths.iter().map(|&n| u128::from(n)).sum();
    let mut out: Vec<u64> = lengths
        .iter()
        .map(|&n| {
            (u128::from(n) * u128::from(count))
                .checked_div(all)
                .unwrap_or(0) as u64
        })
        .collect();
    let distributed: u64 = out.iter().sum();
    if let Some(most) = out.iter_mut().max() {
        *most += count.saturating_sub(distributed);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subtrees of about ten tasks and 300 ticks; one of the sampled ones lost its processor for a
    /// thousand times as long.
    #[test]
    fn a_drawn_subtree_that_was_interrupted_counts_with_the_time_it_ran() {
        let tasks = |off: u64| {
            let mut model = Estimator::default();
            (0..40).for_each(|_| model.passed((1, 3), 300, None));
            for (tasks, off) in [(9, 0), (10, off), (11, 0), (10, 0)] {
                let mut sample = Sample::new(1, 3);
                let ran = 40 * tasks;
                (sample.ran, sample.bare) = (ran, 30 * tasks + off);
                (sample.whole.tasks, sample.whole.ticks) = (tasks, ran + off);
                model.sample(sample);
            }
            model.settle();
            model.estimate((1, 3), (300, 300), None, 0).tasks_within
        };
        assert!((5..=10).contains(&tasks(0).0), "{:?}", tasks(0));
        assert_eq!(tasks(300_000), tasks(0));
    }
}
