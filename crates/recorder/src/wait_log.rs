//! The log of the process's waits: which thread waited where, for what, and which thread ended the
//! wait.
//!
//! Entries are written where a program may hold any lock, including its allocator's. So the log
//! neither allocates nor waits: entries are made on the stack, call stacks are numbered in a table
//! of atomics, and an entry is dropped after a few tries if another thread is writing to the chunk.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{RankCall, WaitKind};
use workspan_trace::hand_off;
use workspan_trace::wire::put_varint;

use crate::clock;
use crate::emergency_heap;
use crate::lock;
use crate::process::{self, Recording, entry_chunk};
use crate::spool::MappedChunk;

/// The largest number of frames kept of a call stack.
pub const MAX_FRAMES: usize = 16;
/// The size of a chunk of the log, in bytes.
const CHUNK: usize = 64 << 10;
/// From this size of the log on, only longer waits are logged. Each time the size doubles, the
/// minimum length grows by a factor of four.
const LOG_STEP: u64 = 8 << 20;
/// The log's largest size, in bytes.
const MAX_LOG: u64 = 64 << 20;
/// The shortest wait that is logged, about three microseconds. In shorter waits, the thread hardly
/// left its CPU.
const MIN_TICKS: u64 = 8_000;
/// The number of tries to get the chunk.
const TRIES: u32 = 500;
/// The number of tries for a call of MPI, where the program holds no lock that others wait for.
const PATIENT_TRIES: u32 = 1 << 20;
/// The number of call stacks that can be told apart.
const CHAINS: usize = 8192;
/// The number of table entries in which a call stack can be.
const PROBES: usize = 8;

/// A thread's wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// The kernel's id of the thread.
    pub tid: u32,
    /// What it waited for.
    pub kind: WaitKind,
    /// The time at which it began, in ticks.
    pub begin: u64,
    /// The time at which it ended, in ticks.
    pub end: u64,
    /// The address of the object that it waited for.
    pub object: usize,
    /// Where it waited: a number from [`chain`].
    pub chain: u32,
    /// The kernel's id of the thread that ended the wait; 0 if unknown.
    pub by: u32,
    /// Where that thread ended it: a number from [`chain`].
    pub released_at: u32,
    /// When that was, in ticks; `end` if not known.
    pub released: u64,
}

struct Log {
    busy: AtomicBool,
    chunk: UnsafeCell<State>,
}

struct State {
    chunk: Option<MappedChunk>,
    used: usize,
    seq: u32,
}

// SAFETY: the state is touched only by the thread that set `busy`.
unsafe impl Sync for Log {}

static LOG: Log = Log {
    busy: AtomicBool::new(false),
    chunk: UnsafeCell::new(State {
        chunk: None,
        used: 0,
        seq: 0,
    }),
};
/// Hashes of the call stacks that were written.
static KNOWN: [AtomicU64; CHAINS] = [const { AtomicU64::new(0) }; CHAINS];
/// The size of the log in bytes.
static BYTES: AtomicU64 = AtomicU64::new(0);
/// The number of entries that were dropped because another thread was writing, or because they did
/// not fit.
static LEFT_OUT: AtomicU32 = AtomicU32::new(0);

/// The clock, in ticks; 0 while nothing is recorded, and in programs with a thread sanitizer, which
/// would report the log's atomics as races.
#[inline]
pub fn now() -> u64 {
    if process::is_on() && !lock::has_sanitizer() {
        clock::now()
    } else {
        0
    }
}

/// Whether a wait from `begin` to `end` is worth a call of [`wait`].
#[inline]
pub fn is_long(begin: u64, end: u64) -> bool {
    end.saturating_sub(begin) >= MIN_TICKS
}

/// The number of a call stack, plus 1; 0 for an empty one, and if the table is full.
pub fn chain(addresses: &[usize]) -> u32 {
    if addresses.is_empty() {
        return 0;
    }
    let mut hash = addresses.len() as u64;
    for &address in addresses {
        hash = (hash.rotate_left(5) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    let hash = hash | 1;
    for probe in 0..PROBES {
        let at = ((hash >> 40) as usize + probe) % CHAINS;
        let Some(slot) = KNOWN.get(at) else { break };
        let mut held = slot.load(Ordering::Relaxed);
        if held == 0 {
            match slot.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let is_written = write_chain(at as u32, addresses);
                    if !is_written {
                        slot.store(0, Ordering::Relaxed);
                        return 0;
                    }
                    held = hash;
                }
                Err(other) => held = other,
            }
        }
        if held == hash {
            return at as u32 + 1;
        }
    }
    0
}

/// Logs a wait.
pub fn wait(wait: &Wait) {
    let ticks = wait.end.saturating_sub(wait.begin);
    let mut least = MIN_TICKS;
    let mut size = BYTES.load(Ordering::Relaxed) / LOG_STEP;
    while size > 0 {
        (least, size) = (least.saturating_mul(4), size / 2);
    }
    if ticks < least {
        return;
    }
    let mut body = Body::new();
    for field in [
        1,
        u64::from(wait.tid),
        wait.kind as u64,
        wait.begin,
        ticks,
        wait.object as u64,
        u64::from(wait.chain),
        u64::from(wait.by),
        u64::from(wait.released_at),
        wait.released.saturating_sub(wait.begin).min(ticks),
    ] {
        body.push(field);
    }
    append(&body, TRIES);
}

/// Logs a call of MPI by the thread `tid`, in the call stack numbered `chain`. Short calls are
/// logged too, because another rank may have waited for them.
pub fn rank_call(tid: u32, chain: u32, call: &RankCall) {
    let mut body = Body::new();
    for field in [
        2,
        u64::from(tid),
        u64::from(chain),
        call.begin,
        call.ticks,
        u64::from(call.function),
        call.role as u64,
        call.group,
        call.peer.map_or(0, |peer| u64::from(peer) + 1),
        call.tag,
        call.turn,
    ] {
        body.push(field);
    }
    append(&body, PATIENT_TRIES);
}

fn write_chain(number: u32, addresses: &[usize]) -> bool {
    let addresses = addresses.get(..MAX_FRAMES).unwrap_or(addresses);
    let mut body = Body::new();
    for field in [0, u64::from(number), addresses.len() as u64] {
        body.push(field);
    }
    for &address in addresses {
        body.push(address as u64);
    }
    append(&body, TRIES)
}

/// An entry's body: at most [`MAX_FRAMES`] numbers and a few more.
struct Body {
    bytes: [u8; Body::ROOM],
    length: usize,
}

impl Body {
    /// The room in bytes; putting a varint touches 9.
    const ROOM: usize = 9 * (MAX_FRAMES + 8);

    fn new() -> Body {
        Body {
            bytes: [0; Body::ROOM],
            length: 0,
        }
    }

    fn push(&mut self, number: u64) {
        if self.length + 9 > Body::ROOM {
            return;
        }
        // SAFETY: 9 bytes are available.
        unsafe {
            let at = self.bytes.as_mut_ptr().add(self.length);
            self.length += put_varint(at, number) as usize - at as usize;
        }
    }
}

/// Writes an entry, with at most `most_tries` tries. Returns false if it was dropped.
fn append(body: &Body, most_tries: u32) -> bool {
    let Some(recording) = process::recording().filter(|_| process::is_on()) else {
        return false;
    };
    let mut tries = 0;
    while LOG.busy.swap(true, Ordering::Acquire) {
        tries += 1;
        if tries == most_tries {
            LEFT_OUT.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        core::hint::spin_loop();
    }
    // SAFETY: `busy` was false, so that the state is this thread's until it is false again.
    let state = unsafe { &mut *LOG.chunk.get() };
    let is_written = state.append(recording, body);
    LOG.busy.store(false, Ordering::Release);
    if !is_written {
        LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    }
    is_written
}

impl State {
    fn append(&mut self, recording: &Recording, body: &Body) -> bool {
        let mut head = [0u8; 16];
        // SAFETY: more than 9 bytes are available.
        let length = unsafe {
            let at = head.as_mut_ptr();
            put_varint(at, body.length as u64) as usize - at as usize
        };
        let mut entry = [0u8; Body::ROOM + 16];
        entry[..length].copy_from_slice(&head[..length]);
        entry[length..length + body.length].copy_from_slice(&body.bytes[..body.length]);
        let entry = &entry[..length + body.length];
        if let Some(chunk) = self.chunk
            && self.used + entry.len() > chunk.capacity()
        {
            self.chunk = None;
            // SAFETY: only the log uses the chunk, and it stops using it here.
            unsafe { recording.spool.seal(chunk, true) };
        }
        let chunk = match self.chunk {
            Some(chunk) => chunk,
            None => {
                if BYTES.load(Ordering::Relaxed) >= MAX_LOG || emergency_heap::is_touched() {
                    return false;
                }
                let header = entry_chunk(ChunkKind::WaitLog, self.seq);
                let size = CHUNK.next_multiple_of(recording.page);
                let Some(chunk) = recording.spool.chunk(size, header) else {
                    return false;
                };
                (self.chunk, self.used, self.seq) = (Some(chunk), 0, self.seq + 1);
                chunk
            }
        };
        let is_written = hand_off::append(&chunk, self.used, entry);
        if is_written {
            self.used += entry.len();
            BYTES.fetch_add(entry.len() as u64, Ordering::Relaxed);
        }
        is_written
    }
}

/// The number of entries that were dropped because two threads wrote at the same moment, or because
/// there was no space.
pub(crate) fn left_out() -> u32 {
    LEFT_OUT.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_trace::entry::LoggedWait;

    #[test]
    fn a_body_is_what_readers_know() {
        let mut body = Body::new();
        for field in [0, 9, 3, 0x7fff_ffff_f000, 1, u64::MAX] {
            body.push(field);
        }
        let expected = LoggedWait::Chain {
            id: 9,
            addresses: vec![0x7fff_ffff_f000, 1, u64::MAX],
        };
        assert_eq!(
            LoggedWait::decode(&body.bytes[..body.length]),
            Some(expected)
        );
    }

    #[test]
    fn a_call_of_mpi_is_what_readers_know() {
        let mut body = Body::new();
        for field in [2, 77, 3, 1 << 40, 90, 18, 1, u64::MAX, 5, 6, 7] {
            body.push(field);
        }
        let call = RankCall {
            begin: 1 << 40,
            stack: None,
            ticks: 90,
            function: 18,
            role: workspan_trace::entry::CallRole::FromRoot,
            group: u64::MAX,
            peer: Some(4),
            tag: 6,
            turn: 7,
        };
        let expected = LoggedWait::RankCall {
            tid: 77,
            chain: 3,
            call,
        };
        assert_eq!(
            LoggedWait::decode(&body.bytes[..body.length]),
            Some(expected)
        );
    }

    #[test]
    fn nothing_is_numbered_or_logged_while_nothing_is_recorded() {
        assert_eq!(chain(&[]), 0);
        assert_eq!(chain(&[1, 2, 3]), 0);
        assert_eq!(now(), 0);
    }

    #[test]
    fn a_body_takes_no_more_than_it_has_room_for() {
        let mut body = Body::new();
        for _ in 0..100 {
            body.push(u64::MAX);
        }
        assert!(body.length <= Body::ROOM);
    }
}
