//! The secret part of the address.

use std::fmt::Write;
use std::io::Error;

/// The secret part of the address.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> Result<Key, Error> {
        random().map(Key)
    }

    /// One that was made before; `None` when the text is no key.
    pub fn parse(text: &str) -> Option<Key> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == KEY_DIGITS && digits).then(|| Key(text.to_owned()))
    }

    /// Its digits, to be kept where only its user can read them.
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// It is not shown by accident.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Hexadecimal digits of a key.
const KEY_DIGITS: usize = 32;

/// 128 random bits in hexadecimal digits.
pub(super) fn random() -> Result<String, Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(Error::other)?;
    let mut text = String::with_capacity(KEY_DIGITS);
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
