//! The traces of a run's processes, each with its position on the common clock.

use workspan_dag::{Error, note_keys as key};
use workspan_trace::ClockKind;

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
}

/// Reads all processes, in order of rank, then time.
pub(super) fn read(traces: &[&[u8]], options: &OpenOptions) -> Result<Vec<Member>, Error> {
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
    align(&mut members)?;
    members.sort_by_key(|member| {
        let rank = member.rank.map_or(u64::MAX, u64::from);
        (rank, member.from, member.trace.header.pid)
    });
    Ok(members)
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
        trace,
    }
}

/// Puts all processes on one clock, which begins with the first of them. The processes of one
/// machine share its clock, so their ticks are directly comparable.
fn align(members: &mut [Member]) -> Result<(), Error> {
    let clock = |member: &Member| member.trace.header.clock;
    let host = |member: &Member| member.trace.raw.meta.host.clone();
    let first = members.iter().map(|member| member.from).min().unwrap_or(0);
    let [head, rest @ ..] = &*members else {
        return Ok(());
    };
    if rest.iter().any(|member| clock(member) != clock(head)) {
        let name = |kind| match kind {
            ClockKind::Tsc => "the CPU's time-stamp counter",
            ClockKind::Nanoseconds => "CLOCK_MONOTONIC_RAW",
        };
        let other = rest.iter().find(|member| clock(member) != clock(head));
        return Err(Error::Trace(format!(
            "its traces have different clocks ({} and {}), so they can't be read as one run; read each by itself",
            name(clock(head)),
            name(other.map_or(ClockKind::Tsc, clock)),
        )));
    }
    if let Some(other) = rest.iter().find(|member| host(member) != host(head)) {
        let name = |member| host(member).unwrap_or_else(|| "?".into());
        return Err(Error::Trace(format!(
            "its traces are of different machines ({} and {}), whose clocks can't be compared; read each by itself",
            name(head),
            name(other),
        )));
    }
    for member in members {
        member.from -= first;
        let raw = &member.trace.raw;
        let last = raw.strands.end.iter().max().copied().unwrap_or(0);
        member.to = member.from.saturating_add(last);
    }
    Ok(())
}
