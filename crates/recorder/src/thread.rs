//! A thread's handle and its chunks.
//!
//! A thread gets its handle on first use and keeps it until it ends; front ends write through it without further ado and
//! call [`refill`] when the chunk is full. When there is no room on the disk, or recording is over, the handle points to
//! scratch memory of its own: front ends need not know, and what they write is counted as dropped.

use core::ffi::c_void;
use core::panic::AssertUnwindSafe;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use std::panic;

use crate::clock;
use crate::counters::MOST_COUNTERS;
use crate::counters::Open;
use crate::folder::{Before, Folder, LONGEST};
use crate::front::{CLOCK_TSC, HAS_ROOT, Handle, IS_WORKER};
use crate::process::{self, Ended, Recording};
use crate::reserve;
use crate::ring;
use crate::spool::Mapped;
use crate::system::{self, KeepErrno};
use crate::table::TABLE;
use crate::wire::{self, Kind};
use workspan_trace::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkKind};
use workspan_trace::entry::ThreadEntry;

/// Sizes of a thread's first chunks; the last is that of all further ones.
const SIZES: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];
/// The key's destructor runs up to four times for a thread that puts its value back; the thread's last records may come
/// from the destructors of others, so the handle is given up late.
const LATE_ROUNDS: u8 = 2;
const SCRATCH: usize = 1024;

/// A handle and what the recorder keeps for it.
#[repr(C)]
pub(crate) struct Owner {
    handle: Handle,
    chunk: Option<Mapped>,
    /// Of the first chunk of a thread that ended: the next thread begins there.
    rest: Option<Mapped>,
    /// With a ring: what the thread has open at its chunk's beginning, and the chunk's base.
    open: Option<(Box<workspan_trace::open::Open>, u64)>,
    /// As the handle's, which with counters is null, so that every record comes by [`refill`].
    limit: *mut u8,
    counters: Option<Box<Open>>,
    chunks: u32,
    /// When the run is folded: what was before the chunk, and what folds.
    before: Before,
    folder: Option<Box<Folder>>,
    /// It can't be folded any more.
    unfolded: bool,
    rounds: u8,
    /// Tasks on top of the root that the general path began (front ends that write themselves are not counted).
    depth: u32,
    scratch_committed: AtomicU64,
    scratch: [u8; SCRATCH],
}

crate::thread_word!(Own: Handle, "workspan_thread_handle");

/// [`crate::front::Table::thread`].
pub(crate) extern "C" fn handle() -> *mut Handle {
    of_thread()
}

/// The calling thread's handle, made on first use; null when nothing is recorded.
#[inline]
pub(crate) fn of_thread() -> *mut Handle {
    if !process::is_on() {
        return ptr::null_mut();
    }
    let handle = Own::get();
    if !handle.is_null() {
        return handle;
    }
    new_handle()
}

#[cold]
#[inline(never)]
fn new_handle() -> *mut Handle {
    let Some(recording) = process::recording().filter(|_| !reserve::is_touched()) else {
        return ptr::null_mut();
    };
    let _errno = KeepErrno::new();
    let reused = recording
        .ended
        .lock()
        .ok()
        .and_then(|mut ended| ended.pop());
    let number = recording.threads.fetch_add(1, Ordering::Relaxed);
    let now = clock::now();
    let mut fresh = Owner {
        handle: Handle {
            cursor: ptr::null_mut(),
            limit: ptr::null_mut(),
            base: ptr::null_mut(),
            committed: ptr::null(),
            last: now,
            next_task: 0,
            next_scope: 0,
            next_yield: 0,
            thread: number,
            flags: if clock::is_tsc() { CLOCK_TSC } else { 0 },
            table: &raw const TABLE,
            owner: ptr::null_mut(),
        },
        chunk: None,
        rest: None,
        open: recording.ring.is_some().then(|| (Box::default(), now)),
        limit: ptr::null_mut(),
        counters: recording.counters.open(recording),
        chunks: 0,
        before: Before::default(),
        folder: None,
        unfolded: false,
        rounds: 0,
        depth: 0,
        scratch_committed: AtomicU64::new(0),
        scratch: [0; SCRATCH],
    };
    let owner = match reused {
        Some(Ended(owner)) => {
            // SAFETY: an ended thread's owner is nobody's; it came from a box.
            unsafe {
                fresh.rest = (*owner).rest.take();
                owner.write(fresh);
            }
            owner
        }
        None => Box::into_raw(Box::new(fresh)),
    };
    // SAFETY: the owner is this thread's from here on.
    unsafe {
        (*owner).handle.owner = owner.cast();
        if system::pthread_setspecific(recording.key, owner.cast::<c_void>()) != 0 {
            drop(Box::from_raw(owner));
            return ptr::null_mut();
        }
        Own::set(owner.cast());
        next_chunk(recording, owner);
    }
    if let Some(readings) = &recording.readings {
        readings.begin(number);
    }
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes up to 16 bytes, ended by 0.
    unsafe { system::prctl(system::PR_GET_NAME, name.as_mut_ptr()) };
    let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    let entry = ThreadEntry {
        thread: number,
        tid: system::thread_id(),
        start_ticks: now,
        name: String::from_utf8_lossy(&name[..length]).into_owned(),
    };
    let mut bytes = Vec::new();
    entry.encode(&mut bytes);
    crate::intern::append(recording, ChunkKind::Threads, &bytes);
    owner.cast()
}

/// The header of the owner's next chunk.
fn next_header(recording: &Recording, owner: &Owner) -> ChunkHeader {
    ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: 0,
        thread: owner.handle.thread,
        seq: owner.chunks,
        capacity: 0,
        committed: 0,
        base_ticks: owner.handle.last,
        base_ns: recording.ns_at(owner.handle.last),
        checksum: 0,
    }
}

/// Gives the owner a new chunk, or scratch memory.
///
/// # Safety
/// `owner` is the calling thread's and has no chunk.
unsafe fn next_chunk(recording: &Recording, owner: *mut Owner) {
    // SAFETY: the caller's.
    let owner = unsafe { &mut *owner };
    let size = match recording.ring {
        Some(_) => ring::SIZE.max(recording.page),
        None => SIZES[(owner.chunks as usize).min(SIZES.len() - 1)].max(recording.page),
    };
    let header = next_header(recording, owner);
    let old = recording
        .ring
        .as_ref()
        .and_then(|ring| ring.take(header.base_ns));
    let chunk = match (owner.rest.take(), old) {
        (Some(rest), _) => recording.spool.chunk_in(rest, header),
        (None, Some(place)) => recording.spool.chunk_at(place, header),
        (None, None) => recording.spool.chunk(size, header),
    };
    match chunk {
        Some(chunk) => begin(owner, chunk),
        None => use_scratch(owner),
    }
}

/// Lets the handle write to a chunk that is empty.
fn begin(owner: &mut Owner, chunk: Mapped) {
    owner.chunks += 1;
    owner.before.base = owner.handle.last;
    use_chunk(owner, chunk, 0);
    if let Some((open, base)) = &mut owner.open {
        *base = owner.handle.last;
        if owner.chunks > 1 {
            // SAFETY: the handle is the calling thread's; its chunk is empty.
            unsafe { ring::restart(&raw mut owner.handle, open) };
        }
    }
}

/// Lets the handle write to a chunk, behind the first `used` bytes.
fn use_chunk(owner: &mut Owner, chunk: Mapped, used: usize) {
    owner.chunk = Some(chunk);
    let h = &mut owner.handle;
    h.base = chunk.payload();
    // SAFETY: within the chunk, which is larger than SLACK and what is used.
    let limit = unsafe {
        h.cursor = h.base.add(used);
        h.base.add(chunk.capacity() - wire::SLACK)
    };
    h.committed = chunk.committed();
    set_limit(owner, limit);
}

/// The records that a chunk has.
///
/// # Safety
/// The chunk is mapped, and the calling thread, whose it is, does not write to it while it has them.
unsafe fn records<'a>(chunk: Mapped) -> &'a [u8] {
    let length = chunk.committed().load(Ordering::Relaxed) as usize;
    // SAFETY: the caller's; so many bytes are there.
    unsafe { slice::from_raw_parts(chunk.payload(), length.min(chunk.capacity())) }
}

/// Folds the full chunk, where that is wanted, and gives the handle the one that follows it; false where not.
fn fold_chunk(recording: &Recording, owner: &mut Owner, chunk: Mapped) -> bool {
    let whole = owner.counters.is_none() && owner.open.is_none();
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
            owner.folder = Folder::begin(recording, thread, &mut owner.before, records);
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
fn stop_folding(recording: &Recording, owner: &mut Owner) {
    owner.unfolded = true;
    if let Some(folder) = owner.folder.take() {
        folder.close(recording);
    }
}

/// Lets the handle write where nothing is kept.
fn use_scratch(owner: &mut Owner) {
    let base = owner.scratch.as_mut_ptr();
    let h = &mut owner.handle;
    h.base = base;
    h.cursor = base;
    // SAFETY: within the scratch memory.
    let limit = unsafe { base.add(SCRATCH - wire::SLACK) };
    h.committed = &raw const owner.scratch_committed;
    set_limit(owner, limit);
}

/// The last place a record may begin at; and the counters' records count from here.
fn set_limit(owner: &mut Owner, limit: *mut u8) {
    owner.limit = limit;
    owner.handle.limit = match &mut owner.counters {
        None => limit,
        Some(open) => {
            open.written = owner.handle.last;
            ptr::null_mut()
        }
    };
}

/// [`crate::front::Table::refill`].
pub(crate) extern "C" fn refill(handle: *mut Handle) {
    // SAFETY: the handle is the calling thread's and the first field of its owner, which `owner` points to.
    unsafe {
        let owner = (*handle).owner.cast::<Owner>();
        if (*owner).counters.is_none() {
            renew(handle);
            return;
        }
        // Room for the readings, and after them for what is to be written.
        if (*handle).cursor > (*owner).limit.wrapping_sub(READINGS) {
            renew(handle);
        }
        write_readings(&mut *owner);
    }
}

/// Most bytes of a record of readings, over-long stores included.
const READINGS: usize = 160;

/// What the counters rose by since the thread's last record, as a record at the handle's last time.
fn write_readings(owner: &mut Owner) {
    let _errno = KeepErrno::new();
    let (h, Some(open)) = (&mut owner.handle, &mut owner.counters) else {
        return;
    };
    let mut increases = [(0u32, 0u64); MOST_COUNTERS];
    let mut count = 0;
    open.increases(|label, increase| {
        if let Some(slot) = increases.get_mut(count) {
            *slot = (label, increase);
            count += 1;
        }
    });
    let since = h.last.saturating_sub(open.written);
    open.written = h.last;
    // SAFETY: there are READINGS bytes from the cursor, and SLACK beyond the limit.
    unsafe {
        let mut p = wire::put_head(h.cursor, Kind::Readings, since);
        p = wire::put_varint(p, count as u64);
        for &(label, increase) in &increases[..count] {
            p = wire::put_varint(p, u64::from(label));
            p = wire::put_varint(p, increase);
        }
        Handle::commit(h, p);
    }
}

/// The counters' increases up to now, of the calling thread.
pub(crate) fn last_counts() {
    let h = handle();
    // SAFETY: the handle is the calling thread's or null.
    unsafe {
        if !h.is_null() && (*(*h).owner.cast::<Owner>()).counters.is_some() {
            (*h).last = (*h).last.max(Handle::now(h));
            refill(h);
        }
    }
}

/// Gives the handle another chunk.
fn renew(handle: *mut Handle) {
    let _errno = KeepErrno::new();
    // SAFETY: the handle is the calling thread's and the first field of its owner, which `owner` points to.
    unsafe {
        let owner = (*handle).owner.cast::<Owner>();
        match (process::recording(), (*owner).chunk) {
            (Some(recording), Some(chunk)) => {
                let folded = fold_chunk(recording, &mut *owner, chunk);
                // A thread that has come to chunks of full size keeps its one.
                let keeps = recording.ring.is_none()
                    && chunk.capacity() + CHUNK_HEADER_SIZE >= SIZES[SIZES.len() - 1];
                if let Some((open, base)) = &mut (*owner).open {
                    ring::pass(open, &chunk, *base);
                }
                let next = next_header(recording, &*owner);
                let moved = !folded && keeps && recording.spool.move_out(chunk, next);
                if !folded && !moved {
                    (*owner).chunk = None;
                    let (from, place) = (chunk.base_ns(), chunk.place());
                    recording.spool.seal(chunk, false);
                    if let Some(ring) = &recording.ring {
                        ring.put(from, recording.ns_at((*handle).last), place);
                    }
                }
                if let Some(readings) = &recording.readings {
                    readings.read(recording, (*handle).thread);
                }
                if moved {
                    begin(&mut *owner, chunk);
                } else if !folded {
                    next_chunk(recording, owner);
                }
            }
            (state, _) => {
                // Scratch memory is full, or recording is over; a chunk of before stays as it is.
                if let (Some(recording), None) = (state, (*owner).chunk) {
                    let bytes = (*handle).cursor as usize - (*handle).base as usize;
                    recording
                        .spool
                        .dropped()
                        .fetch_add(bytes as u64, Ordering::Relaxed);
                }
                (*owner).chunk = None;
                use_scratch(&mut *owner);
            }
        }
    }
}

/// Writes a record of any length through the handle: `length` bytes of operands, at time `now`. Records too long for a
/// chunk of the largest size are left out.
///
/// # Safety
/// `handle` is the calling thread's; `operands` holds `length` bytes.
pub(crate) unsafe fn long_record(
    handle: *mut Handle,
    kind: Kind,
    now: u64,
    operands: *const u8,
    length: usize,
) {
    // With a ring all chunks are small.
    let largest = match process::any_recording() {
        Some(recording) if recording.ring.is_some() => ring::SIZE / 2,
        _ => SIZES[SIZES.len() - 1],
    };
    if length > largest - CHUNK_HEADER_SIZE - 2 * wire::SLACK - READINGS {
        return;
    }
    // SAFETY: the caller's; room is made before anything is written.
    unsafe {
        let owner = (*handle).owner.cast::<Owner>();
        if length > LONGEST
            && let Some(recording) = process::recording()
            && (*owner).folder.is_some()
        {
            stop_folding(recording, &mut *owner);
        }
        // A thread's first chunks may be too small for it.
        for _ in 0..SIZES.len() {
            let limit = (*owner).limit as usize;
            let room = limit - ((*handle).cursor as usize).min(limit);
            if room >= length + READINGS || (*owner).chunk.is_none() {
                break;
            }
            refill_at(handle, now);
        }
        let p = Handle::head(handle, kind, now);
        if (*owner).chunk.is_none() {
            return;
        }
        ptr::copy_nonoverlapping(operands, p, length);
        Handle::commit(handle, p.add(length));
    }
}

/// A refill ahead of time: the new chunk counts from `now`.
unsafe fn refill_at(handle: *mut Handle, now: u64) {
    // SAFETY: the caller's handle.
    unsafe { (*handle).last = (*handle).last.max(now) };
    renew(handle);
}

/// Begins a root task on the thread, unless it has one.
///
/// # Safety
/// `handle` is the calling thread's or null.
pub(crate) unsafe fn ensure_root(handle: *mut Handle) {
    // SAFETY: the caller's handle.
    unsafe {
        if !handle.is_null() && (*handle).flags & HAS_ROOT == 0 {
            (*handle).flags |= HAS_ROOT;
            (*handle).next_task += 1;
            Handle::event(handle, Kind::Root);
        }
    }
}

/// How many tasks the general path began on this thread that have not ended.
///
/// # Safety
/// `handle` is the calling thread's.
pub(crate) unsafe fn depth(handle: *mut Handle) -> u32 {
    // SAFETY: the handle's owner lives as long as it.
    unsafe { (*(*handle).owner.cast::<Owner>()).depth }
}

/// One more, or one less.
///
/// # Safety
/// `handle` is the calling thread's.
pub(crate) unsafe fn deepen(handle: *mut Handle, by: i32) {
    // SAFETY: the handle's owner lives as long as it.
    unsafe {
        let depth = &raw mut (*(*handle).owner.cast::<Owner>()).depth;
        *depth = (*depth).saturating_add_signed(by);
    }
}

/// Destructor of the key: the thread ends.
pub(crate) unsafe extern "C" fn thread_ends(value: *mut c_void) {
    let _errno = KeepErrno::new();
    let owner = value.cast::<Owner>();
    let Some(recording) = process::recording() else {
        return;
    };
    // SAFETY: the value is the calling thread's owner; after the last round nobody uses it.
    unsafe {
        if (*owner).rounds < LATE_ROUNDS {
            (*owner).rounds += 1;
            system::pthread_setspecific(recording.key, value);
            return;
        }
        let handle = &raw mut (*owner).handle;
        if (*handle).flags & HAS_ROOT != 0 {
            Handle::event(handle, Kind::End);
        }
        if (*handle).flags & IS_WORKER != 0 {
            Handle::event(handle, Kind::WorkerEnd);
        }
        if let Some(readings) = &recording.readings {
            readings.end(recording, (*handle).thread);
        }
        if let Some(chunk) = (*owner).chunk.take() {
            let ended = (*owner).folder.take().is_some_and(|mut folder| {
                let name = ((*owner).handle.thread, (*owner).chunks.saturating_sub(1));
                let records = records(chunk);
                let end = AssertUnwindSafe(|| folder.end(recording, (chunk, records), name));
                let ended = panic::catch_unwind(end).unwrap_or(false);
                folder.close(recording);
                ended
            });
            if let Some(ring) = &recording.ring {
                let (from, place) = (chunk.base_ns(), chunk.place());
                recording.spool.seal(chunk, false);
                ring.put(from, recording.ns_at((*handle).last), place);
            } else if !ended && (*owner).chunks == 1 {
                (*owner).rest = recording.spool.trim(chunk);
            } else if !ended {
                recording.spool.seal(chunk, true);
            }
        } else {
            let bytes = (*owner).handle.cursor as usize - (*owner).handle.base as usize;
            recording
                .spool
                .dropped()
                .fetch_add(bytes as u64, Ordering::Relaxed);
        }
        (*owner).counters = None;
        (*owner).open = None;
        use_scratch(&mut *owner);
        Own::set(ptr::null_mut());
        if let Ok(mut ended) = recording.ended.lock() {
            ended.push(Ended(owner));
        }
    }
}

/// The calling thread's handle writes to scratch memory from now on.
pub(crate) fn abandon() {
    // SAFETY: the handle is the first field of its owner; both are the calling thread's or null.
    if let Some(owner) = unsafe { Own::get().cast::<Owner>().as_mut() } {
        owner.chunk = None;
        // The events are the parent's as well; their descriptors go with the next exec.
        core::mem::forget(owner.counters.take());
        core::mem::forget(owner.folder.take());
        use_scratch(owner);
    }
}

/// What a probe adds to a strand's measured time, in ticks: half a record, as a strand's time begins in the middle of
/// the record that starts it and ends in the middle of the one that ends it. The least of several batches.
pub(crate) fn probe_cost() -> u64 {
    const BATCH: u64 = 16;
    let mut owner = Owner {
        handle: Handle {
            cursor: ptr::null_mut(),
            limit: ptr::null_mut(),
            base: ptr::null_mut(),
            committed: ptr::null(),
            last: 0,
            next_task: 0,
            next_scope: 0,
            next_yield: 0,
            thread: 0,
            flags: if clock::is_tsc() { CLOCK_TSC } else { 0 },
            table: &raw const TABLE,
            owner: ptr::null_mut(),
        },
        chunk: None,
        rest: None,
        open: None,
        limit: ptr::null_mut(),
        counters: None,
        chunks: 0,
        before: Before::default(),
        folder: None,
        unfolded: false,
        rounds: 0,
        depth: 0,
        scratch_committed: AtomicU64::new(0),
        scratch: [0; SCRATCH],
    };
    let mut least = u64::MAX;
    for _ in 0..64 {
        use_scratch(&mut owner);
        let h = core::hint::black_box(&raw mut owner.handle);
        let before = clock::now();
        for _ in 0..BATCH {
            // SAFETY: a batch fits the scratch memory; the handle is a local one.
            unsafe { Handle::event_with(h, Kind::Resume, []) };
        }
        least = least.min(clock::now().saturating_sub(before));
    }
    least / BATCH / 2
}
