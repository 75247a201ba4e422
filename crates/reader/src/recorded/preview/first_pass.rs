//! The first pass: collects the facts about each thread that the second pass of other threads
//! needs.

use workspan_trace::event::Event;

use super::place_codes::PlaceCodes;
use crate::recorded::chunks_by_thread::Thread;
use crate::recorded::places::Places;
use crate::recorded::survey::{UnseenCounts, walk};
use crate::recorded::thread_extent::ThreadExtent;
use workspan_dag::PlaceId;

/// The facts about a thread.
#[derive(Debug)]
pub(super) struct ThreadFacts {
    /// The site of each task it created, in the order of creation.
    pub sites: PlaceCodes,
    /// Create counts without a site.
    skipped: UnseenCounts,
    /// Its parallel regions: scope count and site, ascending.
    pub teams: Vec<(u64, PlaceId)>,
    /// The number of members of regions that began on it.
    pub members: u64,
    pub extent: ThreadExtent,
    /// Whether it has bytes that are not a record.
    pub bad: bool,
}

impl ThreadFacts {
    /// Reads the thread at `place` in the file.
    pub(super) fn new(place: u32, thread: &Thread<'_>, places: &Places) -> ThreadFacts {
        let mut it = ThreadFacts {
            sites: PlaceCodes::default(),
            skipped: UnseenCounts::default(),
            teams: Vec::new(),
            members: 0,
            extent: ThreadExtent::new(place),
            bad: false,
        };
        // A file may contain any number.
        let mut scopes = 0u64;
        let bad = walk(thread, |t, event| {
            it.extent.record(t, &event);
            match event {
                Event::Join { site } => {
                    let place = places.of(site);
                    it.sites.push(place);
                    it.sites.push(place);
                }
                Event::Root => it.sites.push(workspan_dag::ROOT_PLACE),
                Event::Create { site, .. } | Event::StolenPart { site, .. } => {
                    it.sites.push(places.of(site));
                }
                Event::Scope { .. } => scopes = scopes.saturating_add(1),
                Event::Team { site } => {
                    it.teams.push((scopes, places.of(site)));
                    scopes = scopes.saturating_add(1);
                }
                Event::Skip {
                    tasks,
                    scopes: of_scopes,
                } => {
                    it.skipped.skip(it.sites.len() as u64, tasks);
                    scopes = scopes.saturating_add(of_scopes);
                }
                Event::Restart { .. } if it.extent.events > 1 => {}
                Event::Restart {
                    tasks,
                    scopes: of_scopes,
                    ..
                } => {
                    it.skipped.skip(0, tasks);
                    scopes = of_scopes;
                }
                Event::Member { .. } => it.members += 1,
                _ => {}
            }
        });
        it.bad = bad.is_some();
        it
    }

    /// The site of the task with this create count.
    pub(super) fn site(&self, count: u64) -> Option<PlaceId> {
        let nth = self.skipped.trace_index(count)?;
        self.sites.get(usize::try_from(nth).ok()?)
    }
}
