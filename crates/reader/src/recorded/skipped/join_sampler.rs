//! Measures a sampled join from its records, including every join inside of it, by size.
//!
//! A stack machine like the replay's, but only for joins without steals: then the thread's records
//! are the whole subtree. Weights are those of MODEL.md §2, including off-CPU times.

use workspan_trace::event::Event;

use super::sample::{MAX_DEPTH, MAX_TASKS, Node, Paths, Sample, State};

/// A task that runs or waits.
#[derive(Debug, Default)]
struct Frame {
    /// The site at which it was created.
    site: u32,
    /// The start of its open strand.
    start: u64,
    /// The weight of its own strands.
    own: u64,
    /// Everything inside that has ended.
    inner: Node,
    /// The join that it waits for.
    join: Option<OpenJoin>,
}

/// A join that has not returned.
#[derive(Debug, Default)]
struct OpenJoin {
    site: u32,
    /// The time of its call.
    start: u64,
    /// Everything inside that has ended, except for the paths.
    node: Node,
    /// The paths of the first side.
    a: Paths,
    /// The number of children that have begun.
    begun: u32,
}

/// A join that is being measured.
#[derive(Debug)]
pub(super) struct JoinSampler {
    /// The frames; the joining task is at the bottom.
    frames: Vec<Frame>,
    sample: Sample,
    probe: u64,
    last: u64,
    /// The number of deferred tasks that have not begun.
    waiting: u64,
    joins: usize,
}

impl JoinSampler {
    pub(super) fn new(sample: Sample, probe: u64) -> JoinSampler {
        JoinSampler {
            frames: vec![Frame::default()],
            sample,
            probe,
            last: 0,
            waiting: 0,
            joins: 0,
        }
    }

    /// Handles the next record of its thread.
    pub(super) fn event(&mut self, t: u64, event: &Event<'_>) -> State {
        let first = self.frames.len() == 1 && self.frames[0].join.is_none();
        if !first {
            let passed = t.saturating_sub(self.last).saturating_mul(self.waiting);
            self.sample.ready = self.sample.ready.saturating_add(passed);
        }
        let before = std::mem::replace(&mut self.last, t);
        match *event {
            Event::Join { site } => self.join(site, t, first),
            _ if first => State::Spoilt,
            Event::End => self.end_a(t),
            Event::Next => {
                let open = self.frames.last().and_then(|f| f.join.as_ref());
                let Some(site) = open
                    .filter(|o| o.begun == 1 && o.node.tasks > 0)
                    .map(|o| o.site)
                else {
                    return State::Spoilt;
                };
                self.waiting = self.waiting.saturating_sub(1);
                self.begin(site, before);
                State::Open
            }
            Event::EndResume => self.end_b(t),
            _ => State::Spoilt,
        }
    }

    fn begin(&mut self, site: u32, t: u64) {
        self.sample.begins(site);
        if let Some(join) = self.frames.last_mut().and_then(|f| f.join.as_mut()) {
            join.begun += 1;
        }
        self.frames.push(Frame {
            site,
            start: t,
            ..Frame::default()
        });
    }

    fn join(&mut self, site: u32, t: u64, first: bool) -> State {
        if self.frames.len() >= MAX_DEPTH || self.joins >= MAX_TASKS {
            return State::Spoilt;
        }
        self.joins += 1;
        if !first {
            self.run(t);
        }
        match self.frames.last_mut() {
            Some(top) if top.join.is_none() => {
                let start = t;
                top.join = Some(OpenJoin {
                    site,
                    start,
                    ..OpenJoin::default()
                });
            }
            _ => return State::Spoilt,
        }
        self.waiting += 1;
        self.begin(site, t);
        State::Open
    }

    /// Ends the open strand of the task on top.
    fn run(&mut self, t: u64) {
        let probes = self.probe.saturating_mul(2);
        self.sample.probes += 2;
        if let Some(top) = self.frames.last_mut() {
            let weight = t.saturating_sub(top.start).saturating_sub(probes);
            top.own = top.own.saturating_add(weight);
            top.inner.work = top.inner.work.saturating_add(weight);
            top.inner.paths.run(weight);
        }
    }

    /// A child of the join ends. Returns its paths, or `None` if it is not a child.
    fn end(&mut self, t: u64) -> Option<Paths> {
        if self.frames.len() < 2 {
            return None;
        }
        self.run(t);
        let child = self.frames.pop().filter(|child| child.join.is_none())?;
        let (work, span) = (child.inner.work, child.inner.paths.heaviest.weight);
        self.sample.ends(child.site, child.own, work, span);
        let node = &mut self.frames.last_mut()?.join.as_mut()?.node;
        node.add(child.inner);
        node.tasks += 1;
        node.levels = node.levels.max(child.inner.levels + 1);
        Some(child.inner.paths)
    }

    fn end_a(&mut self, t: u64) -> State {
        let paths = self.end(t);
        let open = self.frames.last_mut().and_then(|top| top.join.as_mut());
        match (paths, open) {
            (Some(paths), Some(open)) if open.begun == 1 => {
                open.a = paths;
                State::Open
            }
            _ => State::Spoilt,
        }
    }

    fn end_b(&mut self, t: u64) -> State {
        let paths = self.end(t);
        let bottom = self.frames.len() == 1;
        let top = self.frames.last_mut();
        let (Some(paths), Some(top)) = (paths, top) else {
            return State::Spoilt;
        };
        let Some(open) = top.join.take().filter(|open| open.begun == 2) else {
            return State::Spoilt;
        };
        let node = Node {
            ticks: t.saturating_sub(open.start),
            paths: open.a.or_stolen(paths),
            ..open.node
        };
        top.start = t;
        top.inner.add(node);
        top.inner.paths.then(node.paths);
        if bottom {
            self.sample.whole = node;
            self.sample.bare = node.work;
            return State::Whole;
        }
        State::Open
    }

    pub(super) fn finish(self) -> Sample {
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::skipped::sample::Path;

    /// A join with a nested one in its first side, on a clock without probes.
    #[test]
    fn every_join_inside_is_measured() {
        let join = Event::Join { site: 3 };
        let records = [
            (100, join),
            (110, join),
            (130, Event::End),
            (130, Event::Next),
            (170, Event::EndResume),
            (175, Event::End),
            (175, Event::Next),
            (195, Event::EndResume),
        ];
        let mut meter = JoinSampler::new(Sample::new(3, 0), 0);
        let states: Vec<State> = records.iter().map(|(t, e)| meter.event(*t, e)).collect();
        assert!(states[..7].iter().all(|&s| s == State::Open), "{states:?}");
        assert_eq!(states[7], State::Whole);
        let sample = meter.finish();
        let whole = sample.whole;
        assert_eq!(
            (whole.tasks, whole.ticks, whole.work, whole.levels),
            (4, 95, 95, 2)
        );
        // 10 + max(20, 40) + 5, or the 20 of the second side.
        let heaviest = Path {
            weight: 55,
            edges: 1,
        };
        assert_eq!(whole.paths.heaviest, heaviest);
        assert_eq!(whole.paths.longest, heaviest);
        let inside = &sample.inside[&3];
        assert_eq!((inside.tasks, inside.work, inside.span), (4, 95, 75));
        assert_eq!(inside.lengths.iter().sum::<u64>(), 4);
        // One task waits from 100 to 175, a second one from 110 to 130.
        assert_eq!(sample.ready, 75 + 20);
    }

    #[test]
    fn what_does_more_than_joining_is_no_sample() {
        for (at, odd) in [
            (0, Event::End),
            (1, Event::Resume),
            (1, Event::EndResume),
            (1, Event::Next),
            (2, Event::End),
            (3, Event::Next),
            (3, Event::End),
        ] {
            let records = [Event::Join { site: 3 }, Event::End, Event::Next];
            let mut meter = JoinSampler::new(Sample::new(3, 0), 0);
            for event in &records[..at] {
                assert_eq!(meter.event(1, event), State::Open);
            }
            assert_eq!(meter.event(1, &odd), State::Spoilt, "{odd:?} after {at}");
        }
    }
}
