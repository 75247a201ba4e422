//! Which chunks of a thread count, in the file of a process that was folding when it ended.
//!
//! Such a process has records in two chunks at moments, and may be killed in any
//! ([`crate::hand_off`]). Of several chunks of one thread and number the sealed one counts, else
//! the one of the later turn; and of the numbers that have no sealed chunk only the first, since
//! what follows has not yet taken its place.

use std::collections::BTreeMap;

use crate::chunk::{ChunkHeader, ChunkKind, TURNS};
use crate::reader::{Tolerance, Trace};

/// A chunk that is there: its offset and header.
type Found = (u64, ChunkHeader);

/// Offsets of the chunks that others stand for, ascending.
pub(crate) fn superseded(trace: &Trace<'_>) -> Vec<u64> {
    let mut walk = trace.all_chunks(Tolerance::Tolerant);
    walk.checks = false;
    let mut threads: BTreeMap<u32, BTreeMap<u32, Vec<Found>>> = BTreeMap::new();
    for chunk in walk.flatten().filter(|c| c.kind == ChunkKind::Events) {
        let at = usize::try_from(chunk.offset).ok();
        let header = at.and_then(|at| ChunkHeader::decode(trace.bytes().get(at..)?));
        if let Some(header) = header {
            let numbers = threads.entry(chunk.thread).or_default();
            numbers
                .entry(chunk.seq)
                .or_default()
                .push((chunk.offset, header));
        }
    }
    let mut hidden = Vec::new();
    for numbers in threads.into_values() {
        let mut ended = false;
        for of_number in numbers.into_values() {
            let sealed = of_number.iter().any(|c| c.1.is_sealed());
            let mut counts: Option<&Found> = None;
            for chunk in of_number.iter().filter(|c| !c.1.is_sealed()) {
                let later = !sealed && !ended && counts.is_none_or(|c| is_after(&chunk.1, &c.1));
                let out = if later {
                    counts.replace(chunk)
                } else {
                    Some(chunk)
                };
                hidden.extend(out.map(|c| c.0));
            }
            ended |= counts.is_some();
        }
    }
    hidden.sort_unstable();
    hidden
}

/// True when `a` has the later turn.
fn is_after(a: &ChunkHeader, b: &ChunkHeader) -> bool {
    a.turn().wrapping_sub(b.turn()) % TURNS < TURNS / 2
}
