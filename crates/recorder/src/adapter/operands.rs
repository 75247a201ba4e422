//! Operands of a record: how they are stored, and records at times of the caller's choice.

use crate::front::Handle;
use crate::wire::Kind;
use workspan_trace::entry::push_varint;

/// A site as records that may not know theirs have it: 0 = unknown, else site + 1.
#[inline]
pub(super) fn optional(site: u32) -> u64 {
    if site == 0 { 0 } else { u64::from(site) + 1 }
}

/// A record at time `now`, which may lie before this moment (several records of one event share a reading of the clock),
/// but not before the thread's last record: that one's time is taken then.
///
/// # Safety
/// `h` is the calling thread's live handle; at most 5 operands below 2^56.
#[inline]
pub unsafe fn record_at<const N: usize>(h: *mut Handle, kind: Kind, now: u64, operands: [u64; N]) {
    // SAFETY: the caller's.
    unsafe {
        let p = Handle::head(h, kind, now);
        Handle::commit(h, put_operands(p, operands));
    }
}

/// Writes varints at `p` and returns the end. Mostly all but the last one, a running count, fit a byte each: those are stored
/// together.
///
/// # Safety
/// There is room for them, and 8 bytes more, from `p`.
#[inline(always)]
unsafe fn put_operands<const N: usize>(p: *mut u8, operands: [u64; N]) -> *mut u8 {
    // A varint of one byte.
    const SMALL: u64 = 1 << 7;
    let front = &operands[..N.saturating_sub(1)];
    // SAFETY: the caller's.
    unsafe {
        if N > 1 && N <= 9 && front.iter().fold(0, |all, v| all | v) < SMALL {
            let word = front.iter().rev().fold(0, |word, v| word << 8 | v << 1 | 1);
            p.cast::<u64>().write_unaligned(word.to_le());
            return crate::wire::put_varint(p.add(N - 1), operands[N - 1]);
        }
        operands
            .into_iter()
            .fold(p, |p, v| crate::wire::put_varint(p, v))
    }
}

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
        // SAFETY: 64 bytes hold five varints of 9 and what is stored beyond the last.
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
