//! How the span of a site's joins grows with their size, from those that were measured.
//!
//! The mean span by size is made monotone (a larger join's is no shorter: pool adjacent violators, R. Barlow et al., Statistical
//! Inference under Order Restrictions, 1972), so that sizes of which few were measured lean on their neighbours.

use super::sample::{Node, Paths};

/// Joins kept of each size.
const KEPT: usize = 64;
/// Joins of so many tasks and more tell how far the largest of many lies above the others.
const TELLING: u64 = 16;
/// Ratios kept for that.
const RATIOS: usize = 4096;
/// Joins that one to be estimated is likened to, at least: where its own size has fewer, those of sizes near it too.
const ALIKE: usize = 24;
/// Beyond what was measured spans may grow by so much faster than they did: the exponent's.
const FASTER: f64 = 0.25;

/// Joins of 2^i to 2^(i+1) tasks.
#[derive(Debug, Default)]
struct Size {
    seen: u64,
    /// All, or every so many-th once there are too many.
    kept: Vec<Node>,
}

impl Size {
    fn add(&mut self, node: Node) {
        self.seen += 1;
        if self.kept.len() < KEPT {
            self.kept.push(node);
        } else {
            // Each of those seen stays with the same chance.
            let at = mix(self.seen) % self.seen;
            if let Some(slot) = self.kept.get_mut(at as usize) {
                *slot = node;
            }
        }
    }
}

/// A number that looks random.
pub(super) fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// By power of two of the number of tasks.
#[derive(Debug, Default)]
pub(super) struct Curve {
    sizes: Vec<Size>,
    /// (ln tasks, mean span) of the sizes measured, both rising.
    grown: Vec<(f64, f64)>,
    /// How spans grow beyond the last, and how they might.
    beyond: Beyond,
    fast: Beyond,
    /// How far above the others of its size the longest of k times as many would lie: k to the power of this.
    tail: f64,
}

/// Growth beyond what was measured.
#[derive(Debug, Clone, Copy, Default)]
struct Beyond {
    /// Of the span, for each e-fold of the tasks at the last size measured.
    rise: f64,
    /// That changes with the tasks to the power of this: 0 where spans grow with the logarithm of the tasks, as those of balanced trees,
    /// 1 where they grow with the tasks themselves.
    power: f64,
}

impl Beyond {
    const NONE: Beyond = Beyond {
        rise: 0.0,
        power: 0.0,
    };

    /// By how much for e to the power of `x` times the tasks.
    fn at(self, x: f64) -> f64 {
        if self.power < 1e-3 {
            self.rise * x
        } else {
            self.rise * ((self.power * x).exp() - 1.0) / self.power
        }
    }
}

/// Paths through a join, and within what its span lies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Through {
    pub paths: Paths,
    pub span: (u64, u64),
    pub levels: u32,
}

impl Curve {
    pub(super) fn add(&mut self, node: Node) {
        let size = node.tasks.max(1).ilog2() as usize;
        if self.sizes.len() <= size {
            self.sizes.resize_with(size + 1, Size::default);
        }
        self.sizes[size].add(node);
    }

    /// After all have been added.
    pub(super) fn settle(&mut self) {
        let mut ratios = Vec::new();
        let mut means = Vec::new();
        for size in self.sizes.iter().filter(|s| !s.kept.is_empty()) {
            let count = size.kept.len() as f64;
            let span = |n: &Node| n.paths.heaviest.weight as f64;
            let mean_span = size.kept.iter().map(span).sum::<f64>() / count;
            let mean_tasks = size.kept.iter().map(|n| n.tasks as f64).sum::<f64>() / count;
            if mean_span <= 0.0 {
                continue;
            }
            means.push((mean_tasks.max(1.0).ln(), mean_span, count));
            if mean_tasks >= TELLING as f64 && size.kept.len() > 4 {
                let room = RATIOS - ratios.len().min(RATIOS);
                ratios.extend(size.kept.iter().take(room).map(|n| span(n) / mean_span));
            }
        }
        self.tail = tail(ratios);
        self.grown = monotone(&means);
        (self.beyond, self.fast) = beyond(&self.grown);
    }

    /// The mean span of joins of so many tasks, which grows like that beyond the largest measured.
    fn mean(&self, tasks: f64, beyond: Beyond) -> f64 {
        let x = tasks.max(1.0).ln();
        let above = self.grown.partition_point(|&(size, _)| size < x);
        let (Some(first), Some(last)) = (self.grown.first(), self.grown.last()) else {
            return tasks;
        };
        let below = above.checked_sub(1).map(|i| self.grown[i]);
        match (below, self.grown.get(above)) {
            // Smaller than any: as the tasks.
            (None, _) => first.1 * (x - first.0).exp(),
            (Some(_), None) => last.1 + beyond.at(x - last.0),
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0),
        }
    }

    /// Measured joins of about that size, at least [`ALIKE`] where there are so many: the sizes nearest to it.
    fn alike(&self, wanted: usize) -> Vec<&Node> {
        let mut found: Vec<&Node> = Vec::new();
        for distance in 0..self.sizes.len().max(wanted) + 1 {
            let below = wanted.checked_sub(distance);
            let above = (distance > 0).then_some(wanted + distance);
            for size in [below, above].into_iter().flatten() {
                found.extend(self.sizes.get(size).iter().flat_map(|s| &s.kept));
            }
            if found.len() >= ALIKE {
                break;
            }
        }
        found
    }

    /// What a join of about so many tasks (which may be off by a factor of 1 + `off`) is like, when it is one of `many` of which one
    /// was measured. `None` when none was.
    pub(super) fn through(&self, tasks: f64, off: f64, many: f64, draw: u64) -> Option<Through> {
        let wanted = tasks.max(1.0).log2() as usize;
        let alike = self.alike(wanted);
        let chosen = *alike.get((mix(draw) % alike.len().max(1) as u64) as usize)?;
        let span = |n: &Node| n.paths.heaviest.weight as f64;
        let mean = |tasks: f64| self.mean(tasks, self.beyond);
        let here = mean(tasks);
        // What one has beyond its size's mean, as one odd strand, does not grow with the size; nor is a span longer than its work.
        let of = |node: &Node, here: f64| (span(node) + here - mean(node.tasks as f64)).max(0.0);
        let heaviest = of(chosen, here);
        let scale = here / mean(chosen.tasks as f64).max(1e-9);
        let mut paths = chosen.paths;
        for path in [&mut paths.heaviest, &mut paths.longest] {
            path.weight = (path.weight as f64 * heaviest / span(chosen).max(1e-9)) as u64;
            path.edges = (f64::from(path.edges) * scale).ceil() as u32;
        }
        // The size itself may be off, and what is larger than all measured may have grown faster or not at all.
        let off = 1.0 + off.max(0.0);
        let small = self.mean(tasks / off, Beyond::NONE);
        let large = self.mean(tasks * off, self.fast);
        let low = alike.iter().map(|n| of(n, small));
        let low = low.fold(f64::INFINITY, f64::min);
        let high = alike.iter().map(|n| {
            let grown = span(n) * large / mean(n.tasks as f64).max(1e-9);
            grown.max(of(n, large))
        });
        let high = high.fold(0.0, f64::max) * many.max(1.0).powf(self.tail);
        let span = paths.heaviest.weight;
        Some(Through {
            paths,
            span: ((low as u64).min(span), (high.ceil() as u64).max(span)),
            levels: chosen.levels,
        })
    }
}

/// Rising means of (ln tasks, span, count), which come by rising tasks: neighbours that fall are pooled. Gives (ln tasks, span).
fn monotone(means: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let mut pools: Vec<(f64, f64, f64)> = Vec::with_capacity(means.len());
    for &mean in means {
        let mut pool = mean;
        while let Some(&(x, y, n)) = pools.last().filter(|last| last.1 >= pool.1) {
            let count = n + pool.2;
            pool = (
                (x * n + pool.0 * pool.2) / count,
                (y * n + pool.1 * pool.2) / count,
                count,
            );
            pools.pop();
        }
        pools.push(pool);
    }
    pools.iter().map(|&(x, y, _)| (x, y)).collect()
}

/// How the curve goes on, and how it might at most: as a power of the tasks somewhat above that of its last part.
fn beyond(grown: &[(f64, f64)]) -> (Beyond, Beyond) {
    let Some(&last) = grown.last() else {
        return (Beyond::NONE, Beyond::NONE);
    };
    // The last point that lies a factor of 8 below, or the first.
    let below = |x: f64| {
        let far = grown.iter().rev().find(|g| g.0 + 8f64.ln() <= x);
        *far.unwrap_or(&grown[0])
    };
    let middle = below(last.0);
    let start = below(middle.0);
    let rise = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0).max(1e-9);
    if middle.0 >= last.0 {
        // Of one size alone nothing is known: not at all, or as the tasks.
        let fast = Beyond {
            rise: last.1,
            power: 1.0,
        };
        return (Beyond::NONE, fast);
    }
    let upper = rise(middle, last);
    let power = match start.0 < middle.0 {
        true => {
            let lower = rise(start, middle).max(1e-9);
            (upper / lower).max(1e-9).ln() / ((last.0 - start.0) / 2.0)
        }
        false => 0.0,
    };
    let power = power.clamp(0.0, 1.0);
    let exponent = (last.1 / middle.1.max(1e-9)).ln() / (last.0 - middle.0);
    let fast = (exponent.clamp(0.0, 1.0) + FASTER).max(power).min(1.0);
    let fast = Beyond {
        rise: (last.1 * fast).max(upper),
        power: fast,
    };
    (Beyond { rise: upper, power }, fast)
}

/// Hill's estimate of how heavy the tail of ratios is: the largest of k times as many is k to that power larger.
fn tail(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(|a, b| b.total_cmp(a));
    let k = (ratios.len() / 10).max(8);
    let Some(&least) = ratios.get(k) else {
        return 1.0;
    };
    let sum: f64 = ratios[..k].iter().map(|r| (r / least).ln()).sum();
    (sum / k as f64).clamp(0.02, 1.0)
}
