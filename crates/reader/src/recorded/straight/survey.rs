//! What a trace holds, before anything is made of it: whether the walk can take it, and how long
//! its columns will be.

use rayon::prelude::*;
use workspan_trace::event::{Event, Events};

use crate::recorded::Extent;
use crate::recorded::chunks_by_thread::{Records, TraceChunks};
use workspan_dag::NONE;
use workspan_dag::cancel::checked;

/// What there is.
#[derive(Debug)]
pub(super) struct Survey {
    pub extent: Extent,
    /// Tasks that each thread creates.
    pub tasks: Vec<usize>,
    pub joins: usize,
    /// Strands that records start; a few more go on without one.
    pub strands: usize,
    /// Yields that some thread says it took over: (thread, count), ascending.
    pub taken: Vec<(u32, u64)>,
}

/// Of one chunk, or of several.
#[derive(Debug, Default)]
struct Counts {
    events: u64,
    tasks: usize,
    joins: usize,
    strands: usize,
    first: Option<u64>,
    last: u64,
    taken: Vec<(u32, u64)>,
    strange: bool,
}

/// Counts all records, the chunks side by side; `None` when there is one that the walk does not
/// take.
pub(super) fn survey(gathered: &TraceChunks<'_>) -> Option<Survey> {
    if gathered.threads.iter().any(|t| t.cut) {
        return None;
    }
    let chunks: Vec<(usize, &Records<'_>)> = gathered
        .threads
        .iter()
        .enumerate()
        .flat_map(|(slot, thread)| thread.chunks.iter().map(move |chunk| (slot, chunk)))
        .collect();
    let counted: Vec<(usize, Counts)> = chunks
        .into_par_iter()
        .map(|(slot, chunk)| (slot, count(chunk)))
        .collect();
    let mut survey = Survey {
        extent: Extent {
            first: u64::MAX,
            ..Extent::default()
        },
        tasks: vec![0; gathered.threads.len()],
        joins: 0,
        strands: 0,
        taken: Vec::new(),
    };
    for (slot, counts) in counted {
        if counts.strange {
            return None;
        }
        let extent = &mut survey.extent;
        extent.events += counts.events;
        extent.first = extent.first.min(counts.first.unwrap_or(u64::MAX));
        extent.last = extent.last.max(counts.last);
        extent.tasks += counts.tasks;
        survey.tasks[slot] += counts.tasks;
        survey.joins += counts.joins;
        survey.strands += counts.strands;
        survey.taken.extend(counts.taken);
    }
    let extent = &mut survey.extent;
    extent.first = extent.first.min(extent.last);
    if let Some(finished) = gathered.finished.filter(|_| gathered.header.dropped == 0) {
        extent.last = extent.last.max(finished.ticks);
    }
    // As many as `check_indices` lets a reader tell, with room for those that go on without a
    // record.
    let most = survey.strands.saturating_mul(2) + 2 * extent.tasks;
    if extent.tasks == 0
        || most >= NONE as usize
        || extent.last - extent.first > super::walk::LATEST
    {
        return None;
    }
    survey.taken.sort_unstable();
    Some(survey)
}

fn count(chunk: &Records<'_>) -> Counts {
    let mut counts = Counts::default();
    let mut events = Events::new(chunk.bytes, chunk.base);
    for (t, event) in checked(events.by_ref()) {
        counts.events += 1;
        counts.first.get_or_insert(t);
        counts.last = t;
        match event {
            Event::Join { .. } => {
                counts.joins += 1;
                counts.tasks += 2;
                counts.strands += 1;
            }
            Event::End => {}
            Event::Next | Event::EndResume | Event::Begin(_) | Event::Resume => counts.strands += 1,
            Event::Root => {
                counts.tasks += 1;
                counts.strands += 1;
            }
            Event::ResumeYielded { thread, count } => {
                counts.strands += 1;
                counts.taken.push((thread, count));
            }
            Event::Yield { .. }
            | Event::Leave { .. }
            | Event::Steal { .. }
            | Event::StealFailed { .. }
            | Event::Sleep
            | Event::Wake
            | Event::Worker { .. }
            | Event::WorkerEnd
            | Event::Pool { .. }
            | Event::PoolEnd { .. }
            | Event::Off { .. }
            | Event::Recorder { .. } => {}
            _ => {
                counts.strange = true;
                return counts;
            }
        }
    }
    counts.strange = events.is_bad();
    counts
}
