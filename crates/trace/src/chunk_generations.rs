//! Which chunks of a thread count, in the file of a process that was folding when it ended.
//!
//! Such a process has the same records in two chunks at times, and may be killed at any moment
//! ([`crate::hand_off`]). Of several chunks with the same thread and number, the sealed one counts,
//! or else the one with the later turn. Of the numbers without a sealed chunk, only the first
//! counts, because the chunks that follow have not taken its place yet.

use std::collections::BTreeMap;

use crate::chunk::{ChunkHeader, ChunkKind, TURNS};
use crate::reader::{Tolerance, Trace};

/// The offset and header of a chunk.
type FoundChunk = (u64, ChunkHeader);

/// Offsets of the chunks that another chunk has replaced, in ascending order.
pub(crate) fn superseded(trace: &Trace<'_>) -> Vec<u64> {
    let mut walk = trace.all_chunks(Tolerance::Tolerant);
    walk.checks = false;
    let mut threads: BTreeMap<u32, BTreeMap<u32, Vec<FoundChunk>>> = BTreeMap::new();
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
            let mut counts: Option<&FoundChunk> = None;
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

/// Whether `a` has the later turn.
fn is_after(a: &ChunkHeader, b: &ChunkHeader) -> bool {
    a.turn().wrapping_sub(b.turn()) % TURNS < TURNS / 2
}
