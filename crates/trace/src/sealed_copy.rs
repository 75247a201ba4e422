//! Turns what a process left behind into a compact file: every chunk trimmed to its whole records
//! and sealed.

use std::io::{self, Seek, Write};

use crate::chunk::ChunkKind;
use crate::error::FormatError;
use crate::reader::{Chunk, Tolerance, Trace};
use crate::writer::TraceWriter;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Chunks copied.
    pub chunks: u64,
    /// Bytes of events copied.
    pub event_bytes: u64,
    /// Damage met and left out (of a file that was not simply cut short by its process's death
    /// there is none).
    pub damage: Vec<FormatError>,
    /// True when the process came to its end in an orderly way.
    pub finished: bool,
}

/// Copies all chunks of `trace` but those of the kinds in `except` (which the caller writes itself)
/// to `writer`.
///
/// # Errors
/// Those of the writer's output. Damage in `trace` is left out and listed.
pub fn copy_sealed<W: Write + Seek>(
    trace: &Trace<'_>,
    except: &[ChunkKind],
    writer: &mut TraceWriter<W>,
) -> io::Result<Sealed> {
    copy_with_records(trace, except, |_| None, writer)
}

/// Copies the chunks of `trace` as [`copy_sealed`] does, with other records in some of them.
///
/// `records` gives the records to write for a chunk of events; `None` keeps the chunk's own.
///
/// # Errors
/// As [`copy_sealed`].
pub fn copy_with_records<'r, W: Write + Seek>(
    trace: &Trace<'_>,
    except: &[ChunkKind],
    records: impl Fn(&Chunk<'_>) -> Option<&'r [u8]>,
    writer: &mut TraceWriter<W>,
) -> io::Result<Sealed> {
    let mut sealed = Sealed::default();
    let mut chunks = trace.chunks(Tolerance::Tolerant);
    for chunk in chunks.by_ref().flatten() {
        sealed.finished |= chunk.kind == ChunkKind::Finished && !chunk.payload.is_empty();
        // An empty chunk of events still says that its thread was there.
        if except.contains(&chunk.kind)
            || chunk.payload.is_empty() && chunk.kind != ChunkKind::Events
        {
            continue;
        }
        sealed.chunks += 1;
        if chunk.kind == ChunkKind::Events {
            let records = records(&chunk).unwrap_or(chunk.payload);
            sealed.event_bytes += records.len() as u64;
            writer.events(
                chunk.thread,
                chunk.seq,
                (chunk.base_ticks, chunk.base_ns),
                records,
            )?;
        } else {
            writer.entries(chunk.kind, chunk.payload)?;
        }
    }
    sealed.damage = chunks.damage;
    Ok(sealed)
}
