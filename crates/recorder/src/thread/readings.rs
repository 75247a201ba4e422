//! The increases of a thread's counters, written before each of its records.

use super::chunks::refill;
use super::{Owner, handle, owner_of};
use crate::abi::Handle;
use crate::counters::MAX_COUNTERS;
use crate::system::KeepErrno;
use crate::wire::{self, Kind};

/// The largest number of bytes of a record of readings, including stores beyond its end.
pub(super) const READINGS: usize = 160;

/// Writes the counters' increases since the thread's last record, at the handle's last time.
pub(super) fn write_readings(owner: &mut Owner) {
    let _errno = KeepErrno::new();
    let (h, Some(open)) = (&mut owner.handle, &mut owner.counters) else {
        return;
    };
    let mut increases = [(0u32, 0u64); MAX_COUNTERS];
    let mut count = 0;
    open.increases(|label, increase| {
        if let Some(slot) = increases.get_mut(count) {
            *slot = (label, increase);
            count += 1;
        }
    });
    let since = h.last.saturating_sub(open.written);
    open.written = h.last;
    // SAFETY: there are READINGS bytes from the cursor, and SLACK beyond the limit.
    unsafe {
        let mut p = wire::put_head(h.cursor, Kind::Readings, since);
        p = wire::put_varint(p, count as u64);
        for &(label, increase) in &increases[..count] {
            p = wire::put_varint(p, u64::from(label));
            p = wire::put_varint(p, increase);
        }
        Handle::commit(h, p);
    }
}

/// Writes the calling thread's counters' increases up to now.
pub(crate) fn last_counts() {
    let h = handle();
    // SAFETY: the handle is the calling thread's or null.
    unsafe {
        if !h.is_null() && (*owner_of(h)).counters.is_some() {
            (*h).last = (*h).last.max(Handle::now(h));
            refill(h);
        }
    }
}
