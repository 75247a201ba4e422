//! A thread of the fold: its running times, and its folded records.

use workspan_fold::{Fold, FoldOptions};
use workspan_trace::event::Event;
use workspan_trace::wire::TaskRef;

use super::stack::Stack;
use super::{Plan, ThreadRecords};
use crate::open::TraceBytes;
use crate::recorded::chunks_by_thread::Thread;
use crate::recorded::survey::walk;
use crate::recorded::thread_extent::ThreadExtent;
use crate::released_pages::ReleasingPass;
use workspan_dag::cancel;

/// The information about a thread that is needed before folding.
#[derive(Debug)]
pub(super) struct ThreadSurvey {
    pub extent: ThreadExtent,
    /// The time of its first task, in the file's ticks.
    pub began: u64,
    /// Times since then in which it ran no task and had no ready task of its own.
    pub gaps: Vec<(u64, u64)>,
    /// Its off-CPU times.
    pub offs: Vec<(u64, u64)>,
    pub tasks: u64,
    /// Tasks of other threads that it ran.
    pub taken: Vec<TaskRef>,
    /// Whether tasks depend on others, so that a created task need not be ready.
    pub depends: bool,
    /// Whether subtrees were sampled.
    pub drawn: bool,
}

impl ThreadSurvey {
    /// Surveys the thread at `place` in the file. Gaps shorter than `least` do not count.
    pub(super) fn at(place: u32, thread: &Thread<'_>, least: u64) -> ThreadSurvey {
        let mut it = ThreadSurvey {
            extent: ThreadExtent::new(place),
            began: u64::MAX,
            gaps: Vec::new(),
            offs: Vec::new(),
            tasks: 0,
            taken: Vec::new(),
            depends: false,
            drawn: false,
        };
        let mut stack = Stack::new(thread.number);
        walk(thread, |t, event| {
            if !it.extent.record(t, &event) {
                return it.record_outside_tasks(&mut stack, t, event);
            }
            it.drawn |= matches!(event, Event::SampleBegin { .. });
            let before = stack.is_running();
            // A worker on its way to a ready strand is not idle: the strand is not left for another
            // worker.
            let known = !before && stack.was_ready(&event);
            stack.record(&event);
            match (before, stack.is_running()) {
                (true, false) => stack.since = Some(t),
                (false, true) => {
                    let since = stack.since.take();
                    it.began = it.began.min(t);
                    let gap = since.filter(|&since| t.saturating_sub(since) >= least);
                    it.gaps
                        .extend(gap.filter(|_| !known).map(|since| (since, t)));
                }
                _ => {}
            }
        });
        if let Some(since) = stack.since {
            it.gaps.push((since, it.extent.last));
        }
        it.gaps.retain(|gap| gap.0 >= it.began);
        it.offs.sort_unstable();
        it.depends = stack.depends;
        (it.tasks, it.taken) = (stack.tasks, stack.into_taken());
        it
    }

    /// Handles a record that is about no task.
    #[cold]
    fn record_outside_tasks(&mut self, stack: &mut Stack, t: u64, event: Event<'_>) {
        match event {
            Event::Worker { .. } | Event::WorkerEnd => stack.record(&event),
            Event::Off { ticks, .. } => self.offs.push((t.saturating_sub(ticks), t)),
            Event::Recorder { ticks } => self.offs.push((t, t.saturating_add(ticks))),
            _ => {}
        }
    }
}

/// The number of output bytes that are collected at a time.
const BYTES_PER_FETCH: usize = 1 << 16;

/// Folds the records of a thread. Also returns the number of folded records. `probe` is the cost of
/// a probe; `sites` says which site each counts as.
pub(super) fn fold(
    thread: &Thread<'_>,
    options: &FoldOptions,
    (probe, sites): (u64, &[u32]),
    plan: Plan,
    content: TraceBytes<'_>,
) -> (ThreadRecords, u64) {
    let mut fold = Fold::new(thread.number, (0, 0), options.clone());
    fold.take_out_probes(probe);
    fold.count_sites_as(sites.to_vec());
    fold.say_sources();
    fold.save_tasks();
    fold.plan(plan.cuts);
    fold.others_take(plan.taken);
    let mut lane = ThreadRecords {
        base: thread.chunks.first().map_or(0, |c| c.base),
        bytes: Vec::new(),
        rest: thread.chunks.len() - thread.off_cpu().len(),
    };
    let take = |fold: &mut Fold, lane: &mut ThreadRecords, least: usize| {
        let (firm, _) = fold.firm();
        if firm.len() >= least {
            lane.bytes.extend_from_slice(firm);
            fold.take_firm();
        }
    };
    let mut passing = ReleasingPass::through(content);
    for (at, chunk) in thread.chunks[..lane.rest].iter().enumerate() {
        if fold.is_bad() {
            break;
        }
        cancel::check();
        if at > 0 && chunk.base < fold.last() {
            lane.rest = at;
            break;
        }
        fold.feed(chunk.bytes, chunk.base);
        passing.pass(chunk.bytes.len());
        take(&mut fold, &mut lane, BYTES_PER_FETCH);
    }
    fold.finish();
    take(&mut fold, &mut lane, 1);
    lane.bytes.shrink_to_fit();
    (lane, fold.folded())
}
