//! What the first walk learns of subtrees that were not recorded: their parts on other threads, and from those drawn to be
//! recorded in full what is inside the others.

mod curve;
mod meter;
mod model;
mod rate;

use workspan_trace::event::Event;
use workspan_trace::wire::TaskRef;

use self::meter::Meter;
pub(super) use self::model::{Estimate, Model};
use super::count::Counts;
use super::gather::Thread;

/// A part as read.
#[derive(Debug, Clone, Copy)]
struct Told {
    of: TaskRef,
    part: Part,
}

/// A task created in an unrecorded subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Its place in the list of all tasks by thread and count.
    pub nth: u32,
    /// Its site in the file.
    pub site: u32,
}

/// Gathers them over all threads.
#[derive(Debug, Default)]
pub(super) struct Unrecorded {
    told: Vec<Told>,
    /// (Place in the list of yields of the subtree, part), by subtree, then in the order of the threads.
    parts: Vec<(u32, Part)>,
    /// Of the thread that is walked: the join that was drawn.
    meter: Option<Meter>,
    /// The subtree that began with its last record: site, level, time.
    begun: Option<(u32, u64, u64)>,
    model: Model,
}

impl Unrecorded {
    /// The next thread is walked.
    pub(super) fn thread(&mut self) {
        (self.meter, self.begun) = (None, None);
    }

    /// True while records other than those below have to be told.
    #[inline]
    pub(super) fn listens(&self) -> bool {
        self.meter.is_some() || self.begun.is_some()
    }

    /// A record of the thread that is walked.
    pub(super) fn event(&mut self, t: u64, event: &Event<'_>) {
        let begun = self.begun.take();
        if let Some(meter) = &mut self.meter {
            match meter.event(t, event) {
                meter::State::Open => {}
                meter::State::Whole => {
                    if let Some(meter) = self.meter.take() {
                        self.model.sample(meter.finish());
                    }
                }
                meter::State::Spoilt => self.meter = None,
            }
        }
        if let (Event::Recorded, Some((site, level, from))) = (event, begun) {
            self.model.passed((site, level), t.saturating_sub(from));
        }
    }

    /// A drawn join, or an unrecorded subtree, begins.
    pub(super) fn begins(&mut self, t: u64, event: &Event<'_>) {
        match *event {
            Event::Sampled { site, level } => {
                self.meter = Some(Meter::new(site, level, self.model.probe));
            }
            Event::Unrecorded { site, level } => self.begun = Some((site, level, t)),
            _ => {}
        }
    }

    /// A part begins; it has that place in the list of all tasks.
    pub(super) fn part(&mut self, of: TaskRef, nth: u32, site: u32) {
        let part = Part { nth, site };
        self.told.push(Told { of, part });
    }

    /// What a record around a strand costs it, in ticks; before anything is told.
    pub(super) fn set_probe(&mut self, ticks: u64) {
        self.model.probe = ticks;
    }

    /// After all threads.
    pub(super) fn settle(&mut self, counts: &Counts, threads: &[Thread<'_>]) {
        let told = std::mem::take(&mut self.told);
        let places = told
            .into_iter()
            .filter_map(|Told { of, part }| Some((counts.yielded(threads, of)?, part)));
        self.parts = places.collect();
        self.parts.sort_by_key(|&(of, part)| (of, part.nth));
        self.model.settle();
    }

    /// The parts of the subtree that has that place in the list of yields.
    pub(super) fn parts(&self, of: u32) -> impl ExactSizeIterator<Item = Part> + '_ {
        let from = self.parts.partition_point(|p| p.0 < of);
        let to = self.parts.partition_point(|p| p.0 <= of);
        self.parts[from..to].iter().map(|p| p.1)
    }

    /// What is inside a strand of so many ticks of an unrecorded subtree. `draw` tells strands apart.
    pub(super) fn estimate(&self, site: u32, ticks: u64, draw: u64) -> Estimate {
        self.model.estimate(site, ticks, draw)
    }

    /// Subtrees with nothing else on their thread that were not recorded, and those drawn to be.
    pub(super) fn drawn(&self) -> (u64, u64) {
        self.model.drawn()
    }
}
