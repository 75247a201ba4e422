//! A per-thread cache of sites by code address, because the recorder takes a lock to find one.

use std::cell::Cell;

use workspan_recorder::TABLE;

use crate::free_list::FreeList;
use crate::loaded_files::era;

const SLOTS: usize = 256;

/// Slots of a key (address, primitive and return-address bit) and its site.
type Cache = [Cell<(usize, u32)>; SLOTS];

// The calling thread's cache, once it has looked for a site.
workspan_recorder::tls_slot!(Own: Cache, "workspan_sites_seen");

static FREE: FreeList<Cache> = FreeList::new();

/// The slot with this number, if the thread has memory for a cache.
#[inline]
fn slot<'a>(number: usize) -> Option<&'a Cell<(usize, u32)>> {
    let mut seen = Own::get();
    if seen.is_null() {
        seen = FREE.take();
        Own::set(seen);
    }
    // SAFETY: null, or the calling thread's own until it ends; zeros are empty slots.
    unsafe { seen.as_ref() }.map(|seen| &seen[number % SLOTS])
}

/// The calling thread looks up no more sites.
pub(crate) fn thread_ends() {
    FREE.give_back(Own::get());
    Own::set(std::ptr::null_mut());
}

/// The site of the code at an address. With `is_return`, the address is a return address, and the
/// site is that of the call. Address 0 is unknown.
#[allow(dead_code, reason = "the adapters use it")]
pub(crate) fn at(address: usize, primitive: u8, is_return: bool) -> u32 {
    if address == 0 {
        return 0;
    }
    // User addresses have 47 bits, so the rest of the key is in the bits above. The era prevents
    // entries of unloaded files from being found.
    let key =
        address ^ usize::from(primitive) << 56 ^ usize::from(is_return) << 48 ^ era() as usize;
    let hash = (key ^ key >> 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    let slot = slot(hash);
    match slot.map(Cell::get) {
        Some((known, site)) if known == key => return site,
        _ => {}
    }
    let site = (TABLE.site_address)(address, primitive, u8::from(is_return));
    if workspan_recorder::is_on()
        && let Some(slot) = slot
    {
        slot.set((key, site));
    }
    site
}

/// Marks the keys of [`looked_up`].
const LOOKED_UP: usize = 1 << 49;

/// The site that `look` finds for a return address. `look` returns a code address, and whether that
/// is a return address. `None` if it finds no code ([`workspan_recorder::abi::INHERITED`]).
#[allow(dead_code, reason = "not used on every architecture")]
pub(crate) fn looked_up(
    address: usize,
    primitive: u8,
    look: impl FnOnce() -> (usize, bool),
) -> Option<u32> {
    const NONE: u32 = u32::MAX;
    let key = address ^ usize::from(primitive) << 56 ^ LOOKED_UP ^ era() as usize;
    let hash = (key ^ key >> 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    match slot(hash).map(Cell::get) {
        Some((known, site)) if known == key => return (site != NONE).then_some(site),
        _ => {}
    }
    let found = match look() {
        (workspan_recorder::abi::INHERITED.., _) => NONE,
        (address, is_return) => at(address, primitive, is_return),
    };
    if workspan_recorder::is_on()
        && let Some(slot) = slot(hash)
    {
        slot.set((key, found));
    }
    (found != NONE).then_some(found)
}
