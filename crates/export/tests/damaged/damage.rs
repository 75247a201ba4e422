//! Targeted damage: to a field of a record, a chunk's header, an entry, a line of a text trace.

use proptest::prelude::*;
use workspan_trace::chunk::{ALIGNMENT, ChunkHeader};
use workspan_trace::wire::Kind;
use workspan_trace::{ClockKind, FileHeader};

use super::run::{Piece, Record, Run};

/// A position, as a share of all positions.
type At = prop::sample::Index;

/// A kind of damage to a run.
#[derive(Debug, Clone)]
pub enum Damage {
    /// An operand becomes another number.
    Operand(At, At, At, u64),
    /// A record has another time, and so do those after it.
    Time(At, At, u64),
    /// A record is of another kind.
    Kind(At, At, u8),
    /// A record is missing.
    Lost(At, At),
    /// A record occurs twice.
    Twice(At, At),
    /// A record has moved to another place, perhaps to another thread.
    Moved(At, At, At, At),
    /// A record that only some recordings have is inserted, with these operands.
    Put(At, At, Kind, Vec<u64>),
    /// A field of a chunk's header.
    Header(At, Field, u64),
    /// A byte of a payload, under a checksum that holds.
    Byte(At, At, u8),
    /// A varint in a payload becomes another number.
    Number(At, At, u64),
    /// A payload ends early.
    Cut(At, At),
    /// A chunk is missing.
    NoChunk(At),
    /// A chunk occurs twice.
    ChunkTwice(At),
}

#[derive(Debug, Clone, Copy)]
pub enum Field {
    Kind,
    Flags,
    Thread,
    Seq,
    Capacity,
    Committed,
    BaseTicks,
    BaseNs,
}

/// Numbers at which code breaks, and small ones that mean something else.
pub fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..8u64,
        1 => 8..5000u64,
        3 => prop::sample::select(vec![
            u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 32, 1 << 40, (1 << 56) - 1, 1 << 56,
            i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX,
        ]),
        1 => any::<u64>(),
    ]
}

/// Any damage.
pub fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<At>;
    let field = prop::sample::select(vec![
        Field::Kind,
        Field::Flags,
        Field::Thread,
        Field::Seq,
        Field::Capacity,
        Field::Committed,
        Field::BaseTicks,
        Field::BaseNs,
    ]);
    prop_oneof![
        6 => (at(), at(), at(), number()).prop_map(|(a, b, c, n)| Damage::Operand(a, b, c, n)),
        3 => (at(), at(), number()).prop_map(|(a, b, n)| Damage::Time(a, b, n)),
        2 => (at(), at(), 0..=Kind::Restart as u8).prop_map(|(a, b, k)| Damage::Kind(a, b, k)),
        2 => (at(), at()).prop_map(|(a, b)| Damage::Lost(a, b)),
        2 => (at(), at()).prop_map(|(a, b)| Damage::Twice(a, b)),
        3 => (at(), at(), at(), at()).prop_map(|(a, b, c, d)| Damage::Moved(a, b, c, d)),
        3 => (at(), at(), rare(), prop::collection::vec(number(), 6))
            .prop_map(|(a, b, k, n)| Damage::Put(a, b, k, n)),
        3 => (at(), field, number()).prop_map(|(a, f, n)| Damage::Header(a, f, n)),
        2 => (at(), at(), any::<u8>()).prop_map(|(a, b, v)| Damage::Byte(a, b, v)),
        4 => (at(), at(), number()).prop_map(|(a, b, n)| Damage::Number(a, b, n)),
        1 => (at(), at()).prop_map(|(a, b)| Damage::Cut(a, b)),
        1 => at().prop_map(Damage::NoChunk),
        1 => at().prop_map(Damage::ChunkTwice),
    ]
}

/// Kinds that our intact runs do not have.
fn rare() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::SkipBegin,
        Kind::SkipEnd,
        Kind::StolenPart,
        Kind::SampleBegin,
        Kind::Skip,
        Kind::Restart,
        Kind::SkippedTasks,
        Kind::ResumeStopped,
        Kind::Team,
        Kind::Member,
    ])
}

/// Number of operands of such a kind; for a restart, those before its list.
fn operands(kind: Kind) -> usize {
    match kind {
        Kind::SkipEnd => 0,
        Kind::Team | Kind::SkippedTasks => 1,
        Kind::StolenPart | Kind::Restart => 3,
        Kind::Member => 4,
        _ => 2,
    }
}

fn pick<'a, T>(of: &'a mut [T], at: &At) -> Option<&'a mut T> {
    if of.is_empty() {
        return None;
    }
    let at = at.index(of.len());
    of.get_mut(at)
}

impl Damage {
    /// Applies the damage to a run's records, if it is of that kind.
    pub fn to_records(&self, run: &mut Run) {
        match self {
            Damage::Operand(thread, record, operand, value) => {
                let records = pick(&mut run.threads, thread).map(|r| &mut r[..]);
                let record = records.and_then(|r| pick(r, record));
                if let Some(operand) = record.and_then(|r| pick(&mut r.operands, operand)) {
                    *operand = *value;
                }
            }
            Damage::Time(thread, record, value) => {
                if let Some(records) = pick(&mut run.threads, thread).filter(|r| !r.is_empty()) {
                    let at = record.index(records.len());
                    let moved = records[at].t;
                    for record in &mut records[at..] {
                        record.t = record.t.saturating_sub(moved).saturating_add(*value);
                    }
                }
            }
            Damage::Kind(thread, record, kind) => {
                let records = pick(&mut run.threads, thread).map(|r| &mut r[..]);
                if let Some(record) = records.and_then(|r| pick(r, record))
                    && let Some(kind) = Kind::from_code(*kind)
                {
                    record.kind = kind;
                }
            }
            Damage::Put(thread, place, kind, numbers) => {
                let Some(records) = pick(&mut run.threads, thread) else {
                    return;
                };
                let mut at = place.index(records.len() + 1);
                let mut operands = numbers[..operands(*kind)].to_vec();
                if *kind == Kind::Restart {
                    // Only on a thread's first record does it have an effect.
                    at *= usize::from(numbers[0] % 4 == 0);
                    let places = numbers[3..].iter().map(|place| place % 4);
                    operands.push(places.len() as u64);
                    operands.extend(places);
                }
                let t = records.get(at).or(records.last()).map_or(0, |r| r.t);
                let tail = Vec::new();
                let record = Record {
                    t,
                    kind: *kind,
                    operands,
                    tail,
                };
                records.insert(at, record);
            }
            Damage::Lost(thread, record) => {
                if let Some(records) = pick(&mut run.threads, thread).filter(|r| !r.is_empty()) {
                    records.remove(record.index(records.len()));
                }
            }
            Damage::Twice(thread, record) => {
                if let Some(records) = pick(&mut run.threads, thread).filter(|r| !r.is_empty()) {
                    let at = record.index(records.len());
                    let again = records[at].clone();
                    records.insert(at, again);
                }
            }
            Damage::Moved(thread, record, to, place) => {
                let Some(records) = pick(&mut run.threads, thread).filter(|r| !r.is_empty()) else {
                    return;
                };
                let record = records.remove(record.index(records.len()));
                if let Some(records) = pick(&mut run.threads, to) {
                    let at = place.index(records.len() + 1);
                    records.insert(at, record);
                }
            }
            _ => {}
        }
    }

    /// Applies the damage to a file's chunks, if it is of that kind.
    pub fn to_pieces(&self, pieces: &mut Vec<Piece>) {
        match self {
            Damage::Header(piece, field, value) => {
                let Some(piece) = pick(pieces, piece) else {
                    return;
                };
                match field {
                    Field::Kind => piece.kind = *value as u8,
                    Field::Flags => piece.flags = *value as u8,
                    Field::Thread => piece.thread = *value as u32,
                    Field::Seq => piece.seq = *value as u32,
                    Field::Capacity => piece.capacity = Some(*value as u32),
                    Field::Committed => piece.committed = Some(*value),
                    Field::BaseTicks => piece.base.0 = *value,
                    Field::BaseNs => piece.base.1 = *value,
                }
            }
            Damage::Byte(piece, byte, value) => {
                let payload = pick(pieces, piece).map(|p| &mut p.payload[..]);
                if let Some(byte) = payload.and_then(|p| pick(p, byte)) {
                    *byte = *value;
                }
            }
            Damage::Number(piece, byte, value) => {
                let Some(piece) = pick(pieces, piece).filter(|p| !p.payload.is_empty()) else {
                    return;
                };
                let at = byte.index(piece.payload.len());
                let mut rest = at;
                if workspan_trace::wire::get_varint(&piece.payload, &mut rest).is_some() {
                    let mut number = Vec::new();
                    workspan_trace::entry::push_varint(&mut number, *value);
                    piece.payload.splice(at..rest, number);
                }
            }
            Damage::Cut(piece, byte) => {
                if let Some(piece) = pick(pieces, piece) {
                    let length = byte.index(piece.payload.len() + 1);
                    piece.payload.truncate(length);
                }
            }
            Damage::NoChunk(piece) if !pieces.is_empty() => {
                pieces.remove(piece.index(pieces.len()));
            }
            Damage::ChunkTwice(piece) if !pieces.is_empty() => {
                let again = pieces[piece.index(pieces.len())].clone();
                pieces.push(again);
            }
            _ => {}
        }
    }
}

/// The file of these chunks, as a finished one.
pub fn file(pieces: &[Piece]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for piece in pieces {
        let length = piece.payload.len();
        let mut header = ChunkHeader {
            kind: piece.kind,
            flags: piece.flags,
            thread: piece.thread,
            seq: piece.seq,
            capacity: piece.capacity.unwrap_or(length as u32),
            committed: piece.committed.unwrap_or(length as u64),
            base_ticks: piece.base.0,
            base_ns: piece.base.1,
            checksum: 0,
        };
        let committed = usize::try_from(header.committed).unwrap_or(usize::MAX);
        header.checksum = header.checksum_of(&piece.payload[..committed.min(length)]);
        chunks.extend_from_slice(&header.encode());
        chunks.extend_from_slice(&piece.payload);
        chunks.resize(chunks.len().next_multiple_of(ALIGNMENT), 0);
    }
    let header = FileHeader {
        clock: ClockKind::Tsc,
        pid: 1,
        page_size: 4096,
        length: (workspan_trace::header::HEADER_SIZE + chunks.len()) as u64,
        ..FileHeader::default()
    };
    let mut file = header.encode().to_vec();
    file.append(&mut chunks);
    file
}
