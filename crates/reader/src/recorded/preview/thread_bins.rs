//! The second walk: a thread's stack of tasks, and what ran in each bin of time.

use workspan_trace::event::Event;
use workspan_trace::thread_state::TaskState;

use super::Bin;
use super::first_pass::ThreadFacts;
use crate::recorded::chunks_by_thread::Thread;
use crate::recorded::places::Places;
use crate::recorded::survey::{slot, walk};
use workspan_dag::{PlaceId, ROOT_PLACE};

/// The place "?" ([`Places`] keeps it second).
const UNKNOWN: PlaceId = 1;
/// Sites that are told apart inside of one bin.
const SITES: usize = 32;

/// A task on the stack.
#[derive(Debug, Clone, Copy)]
struct PreviewFrame {
    site: PlaceId,
    /// It waits or yielded.
    stopped: bool,
    /// It stopped because another began on top of it, and goes on when that one is gone.
    interrupted: bool,
    /// The site of the deferred child of the join it waits for.
    next: PlaceId,
}

/// A thread number's bins, in the making.
pub(super) struct ThreadBins<'r> {
    firsts: &'r [ThreadFacts],
    places: &'r Places,
    begin: u64,
    level: u32,
    bins: Vec<Bin>,
    stack: Vec<PreviewFrame>,
    /// The bin that is filled, when it ends, and ticks by site in it.
    at: usize,
    until: u64,
    here: Vec<(PlaceId, u64)>,
    now: u64,
    worker: bool,
}

impl<'r> ThreadBins<'r> {
    pub(super) fn new(
        firsts: &'r [ThreadFacts],
        places: &'r Places,
        (begin, level): (u64, u32),
        bins: usize,
    ) -> ThreadBins<'r> {
        let mut lane = ThreadBins {
            firsts,
            places,
            begin,
            level,
            bins: vec![Bin::default(); bins],
            stack: Vec::new(),
            at: 0,
            until: 0,
            here: Vec::with_capacity(SITES),
            now: 0,
            worker: false,
        };
        lane.turn(begin);
        lane
    }

    /// Adds what a thread did; what was open at its last record lasted until `last`.
    pub(super) fn walk(&mut self, thread: &Thread<'_>, threads: &[Thread<'_>], last: u64) {
        self.stack.clear();
        (self.now, self.worker) = (0, false);
        let bad = walk(thread, |t, event| {
            // ReplayLog after all else, of a time before.
            if matches!(event, Event::Off { .. }) {
                return;
            }
            self.pass(t);
            self.record(t, event, threads);
        });
        if bad.is_none() && !thread.cut {
            self.pass(last);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Bin> {
        self.settle();
        let width = 1u64 << self.level;
        for bin in &mut self.bins {
            // Threads that share a number, or a clock that went back.
            bin.busy = bin.busy.min(width);
        }
        self.bins
    }

    /// Time goes on to `t`.
    fn pass(&mut self, t: u64) {
        if let Some(top) = self.stack.last()
            && !top.stopped
            && t > self.now
        {
            let (site, mut from) = (top.site, self.now);
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
        } else if self.here.len() < SITES {
            self.here.push((site, ticks));
        } else {
            // Time counts, whosever it was.
            self.bins[self.at].busy += ticks;
        }
    }

    /// Goes to the bin of `t`, which lies after the one that is filled.
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

    /// A strand begins, and so many tasks were created.
    fn count(&mut self, t: u64, creates: u32) {
        if t >= self.until {
            self.turn(t);
        }
        let bin = &mut self.bins[self.at];
        bin.strands = bin.strands.saturating_add(1);
        bin.creates = bin.creates.saturating_add(creates);
    }

    fn record(&mut self, t: u64, event: Event<'_>, threads: &[Thread<'_>]) {
        match event {
            Event::Join { site } => {
                let site = self.places.of(site);
                if let Some(top) = self.current() {
                    (top.stopped, top.next) = (true, site);
                    self.push(t, site);
                    self.count(t, 2);
                }
            }
            Event::End => self.pop(),
            Event::Next => {
                let next = self.stack.last_mut();
                let site = next.map_or(UNKNOWN, |top| std::mem::replace(&mut top.next, UNKNOWN));
                self.push(t, site);
            }
            Event::EndResume => {
                self.stack.pop();
                self.resume(t);
            }
            Event::Begin((thread, count)) => {
                let first = slot(threads, thread).map(|slot| &self.firsts[slot]);
                self.push(t, first.and_then(|f| f.site(count)).unwrap_or(UNKNOWN));
            }
            Event::Member {
                team: (thread, count),
                ..
            } => {
                let teams = slot(threads, thread).map(|slot| &self.firsts[slot].teams);
                let site = teams.and_then(|teams| {
                    let at = teams.binary_search_by_key(&count, |team| team.0).ok()?;
                    Some(teams[at].1)
                });
                self.push(t, site.unwrap_or(UNKNOWN));
            }
            Event::Part { site, .. } => self.push(t, self.places.of(site)),
            Event::Resume => self.resume(t),
            Event::ResumeYielded { .. } | Event::ResumeStopped(_) => self.push(t, UNKNOWN),
            Event::Root if self.stack.is_empty() => self.push(t, ROOT_PLACE),
            Event::Create { .. } if self.current().is_some() => self.count(t, 1),
            Event::Wait { .. } | Event::Yield { .. } | Event::Team { .. } => {
                if let Some(top) = self.current() {
                    top.stopped = true;
                }
            }
            Event::Leave { .. } => self.pop(),
            Event::Restart { stack, .. } if self.stack.is_empty() => {
                for (_, code) in stack.iter() {
                    self.push(t, UNKNOWN);
                    let place = TaskState::from_code(code);
                    if let Some(top) = self.stack.last_mut() {
                        top.stopped = place != TaskState::Running;
                        top.interrupted = place == TaskState::Interrupted;
                    }
                }
            }
            Event::Worker { .. } => self.worker = true,
            Event::WorkerEnd => self.worker = false,
            _ => {}
        }
    }

    /// The task on top, which runs; a thread without one that is no worker runs a root.
    fn current(&mut self) -> Option<&mut PreviewFrame> {
        if self.stack.is_empty() && !self.worker {
            self.push(self.now, ROOT_PLACE);
        }
        let top = self.stack.last_mut()?;
        (top.stopped, top.interrupted) = (false, false);
        Some(top)
    }

    fn push(&mut self, t: u64, site: PlaceId) {
        if let Some(top) = self.stack.last_mut()
            && !top.stopped
        {
            (top.stopped, top.interrupted) = (true, true);
        }
        self.stack.push(PreviewFrame {
            site,
            stopped: false,
            interrupted: false,
            next: UNKNOWN,
        });
        self.count(t, 0);
    }

    fn pop(&mut self) {
        self.stack.pop();
        if let Some(below) = self.stack.last_mut()
            && below.interrupted
        {
            (below.stopped, below.interrupted) = (false, false);
        }
    }

    fn resume(&mut self, t: u64) {
        if let Some(top) = self.stack.last_mut() {
            (top.stopped, top.interrupted) = (false, false);
            self.count(t, 0);
        }
    }
}
