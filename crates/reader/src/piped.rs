//! A trace that comes through a pipe or from a device. It is read as a whole, unless it turns out
//! not to be a trace, or has no end.

use std::io::Read;
use std::path::Path;

use crate::open::{FileKind, fail, kind, named};
use crate::text;
use workspan_dag::Error;

/// The number of bytes read at a time.
const BYTES_PER_READ: u64 = 1 << 20;

/// The largest number of bytes taken from a pipe: half of this machine's memory.
pub(crate) fn limit() -> u64 {
    let system = rustix::system::sysinfo();
    let unit = u64::from(system.mem_unit).max(1);
    #[allow(clippy::useless_conversion, reason = "32 bits on some machines")]
    let memory = u64::from(system.totalram).saturating_mul(unit);
    (memory / 2).max(BYTES_PER_READ)
}

/// Reads all bytes, at most `most`. `path` names the pipe in errors.
///
/// # Errors
/// The pipe cannot be read, does not begin like a trace, or is longer.
pub(crate) fn read(path: &Path, mut pipe: impl Read, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut begun = false;
    loop {
        let piece = pipe.by_ref().take(BYTES_PER_READ).read_to_end(&mut bytes);
        let more =
            piece.map_err(|e| fail(path, &format!("can't be read ({e}); expected a trace")))?;
        if more == 0 {
            return Ok(bytes);
        }
        if !begun {
            begin(path, &bytes)?;
            begun = true;
        }
        if bytes.len() as u64 > most {
            let message = format!(
                "gave more than {} MB, half of this machine's memory, and has not ended; expected a trace: write it to a file first",
                most >> 20
            );
            return Err(fail(path, &message));
        }
    }
}

/// Checks the first bytes, and for a text trace the first line.
fn begin(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if kind(path, bytes)? == FileKind::Text {
        text::begin(bytes).map_err(|error| named(path, error))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use workspan_trace::header::MAGIC;

    /// The error message of a pipe, and the number of bytes read from it.
    fn described(begin: &[u8], then: u8) -> (String, u64) {
        let mut endless = begin.chain(std::io::repeat(then)).take(1 << 40);
        let error = read(Path::new("pipe"), &mut endless, 8 << 20).unwrap_err();
        (error.to_string(), (1 << 40) - endless.limit())
    }

    #[test]
    fn what_has_no_end_is_refused_by_its_beginning_or_its_length() {
        for (begin, then, what) in [
            (&b""[..], 0, "is not a trace"),
            (b"words\n", b'w', "is not a trace"),
            (b"{}\n", b'{', "no header"),
            (b"{\"ev\":\"begin\"}\n", b'{', "no header"),
        ] {
            let (message, read) = described(begin, then);
            assert!(message.contains(what), "{message}");
            assert!(read <= BYTES_PER_READ, "{read}");
        }
        let header =
            b"{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n";
        for (begin, then) in [
            (&header[..], b'\n'),
            (&MAGIC[..], 0),
            (b"{", b' '),
            (b"\x1f\x8b", 0),
        ] {
            let (message, read) = described(begin, then);
            assert!(message.contains("gave more than 8 MB"), "{message}");
            assert!(read <= 10 << 20, "{read}");
        }
    }

    #[test]
    fn a_trace_comes_whole_however_it_is_cut() {
        /// Gives a byte at a time.
        struct ByteByByte<'a>(&'a [u8]);
        impl Read for ByteByByte<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let one = into.len().min(1);
                self.0.read(&mut into[..one])
            }
        }
        let trace = [&MAGIC[..], &[7; 100]].concat();
        assert_eq!(
            read(Path::new("pipe"), ByteByByte(&trace), 1 << 20).unwrap(),
            trace
        );
        assert!(
            read(Path::new("pipe"), ByteByByte(b""), 1 << 20)
                .unwrap()
                .is_empty()
        );
    }
}
