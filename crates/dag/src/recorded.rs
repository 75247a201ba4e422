//! Reads a recorded trace (`.wspan`, or the spool file a process left behind).
//!
//! `gather` sorts the file's chunks by what they are; `count` walks all events once to learn how many tasks, scopes
//! and yields each thread has and who was in which team (`teams`), what unrecorded subtrees hold (`unrecorded`), and numbers the tasks by creation; `replay` walks them again with each thread's stack of
//! tasks and tells the run; `workers` gives threads their numbers, `places` sites their names, `clock` ticks their
//! rate, `estimate` off-CPU times their strands, and `off_cpu` makes one of those told twice. What is inconsistent is repaired, counted and told in the warnings; times
//! start at 0.

mod clock;
mod count;
mod estimate;
mod facts;
mod gather;
mod off_cpu;
mod places;
mod replay;
mod samples;
pub mod sketch;
mod teams;
mod unrecorded;
mod workers;

pub(crate) use self::gather::damage_told;
use crate::error::Error;
use crate::open::OpenOptions;
use crate::raw::RawTrace;

/// Reads a recorded trace from the bytes of its file. Time is linear in the events (n log t with t threads).
///
/// # Errors
/// It is none, of another version, damaged (unless `options.allow_truncated`), without any task, or with 2^32 tasks or
/// strands.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<RawTrace, Error> {
    let gathered = gather::gather(bytes, options)?;
    let counts = count::count(&gathered)?;
    let places = places::places(&gathered);
    let mut raw = RawTrace::default();
    let told = replay::replay(&gathered, &counts, &places, &mut raw);
    raw.offs = off_cpu::unite(std::mem::take(&mut raw.offs));
    estimate::spread(&gathered, &counts, &mut raw);
    samples::samples(&gathered, &counts, &mut raw);
    let threads = workers::assign(&told, counts.last - counts.first);
    raw.meta = facts::meta(&gathered, &counts, &told, &threads, &places, bytes.len());
    workers::renumber(&threads, &mut raw);
    raw.late_ends = facts::late_ends(&gathered.notes);
    (raw.places, raw.labels) = (places.list, gathered.labels);
    Ok(raw)
}
