//! A preview of a trace that takes long to read: a picture of the run before its
//! [`workspan_dag::Dag`] is built.
//!
//! It takes two passes over the events, each over all threads in parallel. `first_pass` finds the
//! site of each task, the begin and end of the run, and the workers. The second pass replays each
//! thread's stack of tasks and sums up what ran in each of about a thousand bins of time
//! (`thread_bins`). Waits are ignored, and with them everything that costs time and memory. Of
//! tasks that stopped on one thread and go on on another, the site is therefore not known.

mod first_pass;
mod place_codes;
mod thread_bins;

use std::collections::BTreeMap;

use rayon::prelude::*;

use self::first_pass::ThreadFacts;
use self::thread_bins::ThreadBins;
use super::replay::ReplayLog;
use super::{Extent, chunks_by_thread, facts, places, workers};
use crate::open::OpenOptions;
use workspan_dag::Error;
use workspan_dag::meta::Meta;
use workspan_dag::{Place, PlaceId};

/// A run in bins of time.
#[derive(Debug)]
pub struct Preview {
    /// The run as a whole.
    pub meta: Meta,
    /// The places that [`Bin::place`] refers to.
    pub places: Vec<Place>,
    /// The beginning of the run, in ticks, as the strands of its DAG count them.
    pub begin: u64,
    /// The end of the run, in ticks.
    pub end: u64,
    /// The number of tasks created.
    pub tasks: u64,
    /// A bin has 2^level ticks; the first one begins at `begin`.
    pub level: u32,
    /// The run's bins by thread number; empty for a thread that ran nothing, and for those beyond
    /// [`MAX_PREVIEWED_THREADS`].
    pub threads: Vec<Vec<Bin>>,
}

/// The activity of a thread in a bin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// Ticks inside of strands, whether on the CPU or not.
    pub busy: u64,
    /// The number of strands that began.
    pub strands: u32,
    /// The number of tasks created.
    pub creates: u32,
    /// The spawn site whose tasks ran longest.
    pub place: PlaceId,
}

/// The largest number of threads in a preview.
pub const MAX_PREVIEWED_THREADS: usize = 1024;
/// The largest number of bins of all threads together, and of each.
const MAX_BINS: u64 = 1 << 20;
const MIN_BINS_PER_THREAD: u64 = 1 << 10;
const MAX_BINS_PER_THREAD: u64 = 1 << 14;

/// Previews the recorded trace in the bytes of its file. Time is linear in the number of events.
/// Temporary memory is linear in the number of tasks (usually a byte each).
///
/// # Errors
/// The bytes are not a recorded trace, have another version, are damaged (unless
/// `options.allow_truncated`), or have no task.
pub fn preview(bytes: &[u8], options: &OpenOptions) -> Result<Preview, Error> {
    let chunks = chunks_by_thread::read(bytes, options)?;
    let places = places::places(&chunks);
    let firsts: Vec<ThreadFacts> = (0u32..)
        .zip(&chunks.threads)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(place, thread)| ThreadFacts::new(place, thread, &places))
        .collect();
    // The number of tasks is stored separately.
    let mut extent = Extent {
        first: u64::MAX,
        ..Extent::default()
    };
    let mut log = ReplayLog::default();
    let (mut began, mut tasks) = (u64::MAX, 0);
    for first in &firsts {
        let own = &first.extent;
        extent.first = extent.first.min(own.first);
        extent.last = extent.last.max(own.last);
        extent.events += own.events;
        extent.bad += u64::from(first.bad);
        began = began.min(own.about_tasks.map_or(u64::MAX, |times| times.0));
        tasks += first.sites.len() as u64 + first.members;
        own.tell(&mut log);
    }
    if began == u64::MAX {
        return Err(Error::Trace("the trace has no task".into()));
    }
    if let Some(finished) = chunks.finished.filter(|_| chunks.header.dropped == 0) {
        extent.last = extent.last.max(finished.ticks);
    }
    let threads = workers::assign(&log, extent.last);
    let meta = facts::meta(&chunks, extent, &log, &threads, &places, bytes.len());
    // Threads that share a number ran one after the other.
    let mut shared: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, &number) in threads.number.iter().enumerate() {
        shared.entry(number).or_default().push(place);
    }
    shared.retain(|&number, _| (number as usize) < MAX_PREVIEWED_THREADS);
    let level = level(extent.last - began, shared.len() as u64);
    let bins = ((extent.last - began) >> level) as usize + 1;
    let found: Vec<(u32, Vec<Bin>)> = shared
        .into_par_iter()
        .filter(|(_, places)| {
            places
                .iter()
                .any(|&i| firsts[i].extent.about_tasks.is_some())
        })
        .map(|(number, indices)| {
            let mut lane =
                ThreadBins::new((&firsts, &chunks.threads), &places, (began, level), bins);
            for place in indices {
                lane.walk(&chunks.threads[place], extent.last);
            }
            (number, lane.finish())
        })
        .collect();
    let mut threads = vec![Vec::new(); (meta.threads as usize).min(MAX_PREVIEWED_THREADS)];
    for (number, bins) in found {
        if let Some(slot) = threads.get_mut(number as usize) {
            *slot = bins;
        }
    }
    Ok(Preview {
        meta,
        places: places.list,
        begin: began - extent.first,
        end: extent.last - extent.first,
        tasks,
        level,
        threads,
    })
}

/// The level of the bins: finer if there are fewer threads.
fn level(elapsed: u64, threads: u64) -> u32 {
    let bins = (MAX_BINS / threads.max(1)).clamp(MIN_BINS_PER_THREAD, MAX_BINS_PER_THREAD);
    // As many bins as `bins`, rounded to the next power of two of their width.
    (elapsed / bins + 1).next_power_of_two().trailing_zeros()
}
