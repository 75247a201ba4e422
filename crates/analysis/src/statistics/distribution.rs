//! Distributions of values: order statistics, mean, histogram.

/// A distribution of values. All fields are 0 if there are no values.
///
/// A percentile is the smallest value that is not below that share of all values (nearest rank), so
/// it is always a value that occurs. The median of an even number of values is the lower middle
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Number of values that are known only by their power of two (inside folded records, MODEL.md
    /// §7): each counts as one and a half times that power.
    pub estimated: u64,
    /// Sum of the values.
    pub sum: u128,
    /// Smallest value.
    pub minimum: u64,
    /// 50th percentile.
    pub median: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest value.
    pub maximum: u64,
    /// `histogram[i]` is the number of values in [2^i, 2^(i+1)), where 0 counts as 1; trailing
    /// zeros are left off.
    pub histogram: Vec<u64>,
}

impl Distribution {
    /// Arithmetic mean; 0 if there are no values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The distribution of `values`, which are sorted here. O(n log n).
    pub(super) fn from_values(values: &mut [u64]) -> Distribution {
        Distribution::with_folded(values, &[])
    }

    /// The distribution of `values` and of `folded[i]` further values somewhere in [2^i, 2^(i+1)).
    pub(super) fn with_folded(values: &mut [u64], folded: &[u64]) -> Distribution {
        values.sort_unstable();
        let mut all = Distribution::default();
        let mut counts = [0u64; 64];
        for (i, &n) in folded.iter().enumerate() {
            let count = &mut counts[i.min(63)];
            *count = count.saturating_add(n);
        }
        all.estimated = counts.iter().fold(0, |sum, &n| sum.saturating_add(n));
        all.count = all.estimated.saturating_add(values.len() as u64);
        if all.count == 0 {
            return all;
        }
        let mut histogram = counts;
        for &value in values.iter() {
            all.sum += u128::from(value);
            let slot = &mut histogram[power(value)];
            *slot = slot.saturating_add(1);
        }
        for (i, &n) in counts.iter().enumerate() {
            let more = u128::from(n) * u128::from(middle(i));
            all.sum = all.sum.saturating_add(more);
        }
        let used = histogram.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1);
        all.histogram = histogram[..used].to_vec();
        let rank = |percent: u128| (u128::from(all.count) * percent).div_ceil(100).max(1);
        let ranks = [1, rank(50), rank(90), rank(99), u128::from(all.count)];
        let found = at_ranks(values, &counts, ranks);
        [all.minimum, all.median, all.p90, all.p99, all.maximum] = found;
        all
    }
}

/// The exponent of the power of two that `value` is counted under.
fn power(value: u64) -> usize {
    value.max(1).ilog2() as usize
}

/// The value that stands for one in [2^i, 2^(i+1)).
fn middle(i: usize) -> u64 {
    match i {
        0 => 1,
        i => 3 << (i - 1),
    }
}

/// The values at the ascending `ranks`, from 1, among `values` (ascending) and those known by
/// power.
fn at_ranks<const N: usize>(values: &[u64], histogram: &[u64; 64], ranks: [u128; N]) -> [u64; N] {
    let mut found = [0; N];
    let mut asked = 0;
    let mut before = 0u128;
    let mut next = 0;
    for (i, entry) in histogram.iter().map(Some).chain([None]).enumerate() {
        // The exact values up to the next one known by power, then that one as often as it occurs.
        let until = match entry {
            Some(_) => next + values[next..].partition_point(|&v| v <= middle(i)),
            None => values.len(),
        };
        let exact = &values[next..until];
        while asked < N && ranks[asked] <= before + exact.len() as u128 {
            found[asked] = exact[(ranks[asked] - before - 1) as usize];
            asked += 1;
        }
        before += exact.len() as u128;
        next = until;
        before += u128::from(entry.copied().unwrap_or(0));
        while asked < N && ranks[asked] <= before {
            found[asked] = middle(i);
            asked += 1;
        }
    }
    found
}

/// Values of several groups; the values of a group are adjacent.
pub(super) struct Groups {
    /// Start of each group, and the end of the last.
    offsets: Vec<usize>,
    values: Vec<u64>,
}

impl Groups {
    /// Sorts (group, value) pairs into `groups` groups; values with another group number are left
    /// out. Linear.
    pub(super) fn new(groups: usize, items: impl Iterator<Item = (usize, u64)> + Clone) -> Groups {
        let mut offsets = vec![0; groups + 1];
        for (group, _) in items.clone().filter(|i| i.0 < groups) {
            offsets[group + 1] += 1;
        }
        for i in 0..groups {
            offsets[i + 1] += offsets[i];
        }
        let mut values = vec![0; offsets[groups]];
        let mut next = offsets.clone();
        for (group, value) in items.filter(|i| i.0 < groups) {
            values[next[group]] = value;
            next[group] += 1;
        }
        Groups { offsets, values }
    }

    /// The values of neighbouring groups.
    pub(super) fn of(&mut self, groups: std::ops::Range<usize>) -> &mut [u64] {
        &mut self.values[self.offsets[groups.start]..self.offsets[groups.end]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_among_exact_and_told_values() {
        // 1, 1 (known as 1), 5, 6 (known in [4, 8)), 6 (known), 40.
        let d = Distribution::with_folded(&mut [40, 5, 1], &[1, 0, 2]);
        assert_eq!((d.count, d.estimated, d.sum), (6, 3, 59));
        assert_eq!(
            (d.minimum, d.median, d.p90, d.p99, d.maximum),
            (1, 5, 40, 40, 40)
        );
        assert_eq!(d.histogram, [2, 0, 3, 0, 0, 1]);
    }

    #[test]
    fn the_ends_of_the_range() {
        let d = Distribution::with_folded(&mut [0, u64::MAX], &[0; 64]);
        assert_eq!((d.minimum, d.median, d.maximum), (0, 0, u64::MAX));
        assert_eq!((d.histogram.len(), d.histogram[63]), (64, 1));
        let hostile = Distribution::with_folded(&mut [7], &[u64::MAX; 70]);
        assert_eq!((hostile.count, hostile.minimum), (u64::MAX, 1));
        assert_eq!(Distribution::from_values(&mut []), Distribution::default());
    }
}
