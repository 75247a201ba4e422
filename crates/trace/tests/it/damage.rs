//! Damaged and invalid files.

use crate::sample;
use workspan_trace::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, FLAGS_AT, MOVING, SEALED};
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::sealed_copy::copy_sealed;
use workspan_trace::{ChunkKind, FormatError, Tolerance, Trace, TraceWriter};

/// The first error of a strict walk.
fn strict(bytes: &[u8]) -> Result<usize, FormatError> {
    let trace = Trace::open(bytes)?;
    let mut count = 0;
    for chunk in trace.chunks(Tolerance::Strict) {
        chunk?;
        count += 1;
    }
    Ok(count)
}

/// The kinds that a tolerant walk reads, and the number of damaged places.
fn tolerant(bytes: &[u8]) -> (Vec<ChunkKind>, u64) {
    let trace = Trace::open(bytes).unwrap();
    let mut chunks = trace.chunks(Tolerance::Tolerant);
    let kinds = chunks.by_ref().map(|c| c.unwrap().kind).collect();
    (kinds, chunks.damaged)
}

#[test]
fn headers_say_what_is_wrong_with_them() {
    let good = sample::file();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let cases: [(Vec<u8>, &str); 8] = [
        (
            Vec::new(),
            "byte 0: the file is empty; expected a recorded trace",
        ),
        (
            b"hello world, this is no trace".to_vec(),
            "byte 0: not a recorded trace",
        ),
        (good[..5].to_vec(), "byte 0: the file ends after 5 bytes"),
        (
            good[..100].to_vec(),
            "byte 100: the file ends after 100 bytes, inside its header of 4096",
        ),
        (
            with(8, 2),
            "byte 8: the trace is of format version 2, this workspan reads version 1; update workspan",
        ),
        (
            with(8, 0),
            "byte 8: the trace is of format version 0, this workspan reads version 1; record again",
        ),
        (
            with(12, 1),
            "byte 12: byte order mark is 0x01020301, expected 0x01020304",
        ),
        (
            with(50, 99),
            "byte 112: the header's checksum does not match",
        ),
    ];
    for (bytes, expected) in cases {
        let error = strict(&bytes).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\nexpected {expected}");
    }
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    let good = sample::file();
    let all = strict(&good).unwrap();
    for cut in HEADER_SIZE..good.len() {
        let error = strict(&good[..cut]).unwrap_err();
        assert!(error.what.contains("cut off"), "{error}");
        assert_eq!(error.offset, cut as u64);
        let (kinds, damaged) = tolerant(&good[..cut]);
        assert!(kinds.len() <= all && damaged > 0);
    }
    let mut longer = good.clone();
    longer.extend_from_slice(&[1; 8]);
    assert!(strict(&longer).unwrap_err().what.contains("expected"));
}

#[test]
fn every_changed_byte_is_noticed_and_what_is_before_and_behind_it_is_kept() {
    let good = sample::file();
    let (all, _) = tolerant(&good);
    let mut payloads = Vec::new();
    let mut at = HEADER_SIZE;
    while at < good.len() {
        let header = ChunkHeader::decode(&good[at..]).unwrap();
        let end = at + CHUNK_HEADER_SIZE + header.capacity as usize;
        payloads.push(at + CHUNK_HEADER_SIZE..end);
        at = end.next_multiple_of(8);
    }
    for (number, payload) in payloads.iter().enumerate() {
        for at in payload.clone() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            let error = strict(&bytes).unwrap_err();
            assert!(error.what.contains("checksum"), "{error}");
            assert_eq!(error.offset, (payload.start - CHUNK_HEADER_SIZE) as u64);
            let (kinds, damaged) = tolerant(&bytes);
            let mut expected = all.clone();
            expected.remove(number);
            assert_eq!((kinds, damaged), (expected, 1));
        }
        // The chunk's own header: its fixed part, and the counts that change.
        for at in [0, 4, 5, 9, 13, 17, 33, 41, 57, 25, 49] {
            let mut bytes = good.clone();
            bytes[payload.start - CHUNK_HEADER_SIZE + at] ^= 0x11;
            strict(&bytes).unwrap_err();
            let (kinds, _) = tolerant(&bytes);
            assert!(kinds.len() >= all.len() - 1, "byte {at} of the header");
        }
    }
}

#[test]
fn sizes_in_a_file_are_not_believed() {
    let mut bytes = sample::file()[..HEADER_SIZE].to_vec();
    bytes[64..72].fill(0);
    let header = ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: 0,
        thread: 0,
        seq: 0,
        capacity: u32::MAX,
        committed: u64::MAX,
        base_ticks: 0,
        base_ns: 0,
        checksum: 0,
    };
    let sum = workspan_trace::checksum::checksum(&bytes[..112], 0);
    bytes[112..120].copy_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(&header.encode());
    assert!(strict(&bytes).unwrap_err().what.contains("damaged"));
    assert_eq!(tolerant(&bytes).0, []);
}

#[test]
fn what_a_killed_process_left_is_sealed_without_a_loss() {
    // A spool file: chunks that are not full, one that never began (zeros), none sealed, no length.
    let good = sample::file();
    let trace = Trace::open(&good).unwrap();
    let mut spool = good[..HEADER_SIZE].to_vec();
    spool[64..72].fill(0);
    let sum = workspan_trace::checksum::checksum(&spool[..112], 0);
    spool[112..120].copy_from_slice(&sum.to_le_bytes());
    for chunk in trace
        .chunks(Tolerance::Strict)
        .map(Result::unwrap)
        .filter(|c| c.kind != ChunkKind::Finished)
    {
        let header = ChunkHeader {
            kind: chunk.kind as u8,
            flags: 0,
            thread: chunk.thread,
            seq: chunk.seq,
            capacity: 4096 - CHUNK_HEADER_SIZE as u32,
            committed: chunk.payload.len() as u64,
            base_ticks: chunk.base_ticks,
            base_ns: chunk.base_ns,
            checksum: 0,
        };
        spool.extend_from_slice(&header.encode());
        spool.extend_from_slice(chunk.payload);
        // Bytes of a record that was not committed.
        spool.push(0xff);
        spool.resize(spool.len().next_multiple_of(4096), 0);
        spool.resize(spool.len() + 16384, 0);
    }
    let left = Trace::open(&spool).unwrap();
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), left.header).unwrap();
    let sealed = copy_sealed(&left, &[], &mut writer).unwrap();
    assert_eq!(
        (sealed.chunks, sealed.finished, sealed.damage.len()),
        (9, false, 0)
    );
    let file = writer.finish().unwrap().into_inner();
    let read = Trace::open(&file).unwrap();
    let contents = |trace: &Trace<'_>| -> Vec<(ChunkKind, u32, Vec<u8>)> {
        let chunks = trace.chunks(Tolerance::Strict).map(Result::unwrap);
        chunks
            .filter(|c| c.kind != ChunkKind::Finished)
            .map(|c| (c.kind, c.thread, c.payload.to_vec()))
            .collect()
    };
    assert_eq!(contents(&read), contents(&trace));
    assert!(read.chunks(Tolerance::Strict).all(|c| c.unwrap().sealed));
}

#[test]
fn what_a_recorder_was_about_to_put_in_place_is_not_read() {
    let chunk = |seq: u32, flags: u8, payload: &[u8]| {
        let mut header = ChunkHeader {
            kind: ChunkKind::Events as u8,
            flags,
            thread: 0,
            seq,
            capacity: 256,
            committed: payload.len() as u64,
            base_ticks: 0,
            base_ns: 0,
            checksum: 0,
        };
        if flags & SEALED != 0 {
            header.checksum = header.checksum_of(payload);
        }
        let mut bytes = header.encode().to_vec();
        bytes.extend_from_slice(payload);
        bytes.resize(CHUNK_HEADER_SIZE + 256, 0xee);
        bytes
    };
    let records = sample::events();
    let records = &records[..200];
    let mut half = chunk(1, MOVING, records);
    // Except for magic, flags and capacity, the bytes may belong to either chunk.
    half[8..16].fill(0x55);
    half[24..CHUNK_HEADER_SIZE].fill(0x55);
    let head = &sample::file()[..HEADER_SIZE];
    let file = |finished: bool| {
        let pieces = [
            &chunk(0, SEALED, records)[..],
            &half,
            &chunk(1, MOVING, records),
            &chunk(1, 0, records),
        ];
        let mut bytes = head.to_vec();
        pieces
            .iter()
            .for_each(|piece| bytes.extend_from_slice(piece));
        let length = if finished { bytes.len() as u64 } else { 0 };
        bytes[64..72].copy_from_slice(&length.to_le_bytes());
        let sum = workspan_trace::checksum::checksum(&bytes[..112], 0);
        bytes[112..120].copy_from_slice(&sum.to_le_bytes());
        bytes
    };
    let spool = file(false);
    let read: Vec<(u32, &[u8])> = Trace::open(&spool)
        .unwrap()
        .chunks(Tolerance::Strict)
        .map(|chunk| chunk.map(|chunk| (chunk.seq, chunk.payload)).unwrap())
        .collect();
    assert_eq!(read, [(0, records), (1, records)]);
    strict(&file(true)).unwrap_err();
    // A chunk whose capacity exceeds the file is the last one.
    let mut spool = file(false);
    let second = HEADER_SIZE + CHUNK_HEADER_SIZE + 256;
    assert_eq!(spool[second + FLAGS_AT], MOVING);
    spool[second + 16..second + 20].fill(0xff);
    assert_eq!(strict(&spool).unwrap(), 1);
}
