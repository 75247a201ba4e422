//! Finds the changes of a series' mean.
//!
//! The method is binary segmentation. The split that reduces the sum of squares most is a change if
//! fewer than 1 in 100 shuffles of the values have a split as good; both sides are then searched in
//! the same way. No distribution is assumed, and the same series always has the same changes.

/// A change of the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value after the change.
    pub at: usize,
    /// Mean of the values before it, back to the previous change.
    pub before: f64,
    /// Mean of the values after it, up to the next change.
    pub after: f64,
    /// The share of shuffles with a split as good.
    pub p: f64,
}

/// Minimum number of values on each side of a change.
const MIN_SIDE: usize = 3;
/// Number of shuffles per part.
const SHUFFLES: u32 = 499;
/// Maximum share of shuffles with a split as good, for a change.
const MAX_P: f64 = 0.01;

/// The changes of `values`. A change can only be at an index where `borders` is true: where another
/// commit begins. A change smaller than `min_change` (a share of the mean before it) is left out.
pub fn change_points(values: &[f64], borders: &[bool], min_change: f64) -> Vec<Change> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut parts = Vec::from([(0, values.len())]);
    while let Some((from, to)) = parts.pop() {
        let part = from..to;
        let Some((at, p)) = split(&values[part.clone()], &borders[part.clone()]) else {
            continue;
        };
        let at = part.start + at;
        let (before, after) = (mean(&values[part.start..at]), mean(&values[at..part.end]));
        if (after - before).abs() < min_change * before.abs() {
            continue;
        }
        found.push((at, p));
        parts.push((from, at));
        parts.push((at, to));
    }
    found.sort_by_key(|change| change.0);
    let ends: Vec<usize> = found.iter().map(|change| change.0).collect();
    let changes = found.iter().enumerate().map(|(i, &(at, p))| {
        let from = if i > 0 { ends[i - 1] } else { 0 };
        let to = ends.get(i + 1).copied().unwrap_or(values.len());
        Change {
            at,
            before: mean(&values[from..at]),
            after: mean(&values[at..to]),
            p,
        }
    });
    changes.collect()
}

/// The best split of a part, if it is significant, with its share of shuffles.
fn split(values: &[f64], borders: &[bool]) -> Option<(usize, f64)> {
    let (at, gain) = best(values, borders)?;
    let mut shuffled = values.to_vec();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, random.below(i + 1));
        }
        as_good += u32::from(best(&shuffled, borders).is_some_and(|(_, other)| other >= gain));
    }
    let p = f64::from(as_good + 1) / f64::from(SHUFFLES + 1);
    (p <= MAX_P).then_some((at, p))
}

/// The split that reduces the sum of squares most, and the reduction.
fn best(values: &[f64], borders: &[bool]) -> Option<(usize, f64)> {
    let n = values.len();
    let all: f64 = values.iter().sum();
    let mut left = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for at in 1..n {
        left += values[at - 1];
        if at < MIN_SIDE || n - at < MIN_SIDE || !borders[at] {
            continue;
        }
        let (a, b) = (at as f64, (n - at) as f64);
        let gain = a * b / n as f64 * (left / a - (all - left) / b).powi(2);
        if gain > 0.0 && best.is_none_or(|(_, most)| gain > most) {
            best = Some((at, gain));
        }
    }
    best
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The generator xorshift64*. The same seed always gives the same numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        (high as usize) % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise between -1 and 1.
    fn noise(seed: u64, n: usize) -> Vec<f64> {
        let mut random = Random(seed);
        (0..n)
            .map(|_| random.below(2001) as f64 / 1000.0 - 1.0)
            .collect()
    }

    fn every(n: usize) -> Vec<bool> {
        vec![true; n]
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let mut values: Vec<f64> = noise(7, 60).iter().map(|v| 100.0 + v).collect();
        values[20..].iter_mut().for_each(|v| *v += 10.0);
        values[45..].iter_mut().for_each(|v| *v -= 5.0);
        let changes = change_points(&values, &every(60), 0.02);
        let at: Vec<usize> = changes.iter().map(|change| change.at).collect();
        assert_eq!(at, [20, 45], "{changes:?}");
        assert!((changes[0].before - 100.0).abs() < 0.5 && (changes[0].after - 110.0).abs() < 0.5);
        assert!((changes[1].before - 110.0).abs() < 0.5 && (changes[1].after - 105.0).abs() < 0.5);
    }

    #[test]
    fn noise_alone_is_hardly_ever_a_change() {
        let false_alarms = (1..=100u64).filter(|seed| {
            let values: Vec<f64> = noise(seed * 7919, 40)
                .iter()
                .map(|v| 100.0 + 10.0 * v)
                .collect();
            !change_points(&values, &every(40), 0.0).is_empty()
        });
        // One false alarm in 100 is expected.
        assert!(false_alarms.count() <= 5);
    }

    #[test]
    fn a_change_is_where_a_commit_begins() {
        let mut values: Vec<f64> = noise(3, 30).iter().map(|v| 10.0 + 0.1 * v).collect();
        values[14..].iter_mut().for_each(|v| *v += 5.0);
        let borders: Vec<bool> = (0..30).map(|i| i % 5 == 0).collect();
        let changes = change_points(&values, &borders, 0.02);
        assert_eq!(
            changes.first().map(|change| change.at),
            Some(15),
            "{changes:?}"
        );
    }

    #[test]
    fn small_changes_do_not_count() {
        let mut values = vec![100.0; 40];
        values[20..].iter_mut().for_each(|v| *v += 1.0);
        assert!(change_points(&values, &every(40), 0.02).is_empty());
        assert_eq!(change_points(&values, &every(40), 0.005).len(), 1);
        assert!(change_points(&[1.0, 9.0], &every(2), 0.0).is_empty());
        assert!(change_points(&[], &[], 0.0).is_empty());
    }
}
