//! Makes recorded traces with correct checksums out of a fuzzer's bytes, so that the code behind
//! the checksum tests is reached.

use std::io::Cursor;

use workspan_trace::chunk::{
    ALIGNMENT, CHECKSUM_AT, CHUNK_HEADER_SIZE, CHUNK_MAGIC, ChunkHeader, next_offset,
};
use workspan_trace::entry::{ClockPair, Finished, Label, Note, Site, SitePosition};
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

/// A file. Its header depends on the bits of `how` (1: nanoseconds, 2: not finished, 4: records
/// were dropped). Then come `chunks`, whose checksums are corrected unless bit 8 is set.
pub fn file(how: u8, chunks: &[u8]) -> Vec<u8> {
    let mut header = FileHeader {
        clock: if how & 1 == 0 {
            ClockKind::Tsc
        } else {
            ClockKind::Nanoseconds
        },
        pid: 1,
        page_size: 4096,
        ..FileHeader::default()
    };
    if how & 2 == 0 {
        header.length = (HEADER_SIZE + chunks.len()) as u64;
    }
    header.dropped = u64::from(how & 4);
    let mut file = header.encode().to_vec();
    file.extend_from_slice(chunks);
    if how & 8 == 0 {
        put_right(&mut file);
    }
    file
}

/// Corrects the checksums of all chunks. Bytes without the magic of a header are skipped.
fn put_right(file: &mut [u8]) {
    let mut at = HEADER_SIZE;
    while let Some(head) = file.get_mut(at..at + CHUNK_HEADER_SIZE) {
        if head[..4] != CHUNK_MAGIC {
            at += ALIGNMENT;
            continue;
        }
        let header = header_of(head);
        head.copy_from_slice(&header.encode());
        let body = &file[at + CHUNK_HEADER_SIZE..];
        let committed = usize::try_from(header.committed).unwrap_or(usize::MAX);
        if let Some(payload) = body.get(..committed) {
            let sum = header.checksum_of(payload).to_le_bytes();
            file[at + CHECKSUM_AT..at + CHECKSUM_AT + 8].copy_from_slice(&sum);
        }
        let next = next_offset(at as u64, header.capacity);
        at = usize::try_from(next).unwrap_or(usize::MAX).min(file.len());
    }
}

/// Decodes the fields of a header without a test of its checksum.
fn header_of(head: &[u8]) -> ChunkHeader {
    let number = |at: usize, length: usize| {
        let bytes = &head[at..at + length];
        bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
    };
    ChunkHeader {
        kind: head[4],
        flags: head[5],
        thread: number(8, 4) as u32,
        seq: number(12, 4) as u32,
        capacity: number(16, 4) as u32,
        committed: number(24, 8),
        base_ticks: number(32, 8),
        base_ns: number(40, 8),
        checksum: 0,
    }
}

/// Separates one thread's records from the next one's.
pub const NEXT_THREAD: &[u8] = b"\xff\x00\xfe\x01";

/// Separates a trace's records from those of its index.
pub const INDEX: &[u8] = b"\xff\x00\xfe\x02";

/// A complete trace of some threads' records. The first byte for each thread gives the time from
/// which its times count.
///
/// # Panics
/// Never: the trace is written to memory.
pub fn trace(threads: &[u8]) -> Vec<u8> {
    trace_that_says(threads, None)
}

/// A complete trace of some threads' records, with one more note.
///
/// # Panics
/// Never: the trace is written to memory.
pub fn trace_that_says(threads: &[u8], more: Option<Note>) -> Vec<u8> {
    let header = FileHeader {
        clock: ClockKind::Nanoseconds,
        pid: 1,
        page_size: 4096,
        ..FileHeader::default()
    };
    let written = || {
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header)?;
        let mut rest = threads;
        for thread in 0..64 {
            let end = rest
                .windows(NEXT_THREAD.len())
                .position(|w| w == NEXT_THREAD);
            let records = &rest[..end.unwrap_or(rest.len())];
            let (base, records) = records.split_first().unwrap_or((&0, &[]));
            writer.events(thread, 0, (u64::from(*base), 0), records)?;
            match end {
                Some(end) => rest = &rest[end + NEXT_THREAD.len()..],
                None => break,
            }
        }
        let position = |line| SitePosition::Location {
            file: "a.rs".into(),
            line,
            column: 1,
        };
        let positions = [
            SitePosition::Label("?".into()),
            position(3),
            position(5),
            position(8),
        ];
        let sites = (0..).zip(positions).map(|(id, position)| Site {
            id,
            primitive: id as u8,
            position,
        });
        writer.all_entries(ChunkKind::Sites, sites, Site::encode)?;
        let labels = (0..).zip(["x", "y"]).map(|(id, text)| Label {
            id,
            text: text.into(),
        });
        writer.all_entries(ChunkKind::Labels, labels, Label::encode)?;
        let notes = [
            Note::new("name", "fuzz"),
            Note::new("runtime", "Rayon 1.13.0"),
        ];
        let notes = notes.into_iter().chain(more);
        writer.all_entries(ChunkKind::Notes, notes, Note::encode)?;
        let pairs = [ClockPair { ticks: 0, ns: 0 }];
        writer.all_entries(ChunkKind::Clock, pairs, ClockPair::encode)?;
        let finished = Finished {
            ticks: 1 << 40,
            ns: 1 << 40,
            dropped: 0,
            threads: 64,
        };
        writer.all_entries(ChunkKind::Finished, [finished], Finished::encode)?;
        std::io::Result::Ok(writer.finish()?.into_inner())
    };
    written().unwrap_or_default()
}
