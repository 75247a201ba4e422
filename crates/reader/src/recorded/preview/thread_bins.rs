//! The second pass: a thread's stack of tasks, and what ran in each bin of time.

use workspan_trace::event::Event;
use workspan_trace::thread_state::{StackVisitor, ThreadState};
use workspan_trace::wire::TaskRef;

use super::Bin;
use super::first_pass::ThreadFacts;
use crate::recorded::chunks_by_thread::Thread;
use crate::recorded::places::Places;
use crate::recorded::survey::{slot, walk};
use workspan_dag::{PlaceId, ROOT_PLACE};

/// The place "?" ([`Places`] has it as its second).
const UNKNOWN: PlaceId = 1;
/// The largest number of sites that are distinguished inside of one bin.
const MAX_SITES_PER_BIN: usize = 32;

/// A task on the stack.
pub(super) struct PreviewFrame {
    site: PlaceId,
    /// The site of the deferred child of the join it waits for.
    next: PlaceId,
}

/// The bins of a thread number, while they are being filled.
pub(super) struct ThreadBins<'r> {
    firsts: &'r [ThreadFacts],
    threads: &'r [Thread<'r>],
    places: &'r Places,
    begin: u64,
    level: u32,
    bins: Vec<Bin>,
    /// The current bin, its end, and its ticks by site.
    at: usize,
    until: u64,
    here: Vec<(PlaceId, u64)>,
    now: u64,
}

impl<'r> ThreadBins<'r> {
    pub(super) fn new(
        (firsts, threads): (&'r [ThreadFacts], &'r [Thread<'r>]),
        places: &'r Places,
        (begin, level): (u64, u32),
        bins: usize,
    ) -> ThreadBins<'r> {
        let mut lane = ThreadBins {
            firsts,
            threads,
            places,
            begin,
            level,
            bins: vec![Bin::default(); bins],
            at: 0,
            until: 0,
            here: Vec::with_capacity(MAX_SITES_PER_BIN),
            now: 0,
        };
        lane.turn(begin);
        lane
    }

    /// Adds a thread's activity. Tasks open at its last record lasted until `last`.
    pub(super) fn walk(&mut self, thread: &Thread<'_>, last: u64) {
        let mut state = ThreadState::default();
        self.now = 0;
        let bad = walk(thread, |t, event| {
            // Off-CPU times come after all other records, but belong to an earlier time.
            if matches!(event, Event::Off { .. }) {
                return;
            }
            self.pass(&state, t);
            state.pass_to(&event, self);
            match event {
                Event::Join { .. } => self.count(2),
                Event::Create { .. } if !state.stack.is_empty() => self.count(1),
                _ => {}
            }
        });
        if bad.is_none() && !thread.cut {
            self.pass(&state, last);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Bin> {
        self.settle();
        let width = 1u64 << self.level;
        for bin in &mut self.bins {
            // For threads that share a number, or a clock that went back.
            bin.busy = bin.busy.min(width);
        }
        self.bins
    }

    /// Advances the time to `t`.
    fn pass(&mut self, state: &ThreadState<PreviewFrame>, t: u64) {
        if let Some(top) = state.stack.last()
            && state.is_running()
            && t > self.now
        {
            let (site, mut from) = (top.frame.site, self.now);
            if from >= self.until {
                self.turn(from);
            }
            while t > self.until {
                self.add(site, self.until.saturating_sub(from));
                from = self.until;
                self.turn(from);
            }
            self.add(site, t - from.min(t));
        }
        self.now = t;
    }

    fn add(&mut self, site: PlaceId, ticks: u64) {
        if let Some(here) = self.here.iter_mut().find(|here| here.0 == site) {
            here.1 += ticks;
        } else if self.here.len() < MAX_SITES_PER_BIN {
            self.here.push((site, ticks));
        } else {
            // The time counts, even if its site is not known.
            self.bins[self.at].busy += ticks;
        }
    }

    /// Advances to the bin of `t`, which is after the current one.
    fn turn(&mut self, t: u64) {
        self.settle();
        let bin = (t.saturating_sub(self.begin) >> self.level) as usize;
        if bin >= self.bins.len() - 1 {
            (self.at, self.until) = (self.bins.len() - 1, u64::MAX);
        } else {
            self.at = bin;
            self.until = self.begin + ((bin as u64 + 1) << self.level);
        }
    }

    fn settle(&mut self) {
        let bin = &mut self.bins[self.at];
        // The lowest number among equals.
        let most = |here: &&(PlaceId, u64)| (here.1, std::cmp::Reverse(here.0));
        if let Some(&(site, _)) = self.here.iter().max_by_key(most) {
            bin.place = site;
        }
        bin.busy += self.here.drain(..).map(|here| here.1).sum::<u64>();
    }

    /// Counts a strand that begins now, and tasks that were created.
    fn count(&mut self, creates: u32) {
        if self.now >= self.until {
            self.turn(self.now);
        }
        let bin = &mut self.bins[self.at];
        bin.strands = bin.strands.saturating_add(1);
        bin.creates = bin.creates.saturating_add(creates);
    }

    /// The site of the task with this name.
    fn site_of(&self, (thread, count): TaskRef) -> Option<PlaceId> {
        self.firsts[slot(self.threads, thread)?].site(count)
    }

    /// The site of this parallel region.
    fn site_of_team(&self, (thread, count): TaskRef) -> Option<PlaceId> {
        let teams = &self.firsts[slot(self.threads, thread)?].teams;
        let at = teams.binary_search_by_key(&count, |team| team.0).ok()?;
        Some(teams[at].1)
    }
}

impl StackVisitor for ThreadBins<'_> {
    type Frame = PreviewFrame;

    fn begin(
        &mut self,
        record: Option<&Event<'_>>,
        _: u64,
        below: Option<&mut PreviewFrame>,
    ) -> PreviewFrame {
        let site = match record {
            None | Some(Event::Root) => ROOT_PLACE,
            Some(&Event::Join { site } | &Event::StolenPart { site, .. }) => self.places.of(site),
            Some(Event::Next) => {
                below.map_or(UNKNOWN, |below| std::mem::replace(&mut below.next, UNKNOWN))
            }
            Some(&Event::Begin(name)) => self.site_of(name).unwrap_or(UNKNOWN),
            Some(&Event::Member { team, .. }) => self.site_of_team(team).unwrap_or(UNKNOWN),
            // It was on another thread, or in records that the trace does not have.
            _ => UNKNOWN,
        };
        self.count(0);
        let next = UNKNOWN;
        PreviewFrame { site, next }
    }

    fn stop(&mut self, top: &mut PreviewFrame, record: &Event<'_>) {
        if let Event::Join { site } = *record {
            top.next = self.places.of(site);
        }
    }

    fn resume(&mut self, _: &mut PreviewFrame) {
        self.count(0);
    }
}
