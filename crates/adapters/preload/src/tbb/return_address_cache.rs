//! A thread's cache of data about return addresses. It is set-associative, because it depends on
//! the modules' load addresses which return addresses share a slot. In a direct-mapped cache two
//! addresses of one chain of calls could evict each other at every task, and each time the stack
//! would be unwound.

use std::cell::Cell;

use super::call_frame::Rule;

/// The data about a return address.
#[derive(Clone, Copy)]
pub(super) struct ReturnAddress {
    /// The address; 0 in an unused entry.
    pub(super) ret: usize,
    /// The way from its frame to its caller's.
    pub(super) rule: Rule,
    /// Whether it is in oneTBB, in this library or in the C library, and not in user code.
    pub(super) runtime: bool,
}

const SETS: usize = 128;
/// The number of entries of a set: more than the addresses of one chain that are likely to share a
/// set.
const WAYS: usize = 4;

/// The cache. It has no destructor, and all zeros is empty.
pub(super) struct ReturnAddressCache([[Cell<ReturnAddress>; WAYS]; SETS]);

impl ReturnAddressCache {
    #[cfg(test)]
    fn new() -> ReturnAddressCache {
        const NONE: ReturnAddress = ReturnAddress {
            ret: 0,
            rule: Rule::NONE,
            runtime: false,
        };
        ReturnAddressCache([const { [const { Cell::new(NONE) }; WAYS] }; SETS])
    }

    /// Empties the cache.
    #[cold]
    pub(super) fn clear(&self) {
        for way in self.0.iter().flatten() {
            way.set(ReturnAddress {
                ret: 0,
                rule: Rule::NONE,
                runtime: false,
            });
        }
    }

    #[inline(always)]
    fn set(&self, ret: usize) -> &[Cell<ReturnAddress>; WAYS] {
        &self.0[(ret ^ ret >> 9) % SETS]
    }

    /// The entry of this address, which is not 0.
    #[inline(always)]
    pub(super) fn get(&self, ret: usize) -> Option<ReturnAddress> {
        self.set(ret)
            .iter()
            .map(Cell::get)
            .find(|found| found.ret == ret)
    }

    /// Adds an entry. It replaces that of the same address, or the oldest of its set.
    pub(super) fn keep(&self, found: ReturnAddress) {
        let set = self.set(found.ret);
        let known = set.iter().position(|way| way.get().ret == found.ret);
        for way in (1..=known.unwrap_or(WAYS - 1)).rev() {
            set[way].set(set[way - 1].get());
        }
        set[0].set(found);
    }
}

#[cfg(test)]
mod tests {
    use super::{ReturnAddress, ReturnAddressCache, Rule, SETS, WAYS};

    #[test]
    fn addresses_of_one_set_do_not_drive_each_other_out() {
        let return_addresses = ReturnAddressCache::new();
        let found = |ret: usize, runtime: bool| ReturnAddress {
            ret,
            rule: Rule::NONE,
            runtime,
        };
        // The bits from 9 on compensate for those below, so all are in one set.
        let all: Vec<usize> = (1..=WAYS + 1).map(|n| n << 9 | (n % SETS) ^ 5).collect();
        for &ret in &all {
            return_addresses.keep(found(ret, false));
            return_addresses.keep(found(ret, true));
        }
        let known = |ret: usize| return_addresses.get(ret).map(|found| found.runtime);
        assert_eq!(known(all[0]), None);
        for &ret in &all[1..] {
            assert_eq!(known(ret), Some(true), "{ret:#x}");
        }
    }
}
