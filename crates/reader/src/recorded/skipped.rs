//! The information from the first pass about skipped subtrees: their stolen parts on other threads,
//! and the contents of the sampled ones, from which those of the others are estimated.

pub(super) mod as_one_record;
mod estimator;
mod join_sampler;
mod off_cpu;
mod probe_from_pairs;
mod sample;
mod skip_costs;
mod task_rate;
mod task_sampler;

use workspan_trace::event::Event;
use workspan_trace::wire::TaskRef;

use self::as_one_record::FoldedSample;
pub(super) use self::estimator::{Estimate, Estimator};
use self::join_sampler::JoinSampler;
use self::off_cpu::OffCpuTimes;
use self::sample::{Sample, State};
pub(super) use self::skip_costs::SkipCosts;
use self::task_sampler::TaskSampler;
use super::chunks_by_thread::Thread;
use super::survey::Survey;

/// A part as read.
#[derive(Debug, Clone, Copy)]
struct NamedPart {
    of: TaskRef,
    part: Part,
}

/// A task created in a skipped subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Its index in the list of all tasks by thread and count.
    pub nth: u32,
    /// Its site in the file.
    pub site: u32,
}

/// The bit in a recorded level that marks a class of tasks, as opposed to joins: everything that
/// the current task does is sampled, or skipped.
const TASK_CLASS: u64 = 1 << 33;

/// Whether a recorded level belongs to a class of tasks.
pub(super) fn is_task_class(level: u64) -> bool {
    level & TASK_CLASS != 0
}

/// A sampled subtree that is being measured.
#[derive(Debug)]
enum OpenSample {
    Join(JoinSampler),
    Task(TaskSampler),
}

impl OpenSample {
    fn event(&mut self, t: u64, event: &Event<'_>) -> State {
        match self {
            OpenSample::Join(meter) => meter.event(t, event),
            OpenSample::Task(meter) => meter.event(t, event),
        }
    }

    fn finish(self) -> Sample {
        match self {
            OpenSample::Join(meter) => meter.finish(),
            OpenSample::Task(meter) => meter.finish(),
        }
    }
}

/// Collects skipped and sampled subtrees over all threads.
#[derive(Debug, Default)]
pub(super) struct SkippedSubtrees {
    named_parts: Vec<NamedPart>,
    /// Pairs of the subtree's index in the list of yields and a part, by subtree, then in the order
    /// of the threads.
    parts: Vec<(u32, Part)>,
    /// The sampled subtree of the current thread that is being measured.
    meter: Option<OpenSample>,
    /// The number of the current thread.
    thread: u32,
    /// The subtree that began with the last record (apart from a record that counts its tasks):
    /// site, level, time, and that count.
    begun: Option<(u32, u64, u64, Option<u64>)>,
    /// Off-CPU times by thread; the current thread's are the last.
    off: Vec<OffCpuTimes>,
    /// By thread, and in the order in which they were sampled: joins that become one strand each.
    short: Vec<Vec<Option<FoldedSample>>>,
    /// Whether there are any.
    shortens: bool,
    /// Whether tasks in subtrees of tasks were counted.
    pub(super) counts: bool,
    /// The number of records of the measured join, after its first.
    records: u64,
    model: Estimator,
}

impl SkippedSubtrees {
    /// Starts with the next thread.
    pub(super) fn thread(&mut self, thread: &Thread<'_>) {
        (self.meter, self.begun) = (None, None);
        self.thread = thread.number;
        self.off.push(OffCpuTimes::from_thread(thread));
        self.short.push(Vec::new());
    }

    /// Whether it needs all records, not only those of the functions below.
    #[inline]
    pub(super) fn listens(&self) -> bool {
        self.meter.is_some() || self.begun.is_some()
    }

    /// Handles a record of the current thread. Returns true if it is the last one of a sampled join
    /// that becomes one strand.
    pub(super) fn event(&mut self, t: u64, event: &Event<'_>) -> bool {
        let mut ended = false;
        let mut begun = self.begun.take();
        if let (Event::SkippedTasks { tasks }, Some((.., counted))) = (event, &mut begun) {
            *counted = Some(*tasks);
            self.begun = begun;
            return false;
        }
        if let Some(meter) = &mut self.meter {
            match meter.event(t, event) {
                State::Open => {}
                State::Whole => {
                    if let Some(meter) = self.meter.take() {
                        let mut sample = meter.finish();
                        let from = t.saturating_sub(sample.whole.ticks);
                        sample.ran = self.off.last().map_or(0, |off| off.ran(from, t));
                        let last = self.short.last_mut().and_then(|all| all.last_mut());
                        let shortens = self.shortens && !is_task_class(sample.level);
                        if let Some(last) = last.filter(|_| shortens) {
                            *last = Some(FoldedSample::new(&sample, self.records));
                            ended = true;
                        }
                        self.model.sample(sample);
                    }
                }
                State::Spoilt => self.meter = None,
            }
            self.records += 1;
        }
        if let (Event::SkipEnd, Some((site, level, from, counted))) = (event, begun) {
            let ran = self.off.last().map_or(0, |off| off.ran(from, t));
            self.model.passed((site, level), ran, counted);
        }
        ended
    }

    /// Makes sampled joins become one strand each.
    pub(super) fn shorten(&mut self) {
        self.shortens = true;
    }

    /// The n-th sampled join of a thread, if it becomes one strand.
    pub(super) fn short(&self, thread: usize, nth: usize) -> Option<&FoldedSample> {
        self.short.get(thread)?.get(nth)?.as_ref()
    }

    /// The number of tasks in those joins.
    pub(super) fn tasks_in_short(&self) -> u64 {
        let all = self.short.iter().flatten().flatten();
        all.fold(0, |sum, short| sum.saturating_add(short.folded.tasks))
    }

    /// A sampled or skipped subtree begins, before the thread's `count`-th create.
    pub(super) fn begins(&mut self, t: u64, event: &Event<'_>, count: u64) {
        let probe = self.model.probe;
        match *event {
            Event::SampleBegin { site, level } => {
                let sample = Sample::new(site, level);
                self.meter = Some(if is_task_class(level) {
                    OpenSample::Task(TaskSampler::new(sample, probe, (self.thread, count), t))
                } else {
                    OpenSample::Join(JoinSampler::new(sample, probe))
                });
                self.records = 0;
                if let Some(all) = self.short.last_mut() {
                    all.push(None);
                }
            }
            Event::SkipBegin { site, level } => self.begun = Some((site, level, t, None)),
            _ => {}
        }
    }

    /// A part begins, whose task has this index in the list of all tasks.
    pub(super) fn part(&mut self, of: TaskRef, nth: u32, site: u32) {
        let part = Part { nth, site };
        self.named_parts.push(NamedPart { of, part });
    }

    /// Sets the cost of a record for the strand around it, in ticks, and the costs of skipping.
    /// Must be called before all records.
    pub(super) fn set_costs(&mut self, probe: u64, left_out: SkipCosts) {
        (self.model.probe, self.model.left_out) = (probe, left_out);
    }

    /// The cost of a record for the strand around it, in ticks.
    pub(super) fn probe(&self) -> u64 {
        self.model.probe
    }

    /// The cost of a probe in this run, if it can be determined, but at least `calibrated`. Called
    /// after all records.
    pub(super) fn compared_probe(&self, calibrated: u64) -> Option<u64> {
        self.model.compared_probe(calibrated)
    }

    /// Completes the data after all threads.
    pub(super) fn settle(&mut self, counts: &Survey, threads: &[Thread<'_>]) {
        let named_parts = std::mem::take(&mut self.named_parts);
        let places = named_parts
            .into_iter()
            .filter_map(|NamedPart { of, part }| Some((counts.yielded(threads, of)?, part)));
        self.parts = places.collect();
        self.parts.sort_by_key(|&(of, part)| (of, part.nth));
        self.model.settle();
    }

    /// The parts of the subtree with this index in the list of yields.
    pub(super) fn parts(&self, subtree: u32) -> impl ExactSizeIterator<Item = Part> + '_ {
        let from = self.parts.partition_point(|p| p.0 < subtree);
        let to = self.parts.partition_point(|p| p.0 <= subtree);
        self.parts[from..to].iter().map(|p| p.1)
    }

    /// The estimated contents of a strand of a skipped subtree, by its site and level. The
    /// arguments also give its start and end in the file's ticks, the number of tasks counted in
    /// it, and its thread's index.
    pub(super) fn estimate(
        &self,
        class: (u32, u64),
        (from, to): (u64, u64),
        counted: Option<u64>,
        thread: u32,
    ) -> Estimate {
        let ran = self.off.get(thread as usize);
        let ran = ran.map_or(0, |off| off.ran(from, to));
        // Distinguishes strands.
        let draw = u64::from(thread) << 48 ^ from;
        let ticks = to.saturating_sub(from);
        self.model.estimate(class, (ticks, ran), counted, draw)
    }

    /// The number of skipped subtrees with nothing else on their thread, and of sampled ones.
    pub(super) fn drawn(&self) -> (u64, u64) {
        self.model.drawn()
    }
}
