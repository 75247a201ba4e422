//! Reads a `.dag` file of DAG Recorder, version 1.24.
//!
//! The file is a tree (MODEL.md §1): a *task* holds sections, intervals and its end; a *section*
//! holds nested sections, creates and the wait that joins them. Intervals are the leaves, and
//! become strands. A task or a section without children was folded by DAG Recorder. It becomes one
//! folded strand (MODEL.md §7), whose work, span and counts are known.
//!
//! Edges follow from the tree, as they do in DAG Recorder itself. The file's own list of them is
//! only checked.

mod layout;
mod places;
mod tree;

use workspan_dag::build::{Mode, build};
use workspan_dag::meta::{Meta, TimeUnit};
use workspan_dag::raw::RawTrace;
use workspan_dag::{Dag, Error};

use crate::formats::{Format, Reading};
use crate::open::OpenOptions;

/// The format's entry in the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "DAG Recorder's .dag",
    begins: layout::begins,
    reading: Reading::Trace(read),
    cannot_tell: &[
        "the rate of its clock: a tick is shown as 1 ns",
        "what ran on a CPU: time off the CPU counts as work",
        "the scheduler's own steals: they are inferred from who ran what",
        "spawn sites and burdened edges inside of what DAG Recorder folded",
        "regions, samples of the code, and the names of counters",
    ],
};

/// The file does not have the number of ticks per second.
const ASSUMED_TICKS_PER_SECOND: u64 = 1_000_000_000;

/// Reads the file.
///
/// # Errors
/// [`Error::Recorded`] with the byte of the damage: another version, fewer bytes than the header
/// says, a node of an unknown kind or in a wrong place. With [`OpenOptions::allow_truncated`],
/// names of source files may be missing.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let file = layout::File::open(bytes, options.allow_truncated)?;
    let mut raw = RawTrace {
        meta: Meta {
            workers: file.workers,
            threads: file.workers,
            time_unit: TimeUnit::Cycles,
            ticks_per_second: ASSUMED_TICKS_PER_SECOND,
            facts: vec![("start clock".into(), file.start_clock.to_string())],
            ..Meta::default()
        },
        ..RawTrace::default()
    };
    if file.lacks_names() {
        raw.meta.warnings.push(
            "The file ends before the names of its source files, so positions are not known."
                .into(),
        );
    }
    tree::walk(&file, &mut raw)?;
    build(raw, Mode::Repair)
}
