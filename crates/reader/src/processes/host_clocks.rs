//! Puts the processes of several hosts on the clock of the first host (MODEL.md §1).
//!
//! Each host's clock is its `CLOCK_MONOTONIC_RAW`, which all of its processes share. Their ticks
//! become nanoseconds of that clock, and then nanoseconds of the first host's.

use std::collections::BTreeMap;

use workspan_dag::processes::HostClock;
use workspan_dag::raw::{ClockChange, RankCall};
use workspan_trace::ClockKind;
use workspan_trace::entry::ClockPair;

use super::call_order;
use super::clock_offsets::{ClockOffset, HostSpan, estimate};
use super::matched_calls::{ThreadCall, number_launches};
use super::members::Member;
use crate::recorded::POSSIBLE_RATES;

/// Nanoseconds in a second.
const NS: u64 = 1_000_000_000;
/// The largest time and the largest beginning of a process, in nanoseconds: 73 years. Damaged or
/// hostile files may tell any.
const MAX_NS: i128 = 1 << 61;

/// A host's ticks and its nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HostTicks {
    first: ClockPair,
    ticks_per_second: f64,
}

impl HostTicks {
    /// From the processes of a host: the two readings that are furthest apart.
    fn new(members: &[&Member]) -> HostTicks {
        let pairs = || members.iter().flat_map(|member| &member.trace.pairs);
        let first = pairs().min_by_key(|pair| pair.ns).copied();
        let last = pairs().max_by_key(|pair| pair.ns).copied();
        let none = ClockPair { ticks: 0, ns: 0 };
        let (first, last) = (first.unwrap_or(none), last.unwrap_or(none));
        let ns = last.ns.saturating_sub(first.ns);
        let ticks = last.ticks.saturating_sub(first.ticks);
        let is_ns = |member: &&Member| member.trace.header.clock == ClockKind::Nanoseconds;
        let trace_rate = members.iter().map(|m| m.trace.raw.meta.tick_rate()).max();
        let ticks_per_second = match members.iter().any(is_ns) {
            true => NS as f64,
            false if ns >= 1000 && ticks > 0 => ticks as f64 * NS as f64 / ns as f64,
            // Killed at once, it left one reading.
            false => trace_rate.unwrap_or(NS).max(1) as f64,
        };
        HostTicks {
            first,
            ticks_per_second: ticks_per_second
                .clamp(*POSSIBLE_RATES.start() as f64, *POSSIBLE_RATES.end() as f64),
        }
    }

    fn ns(&self, ticks: u64) -> u64 {
        let since = i128::from(ticks) - i128::from(self.first.ticks);
        let ns = (since as f64 * (NS as f64 / self.ticks_per_second)).floor();
        let ns = i128::from(self.first.ns) + ns as i128;
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

/// A host of the run.
struct Host {
    name: Option<String>,
    members: Vec<usize>,
    ticks: HostTicks,
    span: HostSpan,
}

/// The name of the member's host; `None` for traces that do not tell.
fn host_name(member: &Member) -> Option<String> {
    member.trace.raw.meta.host.clone()
}

/// Whether the processes ran on several hosts.
pub(super) fn are_several(members: &[Member]) -> bool {
    members
        .windows(2)
        .any(|two| host_name(&two[0]) != host_name(&two[1]))
}

/// The hosts, that of the lowest rank first.
fn hosts(members: &[Member]) -> Vec<Host> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    let started = |at: &usize| members[*at].trace.header.realtime_ns;
    order.sort_by_key(|at| (members[*at].rank.map_or(u64::MAX, u64::from), started(at)));
    let mut numbers: BTreeMap<Option<String>, usize> = BTreeMap::new();
    let mut of_host: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let number = *numbers.entry(host_name(&members[at])).or_insert_with(|| {
            of_host.push(Vec::new());
            of_host.len() - 1
        });
        of_host[number].push(at);
    }
    let host = |own: Vec<usize>| {
        let processes: Vec<&Member> = own.iter().map(|&at| &members[at]).collect();
        let ticks = HostTicks::new(&processes);
        let from = processes.iter().map(|m| ticks.ns(m.trace.first)).min();
        let to = processes.iter().map(|m| ticks.ns(m.last_tick())).max();
        Host {
            name: host_name(processes[0]),
            ticks,
            span: HostSpan {
                from: from.unwrap_or(0),
                to: to.unwrap_or(0),
                by_wall_clock: wall_clock(processes[0]),
            },
            members: own,
        }
    };
    let mut hosts: Vec<Host> = of_host.into_iter().map(host).collect();
    let first = hosts.first().map_or(0, |host| host.span.by_wall_clock);
    for host in &mut hosts {
        host.span.by_wall_clock = host.span.by_wall_clock.saturating_sub(first);
    }
    hosts
}

/// What has to be added to the host's clock to get the wall clock.
fn wall_clock(member: &Member) -> i64 {
    let header = &member.trace.header;
    let offset = i128::from(header.realtime_ns) - i128::from(header.start_ns);
    i64::try_from(offset).unwrap_or(0)
}

/// Puts all processes on the clock of the first host, whose ticks are nanoseconds; each process's
/// own times still begin at 0, which is [`Member::from`]. Returns the clocks of the other hosts.
pub(super) fn align(members: &mut [Member]) -> Vec<HostClock> {
    let hosts = hosts(members);
    let mut host_of = vec![0; members.len()];
    for (number, host) in hosts.iter().enumerate() {
        host.members.iter().for_each(|&at| host_of[at] = number);
    }
    let calls = calls(members, &hosts, &host_of);
    let orders = call_order::orders(&calls, &host_of);
    let spans: Vec<HostSpan> = hosts.iter().map(|host| host.span).collect();
    let offsets = estimate(&spans, &orders);
    let starts: Vec<i128> = members
        .iter()
        .zip(&host_of)
        .map(|(member, &host)| offsets[host].to_run(hosts[host].ticks.ns(member.trace.first)))
        .collect();
    let first = starts.iter().min().copied().unwrap_or(0);
    for ((member, &host), start) in members.iter_mut().zip(&host_of).zip(starts) {
        let (ticks, offset) = (hosts[host].ticks, offsets[host]);
        let origin = member.trace.first;
        let change = ClockChange {
            time: |t: u64| {
                let run = offset.to_run(ticks.ns(origin.saturating_add(t))) - start;
                run.clamp(0, MAX_NS) as u64
            },
            scale: NS as f64 / ticks.ticks_per_second * (1.0 + offset.slope()),
            ticks_per_second: NS,
        };
        member.trace.raw.change_clock(&change);
        member.from = (start - first).clamp(0, MAX_NS) as u64;
        member.clock_error = offset.uncertainty.map_or(0, |ns| ns.ceil() as u64);
    }
    let others = hosts.iter().zip(&offsets).skip(1);
    others.map(|(host, offset)| clock(host, offset)).collect()
}

/// All calls of ranks, in nanoseconds of each host's clock; their threads are processes.
fn calls(members: &[Member], hosts: &[Host], host_of: &[usize]) -> Vec<ThreadCall> {
    let launches = number_launches(members);
    let mut calls = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let (Some(launch), Some(rank)) = (launches[at], member.rank) else {
            continue;
        };
        let ns = |t: u64| {
            hosts[host_of[at]]
                .ticks
                .ns(member.trace.first.saturating_add(t))
        };
        for (_, call) in &member.trace.raw.rank_calls {
            let (begin, end) = (ns(call.begin), ns(call.end()));
            calls.push(ThreadCall {
                launch,
                rank,
                thread: at as u32,
                call: RankCall {
                    begin,
                    ticks: end.saturating_sub(begin),
                    ..*call
                },
            });
        }
    }
    calls.sort_by_key(|called| (called.thread, called.call));
    calls
}

fn clock(host: &Host, offset: &ClockOffset) -> HostClock {
    let whole = |ns: f64| ns.ceil() as u64;
    HostClock {
        host: host.name.clone().unwrap_or_else(|| "?".into()),
        offset_ns: offset.at_begin(),
        uncertainty_ns: offset.uncertainty.map(whole),
        drift: match offset.drifts {
            true => offset.slope() * NS as f64,
            false => 0.0,
        },
        bounds: offset.bounds,
        contradictions: (offset.contradictions.0, whole(offset.contradictions.1)),
    }
}
