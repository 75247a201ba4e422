//! What is kept of each strand.

use workspan_dag::StrandId;

/// A weight a strand: 32 bits where that is enough, which it is for all but the few that run for seconds.
pub(super) struct Values {
    /// [`u32::MAX`] for those that are in `wide`.
    narrow: Vec<u32>,
    /// By strand.
    wide: Vec<(StrandId, u64)>,
}

impl Values {
    pub(super) fn with_capacity(strands: usize) -> Values {
        Values {
            narrow: Vec::with_capacity(strands),
            wide: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, value: u64) {
        match u32::try_from(value) {
            Ok(narrow) if narrow < u32::MAX => self.narrow.push(narrow),
            _ => {
                self.wide.push((self.narrow.len() as StrandId, value));
                self.narrow.push(u32::MAX);
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, s: StrandId) -> u64 {
        match self.narrow[s as usize] {
            u32::MAX => self.wide(s),
            narrow => u64::from(narrow),
        }
    }

    #[cold]
    fn wide(&self, s: StrandId) -> u64 {
        let at = self.wide.binary_search_by_key(&s, |w| w.0);
        at.map_or(0, |at| self.wide[at].1)
    }

    pub(super) fn total(&self) -> u128 {
        let narrow = self.narrow.iter().filter(|&&w| w < u32::MAX);
        let wide: u128 = self.wide.iter().map(|w| u128::from(w.1)).sum();
        // Below 2^64: fewer than 2^32 values of fewer than 32 bits each.
        wide + u128::from(narrow.map(|&w| u64::from(w)).sum::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn weights_of_any_width_come_back() {
        let all = [
            0,
            7,
            1 << 31,
            (1 << 32) - 2,
            (1 << 32) - 1,
            1 << 32,
            u64::MAX,
            3,
        ];
        let mut values = Values::with_capacity(0);
        all.iter().for_each(|&v| values.push(v));
        let back: Vec<u64> = (0..all.len() as u32).map(|s| values.get(s)).collect();
        assert_eq!(back, all);
        assert_eq!(values.total(), all.iter().map(|&v| u128::from(v)).sum());
    }
}
