//! Waits of threads for each other, for a time, and for files, as the process saw them.

use super::fields::{Fields, push_timed_list, push_varint, read_timed_list};
use super::rank_call::{CallRole, RankCall};

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum WaitKind {
    /// Another thread, by a futex: the function names on the stack say more.
    #[default]
    Futex = 0,
    /// A mutex.
    Mutex = 1,
    /// A reader-writer lock.
    RwLock = 2,
    /// A condition variable, and therefore the other end of a channel.
    Condition = 3,
    /// The other threads at a barrier.
    Barrier = 4,
    /// A semaphore.
    Semaphore = 5,
    /// A time.
    Sleep = 6,
    /// A file, a socket, a pipe.
    Io = 7,
    /// Another rank, in a call of MPI.
    Rank = 8,
}

impl WaitKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [WaitKind; 9] = [
        WaitKind::Futex,
        WaitKind::Mutex,
        WaitKind::RwLock,
        WaitKind::Condition,
        WaitKind::Barrier,
        WaitKind::Semaphore,
        WaitKind::Sleep,
        WaitKind::Io,
        WaitKind::Rank,
    ];

    /// The kinds' names in text traces, in the order of their codes.
    pub const NAMES: [&str; 9] = [
        "futex",
        "mutex",
        "rwlock",
        "condition",
        "barrier",
        "semaphore",
        "sleep",
        "io",
        "rank",
    ];

    /// The kind with this code; [`WaitKind::Futex`], the least specific one, for an unknown code.
    pub fn from_code(code: u64) -> WaitKind {
        let known = usize::try_from(code).ok().and_then(|i| Self::ALL.get(i));
        known.copied().unwrap_or_default()
    }
}

/// An entry of a spool file's log of waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedWait {
    /// A call stack.
    Chain {
        /// The chain's number.
        id: u32,
        /// Return addresses, innermost first.
        addresses: Vec<u64>,
    },
    /// A wait.
    Wait {
        /// The kernel's id of the thread that waited.
        tid: u32,
        /// What it waited for.
        kind: WaitKind,
        /// The time at which it began, in ticks.
        begin: u64,
        /// Its length, in ticks.
        ticks: u64,
        /// The object: the address of a lock, a condition variable or a futex; 0 if there is none.
        object: u64,
        /// Where it waited: a chain's number + 1, or 0 if unknown.
        chain: u32,
        /// The kernel's id of the thread that ended the wait; 0 if unknown.
        by: u32,
        /// Where that thread released the object: a chain's number + 1, or 0 if unknown.
        released_at: u32,
        /// How long the object was held from `begin` on, in ticks; the length of the wait if that
        /// is not known.
        held: u64,
    },
    /// A call of MPI.
    RankCall {
        /// The kernel's id of the calling thread.
        tid: u32,
        /// Where it was called: a chain's number + 1, or 0 if unknown.
        chain: u32,
        /// The call; its stack is not set yet.
        call: RankCall,
    },
}

impl LoggedWait {
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<LoggedWait> {
        let mut f = Fields::new(body);
        Some(match f.number()? {
            0 => LoggedWait::Chain {
                id: f.number32()?,
                addresses: f.list(Fields::number)?,
            },
            1 => LoggedWait::Wait {
                tid: f.number32()?,
                kind: WaitKind::from_code(f.number()?),
                begin: f.number()?,
                ticks: f.number()?,
                object: f.number()?,
                chain: f.number32()?,
                by: f.number32()?,
                released_at: f.number32()?,
                held: f.number()?,
            },
            2 => {
                let (tid, chain) = (f.number32()?, f.number32()?);
                let begin = f.number()?;
                LoggedWait::RankCall {
                    tid,
                    chain,
                    call: RankCall {
                        begin,
                        stack: None,
                        ticks: f.number()?,
                        function: f.number32()?,
                        role: CallRole::from_code(f.number()?)?,
                        group: f.number()?,
                        peer: f.number32()?.checked_sub(1),
                        tag: f.number()?,
                        turn: f.number()?,
                    },
                }
            }
            _ => return None,
        })
    }
}

/// A wait in which a thread left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WaitEntry {
    /// The time at which the thread left the CPU, in ticks.
    pub begin: u64,
    /// The number of its stack.
    pub stack: u32,
    /// How long it was off the CPU, in ticks.
    pub ticks: u64,
    /// What it waited for.
    pub kind: WaitKind,
    /// The object, which tells waits for one lock from those for another; 0 if there is none.
    pub object: u64,
    /// The thread of the trace that ended the wait.
    pub by: Option<u32>,
    /// The number of that thread's stack when it released the object.
    pub released_at: Option<u32>,
    /// How long the object was held from `begin` on, in ticks. The rest of the wait passed until
    /// the waiting thread was back. More than `ticks` if the object was still or again held then:
    /// the thread came back onto a CPU only to wait again.
    pub held: u64,
}

/// Waits of one thread, by time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaitsEntry {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The waits.
    pub waits: Vec<WaitEntry>,
}

impl WaitsEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let or_none = |number: Option<u32>| number.map_or(0, |n| u64::from(n) + 1);
        push_timed_list(out, self.thread, &self.waits, |wait, body| {
            push_varint(body, u64::from(wait.stack));
            push_varint(body, wait.ticks);
            push_varint(body, wait.kind as u64);
            push_varint(body, wait.object);
            push_varint(body, or_none(wait.by));
            push_varint(body, or_none(wait.released_at));
            push_varint(body, wait.held);
            wait.begin
        });
    }

    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<WaitsEntry> {
        let (thread, waits) = read_timed_list(body, |begin, f| {
            let (stack, ticks) = (f.number32()?, f.number()?);
            Some(WaitEntry {
                begin,
                stack,
                ticks,
                kind: WaitKind::from_code(f.number()?),
                object: f.number()?,
                by: f.number32()?.checked_sub(1),
                released_at: f.number32()?.checked_sub(1),
                held: f.number()?.min(ticks.saturating_add(1)),
            })
        })?;
        Some(WaitsEntry { thread, waits })
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries;
    use super::*;

    #[test]
    fn waits_read_back() {
        let waits = WaitsEntry {
            thread: 3,
            waits: vec![
                WaitEntry {
                    begin: 1 << 40,
                    stack: 7,
                    ticks: 900,
                    kind: WaitKind::Condition,
                    object: 0x7fff_0000_1234,
                    by: Some(0),
                    released_at: None,
                    held: 880,
                },
                WaitEntry {
                    begin: (1 << 40) + 1000,
                    released_at: Some(5),
                    ..WaitEntry::default()
                },
            ],
        };
        let mut bytes = Vec::new();
        waits.encode(&mut bytes);
        assert_eq!(entries(&bytes).find_map(WaitsEntry::decode), Some(waits));
    }

    #[test]
    fn kinds_have_their_codes() {
        for (code, kind) in WaitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, code);
            assert_eq!(WaitKind::from_code(code as u64), kind);
        }
        assert_eq!(WaitKind::from_code(u64::MAX), WaitKind::Futex);
    }
}
