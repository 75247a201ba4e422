//! `dedup KILOBYTES GROUP --output FILE`: compresses a stream by leaving out what was seen. The
//! root cuts chunks serially and creates a task for each that refines, deduplicates and compresses
//! it; after every GROUP chunks it waits, then creates one task that writes those in order beside
//! the next GROUP. Writes to memory, or to a file that is closed and synced in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome};

const COARSE_BYTES: usize = 16_384;
const PAGE_BYTES: u64 = 8192;
const MIN_FINE_BYTES: usize = 256;
const MAX_FINE_BYTES: usize = 4096;
const MAX_RUN: usize = 255;
const MIN_COPY: usize = 5;

struct Piece {
    digest: u64,
    /// Empty if seen before.
    compressed: Vec<u8>,
}

/// Digests seen, in 64 parts with a lock each.
struct Seen {
    parts: [Mutex<BTreeSet<u64>>; 64],
}

impl Seen {
    fn first(&self, digest: u64) -> bool {
        let part = &self.parts[(digest % 64) as usize];
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        part.insert(digest)
    }
}

fn digest_of(bytes: &[u8]) -> u64 {
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    mixed(bytes.iter().fold(bytes.len() as u64, add))
}

/// The end of a fine chunk by its content: at about every 1024th byte.
fn fine_end(bytes: &[u8]) -> usize {
    let mut rolling = 0u64;
    for (i, &byte) in bytes.iter().enumerate() {
        rolling = rolling.wrapping_mul(31).wrapping_add(u64::from(byte) + 1);
        let long = i + 1 >= MIN_FINE_BYTES;
        if long && (mixed(rolling).is_multiple_of(1024) || i + 1 >= MAX_FINE_BYTES) {
            return i + 1;
        }
    }
    bytes.len()
}

/// The count of literals in a byte, they, then length and distance of a copy (length 0: none).
fn literals(out: &mut Vec<u8>, literals: &[u8], length: usize, distance: usize) {
    out.push(literals.len() as u8);
    out.extend_from_slice(literals);
    out.push(length as u8);
    out.extend_from_slice(&(distance as u16).to_le_bytes());
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), vec![None; 1024]);
    let (mut literal, mut i) = (0, 0);
    while i < bytes.len() {
        let (mut length, mut from) = (0, 0);
        if let Some(&four) = bytes[i..].first_chunk::<4>() {
            let slot = u32::from_le_bytes(four).wrapping_mul(2_654_435_761) >> 22;
            if let Some(seen) = last[slot as usize].replace(i) {
                from = seen;
                let same = bytes[i..].iter().zip(&bytes[seen..]).take(MAX_RUN);
                length = same.take_while(|(a, b)| a == b).count();
            }
        }
        if length >= MIN_COPY {
            literals(&mut out, &bytes[literal..i], length, i - from);
            i += length;
            literal = i;
        } else {
            i += 1;
            if i - literal == MAX_RUN {
                literals(&mut out, &bytes[literal..i], 0, 0);
                literal = i;
            }
        }
    }
    literals(&mut out, &bytes[literal..], 0, 0);
    out
}

fn expand(compressed: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), compressed);
    while let Some((&count, tail)) = rest.split_first() {
        let (literals, tail) = tail.split_at(usize::from(count));
        out.extend_from_slice(literals);
        let [length, low, high] = tail[..3] else {
            break;
        };
        let distance = usize::from(u16::from_le_bytes([low, high]));
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
        rest = &tail[3..];
    }
    out
}

fn refined(seen: &Seen, mut bytes: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (fine, rest) = bytes.split_at(fine_end(bytes));
        let digest = digest_of(fine);
        let compressed = if seen.first(digest) {
            compress(fine)
        } else {
            Vec::new()
        };
        pieces.push(Piece { digest, compressed });
        bytes = rest;
    }
    pieces
}

/// The digest of each piece, and its bytes if it is new.
struct Archive {
    file: Option<File>,
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Archive {
    fn append(&mut self, group: Vec<Vec<Piece>>) -> io::Result<()> {
        for piece in group.into_iter().flatten() {
            self.bytes += 8 + piece.compressed.len();
            if let Some(file) = &mut self.file {
                file.write_all(&piece.digest.to_ne_bytes())?;
                file.write_all(&piece.compressed)?;
            }
            self.pieces.push(piece);
        }
        Ok(())
    }

    fn restores(&self, bytes: &[u8]) -> bool {
        let new = self.pieces.iter().filter(|p| !p.compressed.is_empty());
        let known: BTreeMap<u64, Vec<u8>> =
            new.map(|p| (p.digest, expand(&p.compressed))).collect();
        let mut rest = bytes;
        for piece in &self.pieces {
            let found = known
                .get(&piece.digest)
                .and_then(|p| rest.strip_prefix(p.as_slice()));
            let Some(after) = found else { return false };
            rest = after;
        }
        rest.is_empty()
    }
}

/// The serial stage: the length of the next coarse chunk.
fn coarse_end(bytes: &[u8]) -> usize {
    let mut to = bytes.len().min(COARSE_BYTES);
    while to < bytes.len() && !digest_of(&bytes[to - 8..to]).is_multiple_of(256) {
        to += 1;
    }
    to
}

fn pipeline(bytes: &[u8], group: usize, seen: &Seen, archive: &mut Archive) -> io::Result<()> {
    let (mut rest, mut done) = (bytes, Vec::new());
    let mut written = Ok(());
    loop {
        let mut working: Vec<Vec<Piece>> = Vec::new();
        working.resize_with(group, Vec::new);
        let finished = std::mem::take(&mut done);
        rayon::scope(|scope| {
            if !finished.is_empty() {
                let (archive, written) = (&mut *archive, &mut written);
                scope.spawn(move |_| *written = archive.append(finished));
            }
            for out in &mut working {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at(coarse_end(rest));
                rest = after;
                scope.spawn(move |_| *out = refined(seen, chunk));
            }
        });
        std::mem::replace(&mut written, Ok(()))?;
        done = working;
        if rest.is_empty() {
            break;
        }
    }
    rayon::scope(|scope| {
        let (archive, written) = (&mut *archive, &mut written);
        scope.spawn(move |_| *written = archive.append(done));
    });
    written?;
    archive.file.take().map_or(Ok(()), |file| file.sync_all())
}

/// Pages of a few letters, every second one seen before.
fn generated(i: u64) -> u8 {
    let page = i / PAGE_BYTES;
    let source = match page % 2 {
        1 => mixed(page) % (page / 2 + 1) * 2,
        _ => page,
    };
    b'a' + (mixed(source * PAGE_BYTES + i % PAGE_BYTES / 3) % 6) as u8
}

fn run(arguments: &Arguments) -> Outcome {
    let (size, group) = (arguments.number(0) * 1024, arguments.number(1).max(1));
    let bytes: Vec<u8> = (0..size as u64).map(generated).collect();
    let seen = Seen {
        parts: std::array::from_fn(|_| Mutex::default()),
    };
    let output = arguments.option("output", "");
    let file = if output.is_empty() {
        Ok(None)
    } else {
        File::create(output).map(Some)
    };
    let mut archive = Archive {
        file: None,
        pieces: Vec::new(),
        bytes: 0,
    };
    let ended = file.and_then(|file| {
        archive.file = file;
        arguments.timed(|| pipeline(&bytes, group, &seen, &mut archive))
    });
    if let Err(error) = ended {
        eprintln!("dedup: {output}: {error}");
    }
    outcome(
        !arguments.check() || archive.restores(&bytes),
        format!(
            "deduplicated {size} bytes to {}, {} pieces",
            archive.bytes,
            archive.pieces.len()
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "dedup",
    usage: "[KILOBYTES] [GROUP] [--output FILE]",
    test: [512, 4, 0, 0, 0],
    small: [32_768, 27, 0, 0, 0],
    large: [196_608, 27, 0, 0, 0],
    run,
};
