//! The descriptor of the spool file. It stays out of the program's way, and is never confused with
//! one of the program's.
//!
//! A program may rely on the numbers it gets (the first file it opens is 3) and on how many there
//! are. It may also close all descriptors that it did not open itself, after which our number can
//! belong to a file of its own. So the number is beyond those that the program can get, if the
//! limits allow that, and each use first checks that it is still our file.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};
use std::ffi::CString;
use std::sync::Mutex;

use crate::system::{self, Limit};

/// Soft limits up to this number leave room for a descriptor beyond them. The kernel's table of
/// descriptors grows to the largest one.
const FIRST_HIGH_NUMBER: u64 = 4096;

/// Device and inode.
type Identity = (u64, u64);

/// An open file of the recorder.
pub(crate) struct Descriptor {
    number: AtomicI32,
    path: CString,
    identity: Identity,
    reopening: Mutex<()>,
}

impl Descriptor {
    /// Creates the file, which must not exist yet (0600; a link at its path is not followed). The
    /// error is errno's value.
    pub(crate) fn create(path: CString) -> Result<Descriptor, c_int> {
        let flags = system::O_RDWR | system::O_CREAT | system::O_EXCL | system::O_CLOEXEC;
        // SAFETY: `path` is a C string.
        let number = unsafe { system::open(path.as_ptr(), flags, 0o600u32) };
        if number < 0 {
            return Err(system::errno());
        }
        let number = aside(number);
        let Some(identity) = identity(number) else {
            let error = system::errno();
            close(number);
            return Err(error);
        };
        Ok(Descriptor {
            number: AtomicI32::new(number),
            path,
            identity,
            reopening: Mutex::new(()),
        })
    }

    /// The number, which is known to be our file's; `None` if the program closed it and it cannot
    /// be opened again.
    pub(crate) fn number(&self) -> Option<c_int> {
        let number = self.number.load(Ordering::Acquire);
        if identity(number) == Some(self.identity) {
            return Some(number);
        }
        let _one = self.reopening.lock().ok()?;
        // Another thread may have reopened it. A number that now belongs to the program is not ours
        // to close.
        let number = self.number.load(Ordering::Acquire);
        if identity(number) == Some(self.identity) {
            return Some(number);
        }
        let flags = system::O_RDWR | system::O_CLOEXEC | system::O_NOFOLLOW;
        // SAFETY: `path` is a C string.
        let number = unsafe { system::open(self.path.as_ptr(), flags, 0) };
        if number < 0 {
            return None;
        }
        if identity(number) != Some(self.identity) {
            close(number);
            return None;
        }
        let number = aside(number);
        self.number.store(number, Ordering::Release);
        Some(number)
    }

    /// Closes and removes the file, to which nothing was written.
    pub(crate) fn remove(self) {
        // SAFETY: `path` is a C string.
        unsafe { system::unlink(self.path.as_ptr()) };
        if let Some(number) = self.number() {
            close(number);
        }
    }
}

fn close(number: c_int) {
    // SAFETY: a descriptor that was opened here and that no other code knows.
    unsafe { system::close(number) };
}

/// Duplicates the descriptor to a number that the program will not get. Returns the old number if
/// that fails.
fn aside(number: c_int) -> c_int {
    let mut limit = Limit {
        current: 0,
        maximum: 0,
    };
    // SAFETY: `limit` is a struct rlimit to write to.
    if unsafe { system::getrlimit(system::RLIMIT_NOFILE, &mut limit) } != 0 {
        return number;
    }
    let duplicate = |least: u64| -> Option<c_int> {
        let least = c_int::try_from(least).ok()?;
        // SAFETY: duplicates a descriptor of ours.
        let high = unsafe { system::fcntl(number, system::F_DUPFD_CLOEXEC, least) };
        (high >= 0).then_some(high)
    };
    let high = if limit.current > FIRST_HIGH_NUMBER {
        duplicate(FIRST_HIGH_NUMBER)
    } else {
        // Beyond the current limit, which is raised for a moment: an open descriptor stays usable.
        let raised = Limit {
            current: limit.current + 16,
            maximum: limit.maximum.max(limit.current + 16),
        };
        // SAFETY: both are struct rlimit to read.
        unsafe {
            let beyond = (system::setrlimit(system::RLIMIT_NOFILE, &raised) == 0)
                .then(|| duplicate(limit.current))
                .flatten();
            if beyond.is_some() {
                system::setrlimit(system::RLIMIT_NOFILE, &limit);
            }
            beyond.or_else(|| duplicate(limit.current.saturating_sub(1)))
        }
    };
    match high {
        Some(high) => {
            close(number);
            high
        }
        None => number,
    }
}

fn identity(number: c_int) -> Option<Identity> {
    let mut words = [0u64; 32];
    // SAFETY: struct stat takes 144 bytes on 64-bit Linux, less than `words`; device and inode are
    // its first two words.
    let failed = unsafe { system::fstat(number, words.as_mut_ptr().cast()) } != 0;
    (!failed).then_some((words[0], words[1]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn path(name: &str) -> CString {
        let path = std::env::temp_dir().join(format!("workspan-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        CString::new(path.as_os_str().as_bytes()).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "duplicates a descriptor beyond a number")]
    fn a_number_that_became_somebody_elses_is_left_alone() {
        let ours = Descriptor::create(path("ours")).unwrap();
        let number = ours.number().unwrap();
        close(number);
        // SAFETY: puts another file at that number.
        let theirs = unsafe {
            let null = system::open(c"/dev/null".as_ptr(), system::O_RDWR, 0);
            let theirs = system::fcntl(null, system::F_DUPFD_CLOEXEC, number);
            close(null);
            theirs
        };
        assert_eq!(theirs, number);
        let again = ours.number().unwrap();
        assert_ne!(again, number);
        assert_eq!(identity(again), Some(ours.identity));
        assert_ne!(identity(theirs), Some(ours.identity), "it is still open");
        close(theirs);
        // A file that was replaced meanwhile is not ours either.
        close(again);
        let place = ours.path.to_str().unwrap().to_owned();
        std::fs::rename(&place, format!("{place}.moved")).unwrap();
        std::fs::write(&place, "another").unwrap();
        assert_eq!(ours.number(), None);
        assert_eq!(std::fs::read(&place).unwrap(), b"another");
        std::fs::remove_file(format!("{place}.moved")).unwrap();
        std::fs::remove_file(place).unwrap();
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let link = path("link");
        std::os::unix::fs::symlink("/dev/null", link.to_str().unwrap()).unwrap();
        assert_eq!(Descriptor::create(link.clone()).err(), Some(system::EEXIST));
        std::fs::remove_file(link.to_str().unwrap()).unwrap();
    }
}
