//! Lists of different lengths in two arrays.

/// Lists of different lengths in two arrays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RaggedArray {
    /// `offsets[i]..offsets[i + 1]` are the items of list i. One longer than the number of lists,
    /// or empty if there are no lists.
    pub offsets: Vec<u32>,
    /// The items.
    pub items: Vec<u32>,
}

impl RaggedArray {
    /// Sorts (list, item) pairs into `count` lists, each in the order of the pairs. Pairs with a
    /// list number outside of them are left out. Linear.
    pub fn from_pairs(
        count: usize,
        pairs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> RaggedArray {
        let mut offsets = vec![0u32; count + 1];
        let is_known = |pair: &(u32, u32)| (pair.0 as usize) < count;
        for (list, _) in pairs.clone().filter(is_known) {
            offsets[list as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; offsets[count] as usize];
        for (list, item) in pairs.filter(is_known) {
            let at = &mut next[list as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        RaggedArray { offsets, items }
    }

    /// List `i`; empty when there is no such list.
    pub fn get(&self, i: usize) -> &[u32] {
        match (self.offsets.get(i), self.offsets.get(i + 1)) {
            (Some(&a), Some(&b)) => &self.items[a as usize..b as usize],
            _ => &[],
        }
    }
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// True if there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Appends a list.
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.items.extend(items);
        self.offsets.push(self.items.len() as u32);
    }
}
