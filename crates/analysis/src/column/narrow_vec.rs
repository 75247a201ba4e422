//! A vector of mostly small numbers. Larger ones are stored separately, with their places.

/// An integer type that most numbers fit in. Its largest value marks an outlier.
pub(crate) trait NarrowInt: Copy + PartialEq + Into<u64> + TryFrom<u64> {
    const OUTLIER_MARK: Self;
}

impl NarrowInt for u8 {
    const OUTLIER_MARK: u8 = u8::MAX;
}

impl NarrowInt for u16 {
    const OUTLIER_MARK: u16 = u16::MAX;
}

impl NarrowInt for u32 {
    const OUTLIER_MARK: u32 = u32::MAX;
}

/// Numbers in the width of `T`, except for the few that are too large.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct NarrowVec<T> {
    small: Vec<T>,
    apart: Outliers,
}

impl<T: NarrowInt> NarrowVec<T> {
    /// An empty vector with room for `count` numbers, of which `apart` are too large.
    pub(crate) fn with_capacity(count: usize, apart: usize) -> NarrowVec<T> {
        NarrowVec {
            small: Vec::with_capacity(count),
            apart: Outliers::with_capacity(apart),
        }
    }

    pub(crate) fn push(&mut self, value: u64) {
        match T::try_from(value) {
            Ok(small) if small != T::OUTLIER_MARK => self.small.push(small),
            _ => {
                self.apart.push(self.small.len() as u32, value);
                self.small.push(T::OUTLIER_MARK);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.small.len()
    }

    #[inline]
    pub(crate) fn get(&self, i: usize) -> u64 {
        let small = self.small[i];
        if small == T::OUTLIER_MARK {
            self.too_large(i)
        } else {
            small.into()
        }
    }

    #[cold]
    fn too_large(&self, i: usize) -> u64 {
        self.apart.get(i)
    }

    pub(crate) fn total(&self) -> u128 {
        let small = self.small.iter().filter(|&&v| v != T::OUTLIER_MARK);
        let apart: u128 = self.apart.values.iter().map(|&v| u128::from(v)).sum();
        // Below 2^64: fewer than 2^32 numbers of at most 32 bits each.
        apart + u128::from(small.map(|&v| v.into()).sum::<u64>())
    }

    /// Number of bytes held.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        size_of::<T>() * self.small.capacity() + self.apart.bytes()
    }
}

/// Numbers that are too large, by their places.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Outliers {
    /// The places, ascending.
    places: Vec<u32>,
    values: Vec<u64>,
}

impl Outliers {
    pub(crate) fn with_capacity(count: usize) -> Outliers {
        Outliers {
            places: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        }
    }

    /// Appends a number; `place` must be greater than all earlier places.
    pub(crate) fn push(&mut self, place: u32, value: u64) {
        self.places.push(place);
        self.values.push(value);
    }

    /// The number at a place; 0 if there is none. O(log n).
    pub(crate) fn get(&self, i: usize) -> u64 {
        let found = self.places.binary_search_by(|at| (*at as usize).cmp(&i));
        found.map_or(0, |at| self.values[at])
    }

    /// Number of bytes held.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        4 * self.places.capacity() + 8 * self.values.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::{NarrowInt, NarrowVec};

    fn come_back<T: NarrowInt>() {
        let edge: u64 = T::OUTLIER_MARK.into();
        let all = [0, 7, edge / 2, edge - 1, edge, edge + 1, u64::MAX, 3];
        let mut numbers = NarrowVec::<T>::with_capacity(0, 0);
        all.iter().for_each(|&v| numbers.push(v));
        let back: Vec<u64> = (0..numbers.len()).map(|i| numbers.get(i)).collect();
        assert_eq!(back, all);
        assert_eq!(numbers.total(), all.iter().map(|&v| u128::from(v)).sum());
    }

    #[test]
    fn numbers_of_any_width_come_back() {
        come_back::<u8>();
        come_back::<u16>();
        come_back::<u32>();
    }
}
