//! Turns the file that a process left behind into a compact one: every chunk is trimmed to its
//! whole records and sealed.

use std::io::{self, Seek, Write};

use crate::chunk::ChunkKind;
use crate::error::FormatError;
use crate::reader::{Chunk, Tolerance, Trace};
use crate::writer::TraceWriter;

/// Statistics of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sealed {
    /// The number of chunks copied.
    pub chunks: u64,
    /// Bytes of events copied.
    pub event_bytes: u64,
    /// Damage that was found and skipped. A file that was only cut short by its process's death has
    /// none.
    pub damage: Vec<FormatError>,
    /// Whether the process ended in an orderly way.
    pub finished: bool,
}

/// Copies all chunks of `trace` to `writer`, except those of the kinds in `except`, which the
/// caller writes itself.
///
/// # Errors
/// The output's write errors. Damage in `trace` is skipped and listed.
pub fn copy_sealed<W: Write + Seek>(
    trace: &Trace<'_>,
    except: &[ChunkKind],
    writer: &mut TraceWriter<W>,
) -> io::Result<Sealed> {
    copy_with_records(trace, except, |_| None, writer)
}

/// Copies the chunks of `trace` like [`copy_sealed`], but replaces the records of some of them.
///
/// `records` returns the records to write for a chunk of events; `None` keeps the chunk's own.
///
/// # Errors
/// The same as for [`copy_sealed`].
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
        // An empty chunk of events still shows that its thread existed.
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
