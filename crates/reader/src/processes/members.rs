//! The traces of a run's processes, each with its position on the common clock.

use std::collections::BTreeMap;

use workspan_dag::processes::HostClock;
use workspan_dag::{Error, note_keys as key};
use workspan_trace::ClockKind;

use super::host_clocks;
use crate::open::{FileKind, OpenOptions, plain};
use crate::recorded;

/// A process.
pub(super) struct Member {
    /// The process's run, in its own times and numbers.
    pub(super) trace: recorded::Member,
    /// Its first moment on the common clock, in ticks.
    pub(super) from: u64,
    /// Its last moment on the common clock, in ticks.
    pub(super) to: u64,
    /// The rank that the launcher assigned to it.
    pub(super) rank: Option<u32>,
    /// The launch that it belongs to.
    pub(super) launch: String,
    /// How far its times may be off those of the run's first host, in ticks.
    pub(super) clock_error: u64,
}

impl Member {
    /// The last moment of its strands, in the ticks of its file.
    pub(super) fn last_tick(&self) -> u64 {
        let last = self.trace.raw.strands.end.iter().max().copied();
        self.trace.first.saturating_add(last.unwrap_or(0))
    }
}

/// Reads all processes, in order of rank, then time, and the clocks of hosts other than the first.
pub(super) fn read(
    traces: &[&[u8]],
    options: &OpenOptions,
) -> Result<(Vec<Member>, Vec<HostClock>), Error> {
    let mut members = Vec::with_capacity(traces.len());
    for (at, bytes) in traces.iter().enumerate() {
        let name = |error: Error| Error::Trace(format!("trace {} of the run: {error}", at + 1));
        let bytes = plain(bytes, options.allow_truncated).map_err(name)?;
        if FileKind::from_bytes(&bytes) != Some(FileKind::Recorded) {
            let what = format!(
                "trace {} of the run was not recorded by workspan; copy the file again",
                at + 1
            );
            return Err(Error::Trace(what));
        }
        members.push(member(recorded::member(&bytes, options).map_err(name)?));
    }
    if members.is_empty() {
        return Err(Error::Trace("contains no trace".into()));
    }
    let clocks = align(&mut members)?;
    members.sort_by_key(|member| {
        let rank = member.rank.map_or(u64::MAX, u64::from);
        (rank, member.from, member.trace.header.pid)
    });
    Ok((members, clocks))
}

fn member(trace: recorded::Member) -> Member {
    let note = |key: &str| {
        let note = trace.notes.iter().find(|note| note.key == key);
        note.map(|note| note.value.clone())
    };
    Member {
        from: trace.first,
        to: trace.first,
        rank: note(key::RANK).and_then(|rank| rank.parse().ok()),
        launch: note(key::LAUNCH).unwrap_or_default(),
        clock_error: 0,
        trace,
    }
}

/// Puts all processes on one clock, which begins with the first of them. The processes of one host
/// share its clock, so their ticks are directly comparable. Returns the clocks of other hosts.
fn align(members: &mut [Member]) -> Result<Vec<HostClock>, Error> {
    one_clock_a_host(members)?;
    let mut clocks = Vec::new();
    if host_clocks::are_several(members) {
        clocks = host_clocks::align(members);
    } else {
        let first = members.iter().map(|member| member.from).min().unwrap_or(0);
        members.iter_mut().for_each(|member| member.from -= first);
    }
    for member in members {
        let raw = &member.trace.raw;
        let last = raw.strands.end.iter().max().copied().unwrap_or(0);
        member.to = member.from.saturating_add(last);
    }
    Ok(clocks)
}

/// Refuses processes of one host with different clocks.
fn one_clock_a_host(members: &[Member]) -> Result<(), Error> {
    let name = |kind| match kind {
        ClockKind::Tsc => "the CPU's time-stamp counter",
        ClockKind::Nanoseconds => "CLOCK_MONOTONIC_RAW",
    };
    let mut clocks: BTreeMap<&Option<String>, ClockKind> = BTreeMap::new();
    for member in members {
        let own = member.trace.header.clock;
        let known = *clocks.entry(&member.trace.raw.meta.host).or_insert(own);
        if known != own {
            return Err(Error::Trace(format!(
                "its traces have different clocks ({} and {}), so they can't be read as one run; read each by itself",
                name(known),
                name(own),
            )));
        }
    }
    Ok(())
}
