//! Numbers and marks of every strand or task, in little memory: a run has millions, and whoever looks at it for long keeps them.

use std::fmt;

/// A number an item, in as few bytes as most of them need: the few larger ones are kept apart, with their places.
#[derive(Clone, PartialEq, Eq)]
pub struct Column {
    most: Most,
    /// Places of those that are too large, ascending, and what they are.
    large_at: Vec<u32>,
    large: Vec<u64>,
}

/// Those that are not too large; the largest number of its kind stands for one that is.
#[derive(Clone, PartialEq, Eq)]
enum Most {
    /// So many zeros.
    Zeros(usize),
    Bytes(Vec<u8>),
    Halves(Vec<u16>),
    Words(Vec<u32>),
}

/// What one that is kept apart is taken to cost in bytes: 12, and the time to find it.
const APART: usize = 16;

impl Column {
    /// Of the numbers that `make` makes, which must be the same at each call. O(n), with no memory beyond its own.
    pub fn new<I: Iterator<Item = u64>>(make: impl Fn() -> I) -> Column {
        let mut count = 0;
        let mut above = [0usize; 4];
        for value in make() {
            count += 1;
            for (sum, least) in above.iter_mut().zip(LEAST) {
                *sum += usize::from(value >= least);
            }
        }
        let cost = |kind: &usize| WIDTH[*kind] * count + APART * above[*kind];
        let kind = (0..WIDTH.len()).min_by_key(cost).unwrap_or(0);
        let least = LEAST[kind];
        let mut large_at = Vec::with_capacity(above[kind]);
        let mut large = Vec::with_capacity(above[kind]);
        let values = (0..).zip(make()).map(|(place, value)| {
            if value < least {
                return value;
            }
            large_at.push(place);
            large.push(value);
            least
        });
        let most = match kind {
            0 => {
                values.for_each(drop);
                Most::Zeros(count)
            }
            1 => Most::Bytes(filled(count, values.map(|v| v as u8))),
            2 => Most::Halves(filled(count, values.map(|v| v as u16))),
            _ => Most::Words(filled(count, values.map(|v| v as u32))),
        };
        Column {
            most,
            large_at,
            large,
        }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        match &self.most {
            Most::Zeros(count) => *count,
            Most::Bytes(all) => all.len(),
            Most::Halves(all) => all.len(),
            Most::Words(all) => all.len(),
        }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `i`-th number. O(log n) for one that is kept apart, else O(1).
    ///
    /// # Panics
    /// There are not so many; where all but a few are 0, it may be 0 instead.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        let small = match &self.most {
            Most::Zeros(_) => None,
            Most::Bytes(all) => Some(all[i]).filter(|&v| v < u8::MAX).map(u64::from),
            Most::Halves(all) => Some(all[i]).filter(|&v| v < u16::MAX).map(u64::from),
            Most::Words(all) => Some(all[i]).filter(|&v| v < u32::MAX).map(u64::from),
        };
        small.unwrap_or_else(|| self.apart(i))
    }

    fn apart(&self, i: usize) -> u64 {
        let found = self.large_at.binary_search_by(|at| (*at as usize).cmp(&i));
        found.map_or(0, |at| self.large[at])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The least number that is too large, by kind.
const LEAST: [u64; 4] = [1, u8::MAX as u64, u16::MAX as u64, u32::MAX as u64];
/// Bytes a number, by kind.
const WIDTH: [usize; 4] = [0, 1, 2, 4];

fn filled<T>(count: usize, values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    all.extend(values);
    all
}

/// Items that are marked, a bit each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Those numbered in `marked`, in any order.
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

    /// Item `i` is marked.
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
        // Each is usual once, and rare among all others.
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
            let column = column(&values);
            let apart = 12 * column.large.len();
            apart
                + match column.most {
                    Most::Zeros(_) => 0,
                    Most::Bytes(all) => all.capacity(),
                    Most::Halves(all) => 2 * all.capacity(),
                    Most::Words(all) => 4 * all.capacity(),
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
