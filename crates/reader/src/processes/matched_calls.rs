//! The calls of MPI of all ranks, matched: the two ends of each message, and the calls of all ranks
//! in each collective operation.

use std::collections::BTreeMap;

use workspan_dag::raw::{CallRole, RankCall};

use super::members::Member;

/// A call, and the thread that made it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadCall {
    /// The launch, by [`number_launches`].
    pub(super) launch: u32,
    pub(super) rank: u32,
    /// The thread; before the processes are merged, the process.
    pub(super) thread: u32,
    pub(super) call: RankCall,
}

/// A message, from either end: launch, group, sender, receiver, tag, turn.
pub(super) type MessageKey = (u32, u64, u32, u32, u64, u64);

/// Both ends of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) sent: Option<ThreadCall>,
    pub(super) asked: Option<ThreadCall>,
}

/// The number of each process's launch; `None` for a process that is no rank. Programs that one
/// launch starts one after the other with the same rank count as separate launches.
pub(super) fn number_launches(members: &[Member]) -> Vec<Option<u32>> {
    let mut numbers: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    let mut runs: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    let mut of_process = vec![None; members.len()];
    let has_calls = |at: &usize| !members[*at].trace.raw.rank_calls.is_empty();
    let mut by_time: Vec<usize> = (0..members.len()).filter(has_calls).collect();
    // One after the other, they ran on one host.
    by_time.sort_by_key(|&at| (members[at].trace.header.realtime_ns, members[at].from));
    for process in by_time {
        let Some(rank) = members[process].rank else {
            continue;
        };
        let launch = members[process].launch.as_str();
        let run = runs.entry((launch, rank)).or_default();
        let next = numbers.len() as u32;
        of_process[process] = Some(*numbers.entry((launch, *run)).or_insert(next));
        *run += 1;
    }
    of_process
}

/// The message that the call is about; `None` for a collective operation.
pub(super) fn message(called: &ThreadCall) -> Option<MessageKey> {
    let (call, peer) = (&called.call, called.call.peer?);
    let (sender, receiver) = match call.role {
        CallRole::Send | CallRole::AwaitSend => (called.rank, peer),
        CallRole::Receive | CallRole::Ask | CallRole::AwaitReceive => (peer, called.rank),
        CallRole::All | CallRole::FromRoot | CallRole::ToRoot | CallRole::Prefix => return None,
    };
    let turn = Some(call.turn).filter(|&turn| turn > 0)?;
    Some((called.launch, call.group, sender, receiver, call.tag, turn))
}

/// All messages.
pub(super) fn messages(calls: &[ThreadCall]) -> BTreeMap<MessageKey, Ends> {
    let mut all: BTreeMap<MessageKey, Ends> = BTreeMap::new();
    for called in calls {
        let Some(key) = message(called) else {
            continue;
        };
        let ends = all.entry(key).or_default();
        match called.call.role {
            CallRole::Send => ends.sent = ends.sent.or(Some(*called)),
            CallRole::Receive | CallRole::Ask => ends.asked = ends.asked.or(Some(*called)),
            _ => {}
        }
    }
    all
}

/// The calls of each collective operation. Ranks that disagree on the function are not in the same
/// operation, so these calls are left out.
pub(super) fn operations(calls: &[ThreadCall]) -> Vec<Vec<ThreadCall>> {
    let mut all: BTreeMap<(u32, u64, u64), Vec<ThreadCall>> = BTreeMap::new();
    for called in calls {
        let call = &called.call;
        let is_one = matches!(
            call.role,
            CallRole::All | CallRole::FromRoot | CallRole::ToRoot | CallRole::Prefix
        );
        if is_one && call.turn > 0 {
            let key = (called.launch, call.group, call.turn);
            all.entry(key).or_default().push(*called);
        }
    }
    let agrees = |of_one: &Vec<ThreadCall>| {
        let function = of_one.first().map(|called| called.call.function);
        of_one
            .iter()
            .all(|called| Some(called.call.function) == function)
    };
    all.into_values().filter(agrees).collect()
}
