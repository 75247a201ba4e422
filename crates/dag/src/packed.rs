//! Traces packed by gzip (RFC 1952), of either kind: text traces as `simulate` and people pack them, and recorded ones that hold folded
//! subtrees, which `record` packs where they are small (docs/format.md, Packed traces).

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use workspan_trace::header::MAGIC;

use crate::error::Error;

/// What gzip's files start with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A text trace packs to a tenth or a thirtieth, a recorded one to a half; what unpacks to more than this many times its size is none.
const MOST_UNPACKED: u64 = 200;

/// Packs a trace.
///
/// # Errors
/// Those of `out`.
pub fn pack(trace: &[u8], out: impl Write) -> io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    encoder.write_all(trace)?;
    encoder.finish()?.flush()
}

/// True for bytes that gzip wrote.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// True for the beginning of a recorded trace, packed or not, however little of it is there; not for nothing.
pub fn is_recorded(bytes: &[u8]) -> bool {
    let mut start = Vec::new();
    let start = if is_packed(bytes) {
        // Cut short, it gives what came before the cut.
        let _ = MultiGzDecoder::new(bytes)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut start);
        &start
    } else {
        bytes
    };
    !start.is_empty() && MAGIC.starts_with(&start[..start.len().min(MAGIC.len())])
}

/// What was packed; with `allow_truncated` what comes before the damage, where there is some.
pub(crate) fn unpack(bytes: &[u8], allow_truncated: bool) -> Result<Vec<u8>, Error> {
    let most = (bytes.len() as u64).saturating_mul(MOST_UNPACKED);
    let mut trace = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(most)
        .read_to_end(&mut trace);
    if let Err(error) = read
        && !allow_truncated
    {
        return Err(Error::Trace(format!(
            "can't be unpacked ({error}); expected a trace packed by gzip"
        )));
    }
    if trace.len() as u64 == most {
        return Err(Error::Trace(format!(
            "unpacks to more than {MOST_UNPACKED} times its size, as no trace does"
        )));
    }
    Ok(trace)
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
        }
    }
}
