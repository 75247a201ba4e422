//! Estimates of what is inside unrecorded subtrees, from those of the same site that were drawn.
//!
//! *Counts*: which subtrees were recorded was drawn by chance among those of one site and level, so the mean count of the drawn ones
//! times the number of the others is right on average, and by how much it may be off follows from how the drawn ones differ (stratified
//! expansion, W. G. Cochran, Sampling Techniques, 1977, ch. 5). The probes' own time, which weighs several times a
//! task here, does not enter: no drawn subtree's time is compared with another's.
//!
//! *Paths*: each strand gets those of a drawn join of about its size (hot-deck imputation), so that the longest of many is as
//! long as it would be among them.

use std::collections::BTreeMap;

use super::curve::{Curve, mix};
use super::meter::{Inside, Path, Paths, Sample};

/// Subtrees of one site and level.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    /// Not recorded, with nothing else on the thread meanwhile.
    passed: u64,
    ticks: f64,
    /// Drawn.
    drawn: u64,
    tasks: f64,
    squares: f64,
}

/// A site.
#[derive(Debug, Default)]
struct Site {
    curve: Curve,
    /// Of all drawn ones.
    inside: BTreeMap<u32, Inside>,
    ticks: u64,
    ready: u64,
    tasks: u64,
    span: u64,
    /// Tasks a tick, and by what part of it that may be off.
    rate: f64,
    off: f64,
    /// Subtrees for each that was drawn.
    many: f64,
}

/// All sites.
#[derive(Debug, Default)]
pub(in crate::recorded) struct Model {
    /// What a record costs a strand beside it, in ticks.
    pub(super) probe: u64,
    classes: BTreeMap<(u32, u64), Class>,
    sites: BTreeMap<u32, Site>,
}

/// What is thought to be inside a strand. Sites are the file's.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::recorded) struct Estimate {
    pub tasks: u64,
    pub tasks_within: (u64, u64),
    pub span_within: (u64, u64),
    pub paths: Paths,
    pub levels: u32,
    pub ready: u64,
    pub inside: Vec<InsideEstimate>,
}

/// Of one site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::recorded) struct InsideEstimate {
    pub site: u32,
    pub count: u64,
    pub work: u64,
    pub span: u64,
    pub critical_work: u64,
    pub lengths: Vec<u64>,
}

/// Classes a trace may ask for.
const CLASSES: usize = 1 << 16;

impl Model {
    /// An unrecorded subtree during which its thread did nothing else.
    pub(super) fn passed(&mut self, class: (u32, u64), ticks: u64) {
        if let Some(class) = self.class(class) {
            class.passed += 1;
            class.ticks += ticks as f64;
        }
    }

    fn class(&mut self, class: (u32, u64)) -> Option<&mut Class> {
        if self.classes.len() >= CLASSES && !self.classes.contains_key(&class) {
            return None;
        }
        Some(self.classes.entry(class).or_default())
    }

    /// One that was drawn.
    pub(super) fn sample(&mut self, sample: Sample) {
        let tasks = sample.whole.tasks as f64;
        let Some(class) = self.class((sample.site, sample.level)) else {
            return;
        };
        class.drawn += 1;
        class.tasks += tasks;
        class.squares += tasks * tasks;
        let site = self.sites.entry(sample.site).or_default();
        site.ticks = site.ticks.saturating_add(sample.whole.ticks);
        site.ready = site.ready.saturating_add(sample.ready);
        site.tasks = site.tasks.saturating_add(sample.whole.tasks);
        let span = sample.whole.paths.heaviest.weight;
        site.span = site.span.saturating_add(span);
        for node in sample.nodes {
            site.curve.add(node);
        }
        for (of, add) in sample.inside {
            let sum = site.inside.entry(of).or_default();
            sum.tasks = sum.tasks.saturating_add(add.tasks);
            sum.own = sum.own.saturating_add(add.own);
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

    /// After all.
    pub(super) fn settle(&mut self) {
        for (&number, site) in &mut self.sites {
            let classes = self.classes.range((number, 0)..=(number, u64::MAX));
            let classes: Vec<Class> = classes.map(|c| *c.1).collect();
            (site.rate, site.off) = rate(&classes);
            let passed: u64 = classes.iter().map(|c| c.passed).sum();
            let drawn: u64 = classes.iter().map(|c| c.drawn).sum();
            site.many = 1.0 + passed as f64 / drawn.max(1) as f64;
            site.curve.settle();
        }
    }

    /// Subtrees that were not recorded, and drawn ones.
    pub(super) fn drawn(&self) -> (u64, u64) {
        let add = |sum: (u64, u64), c: &Class| (sum.0 + c.passed, sum.1 + c.drawn);
        self.classes.values().fold((0, 0), add)
    }

    /// What a strand of so many ticks holds.
    pub(super) fn estimate(&self, site: u32, ticks: u64, draw: u64) -> Estimate {
        let site_model = self.sites.get(&site).filter(|s| s.rate > 0.0);
        let Some(model) = site_model else {
            // Nothing of its kind was drawn: at least the join itself, and as long as it took.
            let path = Path {
                weight: ticks,
                edges: 1,
            };
            return Estimate {
                tasks: 2,
                tasks_within: (2, ticks.max(2)),
                span_within: (0, ticks),
                paths: Paths {
                    heaviest: path,
                    longest: path,
                },
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
            };
        };
        let exact = ticks as f64 * model.rate;
        // Rounded up as often as the rest says, so that many short strands add up.
        let rest = (mix(draw) >> 11) as f64 / (1u64 << 53) as f64;
        let tasks = (exact + rest).floor().max(2.0);
        let through = model
            .curve
            .through(tasks, model.many, draw)
            .unwrap_or_default();
        let mut paths = through.paths;
        for path in [&mut paths.heaviest, &mut paths.longest] {
            path.weight = path.weight.min(ticks);
        }
        let span = paths.heaviest.weight;
        let within = |off: f64| ((tasks * off) as u64).max(2);
        Estimate {
            tasks: tasks as u64,
            tasks_within: (within(1.0 - model.off), within(1.0 + model.off)),
            span_within: (
                through.span.0.min(span),
                through.span.1.clamp(span, ticks.max(span)),
            ),
            paths,
            levels: through.levels,
            ready: (ticks as f64 * model.ready as f64 / model.ticks.max(1) as f64) as u64,
            inside: model.inside(site, ticks, tasks as u64, span),
        }
    }
}

impl Site {
    /// Parts of a strand by site, in the proportions of the drawn joins. What rounding leaves is the join's own site's.
    fn inside(&self, own: u32, ticks: u64, tasks: u64, span: u64) -> Vec<InsideEstimate> {
        let part = |of: u64, all: u64, whole: u64| {
            let part = u128::from(of) * u128::from(whole) / u128::from(all.max(1));
            u64::try_from(part).unwrap_or(u64::MAX).min(whole)
        };
        let all_own = self
            .inside
            .values()
            .fold(0u64, |sum, i| sum.saturating_add(i.own));
        let outer = self.inside.get(&own);
        let (outer_work, outer_span) = outer.map_or((0, 0), |i| (i.work, i.span));
        let mut rows: Vec<InsideEstimate> = Vec::with_capacity(self.inside.len());
        let (mut count_left, mut critical_left) = (tasks, span);
        for (&site, inside) in &self.inside {
            let mut row = InsideEstimate {
                site,
                count: part(inside.tasks, self.tasks, tasks),
                work: part(inside.work, outer_work, ticks),
                span: part(inside.span, self.span, span.saturating_mul(2)),
                critical_work: part(inside.own, all_own, span),
                lengths: Vec::new(),
            };
            if site == own {
                row.work = ticks;
                row.span = part(outer_span, self.span, span.saturating_mul(2));
            }
            row.span = row.span.min(row.work);
            count_left = count_left.saturating_sub(row.count);
            critical_left = critical_left.saturating_sub(row.critical_work);
            rows.push(row);
        }
        if let Some(row) = rows.iter_mut().find(|row| row.site == own) {
            row.count += count_left;
            row.critical_work += critical_left;
        }
        for row in &mut rows {
            if let Some(inside) = self.inside.get(&row.site) {
                row.lengths = spread(&inside.lengths, row.count);
            }
        }
        rows
    }
}

/// `count` tasks in the proportions of a histogram; what rounding leaves goes where most are.
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
    let told: u64 = out.iter().sum();
    if let Some(most) = out.iter_mut().max() {
        *most += count.saturating_sub(told);
    }
    out
}

/// Tasks a tick of the unrecorded subtrees of a site, and by what part of it that may be off in either direction (95 %). Levels of which
/// none was drawn count as the others on average. 0 when none was.
fn rate(classes: &[Class]) -> (f64, f64) {
    let both = || {
        classes
            .iter()
            .filter(|c| c.drawn > 0 && c.passed > 0 && c.ticks > 0.0)
    };
    let ticks: f64 = both().map(|c| c.ticks).sum();
    let mean = |c: &Class| c.tasks / c.drawn as f64;
    let tasks: f64 = both().map(|c| mean(c) * c.passed as f64).sum();
    if ticks <= 0.0 || tasks <= 0.0 {
        // Drawn ones there are, but of other levels: their own time, probes and all.
        let drawn: f64 = classes.iter().map(|c| c.tasks).sum();
        let ticks: f64 = classes.iter().map(|c| c.ticks).sum();
        let passed: u64 = classes.iter().map(|c| c.passed).sum();
        let count: u64 = classes.iter().map(|c| c.drawn).sum();
        if drawn <= 0.0 || ticks <= 0.0 || count == 0 {
            return (0.0, 1.0);
        }
        return (drawn / count as f64 * passed as f64 / ticks, 1.0);
    }
    // How subtrees of one class differ, relative to their mean, over all classes: few of each are drawn.
    let (mut squares, mut free) = (0.0, 0u64);
    for class in classes.iter().filter(|c| c.drawn > 1) {
        let mean = mean(class);
        let about = class.squares - class.drawn as f64 * mean * mean;
        squares += about.max(0.0) / (mean * mean);
        free += class.drawn - 1;
    }
    let relative = if free == 0 {
        1.0
    } else {
        squares / free as f64
    };
    let variance: f64 = both()
        .map(|c| {
            let whole = mean(c) * c.passed as f64;
            whole * whole * relative * (1.0 / c.drawn as f64 + 1.0 / c.passed as f64)
        })
        .sum();
    // Student's t for 95 %, near enough: 1.96 for many, 12.7 for one.
    let t = 1.96 + 2.4 / free.max(1) as f64 + 8.3 / (free.max(1) as f64).powi(3);
    (tasks / ticks, (t * variance.sqrt() / tasks).min(1.0))
}
