//! The first page of a file.

use crate::checksum::checksum;
use crate::error::FormatError;

/// First bytes of every recorded trace.
pub const MAGIC: [u8; 8] = *b"\x89WSPAN\r\n";
/// The format's version.
pub const VERSION: u32 = 1;
/// Size of the header page; the first chunk follows it.
pub const HEADER_SIZE: usize = 4096;
/// Offset of the count of dropped bytes, which the recorder increases while it runs (not covered by
/// the header's checksum).
pub const DROPPED_AT: usize = 128;
/// Offset of the [`ExhaustedResource`] that ended recording early (not covered by the header's
/// checksum).
pub const LACK_AT: usize = 136;
/// Bytes of the page that its checksum covers. The checksum follows right behind them.
const CHECKED_SIZE: usize = 112;
const BYTE_ORDER: u32 = 0x0102_0304;

/// The unit of a trace's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum ClockKind {
    /// The CPU's time-stamp counter; its rate comes from the pairs of ticks and nanoseconds in the
    /// file.
    Tsc = 1,
    /// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
    #[default]
    Nanoseconds = 2,
}

/// The resource that ran out when records began to be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum ExhaustedResource {
    /// Disk space, or the limit of a file's size.
    #[default]
    Disk = 0,
    /// Memory, or address space.
    Memory = 1,
    /// The program closed the recorder's file, and it could not be opened again.
    File = 2,
}

/// The contents of the header page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileHeader {
    /// The unit of the ticks.
    pub clock: ClockKind,
    /// The id of the recorded process.
    pub pid: u32,
    /// Page size of the machine, in bytes.
    pub page_size: u32,
    /// Wall-clock time of the start of recording, in nanoseconds since 1970 (UTC).
    pub realtime_ns: u64,
    /// Ticks at the start of recording.
    pub start_ticks: u64,
    /// `CLOCK_MONOTONIC_RAW` at the start of recording, in nanoseconds.
    pub start_ns: u64,
    /// Length of a finished file in bytes; 0 for a spool file, as a recorded process leaves it
    /// behind.
    pub length: u64,
    /// Bytes of records that were lost for lack of space.
    pub dropped: u64,
    /// The resource that ran out.
    pub lack: ExhaustedResource,
}

impl FileHeader {
    /// The page's bytes.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut page = [0u8; HEADER_SIZE];
        page[0..8].copy_from_slice(&MAGIC);
        page[8..12].copy_from_slice(&VERSION.to_le_bytes());
        page[12..16].copy_from_slice(&BYTE_ORDER.to_le_bytes());
        page[16..20].copy_from_slice(&(HEADER_SIZE as u32).to_le_bytes());
        page[20..24].copy_from_slice(&(crate::chunk::CHUNK_HEADER_SIZE as u32).to_le_bytes());
        page[24..28].copy_from_slice(&(self.clock as u32).to_le_bytes());
        page[28..32].copy_from_slice(&self.pid.to_le_bytes());
        page[32..36].copy_from_slice(&self.page_size.to_le_bytes());
        page[40..48].copy_from_slice(&self.realtime_ns.to_le_bytes());
        page[48..56].copy_from_slice(&self.start_ticks.to_le_bytes());
        page[56..64].copy_from_slice(&self.start_ns.to_le_bytes());
        page[64..72].copy_from_slice(&self.length.to_le_bytes());
        let sum = checksum(&page[..CHECKED_SIZE], 0);
        page[CHECKED_SIZE..CHECKED_SIZE + 8].copy_from_slice(&sum.to_le_bytes());
        page[DROPPED_AT..DROPPED_AT + 8].copy_from_slice(&self.dropped.to_le_bytes());
        page[LACK_AT..LACK_AT + 4].copy_from_slice(&(self.lack as u32).to_le_bytes());
        page
    }

    /// Reads the header page of a file.
    ///
    /// # Errors
    /// The file is not a trace, has another version or byte order, or its header page is damaged.
    pub fn decode(bytes: &[u8]) -> Result<FileHeader, FormatError> {
        if bytes.is_empty() {
            return Err(FormatError::new(
                0,
                "the file is empty; expected a recorded trace",
            ));
        }
        if !bytes.starts_with(&MAGIC) {
            let error = if MAGIC.starts_with(bytes) {
                format!(
                    "the file ends after {} bytes, inside its header; copy it again",
                    bytes.len()
                )
            } else {
                "not a recorded trace: the first 8 bytes are not those of a workspan file".into()
            };
            return Err(FormatError::new(0, error));
        }
        let Some(page) = bytes.first_chunk::<HEADER_SIZE>() else {
            let what = format!(
                "the file ends after {} bytes, inside its header of {HEADER_SIZE}; copy it again, or record again",
                bytes.len()
            );
            return Err(FormatError::new(bytes.len() as u64, what));
        };
        let version = word32(page, 8);
        if word32(page, 12) != BYTE_ORDER {
            let what = format!(
                "byte order mark is {:#010x}, expected {BYTE_ORDER:#010x}: the file is damaged or from a machine of \
                 another byte order; record again",
                word32(page, 12)
            );
            return Err(FormatError::new(12, what));
        }
        if version != VERSION {
            let what = format!(
                "the trace is of format version {version}, this workspan reads version {VERSION}; {}",
                if version > VERSION {
                    "update workspan"
                } else {
                    "record again"
                }
            );
            return Err(FormatError::new(8, what));
        }
        let sum = u64::from_le_bytes(array(page, CHECKED_SIZE));
        if sum != checksum(&page[..CHECKED_SIZE], 0) {
            return Err(FormatError::new(
                CHECKED_SIZE as u64,
                "the header's checksum does not match its content: the file is damaged; copy it again, or record again",
            ));
        }
        let clock = match word32(page, 24) {
            1 => ClockKind::Tsc,
            2 => ClockKind::Nanoseconds,
            other => {
                let what = format!("clock kind {other}, expected 1 or 2; update workspan");
                return Err(FormatError::new(24, what));
            }
        };
        if (word32(page, 16), word32(page, 20))
            != (HEADER_SIZE as u32, crate::chunk::CHUNK_HEADER_SIZE as u32)
        {
            return Err(FormatError::new(
                16,
                "header sizes are not those of version 1; record again",
            ));
        }
        Ok(FileHeader {
            clock,
            pid: word32(page, 28),
            page_size: word32(page, 32),
            realtime_ns: u64::from_le_bytes(array(page, 40)),
            start_ticks: u64::from_le_bytes(array(page, 48)),
            start_ns: u64::from_le_bytes(array(page, 56)),
            length: u64::from_le_bytes(array(page, 64)),
            dropped: u64::from_le_bytes(array(page, DROPPED_AT)),
            lack: match word32(page, LACK_AT) {
                1 => ExhaustedResource::Memory,
                2 => ExhaustedResource::File,
                _ => ExhaustedResource::Disk,
            },
        })
    }
}

/// Whether `bytes` begin like a recorded trace (of any version).
pub fn is_recorded(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

fn array(page: &[u8; HEADER_SIZE], at: usize) -> [u8; 8] {
    let mut word = [0; 8];
    word.copy_from_slice(&page[at..at + 8]);
    word
}

fn word32(page: &[u8; HEADER_SIZE], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&page[at..at + 4]);
    u32::from_le_bytes(word)
}
