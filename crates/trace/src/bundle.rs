//! A bundle: the traces of several processes of one run in one file.
//!
//! [`MAGIC`], the version (32 bits), the number of traces (32 bits), for each the offset and the
//! length of its bytes in the file (64 bits each), and a checksum of all that; numbers are
//! little-endian. The traces follow, each as it would be in a file of its own.

use crate::checksum::checksum;
use crate::chunk::ALIGNMENT;
use crate::error::FormatError;

/// First bytes of every bundle.
pub const MAGIC: [u8; 8] = *b"\x89WSBNDL\n";
/// The format's version.
pub const VERSION: u32 = 1;
/// The largest number of traces in a bundle. No run has more processes with traces.
pub const MAX_TRACES: usize = 1 << 16;

/// Bytes of the head before the list.
const HEAD: usize = 16;
/// Bytes of one item of the list.
const ITEM: usize = 16;

/// The head of a bundle of traces with these lengths, and the offset at which each trace has to
/// start.
pub fn head(lengths: &[u64]) -> (Vec<u8>, Vec<u64>) {
    let mut bytes = Vec::with_capacity(HEAD + lengths.len() * ITEM + 8);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((lengths.len() as u32).to_le_bytes());
    let mut at = (HEAD + lengths.len() * ITEM + 8) as u64;
    let mut offsets = Vec::with_capacity(lengths.len());
    for &length in lengths {
        at = at.next_multiple_of(ALIGNMENT as u64);
        offsets.push(at);
        bytes.extend(at.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        at = at.saturating_add(length);
    }
    let sum = checksum(&bytes, 0);
    bytes.extend(sum.to_le_bytes());
    (bytes, offsets)
}

/// The traces in a bundle. If the file is cut off, a trace ends where the file does.
///
/// # Errors
/// The file is not a bundle, has another version, or its list is damaged.
pub fn traces(bytes: &[u8]) -> Result<Vec<&[u8]>, FormatError> {
    let fail = |at: usize, what: &str| Err(FormatError::new(at as u64, what));
    if !bytes.starts_with(&MAGIC) {
        return fail(0, "not a bundle of traces");
    }
    let Some(&[v0, v1, v2, v3, c0, c1, c2, c3]) = bytes.get(8..HEAD).and_then(|b| b.first_chunk())
    else {
        return fail(
            bytes.len(),
            "the file ends inside its list of traces; copy it again",
        );
    };
    let version = u32::from_le_bytes([v0, v1, v2, v3]);
    if version != VERSION {
        let what = format!(
            "a bundle of version {version}; this workspan reads version {VERSION}: get a newer one"
        );
        return fail(8, &what);
    }
    let count = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
    if count > MAX_TRACES {
        return fail(
            12,
            "the number of traces in the list is damaged; copy the file again",
        );
    }
    let end = HEAD + count * ITEM;
    let word = |at: usize| {
        let word: Option<&[u8; 8]> = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        word.map(|word| u64::from_le_bytes(*word))
    };
    let Some(sum) = word(end) else {
        return fail(
            bytes.len(),
            "the file ends inside its list of traces; copy it again",
        );
    };
    if checksum(&bytes[..end], 0) != sum {
        return fail(HEAD, "the list of traces is damaged; copy the file again");
    }
    let number = |at: usize| usize::try_from(word(at).unwrap_or(0)).unwrap_or(usize::MAX);
    let mut all = Vec::with_capacity(count);
    let mut last = end + 8;
    for i in 0..count {
        let at = HEAD + i * ITEM;
        let from = number(at);
        // If traces could overlap, the same bytes could be read any number of times.
        if from < last {
            return fail(at, "two traces of the list overlap; copy the file again");
        }
        last = from.saturating_add(number(at + 8));
        let inside = from.min(bytes.len())..last.min(bytes.len());
        all.push(&bytes[inside]);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_come_back() {
        let all: [&[u8]; 3] = [b"one", b"", b"the third"];
        let lengths = all.map(|trace| trace.len() as u64);
        let (mut file, offsets) = head(&lengths);
        for (trace, at) in all.iter().zip(&offsets) {
            assert!(at.is_multiple_of(ALIGNMENT as u64));
            file.resize(*at as usize, 0);
            file.extend(*trace);
        }
        assert_eq!(traces(&file), Ok(all.to_vec()));
        // The trace that is cut off is short, and the others are complete.
        let cut = traces(&file[..file.len() - 4]).expect("the list is whole");
        assert_eq!(cut, [&b"one"[..], b"", b"the t"]);
    }

    #[test]
    fn traces_do_not_overlap() {
        let (mut file, offsets) = head(&[64, 64]);
        let end = file.len() - 8;
        file[HEAD + ITEM..HEAD + ITEM + 8].copy_from_slice(&(offsets[0] + 8).to_le_bytes());
        let sum = checksum(&file[..end], 0);
        file[end..].copy_from_slice(&sum.to_le_bytes());
        let error = traces(&file).expect_err("an overlap");
        assert!(error.to_string().contains("overlap"), "{error}");
    }

    #[test]
    fn a_damaged_list_is_none() {
        let (file, _) = head(&[8, 8]);
        for at in 8..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(traces(&damaged).is_err(), "byte {at}");
            assert!(traces(&file[..at]).is_err(), "{at} bytes");
        }
    }
}
