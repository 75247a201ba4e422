//! Walks the chunks of a file in memory.

use crate::chunk::{ALIGNMENT, CHUNK_HEADER_SIZE, ChunkHeader, ChunkKind, moving, next_offset};
use crate::chunk_generations;
use crate::error::FormatError;
use crate::header::{FileHeader, HEADER_SIZE};

/// How to handle damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    /// The first damage ends the walk with an error.
    Strict,
    /// Damaged chunks are skipped and listed in [`Chunks::damage`].
    Tolerant,
}

/// A file in memory.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    /// The file's header.
    pub header: FileHeader,
    bytes: &'a [u8],
}

/// A chunk of the file. Its bytes are checked as far as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Offset of the chunk's header in the file.
    pub offset: u64,
    /// The chunk's kind.
    pub kind: ChunkKind,
    /// The thread whose events these are.
    pub thread: u32,
    /// The chunk's number among those of its thread (or kind).
    pub seq: u32,
    /// False if the chunk was still being written when its process ended.
    pub sealed: bool,
    /// The time from which the first record's ticks count.
    pub base_ticks: u64,
    /// `CLOCK_MONOTONIC_RAW` at that time, in nanoseconds; 0 if not known.
    pub base_ns: u64,
    /// The chunk's whole records.
    pub payload: &'a [u8],
}

impl<'a> Trace<'a> {
    /// Reads the header of the file in `bytes`.
    ///
    /// # Errors
    /// The file is not a trace, has another version, or its header is damaged (see
    /// [`FileHeader::decode`]).
    pub fn open(bytes: &'a [u8]) -> Result<Trace<'a>, FormatError> {
        Ok(Trace {
            header: FileHeader::decode(bytes)?,
            bytes,
        })
    }

    /// The chunks, in the order of the file.
    pub fn chunks(&self, tolerance: Tolerance) -> Chunks<'a> {
        let mut chunks = self.all_chunks(tolerance);
        // In a complete file, every chunk counts.
        if self.header.length == 0 {
            chunks.hidden = chunk_generations::superseded(self);
        }
        chunks
    }

    /// The chunks, including those that another chunk has replaced.
    pub(crate) fn all_chunks(&self, tolerance: Tolerance) -> Chunks<'a> {
        Chunks {
            hidden: Vec::new(),
            checks: true,
            bytes: self.bytes,
            at: HEADER_SIZE as u64,
            length: self.header.length,
            finished: self.header.length != 0,
            tolerance,
            done: false,
            damage: Vec::new(),
            damaged: 0,
        }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// The largest number of damaged places that are listed. All others are only counted.
const LISTED_DAMAGE: usize = 16;

/// Iterator over the chunks of a file.
#[derive(Debug)]
pub struct Chunks<'a> {
    /// Offsets of chunks that do not count.
    hidden: Vec<u64>,
    /// Whether checksums are compared.
    pub(crate) checks: bool,
    bytes: &'a [u8],
    at: u64,
    length: u64,
    /// Whether all chunks must be sealed.
    finished: bool,
    tolerance: Tolerance,
    done: bool,
    /// The first 16 damaged places that were skipped ([`Tolerance::Tolerant`]).
    pub damage: Vec<FormatError>,
    /// The number of damaged places that were skipped, listed or not.
    pub damaged: u64,
}

impl<'a> Chunks<'a> {
    /// Reports damage. `Some` if the walk ends here with an error.
    fn report(&mut self, error: FormatError) -> Option<FormatError> {
        self.damaged += 1;
        if self.tolerance == Tolerance::Strict {
            self.done = true;
            return Some(error);
        }
        if self.damage.len() < LISTED_DAMAGE {
            self.damage.push(error);
        }
        None
    }

    /// Checks that a finished file is as long as its header says.
    fn check_length(&mut self) -> Option<FormatError> {
        let found = self.bytes.len() as u64;
        if self.length == 0 || found == self.length {
            return None;
        }
        let length = self.length;
        self.length = 0;
        let what = if found < length {
            format!(
                "the file is cut off: it has {found} bytes of {length}; copy it again, or read what is there with \
                 --allow-truncated"
            )
        } else {
            format!(
                "the file has {found} bytes, expected {length}; copy it again, or try --allow-truncated"
            )
        };
        self.report(FormatError::new(found.min(length), what))
    }

    /// The offset of the next valid chunk header at or after `from`, if any.
    fn search(&self, from: u64) -> Option<u64> {
        let mut at = from.next_multiple_of(ALIGNMENT as u64);
        while let Some(rest) = self.bytes.get(usize::try_from(at).ok()?..) {
            if rest.len() < CHUNK_HEADER_SIZE {
                return None;
            }
            if ChunkHeader::decode(rest).is_some() {
                return Some(at);
            }
            at += ALIGNMENT as u64;
        }
        None
    }

    fn read(
        &mut self,
        header: &ChunkHeader,
        body: &'a [u8],
    ) -> Result<Option<Chunk<'a>>, FormatError> {
        let offset = self.at;
        let Some(kind) = ChunkKind::from_code(header.kind) else {
            return Ok(None);
        };
        if self.finished && !header.is_sealed() {
            let what = "a chunk is not sealed, in a file that is complete: it is damaged; copy the file again, or read the \
                        rest with --allow-truncated";
            return self
                .report(FormatError::new(offset, what))
                .map_or(Ok(None), Err);
        }
        let committed = usize::try_from(header.committed).unwrap_or(usize::MAX);
        if header.committed > u64::from(header.capacity) {
            let what = format!(
                "the chunk says {} of its {} bytes are written: it is damaged; copy the file again, or read the rest \
                 with --allow-truncated",
                header.committed, header.capacity
            );
            return self
                .report(FormatError::new(offset, what))
                .map_or(Ok(None), Err);
        }
        let chunk = |payload| Chunk {
            offset,
            kind,
            thread: header.thread,
            seq: header.seq,
            sealed: header.is_sealed(),
            base_ticks: header.base_ticks,
            base_ns: header.base_ns,
            payload,
        };
        let Some(payload) = body.get(..committed) else {
            let what = format!(
                "the file ends {} bytes into a chunk of {committed}; copy it again, or read what is there with \
                 --allow-truncated",
                body.len()
            );
            return match self.report(FormatError::new(offset, what)) {
                Some(error) => Err(error),
                None => Ok(Some(chunk(body))),
            };
        };
        if self.checks && header.is_sealed() && header.checksum_of(payload) != header.checksum {
            let what = format!(
                "the checksum of a chunk of {committed} bytes does not match its content: the file is damaged; copy it \
                 again, or read the rest with --allow-truncated"
            );
            return self
                .report(FormatError::new(offset, what))
                .map_or(Ok(None), Err);
        }
        Ok(Some(chunk(payload)))
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if let Some(error) = self.check_length() {
            return Some(Err(error));
        }
        loop {
            let rest = self.bytes.get(usize::try_from(self.at).ok()?..)?;
            if rest.is_empty() {
                return None;
            }
            if let Some(capacity) = moving(rest).filter(|_| !self.finished) {
                self.at = next_offset(self.at, capacity);
                continue;
            }
            let Some(header) = ChunkHeader::decode(rest) else {
                // A process that is killed while it adds a chunk leaves zeros there, or a header
                // whose magic is still missing. Anything else is damage.
                let next = self.search(self.at + ALIGNMENT as u64);
                let gap = &rest[..next.map_or(rest.len(), |n| (n - self.at) as usize)];
                let offset = self.at;
                self.done = next.is_none();
                self.at = next.unwrap_or(offset);
                let begun = !self.finished && gap.starts_with(&[0; 4]);
                let header = if begun { CHUNK_HEADER_SIZE } else { 0 };
                if gap.iter().skip(header).any(|&b| b != 0) {
                    let what = format!(
                        "expected a chunk, found {} bytes that are none: the file is damaged; copy it again, or read \
                         the rest with --allow-truncated",
                        gap.len()
                    );
                    if let Some(error) = self.report(FormatError::new(offset, what)) {
                        return Some(Err(error));
                    }
                }
                if self.done {
                    return None;
                }
                continue;
            };
            let hidden = self.hidden.binary_search(&self.at).is_ok();
            let result = if hidden {
                Ok(None)
            } else {
                self.read(&header, &rest[CHUNK_HEADER_SIZE..])
            };
            self.at = header.next(self.at);
            match result {
                Ok(None) => {}
                Ok(Some(chunk)) => return Some(Ok(chunk)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
