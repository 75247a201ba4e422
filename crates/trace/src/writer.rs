//! Writes a whole, sealed file, one chunk after another.

use std::io::{self, Seek, SeekFrom, Write};

use crate::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkKind, NO_THREAD, SEALED, next_offset};
use crate::header::{FileHeader, HEADER_SIZE};

/// Entries ([`crate::entry`]) are collected into chunks of about this many bytes.
const ENTRIES_SIZE: usize = 1 << 20;

/// A file being written. [`TraceWriter::finish`] writes its length into the header, which makes it
/// valid as a finished file.
#[derive(Debug)]
pub struct TraceWriter<W: Write + Seek> {
    out: W,
    header: FileHeader,
    at: u64,
    seqs: [u32; 256],
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// The output's write errors.
    pub fn new(mut out: W, header: FileHeader) -> io::Result<Self> {
        let header = FileHeader {
            length: 0,
            ..header
        };
        out.write_all(&header.encode())?;
        Ok(TraceWriter {
            out,
            header,
            at: HEADER_SIZE as u64,
            seqs: [0; 256],
        })
    }

    /// Writes a chunk of a thread's events, the thread's `seq`-th.
    ///
    /// # Errors
    /// The output's write errors, and a payload of 4 GiB or more.
    pub fn events(
        &mut self,
        thread: u32,
        seq: u32,
        base: (u64, u64),
        payload: &[u8],
    ) -> io::Result<()> {
        self.chunk(ChunkKind::Events, thread, seq, base, payload)
    }

    /// Writes a chunk of entries of one kind.
    ///
    /// # Errors
    /// See [`TraceWriter::events`].
    pub fn entries(&mut self, kind: ChunkKind, payload: &[u8]) -> io::Result<()> {
        let seq = self.seqs[kind as usize];
        self.seqs[kind as usize] += 1;
        self.chunk(kind, NO_THREAD, seq, (0, 0), payload)
    }

    /// Writes entries, each encoded by `encode`, in as many chunks as necessary.
    ///
    /// # Errors
    /// See [`TraceWriter::events`].
    pub fn all_entries<T>(
        &mut self,
        kind: ChunkKind,
        entries: impl IntoIterator<Item = T>,
        encode: impl Fn(&T, &mut Vec<u8>),
    ) -> io::Result<()> {
        let mut payload = Vec::new();
        for entry in entries {
            encode(&entry, &mut payload);
            if payload.len() >= ENTRIES_SIZE {
                self.entries(kind, &payload)?;
                payload.clear();
            }
        }
        if payload.is_empty() {
            Ok(())
        } else {
            self.entries(kind, &payload)
        }
    }

    fn chunk(
        &mut self,
        kind: ChunkKind,
        thread: u32,
        seq: u32,
        base: (u64, u64),
        payload: &[u8],
    ) -> io::Result<()> {
        let capacity = u32::try_from(payload.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a chunk of 4 GiB or more"))?;
        let mut header = ChunkHeader {
            kind: kind as u8,
            flags: SEALED,
            thread,
            seq,
            capacity,
            committed: u64::from(capacity),
            base_ticks: base.0,
            base_ns: base.1,
            checksum: 0,
        };
        header.checksum = header.checksum_of(payload);
        self.out.write_all(&header.encode())?;
        self.out.write_all(payload)?;
        let next = next_offset(self.at, capacity);
        let padding = next - self.at - (CHUNK_HEADER_SIZE as u64) - u64::from(capacity);
        self.out.write_all(&[0; 8][..padding as usize])?;
        self.at = next;
        Ok(())
    }

    /// Length of the file so far, in bytes.
    pub fn length(&self) -> u64 {
        self.at
    }

    /// Completes the header and flushes.
    ///
    /// # Errors
    /// The output's write errors.
    pub fn finish(mut self) -> io::Result<W> {
        self.header.length = self.at;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&self.header.encode())?;
        self.out.seek(SeekFrom::Start(self.at))?;
        self.out.flush()?;
        Ok(self.out)
    }
}
