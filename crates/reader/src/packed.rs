//! Traces packed by gzip (RFC 1952), of either kind: text traces packed by `simulate` or by users,
//! and recorded traces with folded subtrees, which `record` packs if they are small
//! (docs/format.md, Packed traces).

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use workspan_trace::bundle;
use workspan_trace::header::MAGIC;

use crate::open::FileKind;
use crate::text;
use workspan_dag::Error;

/// The first bytes of gzip's files.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The largest ratio of unpacked to packed size. A text trace is packed to a tenth or a thirtieth,
/// a recorded one to a half, so a file with a larger ratio is not a trace.
const MAX_UNPACKED_RATIO: u64 = 100;

/// The unpacked size, in bytes, from which the ratio is checked.
const MIN_RATIO_CHECKED_BYTES: u64 = 16 << 20;

/// The number of bytes unpacked at a time.
const BYTES_PER_READ: u64 = 1 << 20;

/// Packs a trace.
///
/// # Errors
/// The output's write errors.
pub fn pack(trace: &[u8], out: impl Write) -> io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    encoder.write_all(trace)?;
    encoder.finish()?.flush()
}

/// Whether the bytes were packed by gzip.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// Whether the bytes begin like a recorded trace, packed or not. A truncated beginning counts too,
/// but not an empty one.
pub fn is_recorded(bytes: &[u8]) -> bool {
    let mut start = Vec::new();
    let start = if is_packed(bytes) {
        // A truncated input gives the bytes before the cut.
        let _ = MultiGzDecoder::new(bytes)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut start);
        &start
    } else {
        bytes
    };
    !start.is_empty() && MAGIC.starts_with(&start[..start.len().min(MAGIC.len())])
}

/// Whether the bytes begin like a recorded run: a trace, packed or not, or a bundle of the traces
/// of several processes.
pub fn is_run(bytes: &[u8]) -> bool {
    is_recorded(bytes) || bytes.starts_with(&bundle::MAGIC)
}

/// The unpacked bytes; with `allow_truncated`, those before any damage. Memory is proportional to
/// the packed bytes read so far.
pub(crate) fn unpack(bytes: &[u8], allow_truncated: bool) -> Result<Vec<u8>, Error> {
    let mut trace = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes);
    loop {
        let before = trace.len();
        if let Err(error) = decoder
            .by_ref()
            .take(BYTES_PER_READ)
            .read_to_end(&mut trace)
        {
            if allow_truncated {
                return Ok(trace);
            }
            return Err(Error::Trace(format!(
                "can't be uncompressed ({error}); expected a trace compressed with gzip"
            )));
        }
        if before == 0 {
            begin(&trace)?;
        }
        if trace.len() == before {
            return Ok(trace);
        }
        let read = (bytes.len() - decoder.get_ref().len()) as u64;
        if trace.len() as u64 > MIN_RATIO_CHECKED_BYTES + read.saturating_mul(MAX_UNPACKED_RATIO) {
            return Err(Error::Trace(format!(
                "uncompresses to more than {MAX_UNPACKED_RATIO} times its size, which no trace does"
            )));
        }
    }
}

/// Checks the first bytes, and for a text trace the first line.
fn begin(trace: &[u8]) -> Result<(), Error> {
    match FileKind::from_bytes(trace) {
        Some(FileKind::Recorded | FileKind::Imported(_) | FileKind::Bundle) => Ok(()),
        Some(FileKind::Text) => text::begin(trace),
        Some(FileKind::Packed) => Err(Error::Trace(
            "is compressed twice with gzip; expected a trace compressed once".into(),
        )),
        None => Err(Error::Trace(
            "contains no trace; expected a recorded or a text trace compressed with gzip".into(),
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        pack(bytes, &mut out).unwrap();
        out
    }

    #[test]
    fn a_bomb_takes_no_memory() {
        // One that begins like a trace, and one that does not.
        let header =
            b"{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n";
        for (begin, what) in [
            (&header[..], "more than 100 times its size"),
            (&MAGIC[..], "more than 100 times its size"),
            (b"", "contains no trace"),
            (b"{}\n", "no header"),
            (&packed(b"{}"), "compressed twice"),
        ] {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(begin).unwrap();
            let fill = if begin == MAGIC { 0 } else { b'\n' };
            io::copy(&mut io::repeat(fill).take(64 << 20), &mut encoder).unwrap();
            let bomb = encoder.finish().unwrap();
            let error = unpack(&bomb, true).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn a_bundle_is_a_run_and_no_trace() {
        let (head, _) = bundle::head(&[8, 8]);
        assert!(is_run(&head) && !is_recorded(&head));
    }

    #[test]
    fn a_recorded_trace_is_known_by_its_beginning() {
        let trace = [&MAGIC[..], &[7; 5000]].concat();
        let (whole, text) = (packed(&trace), packed(b"{\"workspan_trace\":1}"));
        assert_eq!(unpack(&whole, false).unwrap(), trace);
        for (bytes, is) in [
            (&trace[..], true),
            (&trace[..3], true),
            (&whole, true),
            (&whole[..whole.len() - 1], true),
            (&whole[..2], false),
            (&text, false),
            (b"", false),
            (b"{}", false),
        ] {
            assert_eq!(is_recorded(bytes), is, "{:?}", bytes.get(..2));
            assert_eq!(is_run(bytes), is, "{:?}", bytes.get(..2));
        }
    }
}
