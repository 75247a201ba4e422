//! Finds which rank waited for which in calls of MPI (MODEL.md §2).
//!
//! A rank waits from the beginning of its call until the last of the ranks that it needs has made
//! its own call: the sender of a message, the receiver of a message that is not taken before it is
//! asked for, the root of a broadcast, or all ranks at a barrier. The rest of the call is the
//! rank's own work. The wait counts as blocked, whether its thread slept or polled, and the last
//! rank is its holder.

use std::collections::BTreeMap;

use workspan_dag::raw::{CallRole, RankCall, RawTrace};
use workspan_dag::samples::RawStop;
use workspan_dag::{Frame, NONE, OffCpuInterval, OffCpuReason, WaitCause, samples::WaitedFor};

use super::matched_calls::{Ends, ThreadCall, message, messages, operations};
use super::merge::MergedRun;
use crate::recorded::off_cpu::unite;

/// The shortest wait that counts, because a call itself takes as long.
const MIN_WAIT_NS: u64 = 1_000;

/// The wait for another rank's call.
#[derive(Debug, Clone, Copy)]
struct Wait {
    waiting: ThreadCall,
    late: ThreadCall,
}

/// Adds the waits in calls of MPI to the run, as off-CPU times with their holders.
pub(super) fn find(merged: &mut MergedRun) {
    let calls = calls(merged);
    if calls.is_empty() {
        return;
    }
    let mut waits = waits_for_messages(&calls);
    waits.extend(waits_in_collectives(&calls));
    let (raw, errors) = (&mut merged.trace, &merged.clock_errors);
    let shortest = raw.meta.tick_rate().saturating_mul(MIN_WAIT_NS) / 1_000_000_000;
    let processes = &raw.meta.processes;
    // A wait for a rank on another host must be longer than the clocks are uncertain.
    let error = |called: &ThreadCall| {
        let process = processes.of(called.thread, called.call.begin)?;
        let host = &processes.list.get(process)?.host;
        Some((host, *errors.get(process)?))
    };
    let shortest = |wait: &Wait| match (error(&wait.waiting), error(&wait.late)) {
        (Some((own, own_error)), Some((other, other_error))) if own != other => {
            shortest.max(own_error.saturating_add(other_error))
        }
        _ => shortest,
    };
    let waits = of_each_call(waits, shortest);
    drop_samples(raw, &waits);
    drop_stops(raw, &waits);
    let rate = u128::from(raw.meta.tick_rate().max(1));
    let polling = u128::from(polled(raw, &waits)) * 1_000_000_000 / rate;
    if let Some(cpu) = &mut raw.meta.cpu {
        cpu.polling = u64::try_from(polling).unwrap_or(u64::MAX);
    }
    add(raw, &waits);
}

/// The calls of all ranks, in time order.
fn calls(merged: &mut MergedRun) -> Vec<ThreadCall> {
    let raw = &mut merged.trace;
    let told = std::mem::take(&mut raw.rank_calls);
    let called = |(thread, call): (u32, RankCall)| {
        let process = raw.meta.processes.of(thread, call.begin)?;
        Some(ThreadCall {
            launch: (*merged.launches.get(process)?)?,
            rank: raw.meta.processes.list.get(process)?.rank?,
            thread,
            call,
        })
    };
    let mut calls: Vec<ThreadCall> = told.into_iter().filter_map(called).collect();
    calls.sort_by_key(|called| (called.call.begin, called.thread, called.call));
    calls
}

fn waits_for_messages(calls: &[ThreadCall]) -> Vec<Wait> {
    let ends = messages(calls);
    // A message that was received before it was sent must be another one.
    let is_sound = |receiving: &ThreadCall, ends: &Ends| {
        let sent = ends.sent.map(|sent| sent.call.begin);
        sent.is_some_and(|sent| sent <= receiving.call.end())
    };
    let mut waits = Vec::new();
    for called in calls {
        let ends = message(called).and_then(|key| ends.get(&key));
        let Some(ends) = ends else {
            continue;
        };
        let late = match called.call.role {
            CallRole::Receive | CallRole::AwaitReceive if is_sound(called, ends) => ends.sent,
            CallRole::Send | CallRole::AwaitSend => ends.asked,
            _ => None,
        };
        waits.extend(late.map(|late| Wait {
            waiting: *called,
            late,
        }));
    }
    waits
}

fn waits_in_collectives(calls: &[ThreadCall]) -> Vec<Wait> {
    let mut waits = Vec::new();
    for of_one in &operations(calls) {
        let Some(first) = of_one.first() else {
            continue;
        };
        let last = |needed: &dyn Fn(&ThreadCall) -> bool| {
            let needed = of_one.iter().filter(|called| needed(called));
            needed
                .max_by_key(|called| (called.call.begin, called.rank))
                .copied()
        };
        let last_of_all = last(&|_| true);
        let root = first.call.peer;
        let root = last(&|called| Some(called.rank) == root);
        for waiting in of_one {
            let late = match waiting.call.role {
                CallRole::All => last_of_all,
                CallRole::FromRoot => root,
                CallRole::ToRoot if waiting.call.peer == Some(waiting.rank) => last_of_all,
                CallRole::Prefix => last(&|called| called.rank <= waiting.rank),
                _ => None,
            };
            waits.extend(late.map(|late| Wait {
                waiting: *waiting,
                late,
            }));
        }
    }
    waits
}

/// The longest wait of each call, by thread, then time. Only a wait that ended within its call
/// counts.
fn of_each_call(waits: Vec<Wait>, shortest: impl Fn(&Wait) -> u64) -> Vec<Wait> {
    let mut longest: BTreeMap<(u32, u64), Wait> = BTreeMap::new();
    for wait in waits {
        let (call, until) = (&wait.waiting.call, wait.late.call.begin);
        let is_wait = until > call.begin.saturating_add(shortest(&wait)) && until <= call.end();
        if !is_wait || wait.late.thread == wait.waiting.thread {
            continue;
        }
        let kept = longest
            .entry((wait.waiting.thread, call.begin))
            .or_insert(wait);
        if kept.late.call.begin < until {
            *kept = wait;
        }
    }
    longest.into_values().collect()
}

/// Removes samples of waiting threads, which say nothing about their work.
fn drop_samples(raw: &mut RawTrace, waits: &[Wait]) {
    let time = |wait: &Wait| (wait.waiting.thread, wait.waiting.call.begin);
    raw.samples.list.retain(|sample| {
        let begun = waits.partition_point(|wait| time(wait) <= (sample.thread, sample.t));
        let wait = begun.checked_sub(1).map(|at| &waits[at]);
        !wait.is_some_and(|wait| {
            wait.waiting.thread == sample.thread && sample.t < wait.late.call.begin
        })
    });
}

/// Removes the library's own waits while a thread waits for a rank: it may sleep or poll its
/// connections. Only what goes on after the late rank's call remains.
fn drop_stops(raw: &mut RawTrace, waits: &[Wait]) {
    let time = |wait: &Wait| (wait.waiting.thread, wait.waiting.call.begin);
    raw.samples.stops.retain_mut(|stop| {
        let begun = waits.partition_point(|wait| time(wait) <= (stop.thread, stop.t));
        let Some(wait) = begun.checked_sub(1).map(|at| &waits[at]) else {
            return true;
        };
        let until = wait.late.call.begin;
        if wait.waiting.thread != stop.thread || stop.t >= until {
            return true;
        }
        let passed = until - stop.t;
        stop.t = until;
        stop.ticks = stop.ticks.saturating_sub(passed);
        if let Some(wait) = &mut stop.wait {
            wait.held = wait.held.saturating_sub(passed);
        }
        stop.ticks > 0
    });
}

/// The ticks of the waits in which the thread was on a CPU.
fn polled(raw: &mut RawTrace, waits: &[Wait]) -> u64 {
    let offs = &mut raw.offs;
    offs.sort_by_key(|off| (off.thread, off.start));
    let on_cpu = |wait: &Wait| {
        let thread = wait.waiting.thread;
        let (begin, end) = (wait.waiting.call.begin, wait.late.call.begin);
        let first = offs.partition_point(|off| (off.thread, off.end) <= (thread, begin));
        let inside = offs[first..].iter();
        let inside = inside.take_while(|off| off.thread == thread && off.start < end);
        let off: u64 = inside
            .map(|off| off.end.min(end).saturating_sub(off.start.max(begin)))
            .sum();
        (end - begin).saturating_sub(off)
    };
    waits.iter().map(on_cpu).fold(0, u64::saturating_add)
}

fn add(raw: &mut RawTrace, waits: &[Wait]) {
    let mut functions: BTreeMap<u32, u32> = BTreeMap::new();
    let mut stacks: BTreeMap<(u32, Option<u32>), u32> = BTreeMap::new();
    for wait in waits {
        let mut stack = |called: &ThreadCall| {
            let call = &called.call;
            *stacks
                .entry((call.function, call.stack))
                .or_insert_with(|| stack_in(raw, call, &mut functions))
        };
        let (waiting, late) = (stack(&wait.waiting), stack(&wait.late));
        let call = &wait.waiting.call;
        let ticks = wait.late.call.begin - call.begin;
        raw.samples.stops.push(RawStop {
            t: call.begin,
            thread: wait.waiting.thread,
            stack: waiting,
            ticks,
            wait: Some(WaitCause {
                kind: WaitedFor::Rank,
                object: call.group.wrapping_add(call.turn).max(1),
                by: wait.late.thread,
                released_at: late,
                held: ticks,
            }),
        });
        raw.offs.push(OffCpuInterval {
            thread: wait.waiting.thread,
            start: call.begin,
            end: wait.late.call.begin,
            why: OffCpuReason::Blocked,
            on: None,
        });
    }
    raw.offs = unite(std::mem::take(&mut raw.offs));
}

/// The stack of the call, with the MPI function on top.
fn stack_in(raw: &mut RawTrace, call: &RankCall, functions: &mut BTreeMap<u32, u32>) -> u32 {
    let samples = &mut raw.samples;
    let frame = *functions.entry(call.function).or_insert_with(|| {
        samples.frames.push(Frame {
            function: call.name().to_owned(),
            ..Frame::default()
        });
        samples.frames.len() as u32 - 1
    });
    let below = match call.stack {
        Some(stack) if stack != NONE => samples.stacks.get(stack as usize).to_vec(),
        _ => Vec::new(),
    };
    samples.stacks.push([frame].into_iter().chain(below));
    samples.stacks.len() as u32 - 1
}
