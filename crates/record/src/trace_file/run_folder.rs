//! Names of traces: nothing recorded is ever overwritten.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Makes `<target>/workspan/runs/<time>`, with a number when another run started in the same
/// second.
///
/// # Errors
/// The directory can't be made.
pub fn new_run(target: &Path) -> io::Result<PathBuf> {
    let runs = target.join("workspan/runs");
    std::fs::create_dir_all(&runs)?;
    let time = time_name(SystemTime::now());
    for number in 1.. {
        let folder = runs.join(if number == 1 {
            time.clone()
        } else {
            format!("{time}-{number}")
        });
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|()| folder),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// `2026-11-21T08-30-05Z`: sorts by time, and is a file name everywhere.
pub fn time_name(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, so that a leap day is the last of its year; 719468 days lie
    // between 0000-03-01 and 1970.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let day = day - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z")
}

/// The program's own name: without what cargo appends to the names of test and benchmark programs.
pub fn program_name(file: &str) -> &str {
    match file.rsplit_once('-') {
        Some((name, hash))
            if hash.len() == 16
                && hash.bytes().all(|b| b.is_ascii_hexdigit())
                && !name.is_empty() =>
        {
            name
        }
        _ => file,
    }
}

/// Puts the finished file `half` at `<folder>/<name>.wspan`, or `<name>-2.wspan` and so on where
/// that exists, and returns where it went.
///
/// # Errors
/// Those of the file system.
pub fn put(half: &Path, folder: &Path, name: &str) -> io::Result<PathBuf> {
    for number in 1..=u32::MAX {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let path = folder.join(format!("{name}{number}.wspan"));
        // A link fails where a rename would overwrite.
        match std::fs::hard_link(half, &path) {
            Ok(()) => {
                std::fs::remove_file(half)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without hard links: the name is taken by an empty file first.
            Err(_) => match std::fs::File::create_new(&path) {
                Ok(_) => return std::fs::rename(half, &path).map(|()| path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            },
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00-00-00Z"),
            (951_782_399, "2000-02-28T23-59-59Z"),
            (951_782_400, "2000-02-29T00-00-00Z"),
            (1_795_249_805, "2026-11-21T08-30-05Z"),
            (4_107_542_400, "2100-03-01T00-00-00Z"),
        ] {
            assert_eq!(time_name(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn names() {
        assert_eq!(program_name("sort-0123456789abcdef"), "sort");
        assert_eq!(
            program_name("sort-0123456789abcdeg"),
            "sort-0123456789abcdeg"
        );
        assert_eq!(program_name("my-sort"), "my-sort");
        let folder = tempfile::tempdir().unwrap();
        let half = folder.path().join("half");
        for expected in ["sort.wspan", "sort-2.wspan", "sort-3.wspan"] {
            std::fs::write(&half, expected).unwrap();
            let path = put(&half, folder.path(), "sort").unwrap();
            assert_eq!(path.file_name().unwrap(), expected);
            assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
            assert!(!half.exists());
        }
    }
}
