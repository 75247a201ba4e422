//! Off-CPU times from the kernel: chunks that contain only `off` records. They follow all of a
//! thread's own chunks, and their times start again from the beginning.

use crate::entry::push_varint;
use crate::event::{Event, Events};
use crate::wire::Kind;

/// Whether a chunk's records are all off-CPU times. Such records do not depend on records before
/// them.
pub fn is_off_cpu(payload: &[u8], base_ticks: u64) -> bool {
    let mut events = Events::new(payload, base_ticks).peekable();
    events.peek().is_some() && events.all(|(_, event)| matches!(event, Event::Off { .. }))
}

/// Appends a record, `delta` ticks after the one before: the thread was off the CPU for `ticks`
/// ticks until then.
pub fn push_off(payload: &mut Vec<u8>, delta: u64, ticks: u64, blocked: bool) {
    // The head's length is in its first byte. The general writer stores bytes past the end, so the
    // shortest head is built here.
    let delta = delta.min((1 << 56) - 1);
    let bytes = delta.to_le_bytes();
    let length = (64 - delta.leading_zeros() as usize).div_ceil(8);
    payload.push(Kind::Off as u8 | (length as u8) << 5);
    payload.extend_from_slice(&bytes[..length]);
    push_varint(payload, u64::from(blocked));
    push_varint(payload, ticks);
}

/// The part of such a chunk between two times. Its ticks count from the first one. Empty if no
/// interval lies there.
pub fn clipped(payload: &[u8], base_ticks: u64, from: u64, to: u64) -> Vec<u8> {
    let mut part = Vec::new();
    let mut last = from;
    for (t, event) in Events::new(payload, base_ticks) {
        if let Event::Off { blocked, ticks } = event {
            let (start, end) = (t.saturating_sub(ticks).max(from), t.min(to));
            if start < end && last <= end {
                push_off(&mut part, end - last, end - start, blocked);
                last = end;
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_those_the_reader_knows() {
        let mut payload = Vec::new();
        let given = [
            (0u64, 1u64, true),
            (255, 256, false),
            (1 << 20, 77, true),
            ((1 << 56) - 1, 5, false),
        ];
        for (delta, ticks, blocked) in given {
            push_off(&mut payload, delta, ticks, blocked);
        }
        let mut now = 1000;
        let expected = given.map(|(delta, ticks, blocked)| {
            now += delta;
            (now, Event::Off { blocked, ticks })
        });
        assert_eq!(Events::new(&payload, 1000).collect::<Vec<_>>(), expected);
        assert!(is_off_cpu(&payload, 1000) && !is_off_cpu(&[], 0));
    }

    #[test]
    fn a_part_has_what_lies_in_it() {
        let mut payload = Vec::new();
        for (delta, ticks) in [(10, 5), (20, 10), (30, 30), (100, 9)] {
            push_off(&mut payload, delta, ticks, true);
        }
        // 5–10, 20–30, 30–60, 151–160.
        let part = clipped(&payload, 0, 25, 50);
        let off = |ticks| Event::Off {
            blocked: true,
            ticks,
        };
        let expected = [(30, off(5)), (50, off(20))];
        assert_eq!(Events::new(&part, 25).collect::<Vec<_>>(), expected);
        assert!(clipped(&payload, 0, 60, 150).is_empty());
    }
}
