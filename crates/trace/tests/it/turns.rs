//! Files of a folding process that was killed: each record counts once.

use workspan_trace::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkKind, SEALED, turn_flags};
use workspan_trace::{FileHeader, Tolerance, Trace};

/// Appends a chunk of thread 3 with this number, sealed or not, and this turn. Its payload is one
/// byte, its letter.
fn chunk(out: &mut Vec<u8>, (number, sealed, turn): (u32, bool, u8), letter: u8) {
    let mut header = ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: turn_flags(turn),
        thread: 3,
        seq: number,
        capacity: 8,
        committed: 1,
        base_ticks: 0,
        base_ns: 0,
        checksum: 0,
    };
    if sealed {
        header.flags = SEALED;
        header.checksum = header.checksum_of(&[letter]);
    }
    out.extend_from_slice(&header.encode());
    assert_eq!(out.len() % CHUNK_HEADER_SIZE % 8, 0);
    out.extend_from_slice(&[letter, 0, 0, 0, 0, 0, 0, 0]);
}

/// Letters of the chunks that count, in the order of the file.
fn counting(chunks: &[(u32, bool, u8)]) -> String {
    let mut bytes = FileHeader::default().encode().to_vec();
    for (letter, &description) in (b'a'..).zip(chunks) {
        chunk(&mut bytes, description, letter);
    }
    let trace = Trace::open(&bytes).unwrap();
    let walk = trace.chunks(Tolerance::Strict);
    walk.map(|c| char::from(c.unwrap().payload[0])).collect()
}

#[test]
fn every_moment_of_a_turn_has_one_chain() {
    const OPEN: bool = false;
    const DONE: bool = true;
    // Never folded: the last one is open.
    assert_eq!(counting(&[(0, DONE, 0), (1, DONE, 0), (2, OPEN, 0)]), "abc");
    // The full chunk and the one that takes its turn, in either order in the file.
    assert_eq!(counting(&[(0, DONE, 0), (1, OPEN, 0), (1, OPEN, 1)]), "ac");
    assert_eq!(counting(&[(0, DONE, 0), (1, OPEN, 2), (1, OPEN, 1)]), "ab");
    assert_eq!(counting(&[(0, OPEN, 0), (0, OPEN, 31)]), "a");
    // The next number exists, but nothing was written out yet: it does not count.
    assert_eq!(counting(&[(0, OPEN, 5), (1, OPEN, 0)]), "a");
    // The full chunk was written out: it no longer counts, and the next one does.
    assert_eq!(counting(&[(0, OPEN, 5), (1, OPEN, 0), (0, DONE, 0)]), "bc");
    // Then the next chunk takes turns.
    assert_eq!(
        counting(&[(1, OPEN, 1), (1, OPEN, 0), (0, DONE, 0), (2, OPEN, 0)]),
        "ac"
    );
    // The thread has ended.
    assert_eq!(counting(&[(1, OPEN, 1), (0, DONE, 0), (1, DONE, 0)]), "bc");
}
