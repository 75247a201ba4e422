//! A set of a few numbers.

use workspan_dag::NONE;

use crate::simulate::random::Random;

/// Numbers below a bound, with a random one in constant time.
pub(super) struct SparseSet {
    pub(super) list: Vec<u32>,
    at: Vec<u32>,
}

impl SparseSet {
    pub(super) fn new(bound: usize) -> SparseSet {
        SparseSet {
            list: Vec::new(),
            at: vec![NONE; bound],
        }
    }

    pub(super) fn add(&mut self, n: u32) {
        if self.at[n as usize] == NONE {
            self.at[n as usize] = self.list.len() as u32;
            self.list.push(n);
        }
    }

    pub(super) fn remove(&mut self, n: u32) {
        let at = std::mem::replace(&mut self.at[n as usize], NONE);
        if at != NONE {
            self.list.swap_remove(at as usize);
            if let Some(&moved) = self.list.get(at as usize) {
                self.at[moved as usize] = at;
            }
        }
    }

    pub(super) fn random(&self, random: &mut Random) -> Option<u32> {
        self.list.get(random.below(self.list.len())).copied()
    }
}
