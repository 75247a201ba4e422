//! Reads the traces of several processes of one run as one run.
//!
//! `members` reads each trace, and puts all of them on one clock; for processes of several hosts
//! `host_clocks` does that, by the order of moments that calls of MPI show (`call_order`), which
//! bounds the clocks' offsets (`clock_offsets`, `offset_region`). `matched_calls` finds the calls
//! that belong together. `merge` gives tasks, places,
//! stacks and threads numbers that are unique in the run. `late_ranks` finds which rank waited for
//! which in calls of MPI. `run` combines the facts about the run as a whole.

mod call_order;
mod clock_offsets;
mod host_clocks;
mod late_ranks;
mod matched_calls;
mod member_offsets;
mod members;
mod merge;
mod offset_region;
mod run;
mod thread_numbers;

use std::io::{self, Write};

use workspan_dag::build::{Mode, build};
use workspan_dag::{Dag, Error};
use workspan_trace::bundle;

use crate::open::OpenOptions;

/// The [`Dag`] of a bundle's processes.
///
/// # Errors
/// The bytes are not a bundle, one of its traces cannot be read, or the traces have different
/// clocks.
pub(crate) fn dag(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let traces = bundle::traces(bytes)?;
    let (members, clocks) = members::read(&traces, options)?;
    let mut raw = merge::merge(members, clocks)?;
    late_ranks::find(&mut raw);
    build(raw.trace, Mode::Repair)
}

/// Writes a bundle of these traces, each the whole of a recorded trace's file.
///
/// # Errors
/// The writer's errors.
pub fn write(traces: &[&[u8]], mut out: impl Write) -> io::Result<()> {
    let lengths: Vec<u64> = traces.iter().map(|trace| trace.len() as u64).collect();
    let (head, offsets) = bundle::head(&lengths);
    out.write_all(&head)?;
    let mut at = head.len() as u64;
    for (trace, &offset) in traces.iter().zip(&offsets) {
        let gap = offset.saturating_sub(at) as usize;
        out.write_all(&vec![0; gap])?;
        out.write_all(trace)?;
        at = offset + trace.len() as u64;
    }
    out.flush()
}
