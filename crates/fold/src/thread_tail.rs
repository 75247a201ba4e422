//! What threads that fold did last: the records that stood in their last chunks when the process
//! ended, folded after it.
//!
//! A recorder folds a chunk when it is full, or when its thread ends. A thread that lives when the
//! process does leaves up to two chunks' worth of records as they are, which would be most of a
//! small trace. What is open where such a chunk begins is not known to the [`Fold`], so tasks that
//! began before it stay as they are.

use std::collections::BTreeMap;

use crate::{Fold, FoldOptions};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::event::{Event, Events};
use workspan_trace::reader::{Chunk, Tolerance, Trace};
use workspan_trace::thread_state::ThreadState;

/// Of a thread with more bytes of records the last ones are no matter.
const MOST: usize = 4 << 20;

/// The last chunks of threads that folded, as they are with what is short in them folded too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tails {
    /// Thread → which of its chunks, and the records that come in place of its own.
    chunks: BTreeMap<u32, (u32, Vec<u8>)>,
}

impl Tails {
    /// Of a trace, as the recorder that left it would have gone on with these options. Damaged
    /// chunks are none.
    pub fn of(trace: &Trace<'_>, options: &FoldOptions) -> Tails {
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
        Tails {
            chunks: threads.into_iter().filter_map(tail).collect(),
        }
    }

    /// The records that come in place of this chunk's.
    pub fn instead_of(&self, chunk: &Chunk<'_>) -> Option<&[u8]> {
        let (number, records) = self.chunks.get(&chunk.thread)?;
        (chunk.kind == ChunkKind::Events && chunk.seq == *number).then_some(records)
    }
}

/// The records of a thread's last chunk, folded; `None` where it folded nothing, or is not to be
/// looked at.
fn tail(thread: u32, chunks: &[&Chunk<'_>], options: &FoldOptions) -> Option<Vec<u8>> {
    let (last, before) = chunks.split_last()?;
    let bytes: usize = chunks.iter().map(|chunk| chunk.payload.len()).sum();
    if last.sealed || bytes > MOST {
        return None;
    }
    let mut open = ThreadState::default();
    let mut folds = false;
    for (at, chunk) in before.iter().enumerate() {
        // Without one of them nothing is known of those after it.
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
