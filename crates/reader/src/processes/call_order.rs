//! What calls of MPI show about the order of moments on different hosts.
//!
//! No rank leaves a barrier before the last one has entered it, and no message arrives before it is
//! sent. Each such fact bounds the difference of two hosts' clocks from one side.

use std::collections::BTreeMap;

use workspan_dag::raw::CallRole;

use super::matched_calls::{ThreadCall, message, messages, operations};

/// A moment: the number of the host, and the time on its clock in nanoseconds.
pub(super) type Moment = (usize, u64);

/// A moment that was before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MomentOrder {
    pub(super) before: Moment,
    pub(super) after: Moment,
    /// The standard promises it whatever the program does. The other orders assume that messages
    /// are matched correctly, and that operations have data for all ranks.
    pub(super) is_certain: bool,
}

/// In an operation on more hosts, each host is only compared with the lowest one.
const MAX_HOSTS_BY_PAIRS: usize = 8;

/// Operations in which ranks wait for each other if there are data for all of them. Others, such as
/// `MPI_Gatherv` and `MPI_Finalize`, may end earlier.
const WAITING_FUNCTIONS: [&str; 11] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Scatter",
    "MPI_Reduce",
    "MPI_Gather",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Alltoall",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
];

/// The orders of moments on different hosts. The threads of `calls` are processes, and `host` is
/// the number of each process's host.
pub(super) fn orders(calls: &[ThreadCall], host: &[usize]) -> Vec<MomentOrder> {
    let mut orders = Vec::new();
    of_messages(calls, host, &mut orders);
    for of_one in &operations(calls) {
        let name = of_one.first().map_or("", |called| called.call.name());
        if WAITING_FUNCTIONS.contains(&name) {
            of_operation(of_one, host, name == "MPI_Barrier", &mut orders);
        }
    }
    orders
}

fn begin(called: &ThreadCall, host: &[usize]) -> Moment {
    (host[called.thread as usize], called.call.begin)
}

fn end(called: &ThreadCall, host: &[usize]) -> Moment {
    (host[called.thread as usize], called.call.end())
}

fn of_messages(calls: &[ThreadCall], host: &[usize], orders: &mut Vec<MomentOrder>) {
    let all = messages(calls);
    for called in calls {
        let Some(ends) = message(called).and_then(|key| all.get(&key)) else {
            continue;
        };
        let earlier = match called.call.role {
            CallRole::Receive | CallRole::AwaitReceive => ends.sent,
            // It ends when the receiver has asked for the message.
            CallRole::Send if called.call.name() == "MPI_Ssend" => ends.asked,
            _ => None,
        };
        let Some(earlier) = earlier else {
            continue;
        };
        push(orders, begin(&earlier, host), end(called, host), false);
    }
}

fn push(orders: &mut Vec<MomentOrder>, before: Moment, after: Moment, is_certain: bool) {
    if before.0 != after.0 {
        orders.push(MomentOrder {
            before,
            after,
            is_certain,
        });
    }
}

/// The last begin and the first end of an operation's calls on a host.
#[derive(Debug, Clone, Copy)]
struct OnHost {
    begin: u64,
    end: u64,
}

fn of_operation(
    of_one: &[ThreadCall],
    host: &[usize],
    is_certain: bool,
    orders: &mut Vec<MomentOrder>,
) {
    let Some(first) = of_one.first() else {
        return;
    };
    if first.call.role == CallRole::Prefix {
        return of_scan(of_one, host, orders);
    }
    let root = of_one
        .iter()
        .find(|called| Some(called.rank) == first.call.peer);
    let mut on: BTreeMap<usize, OnHost> = BTreeMap::new();
    for called in of_one {
        let (begin, end) = (called.call.begin, called.call.end());
        let of_host = on.entry(host[called.thread as usize]);
        let of_host = of_host.or_insert(OnHost { begin, end });
        of_host.begin = of_host.begin.max(begin);
        of_host.end = of_host.end.min(end);
    }
    match (first.call.role, root) {
        (CallRole::All, _) => {
            let by_pairs = on.len() <= MAX_HOSTS_BY_PAIRS;
            let lowest = on.keys().next().copied();
            for (&a, before) in &on {
                for (&b, after) in &on {
                    if by_pairs || Some(a) == lowest || Some(b) == lowest {
                        push(orders, (a, before.begin), (b, after.end), is_certain);
                    }
                }
            }
        }
        (CallRole::FromRoot, Some(root)) => {
            for (&b, after) in &on {
                push(orders, begin(root, host), (b, after.end), is_certain);
            }
        }
        (CallRole::ToRoot, Some(root)) => {
            for (&a, before) in &on {
                push(orders, (a, before.begin), end(root, host), is_certain);
            }
        }
        _ => {}
    }
}

/// No rank leaves a scan before all ranks below it have entered.
fn of_scan(of_one: &[ThreadCall], host: &[usize], orders: &mut Vec<MomentOrder>) {
    let mut by_rank: Vec<&ThreadCall> = of_one.iter().collect();
    by_rank.sort_by_key(|called| called.rank);
    let mut begun: BTreeMap<usize, u64> = BTreeMap::new();
    for called in by_rank {
        for (&a, &before) in begun.iter().take(MAX_HOSTS_BY_PAIRS) {
            push(orders, (a, before), end(called, host), false);
        }
        let (on, at) = begin(called, host);
        let last = begun.entry(on).or_insert(at);
        *last = (*last).max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_dag::raw::RankCall;
    use workspan_trace::entry::FUNCTIONS;

    fn called(rank: u32, name: &str, role: CallRole, times: (u64, u64)) -> ThreadCall {
        let function = FUNCTIONS.iter().position(|known| *known == name).unwrap();
        ThreadCall {
            launch: 0,
            rank,
            thread: rank,
            call: RankCall {
                begin: times.0,
                ticks: times.1 - times.0,
                function: function as u32,
                role,
                turn: 1,
                ..RankCall::default()
            },
        }
    }

    fn bounds(calls: &[ThreadCall], host: &[usize]) -> Vec<(Moment, Moment)> {
        let all = orders(calls, host);
        all.iter()
            .map(|order| (order.before, order.after))
            .collect()
    }

    #[test]
    fn nobody_leaves_a_barrier_before_the_last_one_has_entered() {
        let name = "MPI_Barrier";
        let calls = [
            called(0, name, CallRole::All, (10, 50)),
            called(1, name, CallRole::All, (40, 55)),
            called(2, name, CallRole::All, (1040, 1060)),
        ];
        let found = bounds(&calls, &[0, 0, 1]);
        assert_eq!(found, [((0, 40), (1, 1060)), ((1, 1040), (0, 50))]);
        assert_eq!(bounds(&calls, &[0, 0, 0]), []);
        assert!(
            orders(&calls, &[0, 0, 1])
                .iter()
                .all(|order| order.is_certain)
        );
    }

    #[test]
    fn a_message_arrives_after_it_was_sent() {
        let mut sent = called(0, "MPI_Send", CallRole::Send, (10, 12));
        sent.call.peer = Some(1);
        let mut got = called(1, "MPI_Recv", CallRole::Receive, (1000, 1020));
        got.call.peer = Some(0);
        assert_eq!(bounds(&[sent, got], &[0, 1]), [((0, 10), (1, 1020))]);
        let mut sent = called(0, "MPI_Ssend", CallRole::Send, (10, 32));
        sent.call.peer = Some(1);
        let both = [((0, 10), (1, 1020)), ((1, 1000), (0, 32))];
        let mut found = bounds(&[sent, got], &[0, 1]);
        found.sort_unstable();
        assert_eq!(found, both);
    }

    #[test]
    fn a_scan_waits_for_lower_ranks_and_a_broadcast_for_its_root() {
        let scan = |rank, times| called(rank, "MPI_Scan", CallRole::Prefix, times);
        let calls = [scan(0, (5, 6)), scan(1, (100, 120)), scan(2, (7, 9))];
        let expected = [((0, 5), (1, 120)), ((1, 100), (0, 9))];
        assert_eq!(bounds(&calls, &[0, 1, 0]), expected);
        let cast = |rank, times| {
            let mut called = called(rank, "MPI_Bcast", CallRole::FromRoot, times);
            called.call.peer = Some(1);
            called
        };
        let calls = [cast(0, (5, 6)), cast(1, (100, 120)), cast(2, (7, 9))];
        assert_eq!(bounds(&calls, &[0, 1, 0]), [((1, 100), (0, 6))]);
    }

    #[test]
    fn operations_that_may_end_early_show_nothing() {
        let calls = [0, 1].map(|r| called(r, "MPI_Finalize", CallRole::All, (5, 9)));
        assert_eq!(bounds(&calls, &[0, 1]), []);
    }
}
