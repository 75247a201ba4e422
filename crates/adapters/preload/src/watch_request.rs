//! Asks for the kernel's watch in a process that did not inherit it.
//!
//! The kernel watches the program that `record` starts and everything below it. The processes of
//! `srun` are started by a daemon and lie elsewhere. Such a process asks through a named pipe in
//! the spool folder and waits for the answer, a file there, before its own code runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// Flag of `open`: do not wait for a reader; without one, the call fails.
const O_NONBLOCK: i32 = 0o4000;
/// The longest way up to the program that `record` started.
const MAX_DEPTH: usize = 64;
/// The time between two looks for the answer, and the number of looks: 0.2 s in all.
const PAUSE: Duration = Duration::from_micros(200);
const MAX_LOOKS: u32 = 1000;

/// Whether the kernel watches this process. `top` is the process that `record` started.
pub(crate) fn is_watched(folder: &Path, top: u32) -> bool {
    is_below(top) || ask(folder).is_some()
}

/// Whether this process is `top`, or a descendant of it.
fn is_below(top: u32) -> bool {
    let mut process = std::process::id();
    for _ in 0..MAX_DEPTH {
        if process == top {
            return true;
        }
        match parent(process) {
            Some(parent) if parent > 1 => process = parent,
            _ => return false,
        }
    }
    false
}

/// The process that started `process`. None if that belongs to someone else and is hidden.
fn parent(process: u32) -> Option<u32> {
    if process == std::process::id() {
        return Some(std::os::unix::process::parent_id());
    }
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    parent_in(&stat)
}

/// The parent in the kernel's line about a process. Its second field, the name in parentheses, may
/// contain anything.
fn parent_in(stat: &[u8]) -> Option<u32> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Asks the watcher and waits for its answer. Returns `None` if no watcher is there, if it refuses,
/// or if it does not answer in time.
fn ask(folder: &Path) -> Option<()> {
    let pid = std::process::id();
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(O_NONBLOCK);
    let mut pipe = options
        .open(folder.join(workspan_recorder::WATCH_REQUESTS))
        .ok()?;
    pipe.write_all(&pid.to_ne_bytes()).ok()?;
    drop(pipe);
    let (watched, refused) = (
        folder.join(format!("{pid}.watched")),
        folder.join(format!("{pid}.unwatched")),
    );
    for _ in 0..MAX_LOOKS {
        if std::fs::remove_file(&watched).is_ok() {
            return Some(());
        }
        if refused.exists() {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in(b"812 (a b) R) S 44 812 1"), Some(44));
        assert_eq!(parent_in(b"812 (sh"), None);
        assert_eq!(
            parent(std::process::id()),
            Some(std::os::unix::process::parent_id())
        );
    }

    #[test]
    fn descendants_need_not_ask() {
        assert!(is_below(std::process::id()));
        assert!(is_below(std::os::unix::process::parent_id()));
        assert!(!is_below(u32::MAX));
    }

    #[test]
    fn without_a_watcher_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_watched(folder.path(), u32::MAX));
    }
}
