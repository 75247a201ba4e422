//! Handles one record after the other.

use workspan_trace::event::Event;

use super::frame::Pending;
use super::{ParkCondition, Replay, ReplayThread, log};
use crate::recorded::survey::{NamedStop, slot};
use workspan_dag::{NONE, OffCpuInterval, OffCpuReason, RecorderRun, Steal, ThreadEvent};

impl<'a> Replay<'a, '_> {
    /// Handles one record. `Err` means that the thread has to wait, and that the record comes
    /// again.
    pub(super) fn record(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        event: Event<'a>,
    ) -> Result<(), ParkCondition> {
        match event {
            Event::Join { site } => match self.short_begins(lane, number, t, site) {
                true => {}
                false => self.join(lane, number, t, site),
            },
            Event::End => self.end_task(lane, t),
            Event::Next => match lane.stack.last_mut().and_then(|top| top.next.take()) {
                Some(task) => self.begin(lane, Some(task), lane.now),
                None => self.begin(lane, None, lane.now),
            },
            Event::EndResume => {
                self.end_task(lane, t);
                // The task that waits below on this stack goes on here; the record must not come
                // twice.
                if self.resume(lane, t).is_err() {
                    self.log
                        .repair("Tasks said to go on that had ended or ran elsewhere");
                }
            }
            Event::Begin(name) => {
                let task = self.counts.task(&self.chunks.threads, name);
                self.begin(lane, task, t);
            }
            Event::Resume => {
                self.resume(lane, t)?;
                self.waited(lane, t);
            }
            Event::Root => self.root(lane, number, t),
            Event::Create { kind, site, scope } => self.create(lane, number, t, kind, site, scope),
            Event::Scope { tree } => self.scope(lane, number, t, tree),
            Event::Wait { site, what } => self.wait(lane, t, site, what),
            Event::Yield { site } => self.stop(lane, number, t, site, false),
            Event::Leave { site } => self.stop(lane, number, t, site, true),
            Event::ResumeYielded { thread, count } => {
                self.resume_yielded(lane, t, (thread, count))?
            }
            Event::ResumeStopped(stop) => {
                let t_file = t.saturating_add(self.origin);
                let stop = NamedStop::from_stop(stop, t_file, &self.chunks.threads);
                self.resume_stopped(lane, t, stop)?;
            }
            Event::Signal { site, id } => {
                let op = self.signal(id);
                if let Some(frame) = self.current(lane, t) {
                    let at = self.places.of_optional(site);
                    self.strand(lane, frame, t, op, at);
                }
            }
            Event::Depend { task, on } => {
                let threads = &self.chunks.threads;
                match (
                    self.counts.task(threads, task),
                    self.counts.task(threads, on),
                ) {
                    (Some(task), Some(on)) => self.raw.depends.push((task, on)),
                    _ => self
                        .log
                        .names_earlier("Dependences on tasks that are not in the trace, left out"),
                }
            }
            Event::RegionBegin { label, tree } => self.open(lane, t, label, tree, false),
            Event::PartBegin { label } => self.open(lane, t, label, true, true),
            Event::RegionEnd { label } => self.close_mark(lane, t, label, false),
            Event::PartEnd { label } => self.close_mark(lane, t, label, true),
            Event::Counter { label, value } => {
                if let Some(frame) = self.current(lane, t) {
                    self.pend(lane, frame, Pending::Counter(label, value));
                }
            }
            Event::Readings(list) => {
                // Between strands, the counters count the runtime's own work.
                if let Some(frame) = lane.stack.len().checked_sub(1)
                    && !lane.stack[frame].stopped
                {
                    for (label, value) in list.iter() {
                        self.pend(lane, frame, Pending::Counter(label, value));
                    }
                }
            }
            Event::Folded(bytes) => match workspan_trace::folded::FoldedRecord::decode(bytes) {
                Some(record) => {
                    if let Some(frame) = self.current(lane, t) {
                        let folded = log::folded(record, self.places);
                        self.pend(lane, frame, Pending::Folded(Box::new(folded)));
                    }
                }
                None => self
                    .log
                    .repair("Folded subtrees that could not be read, left out"),
            },
            // Names are resolved by the first pass's counts.
            Event::Skip { .. } => {}
            Event::Steal { victim, leap, task } => {
                let task = self.counts.task(&self.chunks.threads, task).unwrap_or(NONE);
                let victim = self.thread(victim);
                self.raw.steals.push(Steal {
                    t,
                    thief: lane.log.index,
                    victim,
                    task,
                    leap,
                });
            }
            Event::StealFailed { victim } => {
                let victim = self.thread(victim);
                self.thread_event(lane, t, ThreadEvent::StealFailed(victim));
            }
            Event::Sleep => self.thread_event(lane, t, ThreadEvent::Sleep),
            Event::Wake => self.thread_event(lane, t, ThreadEvent::Wake),
            Event::Worker { pool, .. } => lane.log.worker_begins(pool, t),
            Event::WorkerEnd => lane.log.worker_ends(t),
            Event::Pool { pool, size } => self.log.pool_begins(pool, size, t),
            Event::PoolEnd { pool } => self.log.pool_ends(pool, t),
            Event::Team { site } => self.team(lane, number, t, site),
            Event::Member { .. } => self.member(lane, number, t),
            Event::Depends { task, on } => self.depends(task, on),
            Event::SkipBegin { site, level } => {
                self.skipped(lane, number, t, (site, level));
            }
            Event::SkipEnd => self.recorded(lane, t),
            Event::SkippedTasks { tasks } => self.inside(lane, tasks),
            Event::StolenPart { .. } => self.part(lane, number, t),
            Event::SampleBegin { .. } => {
                lane.drawn += 1;
                lane.short = true;
            }
            Event::Restart { stack, .. } => self.restart(lane, number, t, stack),
            Event::Recorder { ticks } => self.raw.recorder_runs.push(RecorderRun {
                thread: lane.log.index,
                start: t,
                end: t.saturating_add(ticks),
            }),
            Event::Off { blocked, ticks } => {
                let why = if blocked {
                    OffCpuReason::Blocked
                } else {
                    OffCpuReason::Preempted
                };
                let start = t.saturating_sub(ticks);
                self.raw.offs.push(OffCpuInterval {
                    thread: lane.log.index,
                    start,
                    end: t,
                    why,
                    on: None,
                });
            }
        }
        Ok(())
    }

    pub(super) fn thread_event(&mut self, lane: &ReplayThread<'a>, t: u64, what: ThreadEvent) {
        self.raw.thread_events.push((t, lane.log.index, what));
    }

    /// A thread named by a record.
    pub(super) fn thread(&self, number: Option<u32>) -> u32 {
        let slot = number.and_then(|number| slot(&self.chunks.threads, number));
        slot.map_or(NONE, |slot| slot as u32)
    }
}
