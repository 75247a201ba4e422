//! Sites by code address, kept per thread: asking the recorder takes a lock.

use std::cell::Cell;

use workspan_recorder::TABLE;

use crate::loaded::era;

const SLOTS: usize = 256;

thread_local! {
    /// (address, primitive, 1 for a return address; site) of the last seen at each slot. No destructor, so that it can be used
    /// to the very end of a thread.
    static SEEN: [Cell<(usize, u32)>; SLOTS] = const { [const { Cell::new((0, 0)) }; SLOTS] };
}

/// The site of code at an address; `is_return`: of the call that returns there. Address 0 is unknown.
#[allow(dead_code, reason = "the adapters use it")]
pub(crate) fn at(address: usize, primitive: u8, is_return: bool) -> u32 {
    if address == 0 {
        return 0;
    }
    // User addresses have 47 bits: the rest of the key goes above. What is known of a file that was unloaded is not found again.
    let key =
        address ^ usize::from(primitive) << 56 ^ usize::from(is_return) << 48 ^ era() as usize;
    let hash = (key ^ key >> 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    SEEN.with(|seen| {
        let slot = &seen[hash % SLOTS];
        let (known, site) = slot.get();
        if known == key {
            return site;
        }
        let site = (TABLE.site_address)(address, primitive, u8::from(is_return));
        if workspan_recorder::is_on() {
            slot.set((key, site));
        }
        site
    })
}

/// Of those that [`looked_up`] keeps.
const LOOKED_UP: usize = 1 << 49;

/// The site of a place that `look` finds for a return address: a code address, and true if a call returns there. `None` when it finds one
/// beyond all code ([`workspan_recorder::front::INHERITED`]).
#[allow(dead_code, reason = "not used on every architecture")]
pub(crate) fn looked_up(
    address: usize,
    primitive: u8,
    look: impl FnOnce() -> (usize, bool),
) -> Option<u32> {
    const NONE: u32 = u32::MAX;
    let key = address ^ usize::from(primitive) << 56 ^ LOOKED_UP ^ era() as usize;
    let hash = (key ^ key >> 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    let slot = hash % SLOTS;
    let (known, site) = SEEN.with(|seen| seen[slot].get());
    if known == key {
        return (site != NONE).then_some(site);
    }
    let found = match look() {
        (workspan_recorder::front::INHERITED.., _) => NONE,
        (address, is_return) => at(address, primitive, is_return),
    };
    if workspan_recorder::is_on() {
        SEEN.with(|seen| seen[slot].set((key, found)));
    }
    (found != NONE).then_some(found)
}
