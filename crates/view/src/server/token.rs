//! The secret part of the address.

use std::fmt::Write;
use std::io::Error;

/// 128 random bits in hexadecimal digits.
pub(super) fn random() -> Result<String, Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(Error::other)?;
    let mut text = String::with_capacity(32);
    for byte in bytes {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Equality in a time that tells nothing of where two texts differ.
pub(super) fn same(a: &str, b: &str) -> bool {
    let bytes = a.bytes().zip(b.bytes());
    a.len() == b.len() && bytes.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
