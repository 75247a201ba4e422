//! Compact columns of numbers and marks for every strand or task. A run has millions of them, and
//! the viewer keeps them in memory.

mod narrow_vec;

use std::fmt;

pub(crate) use self::narrow_vec::NarrowVec;
use self::narrow_vec::{NarrowInt, Outliers};

/// One number per item, as wide as most of them need. The few larger numbers are stored separately,
/// with their places.
#[derive(Clone, PartialEq, Eq)]
pub struct Column(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// The number of items; all are 0 except for a few.
    Zeros(usize, Outliers),
    Bytes(NarrowVec<u8>),
    Halves(NarrowVec<u16>),
    Words(NarrowVec<u32>),
}

/// Assumed cost of an outlier in bytes: 12, and the time to find it.
const OUTLIER_BYTES: usize = 16;

impl Column {
    /// A column of the numbers that `make` yields, which must be the same at each call. O(n), with
    /// no memory beyond the column itself.
    pub fn new<I: Iterator<Item = u64>>(make: impl Fn() -> I) -> Column {
        let mut count = 0;
        let mut above = [0usize; 4];
        for value in make() {
            count += 1;
            for (sum, least) in above.iter_mut().zip(MIN_OUTLIER) {
                *sum += usize::from(value >= least);
            }
        }
        let cost = |kind: &usize| BYTES_PER_ITEM[*kind] * count + OUTLIER_BYTES * above[*kind];
        let kind = (0..BYTES_PER_ITEM.len()).min_by_key(cost).unwrap_or(0);
        Column(match kind {
            0 => {
                let mut apart = Outliers::with_capacity(above[0]);
                let others = (0..).zip(make()).filter(|&(_, value)| value > 0);
                others.for_each(|(place, value)| apart.push(place, value));
                Kind::Zeros(count, apart)
            }
            1 => Kind::Bytes(filled(count, above[1], make())),
            2 => Kind::Halves(filled(count, above[2], make())),
            _ => Kind::Words(filled(count, above[3], make())),
        })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Zeros(count, _) => *count,
            Kind::Bytes(all) => all.len(),
            Kind::Halves(all) => all.len(),
            Kind::Words(all) => all.len(),
        }
    }

    /// True if there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `i`-th number. O(log n) for an outlier, else O(1).
    ///
    /// # Panics
    /// If `i` is out of range; a column of zeros may return 0 instead.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match &self.0 {
            Kind::Zeros(_, apart) => apart.get(i),
            Kind::Bytes(all) => all.get(i),
            Kind::Halves(all) => all.get(i),
            Kind::Words(all) => all.get(i),
        }
    }

    /// All numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The smallest number that does not fit, by kind.
const MIN_OUTLIER: [u64; 4] = [1, u8::MAX as u64, u16::MAX as u64, u32::MAX as u64];
/// Bytes per number, by kind.
const BYTES_PER_ITEM: [usize; 4] = [0, 1, 2, 4];

fn filled<T: NarrowInt>(
    count: usize,
    apart: usize,
    values: impl Iterator<Item = u64>,
) -> NarrowVec<T> {
    let mut all = NarrowVec::with_capacity(count, apart);
    values.for_each(|value| all.push(value));
    all
}

/// Items that are marked, one bit each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Marks the items in `marked`, which may be in any order.
    pub fn new(marked: impl IntoIterator<Item = u32>) -> Marks {
        let mut bits: Vec<u64> = Vec::new();
        for i in marked {
            let word = i as usize / 64;
            if word >= bits.len() {
                bits.resize(word + 1, 0);
            }
            bits[word] |= 1 << (i % 64);
        }
        Marks(bits)
    }

    /// Whether item `i` is marked.
    #[inline]
    pub fn has(&self, i: u32) -> bool {
        let word = self.0.get(i as usize / 64);
        word.is_some_and(|word| word >> (i % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[u64]) -> Column {
        Column::new(|| values.iter().copied())
    }

    #[test]
    fn columns_hold_what_they_were_given() {
        let edges = [0, 1, 254, 255, 256, 65_534, 65_535, 65_536];
        let wide = [(1 << 32) - 2, (1 << 32) - 1, 1 << 32, u64::MAX];
        // Each number is common in one column, and rare in all others.
        let all = || edges.iter().chain(&wide).copied();
        for usual in all() {
            let mut values = vec![usual; 300];
            values.extend(all());
            assert_eq!(column(&values).iter().collect::<Vec<_>>(), values);
        }
        assert!(column(&[]).is_empty());
    }

    #[test]
    fn columns_are_as_narrow_as_most_of_their_numbers() {
        let bytes = |usual: u64| {
            let mut values = vec![usual; 1000];
            values[7] = u64::MAX;
            match column(&values).0 {
                Kind::Zeros(_, apart) => apart.bytes(),
                Kind::Bytes(all) => all.bytes(),
                Kind::Halves(all) => all.bytes(),
                Kind::Words(all) => all.bytes(),
            }
        };
        assert_eq!(
            [0, 200, 60_000, 4_000_000_000].map(bytes),
            [12, 1012, 2012, 4012]
        );
    }

    #[test]
    fn marks_are_what_was_marked() {
        let marks = Marks::new([64, 3, 3, 200]);
        let marked = (0..300).filter(|&i| marks.has(i));
        assert_eq!(marked.collect::<Vec<_>>(), [3, 64, 200]);
        assert!(!Marks::default().has(0));
    }
}
