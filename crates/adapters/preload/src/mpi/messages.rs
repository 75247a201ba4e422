//! The known communicators, the open requests, and the counts of messages and operations.
//!
//! Both ends of a message count it, by group of ranks, peer and tag, and MPI delivers messages with
//! one sender, communicator and tag in order. So the n-th message that one rank sends is the n-th
//! that the other one receives. Communicators of the same ranks count together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::library;

/// The largest number of requests, and of counts, that are kept. Beyond it, calls are not logged.
const MAX_ENTRIES: usize = 1 << 20;

/// A communicator's ranks.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// A number that is the same on all of its ranks.
    pub(super) id: u64,
    /// Numbered among all ranks.
    ranks: Vec<u32>,
}

impl Group {
    /// The number among all ranks of a rank of the communicator; `None` for a rank that does not
    /// exist, such as `MPI_PROC_NULL`.
    pub(super) fn rank(&self, rank: i32) -> Option<u32> {
        let rank = self.ranks.get(usize::try_from(rank).ok()?).copied()?;
        (rank != u32::MAX).then_some(rank)
    }
}

/// The kind of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountKind {
    /// Collective operations.
    Collective,
    /// Messages sent.
    Sent,
    /// Messages received, or asked for.
    Received,
}

/// A message that was started and is waited for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// A message that is sent.
    Send(Message),
    /// A message that is received.
    Receive(Message),
    /// A message with any source or any tag, which is received on this communicator.
    ReceiveAny {
        /// The communicator.
        communicator: usize,
    },
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    /// The ranks of its communicator.
    pub(super) group: u64,
    /// The other rank.
    pub(super) peer: u32,
    /// Its tag.
    pub(super) tag: u64,
    /// Its ordinal among such messages.
    pub(super) turn: u64,
}

/// The known communicators, requests and counts.
pub(super) struct KnownObjects {
    groups: BTreeMap<usize, Option<Group>>,
    turns: BTreeMap<(CountKind, u64, u32, u64), u64>,
    requests: BTreeMap<usize, Request>,
}

static KNOWN: Mutex<KnownObjects> = Mutex::new(KnownObjects {
    groups: BTreeMap::new(),
    turns: BTreeMap::new(),
    requests: BTreeMap::new(),
});

/// Locks the known data.
pub(super) fn known() -> MutexGuard<'static, KnownObjects> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ranks of a communicator. Queries the library the first time.
pub(super) fn group(communicator: usize) -> Option<Group> {
    let asked = known().groups.get(&communicator).cloned();
    if let Some(group) = asked {
        return group;
    }
    // No lock is held here, because the library may call back.
    let group = library::ranks_of(communicator).map(|ranks| Group {
        id: hash(&ranks),
        ranks,
    });
    let mut known = known();
    if known.groups.len() < MAX_ENTRIES {
        known.groups.insert(communicator, group.clone());
    }
    group
}

impl KnownObjects {
    /// The communicator is freed, so its handle may be reused.
    pub(super) fn forget_communicator(&mut self, communicator: usize) {
        self.groups.remove(&communicator);
    }

    /// Counts one more. Returns its ordinal, or 0 if too many are counted.
    pub(super) fn count(&mut self, what: CountKind, group: u64, peer: u32, tag: u64) -> u64 {
        let key = (what, group, peer, tag);
        if self.turns.len() >= MAX_ENTRIES && !self.turns.contains_key(&key) {
            return 0;
        }
        let turn = self.turns.entry(key).or_default();
        *turn += 1;
        *turn
    }

    /// The ordinal that the next received message will have.
    pub(super) fn next_received(&self, group: u64, peer: u32, tag: u64) -> u64 {
        let key = (CountKind::Received, group, peer, tag);
        self.turns.get(&key).map_or(1, |turn| turn + 1)
    }

    /// Keeps an open request.
    pub(super) fn open(&mut self, handle: usize, request: Request) {
        if self.requests.len() < MAX_ENTRIES {
            self.requests.insert(handle, request);
        }
    }

    /// The data of an open request.
    pub(super) fn request(&self, handle: usize) -> Option<Request> {
        self.requests.get(&handle).copied()
    }

    /// The request is complete.
    pub(super) fn close(&mut self, handle: usize) {
        self.requests.remove(&handle);
    }
}

/// FNV-1a.
fn hash(ranks: &[u32]) -> u64 {
    let bytes = ranks.iter().flat_map(|rank| rank.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tell_their_ranks_and_nobody_elses() {
        let group = Group {
            id: 1,
            ranks: vec![4, u32::MAX, 6],
        };
        assert_eq!([-1, 0, 1, 2, 3].map(|rank| group.rank(rank)), {
            [None, Some(4), None, Some(6), None]
        });
        assert_ne!(hash(&[0, 1]), hash(&[1, 0]));
    }

    #[test]
    fn messages_are_counted_by_peer_and_tag() {
        let mut known = KnownObjects {
            groups: BTreeMap::new(),
            turns: BTreeMap::new(),
            requests: BTreeMap::new(),
        };
        let mut sent = |peer, tag| known.count(CountKind::Sent, 9, peer, tag);
        assert_eq!(
            [sent(1, 5), sent(1, 5), sent(2, 5), sent(1, 6)],
            [1, 2, 1, 1]
        );
        assert_eq!(known.next_received(9, 1, 5), 1);
        assert_eq!(known.count(CountKind::Received, 9, 1, 5), 1);
        assert_eq!(known.next_received(9, 1, 5), 2);
    }
}
