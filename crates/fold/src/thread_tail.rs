//! Folds the records that were in the threads' last chunks when the process ended.
//!
//! A recorder folds a chunk when it is full, or when its thread ends. A thread that lives until the
//! process ends leaves up to two chunks of records unfolded, which would be most of a small trace.
//! The [`Fold`] does not know what is open where such a chunk begins, so tasks that began before it
//! stay as they are.

use std::collections::BTreeMap;

use crate::{Fold, FoldOptions};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::event::{Event, Events};
use workspan_trace::reader::{Chunk, Tolerance, Trace};
use workspan_trace::thread_state::ThreadState;

/// If a thread has more bytes of records than this, its last chunks hardly matter and stay as they
/// are.
const MAX_TAIL_BYTES: usize = 4 << 20;

/// The last chunks of threads that fold, with their short subtrees folded too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadTails {
    /// By thread: the index of its chunk, and the records that replace the chunk's own.
    chunks: BTreeMap<u32, (u32, Vec<u8>)>,
}

impl ThreadTails {
    /// Folds the last chunks of a trace as its recorder would have done with these options. Damaged
    /// chunks are skipped.
    pub fn fold(trace: &Trace<'_>, options: &FoldOptions) -> ThreadTails {
        let mut threads: BTreeMap<u32, BTreeMap<u32, Chunk<'_>>> = BTreeMap::new();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            if chunk.kind == ChunkKind::Events {
                threads
                    .entry(chunk.thread)
                    .or_default()
                    .insert(chunk.seq, chunk);
            }
        }
        let tail = |(thread, chunks): (u32, BTreeMap<u32, Chunk<'_>>)| {
            let (&number, _) = chunks.last_key_value()?;
            let chunks: Vec<&Chunk<'_>> = chunks.values().collect();
            Some((thread, (number, tail(thread, &chunks, options)?)))
        };
        ThreadTails {
            chunks: threads.into_iter().filter_map(tail).collect(),
        }
    }

    /// The records that replace this chunk's.
    pub fn instead_of(&self, chunk: &Chunk<'_>) -> Option<&[u8]> {
        let (number, records) = self.chunks.get(&chunk.thread)?;
        (chunk.kind == ChunkKind::Events && chunk.seq == *number).then_some(records)
    }
}

/// The records of a thread's last chunk, folded. `None` if nothing was folded, or the thread is
/// skipped.
fn tail(thread: u32, chunks: &[&Chunk<'_>], options: &FoldOptions) -> Option<Vec<u8>> {
    let (last, before) = chunks.split_last()?;
    let bytes: usize = chunks.iter().map(|chunk| chunk.payload.len()).sum();
    if last.sealed || bytes > MAX_TAIL_BYTES {
        return None;
    }
    let mut open = ThreadState::default();
    let mut folds = false;
    for (at, chunk) in before.iter().enumerate() {
        // If a chunk is missing, nothing is known of those after it.
        if chunk.seq as usize != at {
            return None;
        }
        for (_, event) in Events::new(chunk.payload, chunk.base_ticks) {
            folds |= matches!(event, Event::Folded(_));
            open.pass(&event);
        }
    }
    if !folds || last.seq as usize != before.len() {
        return None;
    }
    let mut fold = Fold::going_on(thread, &open, last.base_ticks, options.clone());
    fold.feed(last.payload, last.base_ticks);
    fold.finish();
    Some(fold.firm().0.to_vec())
}
