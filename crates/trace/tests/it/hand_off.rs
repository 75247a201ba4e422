//! The hand-over of chunks under a model checker (every interleaving of a writer and a reader,
//! every value a load may give in Rust's memory model), and with a writer that is killed after each
//! of its stores. The functions are the recorder's own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use workspan_trace::chunk::{
    CHUNK_HEADER_SIZE, CHUNK_MAGIC, COMMITTED_AT, ChunkHeader, FLAGS_AT, MOVING, SEALED, turn_flags,
};
use workspan_trace::hand_off::{
    Memory, Word, append, begin, begin_with, invalidate, replace, seal, seal_short,
};
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::wire::{Count, commit};
use workspan_trace::{Chunk, ChunkKind, FileHeader, Tolerance, Trace};

fn header(seq: u32) -> ChunkHeader {
    ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: 0,
        thread: 3,
        seq,
        capacity: 0,
        committed: 0,
        base_ticks: 7,
        base_ns: 0,
        checksum: 0,
    }
}

/// The file of a process that has not ended, with these chunks.
fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut file = FileHeader::default().encode().to_vec();
    file.extend(chunks.iter().flatten());
    file
}

/// The chunks that the reader finds in a file, as sequence number and payload. Damage fails the
/// test.
fn found(file: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let trace = Trace::open(file).unwrap();
    let mut chunks = trace.chunks(Tolerance::Tolerant);
    let content = |chunk: Chunk<'_>| (chunk.seq, chunk.payload.to_vec());
    let all = chunks
        .by_ref()
        .map(|chunk| content(chunk.unwrap()))
        .collect();
    assert_eq!(chunks.damage, [], "{file:?}");
    all
}

/// A chunk for the model checker, which checks every byte for unordered accesses.
struct Watched {
    magic: AtomicU32,
    flags: AtomicU8,
    count: Counted,
    bytes: Vec<UnsafeCell<u8>>,
}

struct Counted(AtomicU64);

impl Count for Counted {
    fn store(&self, bytes: u64, order: Ordering) {
        self.0.store(bytes, order);
    }
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
}

/// Payload of a chunk in the model.
const ROOM: usize = 8;

impl Watched {
    fn new() -> Watched {
        let size = CHUNK_HEADER_SIZE + ROOM;
        Watched {
            magic: AtomicU32::new(0),
            flags: AtomicU8::new(0),
            count: Counted(AtomicU64::new(0)),
            bytes: (0..size).map(|_| UnsafeCell::new(0)).collect(),
        }
    }

    /// The chunk as a reader finds it at some moment, with zeros for the bytes that it must not
    /// read yet.
    fn seen(&self) -> Vec<u8> {
        let mut seen = vec![0; self.bytes.len()];
        if self.magic.load(Ordering::Acquire) != u32::from_le_bytes(CHUNK_MAGIC) {
            return seen;
        }
        let flags = self.flags.load(Ordering::Acquire);
        let count = self.count.load(Ordering::Acquire);
        let sealed = flags & SEALED != 0;
        let end = CHUNK_HEADER_SIZE + count as usize;
        for (at, byte) in self.bytes.iter().enumerate().take(end) {
            let checksum = (48..56).contains(&at);
            if !checksum || sealed {
                // SAFETY: the cell itself fails the test if this is a race.
                seen[at] = byte.with(|byte| unsafe { *byte });
            }
        }
        seen[..4].copy_from_slice(&CHUNK_MAGIC);
        seen[FLAGS_AT] = flags;
        seen[COMMITTED_AT..COMMITTED_AT + 8].copy_from_slice(&count.to_le_bytes());
        seen
    }
}

impl Memory for Watched {
    type Count = Counted;

    fn count(&self) -> &Counted {
        &self.count
    }
    fn capacity(&self) -> usize {
        ROOM
    }
    fn write(&self, at: usize, bytes: &[u8]) {
        for (cell, &byte) in self.bytes[at..].iter().zip(bytes) {
            // SAFETY: the cell itself fails the test if this is a race.
            cell.with_mut(|cell| unsafe { *cell = byte });
        }
    }
    fn read<R>(&self, at: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = Vec::new();
        for cell in &self.bytes[at..at + length] {
            // SAFETY: the cell itself fails the test if this is a race.
            bytes.push(cell.with(|byte| unsafe { *byte }));
        }
        if at == 0 {
            bytes[..4].copy_from_slice(&self.magic.load(Ordering::Relaxed).to_le_bytes());
            bytes[FLAGS_AT] = self.flags.load(Ordering::Relaxed);
        }
        f(&bytes)
    }
    fn store(&self, word: Word, value: u32, order: Ordering) {
        match word {
            Word::Magic => self.magic.store(value, order),
            Word::Flags => self.flags.store(value as u8, order),
        }
    }
}

/// Three records in two chunks, the first of which is full after two.
const RECORDS: [&[u8]; 3] = [&[1, 11, 12], &[2, 21, 22, 23, 24], &[3]];

fn write_all(first: &impl Memory, second: &impl Memory) {
    begin(first, header(0));
    assert!(append(first, 0, RECORDS[0]));
    // Write the record, then the count, as front ends do.
    first.write(CHUNK_HEADER_SIZE + RECORDS[0].len(), RECORDS[1]);
    commit(first.count(), (RECORDS[0].len() + RECORDS[1].len()) as u64);
    assert!(!append(first, ROOM, RECORDS[2]), "there is no room");
    seal(first);
    begin(second, header(1));
    assert!(append(second, 0, RECORDS[2]));
}

/// Checks that the records found are the first ones, with none repeated, cut or missing. Returns
/// their number.
fn is_a_beginning(found: &[(u32, Vec<u8>)]) -> usize {
    let read: Vec<u8> = found
        .iter()
        .flat_map(|(_, payload)| payload.clone())
        .collect();
    let whole = RECORDS.concat();
    assert!(whole.starts_with(&read), "{read:?}");
    let ends = [0, 3, 8, 9];
    let records = ends.iter().position(|&end| end == read.len());
    assert!(found.iter().zip(0..).all(|((seq, _), at)| *seq == at));
    records.unwrap_or_else(|| panic!("a record is cut: {read:?}"))
}

#[test]
fn a_reader_at_any_moment_finds_whole_records_and_none_between_missing() {
    loom::model(|| {
        let chunks = Arc::new([Watched::new(), Watched::new()]);
        let writer = {
            let chunks = Arc::clone(&chunks);
            loom::thread::spawn(move || write_all(&chunks[0], &chunks[1]))
        };
        // Look at the last chunk first, as a reader does that comes after the writer's end.
        let second = chunks[1].seen();
        let first = chunks[0].seen();
        is_a_beginning(&found(&file(&[first, second])));
        writer.join().unwrap();
        let all = found(&file(&[chunks[0].seen(), chunks[1].seen()]));
        assert_eq!(is_a_beginning(&all), 3);
    });
}

/// A chunk's memory in a process that is killed after a given number of stores.
struct Mortal {
    size: usize,
    at: usize,
    all: Rc<RefCell<Vec<u8>>>,
    lives: Rc<Cell<usize>>,
    count: MortalCount,
}

struct MortalCount {
    at: usize,
    all: Rc<RefCell<Vec<u8>>>,
    lives: Rc<Cell<usize>>,
}

fn store(all: &RefCell<Vec<u8>>, lives: &Cell<usize>, at: usize, bytes: &[u8]) {
    if let Some(left) = lives.get().checked_sub(1) {
        lives.set(left);
        all.borrow_mut()[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

impl Count for MortalCount {
    fn store(&self, bytes: u64, _: Ordering) {
        store(&self.all, &self.lives, self.at, &bytes.to_le_bytes());
    }
    fn load(&self, _: Ordering) -> u64 {
        let all = self.all.borrow();
        u64::from_le_bytes(all[self.at..self.at + 8].try_into().unwrap())
    }
}

impl Mortal {
    fn new(all: &Rc<RefCell<Vec<u8>>>, lives: &Rc<Cell<usize>>, at: usize, size: usize) -> Mortal {
        let (all, lives) = (Rc::clone(all), Rc::clone(lives));
        Mortal {
            size,
            at,
            count: MortalCount {
                at: at + COMMITTED_AT,
                all: Rc::clone(&all),
                lives: Rc::clone(&lives),
            },
            all,
            lives,
        }
    }
}

impl Memory for Mortal {
    type Count = MortalCount;

    fn count(&self) -> &MortalCount {
        &self.count
    }
    fn capacity(&self) -> usize {
        self.size - CHUNK_HEADER_SIZE
    }
    fn write(&self, at: usize, bytes: &[u8]) {
        for (at, &byte) in (self.at + at..).zip(bytes) {
            store(&self.all, &self.lives, at, &[byte]);
        }
    }
    fn read<R>(&self, at: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        f(&self.all.borrow()[self.at + at..self.at + at + length])
    }
    fn store(&self, word: Word, value: u32, _: Ordering) {
        match word {
            Word::Magic => store(&self.all, &self.lives, self.at, &value.to_le_bytes()),
            Word::Flags => store(&self.all, &self.lives, self.at + FLAGS_AT, &[value as u8]),
        }
    }
}

/// Runs `write` over a file with `size` bytes of chunks, with a kill after each store. Returns the
/// chunks found each time, and at the end.
fn killed_after_each_store(
    size: usize,
    write: impl Fn(&Rc<RefCell<Vec<u8>>>, &Rc<Cell<usize>>),
) -> Vec<Vec<(u32, Vec<u8>)>> {
    let mut all = Vec::new();
    for stores in 0.. {
        let bytes = Rc::new(RefCell::new(file(&[vec![0; size]])));
        let lives = Rc::new(Cell::new(stores));
        write(&bytes, &lives);
        all.push(found(&bytes.borrow()));
        if lives.get() > 0 {
            return all;
        }
    }
    unreachable!("there is no end of numbers")
}

/// Checks that a chunk or record that was found once never disappears.
fn only_grows(all: &[Vec<(u32, Vec<u8>)>]) {
    let lengths: Vec<usize> = all
        .iter()
        .map(|found| found.iter().map(|(_, payload)| payload.len()).sum())
        .collect();
    assert!(lengths.is_sorted(), "{lengths:?}");
}

#[test]
fn a_writer_killed_at_any_store_leaves_all_it_had_committed() {
    let size = CHUNK_HEADER_SIZE + ROOM;
    let all = killed_after_each_store(2 * size, |bytes, lives| {
        let first = Mortal::new(bytes, lives, HEADER_SIZE, size);
        let second = Mortal::new(bytes, lives, HEADER_SIZE + size, size);
        begin(&first, header(0));
        append(&first, 0, RECORDS[0]);
        append(&first, RECORDS[0].len(), RECORDS[1]);
        seal(&first);
        begin(&second, header(1));
        append(&second, 0, RECORDS[2]);
    });
    let counts: Vec<usize> = all.iter().map(|found| is_a_beginning(found)).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!(counts.last(), Some(&3));
    only_grows(&all);
}

#[test]
fn a_chunk_in_the_rest_of_another_hides_neither() {
    let size = 512;
    let all = killed_after_each_store(size, |bytes, lives| {
        let whole = Mortal::new(bytes, lives, HEADER_SIZE, size);
        begin(&whole, header(0));
        append(&whole, 0, RECORDS[0]);
        // Stores beyond the record's end, as front ends make them.
        whole.write(CHUNK_HEADER_SIZE + 3, &[0xee; 32]);
        let end = seal_short(&whole, 128).unwrap_or(72);
        let rest = Mortal::new(bytes, lives, HEADER_SIZE + end, size - end);
        begin(&rest, header(1));
        append(&rest, 0, RECORDS[1]);
        seal(&rest);
    });
    only_grows(&all);
    let whole = [(0, RECORDS[0].to_vec()), (1, RECORDS[1].to_vec())];
    assert_eq!(all.last().unwrap(), &whole);
}

#[test]
fn what_is_left_of_a_full_chunk_is_no_chunk() {
    let bytes = Rc::new(RefCell::new(file(&[vec![0; 128]])));
    let lives = Rc::new(Cell::new(usize::MAX));
    let chunk = Mortal::new(&bytes, &lives, HEADER_SIZE, 128);
    begin(&chunk, header(0));
    append(&chunk, 0, &[9; 40]);
    assert_eq!(seal_short(&chunk, 64), None);
    assert_eq!(seal_short(&chunk, 24), Some(104));
}

/// Writes a separate sealed chunk like system calls do: first a header that hides it, then the
/// records, then the header.
fn put_out(
    (bytes, lives): (&Rc<RefCell<Vec<u8>>>, &Rc<Cell<usize>>),
    at: usize,
    seq: u32,
    records: &[u8],
) {
    let mut header = ChunkHeader {
        flags: MOVING,
        capacity: records.len() as u32,
        committed: records.len() as u64,
        ..header(seq)
    };
    header.checksum = header.checksum_of(records);
    store(bytes, lives, at, &header.encode());
    store(bytes, lives, at + CHUNK_HEADER_SIZE, records);
    header.flags = SEALED;
    store(bytes, lives, at, &header.encode());
}

/// A thread that folds, whose records take many turns in the two chunks `a` and `b`. `n` of its
/// records were written out.
///
/// No reader looks at chunks that take turns while their process lives, so the model checker has
/// nothing to check here.
#[test]
fn a_folding_writer_killed_at_any_store_leaves_each_record_once() {
    let size = CHUNK_HEADER_SIZE + 24;
    let records: Vec<u8> = (1..=40).collect();
    let turn = |seq, turn| ChunkHeader {
        flags: turn_flags(turn),
        ..header(seq)
    };
    let all = killed_after_each_store(5 * size, |bytes, lives| {
        let place = |i: usize| HEADER_SIZE + i * size;
        let [a, b] = [0, 1].map(|i| Mortal::new(bytes, lives, place(i), size));
        begin(&a, header(0));
        append(&a, 0, &records[..8]);
        // Nothing is written out, twice: first into memory that is all zeros.
        begin_with(&b, turn(0, 1), &records[..8]);
        append(&b, 8, &records[8..16]);
        replace(&a, turn(0, 2), &records[..16]);
        append(&a, 16, &records[16..20]);
        // Some records are written out.
        replace(&b, turn(1, 0), &records[12..20]);
        put_out((bytes, lives), place(2), 0, &records[..12]);
        append(&b, 8, &records[20..24]);
        // All records are written out.
        replace(&a, turn(2, 0), &[]);
        put_out((bytes, lives), place(3), 1, &records[12..24]);
        append(&a, 0, &records[24..32]);
        // Nothing is written out, and then the thread ends.
        replace(&b, turn(2, 1), &records[24..32]);
        append(&b, 8, &records[32..40]);
        put_out((bytes, lives), place(4), 2, &records[24..40]);
        invalidate(&b);
        invalidate(&a);
    });
    let mut lengths = Vec::new();
    for mut found in all {
        found.sort_by_key(|&(seq, _)| seq);
        assert!(found.iter().map(|c| c.0).eq(0..found.len() as u32));
        let read = found.into_iter().flat_map(|c| c.1).collect::<Vec<u8>>();
        assert!(records.starts_with(&read), "{read:?}");
        lengths.push(read.len());
    }
    assert!(lengths.is_sorted(), "{lengths:?}");
    assert_eq!(lengths.last(), Some(&40));
    assert!([8, 16, 20, 24, 32].iter().all(|n| lengths.contains(n)));
}

/// A thread whose full chunk is written to its place in the file, and whose memory is reused for
/// the next one, twice (the recorder's `spool/chunk_copy.rs`).
#[test]
fn a_moving_writer_killed_at_any_store_leaves_each_record_once() {
    let size = CHUNK_HEADER_SIZE + 16;
    let records: Vec<u8> = (1..=40).collect();
    let all = killed_after_each_store(3 * size, |bytes, lives| {
        let place = |i: usize| HEADER_SIZE + i * size;
        let chunk = Mortal::new(bytes, lives, place(0), size);
        begin(&chunk, header(0));
        append(&chunk, 0, &records[..16]);
        put_out((bytes, lives), place(1), 0, &records[..16]);
        replace(&chunk, header(1), &[]);
        append(&chunk, 0, &records[16..24]);
        append(&chunk, 8, &records[24..32]);
        put_out((bytes, lives), place(2), 1, &records[16..32]);
        replace(&chunk, header(2), &[]);
        append(&chunk, 0, &records[32..40]);
        seal(&chunk);
    });
    let mut lengths = Vec::new();
    for mut found in all {
        found.sort_by_key(|&(seq, _)| seq);
        let read = found.into_iter().flat_map(|c| c.1).collect::<Vec<u8>>();
        assert!(records.starts_with(&read), "{read:?}");
        lengths.push(read.len());
    }
    assert!(lengths.is_sorted(), "{lengths:?}");
    assert_eq!(lengths.last(), Some(&40));
    assert!([16, 24, 32].iter().all(|n| lengths.contains(n)));
}
