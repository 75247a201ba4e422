//! A thread that folds its chunks ([`crate::folder`]): when it begins, and what makes it stop.

use core::panic::AssertUnwindSafe;

use std::panic;

use super::Owner;
use super::chunks::{records, use_chunk};
use crate::folder::Folder;
use crate::process::Recording;
use crate::spool::Mapped;

/// Folds the full chunk, where that is wanted, and gives the handle the one that follows it; false
/// where not.
pub(super) fn fold_chunk(recording: &Recording, owner: &mut Owner, chunk: Mapped) -> bool {
    let whole = owner.counters.is_none() && owner.at_base.is_none();
    if recording.grain.is_none() || owner.unfolded || !whole {
        return false;
    }
    // SAFETY: the thread's own chunk; it writes on once they were read.
    let records = unsafe { records(chunk) };
    let thread = owner.handle.thread;
    let mut number = owner.chunks.saturating_sub(1);
    let last = owner.handle.last;
    // Nothing panics there that is known; but the caller is C.
    let turned = panic::catch_unwind(AssertUnwindSafe(|| {
        if owner.folder.is_none() {
            owner.folder = Folder::begin(recording, thread, &mut owner.before, (records, last));
        }
        let folder = owner.folder.as_mut()?;
        let next = folder.turn(recording, (chunk, records), thread, &mut number, last);
        Some(next.ok_or(NoRoom))
    }));
    match turned {
        Ok(None) => false,
        Ok(Some(Ok(next))) => {
            owner.chunks = number + 1;
            use_chunk(owner, next.chunk, next.used);
            true
        }
        Ok(Some(Err(NoRoom))) | Err(_) => {
            stop_folding(recording, owner);
            false
        }
    }
}

/// A chunk's records could not be put anywhere.
struct NoRoom;

/// The thread's records stay as they are from now on, those in its chunk included.
pub(super) fn stop_folding(recording: &Recording, owner: &mut Owner) {
    owner.unfolded = true;
    if let Some(folder) = owner.folder.take() {
        folder.close(recording);
    }
}

/// Folds what the thread did last, in its last chunk; false where that chunk stays as it is.
pub(super) fn end(recording: &Recording, owner: &mut Owner, chunk: Mapped) -> bool {
    let Some(mut folder) = owner.folder.take() else {
        return false;
    };
    let name = (owner.handle.thread, owner.chunks.saturating_sub(1));
    // SAFETY: the thread's own chunk, to which it writes no more.
    let records = unsafe { records(chunk) };
    let end = AssertUnwindSafe(|| folder.end(recording, (chunk, records), name));
    let ended = panic::catch_unwind(end).unwrap_or(false);
    folder.close(recording);
    ended
}
