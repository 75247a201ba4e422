//! The cost of writing a record.

use super::Owner;
use super::chunks::use_scratch;
use crate::abi::Handle;
use crate::clock;
use crate::wire::Kind;

/// The time that a probe adds to a strand's measured time, in ticks. It is half a record, because a
/// strand's time begins in the middle of the record that starts it and ends in the middle of the
/// one that ends it. The minimum of several batches.
pub(crate) fn probe_cost() -> u64 {
    const BATCH: u64 = 16;
    let mut owner = Owner::new(0, 0);
    let mut least = u64::MAX;
    for _ in 0..64 {
        use_scratch(&mut owner);
        let h = core::hint::black_box(&raw mut owner.handle);
        let before = clock::now();
        for _ in 0..BATCH {
            // SAFETY: a batch fits the scratch memory; the handle is a local one.
            unsafe { Handle::event_with(h, Kind::Resume, []) };
        }
        least = least.min(clock::now().saturating_sub(before));
    }
    least / BATCH / 2
}
