//! Which records of a thread count: the one place that knows.
//!
//! A pool's threads go on recording after the process has come to its end, and none of that counts
//! (docs/format.md, *finished*). The chunks of a thread's times off the CPU stand behind all its
//! own records, though they tell of the time before. So the rule is one for each chunk: it is cut
//! at its first record later than the end, and the chunks behind it are looked at as well. Readers
//! take the chunks as they come from here, and ask for no end.

use workspan_trace::event::Events;

use super::chunks_by_thread::{Records, Thread, TraceChunks};

/// Leaves the records that count of each thread.
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
        // A chunk begins where the one before ended, so that only one of them goes beyond the end
        // and has to be read for that.
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

/// The bytes of a chunk before its first record later than `end`; bytes that are no record stay,
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
    /// The chunks of its times off the CPU, which are behind all others.
    pub(super) fn off_cpu(&self) -> &[Records<'a>] {
        let own = self.chunks.iter().rposition(|chunk| !chunk.off_cpu);
        &self.chunks[own.map_or(0, |last| last + 1)..]
    }
}
