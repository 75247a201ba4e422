//! Finds the thread that ended a wait: a thread that releases an object notes that if other threads
//! wait, and a thread whose wait is over reads the note.
//!
//! Objects share the places of two small tables by their addresses. [`WAITERS`] counts the threads
//! that may wait for an object of a place, so that a release costs one load while there is no
//! waiter. A count that stays too high (a cancelled thread never comes back) only costs time.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The number of places of the tables.
pub(super) const PLACES: usize = 1024;
/// An object's address, shifted by this, is its place (modulo [`PLACES`]).
pub(super) const SHIFT: u32 = 4;

/// The number of threads that may wait for objects of a place. The entry points read it.
pub(super) static WAITERS: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
static RELEASES: [ReleasePlace; PLACES] = [const { ReleasePlace::new() }; PLACES];

/// A release of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Release {
    /// The kernel's id of the thread.
    pub(super) by: u32,
    /// Its call stack: a number in the log.
    pub(super) chain: u32,
    /// The time of the release, in ticks.
    pub(super) at: u64,
}

/// The last release of an object of this place. Odd while it is written.
struct ReleasePlace {
    version: AtomicU64,
    object: AtomicU64,
    at: AtomicU64,
    who: AtomicU64,
}

impl ReleasePlace {
    const fn new() -> ReleasePlace {
        ReleasePlace {
            version: AtomicU64::new(0),
            object: AtomicU64::new(0),
            at: AtomicU64::new(0),
            who: AtomicU64::new(0),
        }
    }
}

fn place(object: usize) -> usize {
    (object as u32 >> SHIFT) as usize % PLACES
}

/// A thread is about to wait for the object.
pub(super) fn begin(object: usize) {
    WAITERS[place(object)].fetch_add(1, Ordering::Relaxed);
}

/// Its wait is over.
pub(super) fn end(object: usize) {
    WAITERS[place(object)].fetch_sub(1, Ordering::Relaxed);
}

/// Whether a thread may wait for the object.
pub(super) fn is_awaited(object: usize) -> bool {
    WAITERS[place(object)].load(Ordering::Relaxed) != 0
}

/// Notes a release. Of two simultaneous ones, one is kept.
pub(super) fn note(object: usize, release: Release) {
    let place = &RELEASES[place(object)];
    let version = place.version.load(Ordering::Relaxed);
    let is_mine = version.is_multiple_of(2)
        && place
            .version
            .compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
    if !is_mine {
        return;
    }
    core::sync::atomic::fence(Ordering::Release);
    place.object.store(object as u64, Ordering::Relaxed);
    place.at.store(release.at, Ordering::Relaxed);
    let who = u64::from(release.by) << 32 | u64::from(release.chain);
    place.who.store(who, Ordering::Relaxed);
    place.version.store(version + 2, Ordering::Release);
}

/// The last release of the object, if it was between these two moments.
pub(super) fn last(object: usize, from: u64, to: u64) -> Option<Release> {
    let place = &RELEASES[place(object)];
    let version = place.version.load(Ordering::Acquire);
    let is_of = place.object.load(Ordering::Relaxed) == object as u64;
    let at = place.at.load(Ordering::Relaxed);
    let who = place.who.load(Ordering::Relaxed);
    core::sync::atomic::fence(Ordering::Acquire);
    let is_whole = version.is_multiple_of(2) && place.version.load(Ordering::Relaxed) == version;
    (is_whole && is_of && (from..=to).contains(&at)).then_some(Release {
        by: (who >> 32) as u32,
        chain: who as u32,
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_release_of_an_object_is_found_in_its_time() {
        let (one, same_place) = (0x1_0000_5540, 0x1_0000_5540 + (PLACES << SHIFT));
        let release = Release {
            by: 7,
            chain: 3,
            at: 50,
        };
        note(one, release);
        assert_eq!(last(one, 40, 60), Some(release));
        assert_eq!(last(one, 51, 60), None);
        assert_eq!(last(same_place, 40, 60), None);
        note(
            same_place,
            Release {
                by: 8,
                chain: 0,
                at: 55,
            },
        );
        assert_eq!(last(one, 40, 60), None);
        assert_eq!(last(same_place, 40, 60).map(|r| r.by), Some(8));
    }

    #[test]
    fn an_object_is_awaited_while_threads_wait() {
        let object = 0x2_0000_7770;
        assert!(!is_awaited(object));
        begin(object);
        begin(object);
        end(object);
        assert!(is_awaited(object));
        end(object);
        assert!(!is_awaited(object));
    }
}
