//! Which parts of a run are kept: those after a delay, for a while, the last of it, or from signal
//! to signal.
//!
//! `workspan record` uses this after the run, to choose the parts that a trace is made of. The
//! recorder uses it during the run, to find what need not stay in the file
//! ([`crate::chunk_queue`]).

use core::fmt;
use core::str::FromStr;
use core::sync::atomic::{AtomicU64, Ordering};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use crate::system;

/// The file in the spool folder with the times of the user's signals, for recorded processes to
/// read. It has a 64-bit count, followed by the times, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
pub const SIGNALS: &str = "signals";
/// The size of that file, in bytes.
pub const SIGNALS_SIZE: usize = 4096;
/// The file in the spool folder with a byte for each call by which the program kept a part.
pub const CALLS: &str = "calls";
/// The largest number of signals in the file.
pub const MAX_SIGNALS: usize = SIGNALS_SIZE / 8 - 1;

/// The requested parts, in nanoseconds after the start of the process. As text: delay, duration,
/// ring and 1 for triggered, separated by commas, with an empty field for each that was not
/// requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// Keep everything from this time on.
    pub delay: Option<u64>,
    /// Keep this much from there on, or from the signal on.
    pub duration: Option<u64>,
    /// Keep the last part of this length, before the end or before the first signal.
    pub ring: Option<u64>,
    /// A signal does not end recording. Once there is one, the last part before it is being
    /// written, and no chunk is reused.
    pub triggered: bool,
}

impl Parts {
    /// Whether nothing was requested. Then everything is kept, except what signals exclude.
    pub fn is_all(&self) -> bool {
        *self == Parts::default()
    }

    /// The parts of a process that began at `start` and ended at `end`, or is now there, with these
    /// signals before. All are in nanoseconds of one clock, in ascending order. `None` if
    /// everything is kept.
    pub fn intervals(&self, start: u64, signals: &[u64], end: u64) -> Option<Vec<(u64, u64)>> {
        if let Some(ring) = self.ring {
            // A signal ends the part that is kept.
            let signals = if self.triggered { &[] } else { signals };
            let end = signals.first().copied().unwrap_or(end).clamp(start, end);
            return Some(vec![(end.saturating_sub(ring).max(start), end)]);
        }
        if self.is_all() && signals.is_empty() {
            return None;
        }
        let mut begin = Some(
            self.delay
                .map_or(start, |delay| start.saturating_add(delay)),
        );
        let mut open: Option<u64> = None;
        let mut parts = Vec::new();
        let closes = |from: u64| from.saturating_add(self.duration.unwrap_or(u64::MAX));
        for at in signals.iter().copied().chain([end]) {
            let at = at.clamp(start, end);
            if let Some(from) = begin.filter(|&from| open.is_none() && from <= at) {
                (open, begin) = (Some(from), None);
            }
            if let Some(from) = open.filter(|&from| closes(from) <= at) {
                parts.push((from, closes(from)));
                open = None;
                if at < end {
                    // The part had ended by itself, so the signal starts a new one.
                    open = Some(at);
                }
            } else if let Some(from) = open.take() {
                parts.push((from, at));
            } else if at < end {
                (open, begin) = (Some(at), None);
            }
        }
        Some(parts)
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in [self.delay, self.duration, self.ring].iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            if let Some(ns) = part {
                write!(f, "{ns}")?;
            }
        }
        if self.triggered {
            f.write_str(",1")?;
        }
        Ok(())
    }
}

impl FromStr for Parts {
    type Err = core::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut numbers = text.split(',');
        let mut next = || match numbers.next().unwrap_or_default() {
            "" => Ok(None),
            number => number.parse().map(Some),
        };
        Ok(Parts {
            delay: next()?,
            duration: next()?,
            ring: next()?,
            triggered: next()?.is_some(),
        })
    }
}

/// The file of the signals, mapped.
pub(crate) struct Signals(*const AtomicU64);

// SAFETY: the mapping is permanent, and is only read, with atomic loads.
unsafe impl Send for Signals {}
// SAFETY: the mapping is permanent, and is only read, with atomic loads.
unsafe impl Sync for Signals {}

impl Signals {
    /// Maps the spool folder's file; `None` if there is none.
    pub(crate) fn map(folder: &Path) -> Option<Signals> {
        let path = CString::new(folder.join(SIGNALS).as_os_str().as_bytes()).ok()?;
        let flags = system::O_RDONLY | system::O_CLOEXEC | system::O_NOFOLLOW;
        // SAFETY: `path` is a C string; the descriptor is used only here; the kernel picks the
        // mapping's address.
        let at = unsafe {
            let fd = system::open(path.as_ptr(), flags, 0);
            if fd < 0 {
                return None;
            }
            let at = system::mmap(
                core::ptr::null_mut(),
                SIGNALS_SIZE,
                system::PROT_READ,
                system::MAP_SHARED,
                fd,
                0,
            );
            system::close(fd);
            at
        };
        (at as isize != -1).then(|| Signals(at.cast()))
    }

    /// The times of the signals until now.
    pub(crate) fn until_now(&self) -> Vec<u64> {
        // SAFETY: the file has this size, is mapped permanently, and its folder belongs to the run
        // alone.
        let words = unsafe { core::slice::from_raw_parts(self.0, MAX_SIGNALS + 1) };
        let (count, times) = (&words[0], &words[1..]);
        let count = usize::try_from(count.load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let times = times.iter().take(count);
        times.map(|time| time.load(Ordering::Relaxed)).collect()
    }
}

/// The file to which calls of [`keep`] are written, while parts are kept.
static CALLED: OnceLock<CString> = OnceLock::new();

/// Sets the folder of spool files in which calls are noted from now on.
pub(crate) fn tell_calls(folder: &Path) {
    if let Ok(path) = CString::new(folder.join(CALLS).as_os_str().as_bytes()) {
        // Only one recording is started in a process.
        let _ = CALLED.set(path);
    }
}

/// Keeps the last part of the run, on the program's request: adds a byte to the file of calls, if
/// there is one.
pub(crate) extern "C" fn keep() {
    let Some(path) = CALLED.get().filter(|_| crate::process::is_on()) else {
        return;
    };
    let _errno = system::KeepErrno::new();
    let flags = system::O_WRONLY | system::O_APPEND | system::O_CLOEXEC | system::O_NOFOLLOW;
    // SAFETY: `path` is a C string; the descriptor is used only here, and one byte is read.
    unsafe {
        let fd = system::open(path.as_ptr(), flags, 0);
        if fd >= 0 {
            system::pwrite(fd, c"x".as_ptr().cast(), 1, 0);
            system::close(fd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn with(parts: Parts, signals: &[u64]) -> Option<Vec<(u64, u64)>> {
        let signals: Vec<u64> = signals.iter().map(|s| 1000 + s * MS).collect();
        let ms = |ns: u64| (ns - 1000) / MS;
        let parts = parts.intervals(1000, &signals, 1000 + 100 * MS)?;
        Some(parts.into_iter().map(|(a, b)| (ms(a), ms(b))).collect())
    }

    #[test]
    fn parts_of_a_run_of_a_hundred_milliseconds() {
        let all = Parts::default();
        assert_eq!(with(all, &[]), None);
        assert_eq!(with(all, &[40]), Some(vec![(0, 40)]));
        assert_eq!(
            with(all, &[40, 50, 60, 70]),
            Some(vec![(0, 40), (50, 60), (70, 100)])
        );
        let late = Parts {
            delay: Some(30 * MS),
            ..all
        };
        assert_eq!(with(late, &[]), Some(vec![(30, 100)]));
        assert_eq!(with(late, &[10, 20]), Some(vec![(10, 20)]));
        assert_eq!(with(late, &[50, 90]), Some(vec![(30, 50), (90, 100)]));
        let short = Parts {
            duration: Some(20 * MS),
            ..late
        };
        assert_eq!(with(short, &[]), Some(vec![(30, 50)]));
        assert_eq!(with(short, &[40]), Some(vec![(30, 40)]));
        assert_eq!(with(short, &[60]), Some(vec![(30, 50), (60, 80)]));
        assert_eq!(with(short, &[90]), Some(vec![(30, 50), (90, 100)]));
        let never = Parts {
            delay: Some(2000 * MS),
            ..all
        };
        assert_eq!(with(never, &[]), Some(vec![]));
        let ring = |ms: u64| Parts {
            ring: Some(ms * MS),
            ..all
        };
        assert_eq!(with(ring(25), &[]), Some(vec![(75, 100)]));
        assert_eq!(with(ring(3_600_000), &[]), Some(vec![(0, 100)]));
        assert_eq!(with(ring(25), &[60]), Some(vec![(35, 60)]));
        let triggered = Parts {
            triggered: true,
            ..ring(25)
        };
        assert_eq!(with(triggered, &[60]), Some(vec![(75, 100)]));
    }

    #[test]
    fn what_is_known_on_the_way_is_what_is_known_in_the_end() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..if cfg!(miri) { 4 } else { 2000 } {
            let parts = Parts {
                delay: (next(2) == 0).then(|| next(60)),
                duration: (next(2) == 0).then(|| 1 + next(60)),
                ..Parts::default()
            };
            let mut signals: Vec<u64> = (0..next(5)).map(|_| next(100)).collect();
            signals.sort_unstable();
            let inside = |kept: &Option<Vec<(u64, u64)>>, t: u64| {
                let kept = kept.as_ref();
                kept.is_none_or(|kept| kept.iter().any(|&(a, b)| a <= t && t <= b))
            };
            let end = parts.intervals(0, &signals, 100);
            for now in 0..100 {
                let before: Vec<u64> = signals.iter().copied().filter(|&s| s <= now).collect();
                let so_far = parts.intervals(0, &before, now);
                for t in (0..now).filter(|&t| inside(&end, t)) {
                    assert!(inside(&so_far, t), "{parts:?} {signals:?}: {t} at {now}");
                }
            }
        }
    }

    #[test]
    fn as_text() {
        for parts in [
            Parts::default(),
            Parts {
                delay: Some(0),
                ring: Some(7),
                ..Parts::default()
            },
            Parts {
                ring: Some(7),
                triggered: true,
                ..Parts::default()
            },
        ] {
            assert_eq!(parts.to_string().parse(), Ok(parts));
        }
        assert_eq!("".parse(), Ok(Parts::default()));
        assert!("x,,".parse::<Parts>().is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn signals_are_seen_as_they_come() {
        use std::os::unix::fs::FileExt;
        let folder = std::env::temp_dir().join(format!("workspan-signals-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        assert!(Signals::map(&folder).is_none());
        let file = std::fs::File::create_new(folder.join(SIGNALS)).expect("a file");
        file.set_len(SIGNALS_SIZE as u64).expect("its size");
        let signals = Signals::map(&folder).expect("a mapping");
        assert!(signals.until_now().is_empty());
        file.write_at(&7u64.to_le_bytes(), 8).expect("a time");
        assert!(signals.until_now().is_empty());
        file.write_at(&1u64.to_le_bytes(), 0).expect("a count");
        assert_eq!(signals.until_now(), [7]);
        file.write_at(&u64::MAX.to_le_bytes(), 0).expect("a count");
        assert_eq!(signals.until_now().len(), MAX_SIGNALS);
        std::fs::remove_dir_all(&folder).expect("the folder");
    }
}
