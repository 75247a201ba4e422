//! Determines which records of a thread count; no other module does.
//!
//! A pool's threads continue to record after the process has ended, and these records do not count
//! (docs/format.md, *finished*). The chunks of a thread's off-CPU times follow all its own records,
//! though they belong to earlier times. So the rule applies to each chunk: it is cut at its first
//! record later than the end, and the chunks behind it are checked as well. Readers use the chunks
//! from here as they are and need no end.

use workspan_trace::event::Events;

use super::chunks_by_thread::{Records, Thread, TraceChunks};

/// Keeps the records of each thread that count.
pub(super) fn cut_at_process_end(chunks: &mut TraceChunks<'_>) {
    let Some(finished) = chunks.finished else {
        return;
    };
    for thread in &mut chunks.threads {
        cut_at(thread, finished.ticks);
    }
}

/// Cuts each of a thread's chunks at its first record later than `end`.
fn cut_at(thread: &mut Thread<'_>, end: u64) {
    for at in 0..thread.chunks.len() {
        let next = thread.chunks.get(at + 1);
        // A chunk begins where the one before ended, so only one of them extends beyond the end and
        // has to be read.
        let is_whole = next.is_some_and(|next| {
            !next.off_cpu && (thread.chunks[at].base..=end).contains(&next.base)
        });
        if !is_whole {
            let chunk = &mut thread.chunks[at];
            chunk.bytes = until(chunk, end);
        }
    }
    thread.chunks.retain(|chunk| !chunk.bytes.is_empty());
}

/// The bytes of a chunk before its first record later than `end`. Bytes that are not a record stay,
/// for the reader to find.
fn until<'a>(chunk: &Records<'a>, end: u64) -> &'a [u8] {
    let mut events = Events::new(chunk.bytes, chunk.base);
    loop {
        let at = events.offset();
        match events.next() {
            Some((t, _)) if t > end => return &chunk.bytes[..at],
            Some(_) => {}
            None => return chunk.bytes,
        }
    }
}

impl<'a> Thread<'a> {
    /// The chunks of the thread's off-CPU times, which follow all others.
    pub(super) fn off_cpu(&self) -> &[Records<'a>] {
        let own = self.chunks.iter().rposition(|chunk| !chunk.off_cpu);
        &self.chunks[own.map_or(0, |last| last + 1)..]
    }
}
