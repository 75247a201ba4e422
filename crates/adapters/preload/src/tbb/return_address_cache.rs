//! What a thread knows of return addresses: a cache in sets, as which addresses share a place changes from process to process with where
//! their modules lie. With one place each, two addresses of one chain of calls would drive each other out at every task, and each time the stack
//! would be unwound.

use std::cell::Cell;

use super::call_frame::Rule;

/// What is known of a return address.
#[derive(Clone, Copy)]
pub(super) struct ReturnAddress {
    /// 0: of none.
    pub(super) ret: usize,
    /// From its frame to the caller's.
    pub(super) rule: Rule,
    /// It lies in oneTBB, in this library or in the C library: no user's code.
    pub(super) runtime: bool,
}

const SETS: usize = 128;
/// More than a chain is likely to have in one set.
const WAYS: usize = 4;

/// The cache, without a destructor; all zeros when empty.
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

    /// Forgets everything.
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

    /// What is known of this address, which is not 0.
    #[inline(always)]
    pub(super) fn get(&self, ret: usize) -> Option<ReturnAddress> {
        self.set(ret)
            .iter()
            .map(Cell::get)
            .find(|found| found.ret == ret)
    }

    /// Keeps this, in place of what was known of the address, or of the one of its set that came first.
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
        // Their bits from 9 on make up for those below.
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
