//! What is known of communicators, of requests that are open, and of how many messages and
//! operations there were.
//!
//! Both ends of a message count it, by group of ranks, peer and tag, and MPI delivers messages of
//! one sender, communicator and tag in order. So the n-th that one sends is the n-th that the other
//! one receives. Communicators of the same ranks count together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::library;

/// How many requests and how many counts are kept. Beyond that, calls are not logged.
const MOST_KEPT: usize = 1 << 20;

/// A communicator's ranks.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// A number that is the same on all of its ranks.
    pub(super) id: u64,
    /// In the numbers of all ranks.
    ranks: Vec<u32>,
}

impl Group {
    /// The number among all ranks of a rank of the communicator; `None` for none, as
    /// `MPI_PROC_NULL`.
    pub(super) fn rank(&self, rank: i32) -> Option<u32> {
        let rank = self.ranks.get(usize::try_from(rank).ok()?).copied()?;
        (rank != u32::MAX).then_some(rank)
    }
}

/// Which of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counted {
    /// Collective operations.
    Collective,
    /// Messages sent.
    Sent,
    /// Messages received, or asked for.
    Received,
}

/// A message that was begun and is waited for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// It is sent.
    Send(Message),
    /// It is received.
    Receive(Message),
    /// One from whoever, or of any tag, is received through this communicator.
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
    /// The how many-th it is.
    pub(super) turn: u64,
}

/// What is known.
pub(super) struct Known {
    groups: BTreeMap<usize, Option<Group>>,
    turns: BTreeMap<(Counted, u64, u32, u64), u64>,
    requests: BTreeMap<usize, Request>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    groups: BTreeMap::new(),
    turns: BTreeMap::new(),
    requests: BTreeMap::new(),
});

/// Takes what is known.
pub(super) fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ranks of a communicator. Asks the library the first time.
pub(super) fn group(communicator: usize) -> Option<Group> {
    let asked = known().groups.get(&communicator).cloned();
    if let Some(group) = asked {
        return group;
    }
    // Not while anything is locked here: the library may call back.
    let group = library::ranks_of(communicator).map(|ranks| Group {
        id: hash(&ranks),
        ranks,
    });
    let mut known = known();
    if known.groups.len() < MOST_KEPT {
        known.groups.insert(communicator, group.clone());
    }
    group
}

impl Known {
    /// The communicator is freed: its handle may become another one's.
    pub(super) fn forget_communicator(&mut self, communicator: usize) {
        self.groups.remove(&communicator);
    }

    /// The turn of one more; 0 where too many are counted.
    pub(super) fn count(&mut self, what: Counted, group: u64, peer: u32, tag: u64) -> u64 {
        let key = (what, group, peer, tag);
        if self.turns.len() >= MOST_KEPT && !self.turns.contains_key(&key) {
            return 0;
        }
        let turn = self.turns.entry(key).or_default();
        *turn += 1;
        *turn
    }

    /// The turn that the next message received will have.
    pub(super) fn next_received(&self, group: u64, peer: u32, tag: u64) -> u64 {
        let key = (Counted::Received, group, peer, tag);
        self.turns.get(&key).map_or(1, |turn| turn + 1)
    }

    /// Keeps an open request.
    pub(super) fn open(&mut self, handle: usize, request: Request) {
        if self.requests.len() < MOST_KEPT {
            self.requests.insert(handle, request);
        }
    }

    /// What is known of an open request.
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
        let mut known = Known {
            groups: BTreeMap::new(),
            turns: BTreeMap::new(),
            requests: BTreeMap::new(),
        };
        let mut sent = |peer, tag| known.count(Counted::Sent, 9, peer, tag);
        assert_eq!(
            [sent(1, 5), sent(1, 5), sent(2, 5), sent(1, 6)],
            [1, 2, 1, 1]
        );
        assert_eq!(known.next_received(9, 1, 5), 1);
        assert_eq!(known.count(Counted::Received, 9, 1, 5), 1);
        assert_eq!(known.next_received(9, 1, 5), 2);
    }
}
