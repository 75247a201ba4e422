//! Calls of MPI, by which the ranks of a run wait for each other.
//!
//! A process tells of its own calls alone. Who waited for whom is known when the traces of all
//! ranks are read together: calls that belong together have the same group, tag and turn.

use super::fields::{Fields, push_timed_list, push_varint, read_timed_list};

/// What a call does to other ranks' calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum CallRole {
    /// All ranks of the group wait for all: a barrier, an allreduce.
    #[default]
    All = 0,
    /// All wait for the peer: a broadcast.
    FromRoot = 1,
    /// The peer waits for all: a reduction.
    ToRoot = 2,
    /// Each waits for those of lower rank: a scan.
    Prefix = 3,
    /// A message to the peer; may wait until the peer is ready for it.
    Send = 4,
    /// A message from the peer is asked for, and waited for.
    Receive = 5,
    /// A message from the peer is asked for.
    Ask = 6,
    /// A message from the peer that was asked for is waited for.
    AwaitReceive = 7,
    /// Waits until a message to the peer is on its way.
    AwaitSend = 8,
}

impl CallRole {
    /// All of them, in the order of their codes.
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

    /// The role of this code; `None` for one that a later workspan may have added.
    pub fn from_code(code: u64) -> Option<CallRole> {
        let known = usize::try_from(code).ok().and_then(|i| Self::ALL.get(i));
        known.copied()
    }
}

/// The functions that are told, by their numbers. Numbers are never used again.
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
    /// When it began, in ticks.
    pub begin: u64,
    /// Number of the stack that it was called in.
    pub stack: Option<u32>,
    /// How long it took, in ticks.
    pub ticks: u64,
    /// The function: an index into [`FUNCTIONS`].
    pub function: u32,
    /// What it does.
    pub role: CallRole,
    /// Which ranks take part: equal numbers are the same ranks.
    pub group: u64,
    /// The other rank of a message, or the root, in the numbers of all ranks.
    pub peer: Option<u32>,
    /// The tag of a message.
    pub tag: u64,
    /// The how many-th such call of the rank this is: of the group, or with this peer and tag. From
    /// 1; 0 for unknown.
    pub turn: u64,
}

impl RankCall {
    /// When it ended, in ticks.
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
