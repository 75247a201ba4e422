//! Memory for the columns, taken from the kernel ahead of the walk that fills them.
//!
//! The kernel clears a page before it gives it away, and a walk that asks for them one by one
//! spends as long on that as on its records. So another thread asks, a stretch at a time, column by
//! column as the walk goes through them. All of this room is used in the end. Where the kernel does
//! not know the request, the walk asks for itself.

use std::sync::atomic::{AtomicBool, Ordering};

use workspan_dag::build::in_order::InOrder;

/// Less room than this, in bytes, is not worth a thread.
const WORTH_A_THREAD: usize = 64 << 20;
/// Parts into which each column is cut.
const PARTS: usize = 128;
/// A multiple of any page size.
const ALIGNMENT: usize = 64 << 10;

/// Does `walk` with the columns' memory being fetched meanwhile.
pub(super) fn ahead<T>(columns: InOrder, walk: impl FnOnce(InOrder) -> T) -> T {
    let room = room(&columns);
    if room.iter().map(|r| r.1).sum::<usize>() < WORTH_A_THREAD {
        return walk(columns);
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| fetch(&room, &done));
        // Also when the walk panics, or the scope would wait for memory that nobody needs.
        let _done = Done(&done);
        walk(columns)
    })
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Address and bytes of what each column has room for.
fn room(columns: &InOrder) -> Vec<(usize, usize)> {
    fn of<T>(column: &Vec<T>) -> (usize, usize) {
        (column.as_ptr().addr(), column.capacity() * size_of::<T>())
    }
    let (tasks, strands, waits) = (&columns.tasks, &columns.strands, &columns.waits);
    vec![
        of(&tasks.parent),
        of(&tasks.kind),
        of(&tasks.site),
        of(&tasks.level),
        of(&tasks.creator),
        of(&tasks.create_rank),
        of(&tasks.scope),
        of(&tasks.first),
        of(&tasks.last),
        of(&strands.task),
        of(&strands.thread),
        of(&strands.start),
        of(&strands.end),
        of(&strands.prev),
        of(&strands.start_kind),
        of(&strands.end_kind),
        of(&strands.to),
        of(&columns.scopes),
        of(&waits.after),
        of(&waits.scope),
        of(&waits.plain),
        of(&waits.tasks.offsets),
        of(&waits.tasks.items),
    ]
}

fn fetch(room: &[(usize, usize)], done: &AtomicBool) {
    for part in 0..PARTS {
        for &(at, bytes) in room {
            let edge = |part: usize| (at + bytes / PARTS * part).next_multiple_of(ALIGNMENT);
            let (from, to) = (edge(part), edge(part + 1).min(at + bytes));
            if from < to && (done.load(Ordering::Relaxed) || !take(from, to - from)) {
                return;
            }
        }
    }
}

/// False when the kernel refuses.
#[cfg(target_os = "linux")]
fn take(at: usize, bytes: usize) -> bool {
    use rustix::mm::{Advice, madvise};
    let at = std::ptr::without_provenance_mut(at);
    // SAFETY: the request makes the kernel give pages to a range of addresses, and changes no byte
    // of what is there; a column that was moved meanwhile leaves a range in which that is as
    // harmless, or refused.
    unsafe { madvise(at, bytes, Advice::LinuxPopulateWrite) }.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn take(_: usize, _: usize) -> bool {
    false
}
