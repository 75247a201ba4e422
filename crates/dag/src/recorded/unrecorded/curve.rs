//! How the span of a site's joins grows with their size, from those that were measured.

use super::meter::{Node, Paths};

/// Joins kept of each size.
const KEPT: usize = 64;
/// Joins of so many tasks and more tell how far the largest of many lies above the others.
const TELLING: u64 = 16;
/// Ratios kept for that.
const RATIOS: usize = 4096;

/// Joins of 2^i to 2^(i+1) tasks.
#[derive(Debug, Default)]
struct Size {
    seen: u64,
    /// All, or every so many-th once there are too many.
    kept: Vec<Node>,
    mean_span: f64,
    mean_tasks: f64,
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
    /// How far above the others of its size the longest of k times as many would lie: k to the power of this.
    tail: f64,
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
        for size in &mut self.sizes {
            let count = size.kept.len().max(1) as f64;
            let span = |n: &Node| n.paths.heaviest.weight as f64;
            size.mean_span = size.kept.iter().map(span).sum::<f64>() / count;
            size.mean_tasks = size.kept.iter().map(|n| n.tasks as f64).sum::<f64>() / count;
            if size.mean_tasks >= TELLING as f64 && size.mean_span > 0.0 && size.kept.len() > 4 {
                let room = RATIOS - ratios.len().min(RATIOS);
                ratios.extend(
                    size.kept
                        .iter()
                        .take(room)
                        .map(|n| span(n) / size.mean_span),
                );
            }
        }
        self.tail = tail(ratios);
    }

    /// How the span grows with the tasks around that size: 0 not at all, 1 as they do.
    fn exponent(&self, size: usize) -> f64 {
        let full = |s: &&Size| s.mean_span > 0.0 && s.mean_tasks > 0.0;
        let here = self
            .sizes
            .get(..=size)
            .and_then(|s| s.iter().rev().find(full));
        let Some(here) = here else { return 1.0 };
        let far = |s: &&Size| full(s) && s.mean_tasks * 8.0 < here.mean_tasks;
        let Some(below) = self.sizes[..=size].iter().rev().find(far) else {
            return 1.0;
        };
        let slope =
            (here.mean_span / below.mean_span).ln() / (here.mean_tasks / below.mean_tasks).ln();
        slope.clamp(0.0, 1.0)
    }

    /// What a join of about so many tasks is like, when it is one of `many` of which one was measured. `None` when none was.
    pub(super) fn through(&self, tasks: f64, many: f64, draw: u64) -> Option<Through> {
        let wanted = tasks.max(1.0).log2() as usize;
        let top = self.sizes.len().checked_sub(1)?;
        let filled = |&i: &usize| !self.sizes[i].kept.is_empty();
        let below = (0..=wanted.min(top)).rev().find(filled);
        let at = below.or_else(|| (wanted.min(top)..=top).find(filled))?;
        let size = &self.sizes[at];
        let exponent = self.exponent(at);
        let scale = |node: &Node, power: f64| (tasks / node.tasks.max(1) as f64).powf(power);
        let scaled = |node: &Node, weight: u64, power: f64| weight as f64 * scale(node, power);
        let chosen = size.kept[(mix(draw) % size.kept.len() as u64) as usize];
        let mut paths = chosen.paths;
        for path in [&mut paths.heaviest, &mut paths.longest] {
            path.weight = scaled(&chosen, path.weight, exponent) as u64;
            path.edges = scaled(&chosen, u64::from(path.edges), exponent).ceil() as u32;
        }
        // Beyond what was measured, anything between not growing and growing with the work.
        let beyond = wanted > at + 1;
        let (slow, fast) = if beyond {
            (0.0, 1.0)
        } else {
            (exponent, exponent)
        };
        let spans = |power: f64| {
            let of = move |n: &Node| scaled(n, n.paths.heaviest.weight, power);
            size.kept.iter().map(of)
        };
        let low = spans(slow).fold(f64::INFINITY, f64::min);
        let high = spans(fast).fold(0.0, f64::max) * many.max(1.0).powf(self.tail);
        let span = paths.heaviest.weight;
        Some(Through {
            paths,
            span: ((low as u64).min(span), (high.ceil() as u64).max(span)),
            levels: chosen.levels,
        })
    }
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
