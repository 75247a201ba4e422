//! The 64 bytes before every payload.

use crate::checksum::checksum;

/// Size of a chunk's header.
pub const CHUNK_HEADER_SIZE: usize = 64;
/// First bytes of a chunk.
pub const CHUNK_MAGIC: [u8; 4] = *b"WSck";
/// Offset of the flags byte in the header.
pub const FLAGS_AT: usize = 5;
/// Offset of the count of committed bytes in the header: 8-aligned, stored by the recorder after
/// each record.
pub const COMMITTED_AT: usize = 24;
/// Offset of the base time in nanoseconds in a chunk header.
pub const BASE_NS_AT: usize = 40;
/// Offset of the payload's checksum.
pub const CHECKSUM_AT: usize = 48;
/// Flag: the chunk is complete, and its checksum is that of its committed bytes.
pub const SEALED: u8 = 1;
/// Flag of a sealed chunk: the capacity that it did not use belongs to another chunk, which begins
/// right behind the committed bytes.
pub const TRIMMED: u8 = 2;
/// Flag, in spool files only: the chunk cannot be read, because the recorder is about to put
/// another chunk in its place. Only the capacity is valid.
pub const MOVING: u8 = 4;
/// Bits of the flags that hold the *turn* of a chunk that is not sealed: if several chunks have the
/// same thread and number, the one with the latest turn counts. Turns wrap around; two that exist
/// at the same time are adjacent.
pub const TURN_BITS: u8 = 0b1111_1000;
/// Number of turns.
pub const TURNS: u8 = 32;

/// The flags of an unsealed chunk with this turn, which wraps around.
pub const fn turn_flags(turn: u8) -> u8 {
    (turn % TURNS) << TURN_BITS.trailing_zeros()
}

/// The thread number of chunks that belong to no thread.
pub const NO_THREAD: u32 = u32::MAX;
/// Chunks start at multiples of this.
pub const ALIGNMENT: usize = 8;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ChunkKind {
    /// Events of one thread ([`crate::wire`]).
    Events = 1,
    /// Sites as recorded ([`crate::entry::Site`]).
    Sites = 2,
    /// Texts ([`crate::entry::Label`]).
    Labels = 3,
    /// Facts about the run ([`crate::entry::Note`]).
    Notes = 4,
    /// Executable mappings ([`crate::entry::Mapping`]).
    Maps = 5,
    /// Pairs of ticks and nanoseconds ([`crate::entry::ClockPair`]).
    Clock = 6,
    /// Resolved sites ([`crate::entry::PlaceEntry`]).
    Places = 7,
    /// Threads ([`crate::entry::ThreadEntry`]).
    Threads = 8,
    /// The process ended in an orderly way ([`crate::entry::Finished`]).
    Finished = 9,
    /// Off-CPU times from the threads' statistics ([`crate::entry::OffCpu`]).
    OffCpu = 10,
    /// Functions on stacks ([`crate::entry::FrameEntry`]).
    Frames = 11,
    /// Stacks ([`crate::entry::StackEntry`]).
    Stacks = 12,
    /// Samples ([`crate::entry::SamplesEntry`]).
    Samples = 13,
    /// Where threads gave up the CPU ([`crate::entry::StopsEntry`]).
    Stops = 14,
    /// CPU time per thread ([`crate::entry::CpuTime`]).
    CpuTimes = 15,
    /// CPU clocks of threads, in spool files only ([`crate::entry::CpuReading`]).
    CpuReadings = 16,
    /// Waits as the process saw them ([`crate::entry::LoggedWait`]), in spool files only.
    WaitLog = 17,
    /// Names that threads got later ([`crate::entry::ThreadName`]).
    ThreadNames = 18,
    /// What threads waited for ([`crate::entry::WaitsEntry`]).
    Waits = 19,
    /// Calls of MPI ([`crate::entry::RankCallsEntry`]).
    RankCalls = 20,
}

impl ChunkKind {
    /// The kind with this code; `None` for one that a later workspan may have added.
    pub fn from_code(code: u8) -> Option<ChunkKind> {
        Some(match code {
            1 => ChunkKind::Events,
            2 => ChunkKind::Sites,
            3 => ChunkKind::Labels,
            4 => ChunkKind::Notes,
            5 => ChunkKind::Maps,
            6 => ChunkKind::Clock,
            7 => ChunkKind::Places,
            8 => ChunkKind::Threads,
            9 => ChunkKind::Finished,
            10 => ChunkKind::OffCpu,
            11 => ChunkKind::Frames,
            12 => ChunkKind::Stacks,
            13 => ChunkKind::Samples,
            14 => ChunkKind::Stops,
            15 => ChunkKind::CpuTimes,
            16 => ChunkKind::CpuReadings,
            17 => ChunkKind::WaitLog,
            18 => ChunkKind::ThreadNames,
            19 => ChunkKind::Waits,
            20 => ChunkKind::RankCalls,
            _ => return None,
        })
    }
}

/// A chunk's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Code of the [`ChunkKind`].
    pub kind: u8,
    /// [`SEALED`] and [`TRIMMED`], or 0.
    pub flags: u8,
    /// The thread whose events these are, or [`NO_THREAD`].
    pub thread: u32,
    /// The chunk's number among those of its thread (or of its kind), from 0.
    pub seq: u32,
    /// The size of the payload area in bytes.
    pub capacity: u32,
    /// Bytes of the payload that hold whole records.
    pub committed: u64,
    /// The time from which the first record's ticks count.
    pub base_ticks: u64,
    /// `CLOCK_MONOTONIC_RAW` at `base_ticks`, in nanoseconds; 0 if not taken.
    pub base_ns: u64,
    /// Checksum of the committed bytes, seeded with the header's; meaningful when sealed.
    pub checksum: u64,
}

impl ChunkHeader {
    /// The header's bytes. The last 8 are a checksum of the fields that never change: magic, kind,
    /// thread, seq, capacity, base.
    pub fn encode(&self) -> [u8; CHUNK_HEADER_SIZE] {
        let mut bytes = [0u8; CHUNK_HEADER_SIZE];
        bytes[0..4].copy_from_slice(&CHUNK_MAGIC);
        bytes[4] = self.kind;
        bytes[FLAGS_AT] = self.flags;
        bytes[8..12].copy_from_slice(&self.thread.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.seq.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[COMMITTED_AT..COMMITTED_AT + 8].copy_from_slice(&self.committed.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.base_ticks.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.base_ns.to_le_bytes());
        bytes[CHECKSUM_AT..CHECKSUM_AT + 8].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.identity().to_le_bytes());
        bytes
    }

    /// Reads a header; `None` if the bytes are not one (no magic, or its own checksum does not
    /// match).
    pub fn decode(bytes: &[u8]) -> Option<ChunkHeader> {
        let bytes = bytes.first_chunk::<CHUNK_HEADER_SIZE>()?;
        if bytes[..4] != CHUNK_MAGIC {
            return None;
        }
        let word32 = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let word64 = |at: usize| u64::from(word32(at)) | u64::from(word32(at + 4)) << 32;
        let header = ChunkHeader {
            kind: bytes[4],
            flags: bytes[FLAGS_AT],
            thread: word32(8),
            seq: word32(12),
            capacity: word32(16),
            committed: word64(COMMITTED_AT),
            base_ticks: word64(32),
            base_ns: word64(40),
            checksum: word64(CHECKSUM_AT),
        };
        (header.identity() == word64(56)).then_some(header)
    }

    /// Checksum of the header's fields that never change.
    fn identity(&self) -> u64 {
        let mut fixed = [0u8; 40];
        fixed[0..4].copy_from_slice(&CHUNK_MAGIC);
        fixed[4] = self.kind;
        fixed[8..12].copy_from_slice(&self.thread.to_le_bytes());
        fixed[12..16].copy_from_slice(&self.seq.to_le_bytes());
        fixed[16..20].copy_from_slice(&self.capacity.to_le_bytes());
        fixed[24..32].copy_from_slice(&self.base_ticks.to_le_bytes());
        fixed[32..40].copy_from_slice(&self.base_ns.to_le_bytes());
        checksum(&fixed, 1)
    }

    /// The checksum that belongs to these committed bytes.
    pub fn checksum_of(&self, committed: &[u8]) -> u64 {
        checksum(committed, self.identity())
    }

    /// The offset of the next chunk, if this one is at `offset`.
    pub fn next(&self, offset: u64) -> u64 {
        let used = u32::try_from(self.committed).unwrap_or(u32::MAX);
        let trimmed = self.flags & (SEALED | TRIMMED) == SEALED | TRIMMED;
        let taken = if trimmed {
            used.min(self.capacity)
        } else {
            self.capacity
        };
        next_offset(offset, taken)
    }

    /// The chunk's turn ([`TURN_BITS`]).
    pub fn turn(&self) -> u8 {
        self.flags >> TURN_BITS.trailing_zeros()
    }

    /// Whether the chunk is sealed.
    pub fn is_sealed(&self) -> bool {
        self.flags & SEALED != 0
    }
}

/// The capacity of a chunk that is [`MOVING`]; `None` for other bytes.
pub fn moving(bytes: &[u8]) -> Option<u32> {
    let bytes = bytes.first_chunk::<CHUNK_HEADER_SIZE>()?;
    let capacity = u32::from_le_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
    (bytes[..4] == CHUNK_MAGIC && bytes[FLAGS_AT] & MOVING != 0).then_some(capacity)
}

/// The offset of the chunk that follows one of `capacity` at `offset`.
pub fn next_offset(offset: u64, capacity: u32) -> u64 {
    let end = offset + CHUNK_HEADER_SIZE as u64 + u64::from(capacity);
    end.next_multiple_of(ALIGNMENT as u64)
}
