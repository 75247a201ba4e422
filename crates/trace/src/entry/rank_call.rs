//! Calls of MPI, by which the ranks of a run wait for each other.
//!
//! A process logs its own calls only. Which rank waited for which is known when the traces of all
//! ranks are read together: calls that belong together have the same group, tag and turn.

use super::fields::{Fields, push_timed_list, push_varint, read_timed_list};

/// How a call relates to other ranks' calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum CallRole {
    /// All ranks of the group wait for each other: a barrier, an allreduce.
    #[default]
    All = 0,
    /// All ranks wait for the peer: a broadcast.
    FromRoot = 1,
    /// The peer waits for all ranks: a reduction.
    ToRoot = 2,
    /// Each rank waits for those of lower rank: a scan.
    Prefix = 3,
    /// Sends a message to the peer; may wait until the peer is ready for it.
    Send = 4,
    /// Posts a receive for a message from the peer, and waits for the message.
    Receive = 5,
    /// Posts a receive for a message from the peer.
    Ask = 6,
    /// Waits for a message from the peer whose receive was posted before.
    AwaitReceive = 7,
    /// Waits until a message to the peer has been sent.
    AwaitSend = 8,
}

impl CallRole {
    /// All roles, in the order of their codes.
    pub const ALL: [CallRole; 9] = [
        CallRole::All,
        CallRole::FromRoot,
        CallRole::ToRoot,
        CallRole::Prefix,
        CallRole::Send,
        CallRole::Receive,
        CallRole::Ask,
        CallRole::AwaitReceive,
        CallRole::AwaitSend,
    ];

    /// The role with this code; `None` for one that a later workspan may have added.
    pub fn from_code(code: u64) -> Option<CallRole> {
        let known = usize::try_from(code).ok().and_then(|i| Self::ALL.get(i));
        known.copied()
    }
}

/// The recorded functions, by number. A number is never reused.
pub const FUNCTIONS: [&str; 37] = [
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Bsend",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Ibsend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Probe",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Reduce",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Comm_dup",
    "MPI_Comm_split",
];

/// A call of MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RankCall {
    /// The time at which it began, in ticks.
    pub begin: u64,
    /// The number of the stack that it was called in.
    pub stack: Option<u32>,
    /// How long it took, in ticks.
    pub ticks: u64,
    /// The function: an index into [`FUNCTIONS`].
    pub function: u32,
    /// The call's role.
    pub role: CallRole,
    /// The group of ranks that take part. Equal numbers are the same ranks.
    pub group: u64,
    /// The other rank of a message, or the root, numbered among all ranks of the run.
    pub peer: Option<u32>,
    /// The tag of a message.
    pub tag: u64,
    /// The call's ordinal among the rank's calls of this role in the group, or with this peer and
    /// tag. Starts at 1; 0 if unknown.
    pub turn: u64,
}

impl RankCall {
    /// The time at which it ended, in ticks.
    pub fn end(&self) -> u64 {
        self.begin.saturating_add(self.ticks)
    }

    /// The function's name.
    pub fn name(&self) -> &'static str {
        let known = FUNCTIONS.get(self.function as usize);
        known.copied().unwrap_or("MPI")
    }
}

/// Calls of MPI of one thread, by time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankCallsEntry {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The calls.
    pub calls: Vec<RankCall>,
}

impl RankCallsEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let or_none = |number: Option<u32>| number.map_or(0, |n| u64::from(n) + 1);
        push_timed_list(out, self.thread, &self.calls, |call, body| {
            push_varint(body, or_none(call.stack));
            push_varint(body, call.ticks);
            push_varint(body, u64::from(call.function));
            push_varint(body, call.role as u64);
            push_varint(body, call.group);
            push_varint(body, or_none(call.peer));
            push_varint(body, call.tag);
            push_varint(body, call.turn);
            call.begin
        });
    }

    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<RankCallsEntry> {
        let (thread, calls) = read_timed_list(body, |begin, f: &mut Fields<'_>| {
            Some(RankCall {
                begin,
                stack: f.number32()?.checked_sub(1),
                ticks: f.number()?,
                function: f.number32()?,
                role: CallRole::from_code(f.number()?)?,
                group: f.number()?,
                peer: f.number32()?.checked_sub(1),
                tag: f.number()?,
                turn: f.number()?,
            })
        })?;
        Some(RankCallsEntry { thread, calls })
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries;
    use super::*;

    #[test]
    fn calls_read_back() {
        let first = RankCall {
            begin: 1 << 40,
            stack: Some(7),
            ticks: 900,
            function: 18,
            role: CallRole::Receive,
            group: u64::MAX,
            peer: Some(0),
            tag: 3,
            turn: 12,
        };
        let second = RankCall {
            begin: first.end(),
            stack: None,
            peer: None,
            ..first
        };
        let calls = RankCallsEntry {
            thread: 3,
            calls: vec![first, second],
        };
        let mut bytes = Vec::new();
        calls.encode(&mut bytes);
        let read = entries(&bytes).find_map(RankCallsEntry::decode);
        assert_eq!(read, Some(calls));
        assert_eq!(first.name(), "MPI_Barrier");
    }

    #[test]
    fn roles_have_their_codes() {
        for (code, role) in CallRole::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, code);
            assert_eq!(CallRole::from_code(code as u64), Some(role));
        }
        assert_eq!(CallRole::from_code(u64::MAX), None);
    }
}
