//! A run that says nothing but tasks, joins and hops, without a contradiction: read in one walk,
//! straight into the columns.
//!
//! Most of the tasks of a large run are joins that nobody else touches. Where a trace has only
//! records of the kinds below, all threads' records are walked in the order of time: a task then
//! gets its number when it is created and a strand its place when it starts, so that nothing has to
//! be sorted, looked up or built again. Whatever this walk does not expect (other records, damage,
//! times that contradict each other, tasks that nobody ended) makes it give up, and
//! [`super::replay`] and [`workspan_dag::build`] read the trace, by rules that take everything.
//! What comes out is the same wherever both can read: the tests compare them.

mod ahead;
mod columns;
mod record;
mod survey;
mod ties;
mod walk;

use super::chunks_by_thread::TraceChunks;
use super::places::Places;
use super::{Extent, facts, off_cpu, samples, workers};
use super::{off_cpu_estimate, replay::ReplayLog};
use workspan_dag::Dag;
use workspan_dag::build::in_order::{self, InOrder};
use workspan_dag::raw::RawTrace;

/// The run; `None` when it is more than this reader takes. `size` is the file's, in bytes.
pub(super) fn dag(gathered: &TraceChunks<'_>, places: &mut Places, size: usize) -> Option<Dag> {
    let survey = survey::survey(gathered)?;
    let mut raw = RawTrace::default();
    let (mut columns, told) = walk::walk(gathered, &survey, places, &mut raw)?;
    ties::settle(&mut columns)?;
    let extent = survey.extent;
    raw.offs = off_cpu::unite(std::mem::take(&mut raw.offs));
    let strands = columns.strands.thread.iter();
    let times = columns.strands.start.iter().zip(&columns.strands.end);
    let strands = strands.zip(times).map(|(&on, (&from, &to))| (on, from, to));
    off_cpu_estimate::spread(gathered, extent, strands, &mut raw.offs);
    samples::samples(gathered, extent, &mut raw);
    finish(gathered, extent, places, &told, columns, raw, size)
}

fn finish(
    gathered: &TraceChunks<'_>,
    extent: Extent,
    places: &mut Places,
    told: &ReplayLog,
    mut columns: InOrder,
    mut raw: RawTrace,
    size: usize,
) -> Option<Dag> {
    let threads = workers::assign(told, extent.last - extent.first);
    raw.meta = facts::meta(gathered, extent, told, &threads, places, size);
    raw.pools = workers::pools(told, &threads, places, extent.last - extent.first);
    workers::renumber(&threads, &mut columns.strands.thread, &mut raw);
    raw.places = std::mem::take(&mut places.list);
    match in_order::dag(columns, &mut raw) {
        Some(dag) => Some(dag),
        None => {
            places.list = raw.places;
            None
        }
    }
}
