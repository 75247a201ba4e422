//! The secret part of the address.

use std::fmt::Write;
use std::io::Error;

/// The secret part of the address.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Creates a random key.
    ///
    /// # Errors
    /// The system can't provide random numbers.
    pub fn random() -> Result<Key, Error> {
        random().map(Key)
    }

    /// Parses the text of an earlier key; `None` if the text is not a key.
    pub fn parse(text: &str) -> Option<Key> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == KEY_DIGITS && digits).then(|| Key(text.to_owned()))
    }

    /// The key's digits, to be stored only where no other user can read them.
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Hides the digits, so that no debug output shows them by accident.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Number of hexadecimal digits of a key.
const KEY_DIGITS: usize = 32;

/// 128 random bits as hexadecimal digits.
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

/// Compares two texts in a time that does not depend on where they differ.
pub(super) fn same(a: &str, b: &str) -> bool {
    let bytes = a.bytes().zip(b.bytes());
    a.len() == b.len() && bytes.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
