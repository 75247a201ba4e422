//! Paths as `file:` URIs, and back.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path of a `file:` URI on this machine.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // The host comes before the path: empty, or this machine.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(left.next()?).to_digit(16);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The URI of an absolute path.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let mut text = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn paths_survive_being_uris() {
        for text in ["/a/b.rs", "/with space/ü/c++#1.cpp", "/100%"] {
            let there = uri(Path::new(text)).unwrap();
            assert_eq!(path(&there), Some(PathBuf::from(text)), "{text}");
        }
        for bad in ["https://host/a.rs", "file://elsewhere/a.rs", "untitled:1"] {
            assert_eq!(path(&Uri::from_str(bad).unwrap()), None, "{bad}");
        }
    }
}
