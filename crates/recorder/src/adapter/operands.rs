//! Operands of records: how they are encoded, and records at a time that the caller chooses.

use super::LiveHandle;
use super::live_handle::MAX_OPERANDS;
use crate::abi::Handle;
use crate::thread;
use crate::wire::Kind;
use workspan_trace::entry::push_varint;

/// Encodes a site that may be unknown: 0 for none, otherwise the site plus 1.
#[inline]
pub(super) fn optional(site: u32) -> u64 {
    if site == 0 { 0 } else { u64::from(site) + 1 }
}

impl LiveHandle {
    /// Writes a record at time `now`. That may be earlier than the present, because several records
    /// of one event share a reading of the clock. A time before the thread's last record counts as
    /// that record's time.
    #[inline]
    pub fn record_at<const N: usize>(self, kind: Kind, now: u64, operands: [u64; N]) {
        const { assert!(N <= MAX_OPERANDS) };
        // SAFETY: the handle is the thread's own; after the head there is room for N operands.
        unsafe {
            let p = Handle::head(self.as_ptr(), kind, now);
            Handle::commit(self.as_ptr(), put_operands(p, operands));
        }
    }

    /// Writes a record of any length, now; `operands` are encoded.
    pub(super) fn long_record(self, kind: Kind, operands: &[u8]) {
        let (at, length) = (operands.as_ptr(), operands.len());
        // SAFETY: the handle is the thread's own; the slice has that many bytes.
        unsafe { thread::long_record(self.as_ptr(), kind, self.now(), at, length) }
    }
}

/// Writes varints at `p` and returns the address behind them. In most records, all operands except
/// the last one, a running count, fit in a byte each, so those are stored together.
///
/// # Safety
/// There is room for the varints, and for 8 more bytes, from `p`.
#[inline(always)]
unsafe fn put_operands<const N: usize>(p: *mut u8, operands: [u64; N]) -> *mut u8 {
    /// Values below this are varints of one byte.
    const ONE_BYTE: u64 = 1 << 7;
    let front = &operands[..N.saturating_sub(1)];
    // SAFETY: the caller's promise of room.
    unsafe {
        if N > 1 && N <= 9 && front.iter().fold(0, |all, v| all | v) < ONE_BYTE {
            let word = front.iter().rev().fold(0, |word, v| word << 8 | v << 1 | 1);
            p.cast::<u64>().write_unaligned(word.to_le());
            return crate::wire::put_varint(p.add(N - 1), operands[N - 1]);
        }
        operands
            .into_iter()
            .fold(p, |p, v| crate::wire::put_varint(p, v))
    }
}

/// Appends a count of pairs, then the pairs.
pub(super) fn push_pairs(bytes: &mut Vec<u8>, pairs: impl Iterator<Item = (u64, u64)> + Clone) {
    push_varint(bytes, pairs.clone().count() as u64);
    for (first, second) in pairs {
        push_varint(bytes, first);
        push_varint(bytes, second);
    }
}

#[cfg(test)]
mod tests {
    use super::put_operands;

    fn same<const N: usize>(operands: [u64; N]) {
        let (mut together, mut one_by_one) = ([0u8; 64], [0u8; 64]);
        // SAFETY: 64 bytes hold five varints of 9 bytes and what is stored beyond the last one.
        let (n, m) = unsafe {
            let end = put_operands(together.as_mut_ptr(), operands);
            let mut p = one_by_one.as_mut_ptr();
            for v in operands {
                p = crate::wire::put_varint(p, v);
            }
            (
                end as usize - together.as_ptr() as usize,
                p as usize - one_by_one.as_ptr() as usize,
            )
        };
        assert_eq!(together[..n], one_by_one[..m], "{operands:?}");
    }

    #[test]
    fn operands_stored_together_are_those_stored_one_by_one() {
        let edges = [0, 1, 127, 128, 16_383, 16_384, (1 << 56) - 1];
        same([]);
        for a in edges {
            same([a]);
            for b in edges {
                same([a, b]);
                same([b, 0, a]);
                same([1, a, 127, b]);
                same([127, 126, a, 1, b]);
            }
        }
    }
}
