//! Names of traces. Existing recordings are never overwritten.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use workspan_reader::utc;

/// Creates `<target>/workspan/runs/<time>`, with an additional number if another run started in the
/// same second.
///
/// # Errors
/// The directory cannot be created.
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

/// A time as `2026-11-21T08-30-05Z`, which sorts by time and is a valid file name everywhere.
pub fn time_name(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let [year, month, day, hour, minute, second] = utc::date(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z")
}

/// The program's own name, without cargo's suffix for test and benchmark programs.
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

/// Moves the finished file `half` to `<folder>/<name>.wspan`, or to `<name>-2.wspan` and so on if
/// that exists. Returns its new path.
///
/// # Errors
/// The file system's errors.
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
            // A file system without hard links: an empty file reserves the name first.
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
        let time = UNIX_EPOCH + Duration::from_secs(1_795_249_805);
        assert_eq!(time_name(time), "2026-11-21T08-30-05Z");
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
