//! Times, sizes and percentages as written on the command line: one parser for all commands.

use std::fmt;

/// A text of the command line that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    what: &'static str,
    expected: String,
}

impl ParseError {
    /// `text` is not `what` (with its article); `expected` says what to type instead.
    pub fn new(text: &str, what: &'static str, expected: impl Into<String>) -> Self {
        ParseError {
            text: text.to_owned(),
            what,
            expected: expected.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError {
            text,
            what,
            expected,
        } = self;
        write!(f, "`{text}` is not {what}; expected {expected}")
    }
}

impl std::error::Error for ParseError {}

const NS_PER_SECOND: f64 = 1e9;

/// Units of time, in nanoseconds.
const TIMES: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", NS_PER_SECOND),
    ("m", 60.0 * NS_PER_SECOND),
    ("min", 60.0 * NS_PER_SECOND),
    ("h", 3600.0 * NS_PER_SECOND),
];

/// Units of size, in bytes; upper and lower case mean the same.
const SIZES: [(&str, f64); 11] = [
    ("", 1.0),
    ("b", 1.0),
    ("k", 1e3),
    ("kb", 1e3),
    ("m", 1e6),
    ("mb", 1e6),
    ("g", 1e9),
    ("gb", 1e9),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
];

/// A number of 0 or more.
///
/// # Errors
/// The text is not such a number.
pub fn number(text: &str) -> Result<f64, ParseError> {
    plain_number(text).ok_or_else(|| ParseError::new(text, "a number", "0 or more"))
}

/// A time with its unit (`2s`, `20ms`, `373ns`, `2m`, `1h`), in nanoseconds.
///
/// # Errors
/// The text is not a number with a unit of time.
pub fn time(text: &str) -> Result<f64, ParseError> {
    with_unit(text, &TIMES).ok_or_else(|| {
        let expected = "a number with a unit, such as 2s, 20ms, 15us, 373ns, 5m or 1h";
        ParseError::new(text, "a time", expected)
    })
}

/// Like [`time`]; a number without a unit is in seconds.
///
/// # Errors
/// The text is not a time.
pub fn time_or_seconds(text: &str) -> Result<f64, ParseError> {
    match plain_number(text) {
        Some(seconds) => Ok(seconds * NS_PER_SECOND),
        None => time(text),
    }
}

/// A size in bytes, with or without a unit: `500KB` is 500,000 bytes, `4KiB` is 4,096.
///
/// # Errors
/// The text is not a number of bytes.
pub fn size(text: &str) -> Result<u64, ParseError> {
    let bytes = with_unit(&text.to_ascii_lowercase(), &SIZES);
    match bytes.filter(|&bytes| bytes < 1e18) {
        Some(bytes) => Ok(bytes as u64),
        None => Err(ParseError::new(
            text,
            "a size",
            "a number of bytes, such as 500KB, 256MB or 1GB",
        )),
    }
}

/// A percentage with its sign, as a share: `5%` is 0.05.
///
/// # Errors
/// The text is not a percentage.
pub fn percent(text: &str) -> Result<f64, ParseError> {
    let number = text.trim().strip_suffix('%').and_then(plain_number);
    match number {
        Some(percent) => Ok(percent / 100.0),
        None => Err(ParseError::new(
            text,
            "a percentage",
            "a number with %, such as 5%",
        )),
    }
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    Some(plain_number(number)? * factor)
}

fn plain_number(text: &str) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, ns) in [
            ("373ns", 373.0),
            ("15us", 15e3),
            ("20µs", 20e3),
            ("1.5 ms", 1.5e6),
            ("2s", 2e9),
            ("2m", 120e9),
            ("2min", 120e9),
            ("1h", 3600e9),
        ] {
            assert_eq!(time(text), Ok(ns), "{text}");
            assert_eq!(time_or_seconds(text), Ok(ns), "{text}");
        }
        assert_eq!(time_or_seconds("1.5"), Ok(1.5e9));
        for wrong in ["", "s", "-1s", "5d", "infs", "nan", "1 2s", "soon"] {
            assert!(
                time(wrong).is_err() && time_or_seconds(wrong).is_err(),
                "{wrong}"
            );
        }
        let error = time("10").unwrap_err().to_string();
        assert!(
            error.starts_with("`10` is not a time; expected a number with a unit"),
            "{error}"
        );
    }

    #[test]
    fn a_megabyte_is_a_million_bytes() {
        for (text, bytes) in [
            ("4096", 4096),
            ("500 kb", 500_000),
            ("1.5M", 1_500_000),
            ("256MB", 256_000_000),
            ("1g", 1_000_000_000),
            ("64MiB", 64 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "MB", "5 XB", "-3MB", "1e300", "12345678901GB", "10q"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentages_have_their_sign() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent(" 12.5 % "), Ok(0.125));
        for wrong in ["", "5", "%", "-1%", "NaN%", "5%%"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
