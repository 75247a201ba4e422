//! One record after the other: what each says, if nothing speaks against it.

use workspan_trace::event::Event;

use super::columns::{Birth, State};
use super::walk::{Lane, Walk};
use crate::recorded::survey::slot;
use workspan_dag::{
    EndKind, NONE, Off, OffWhy, ROOT_PLACE, RecorderRun, Steal, TaskKind, ThreadEvent,
};

impl<'a> Walk<'a, '_> {
    /// One record of the thread in this slot; `None` for one that does not go with those before it.
    #[inline]
    pub(super) fn record(
        &mut self,
        lane: &mut Lane<'a>,
        slot: usize,
        t: u64,
        event: Event<'a>,
    ) -> Option<()> {
        match event {
            Event::Join { site } => self.join(lane, slot, t, site),
            Event::End => self.end(lane, slot, t).map(|_| ()),
            Event::EndResume => {
                self.end(lane, slot, t)?;
                self.resume(lane, slot, t)
            }
            Event::Next if t == lane.now => {
                let top = lane.stack.last_mut()?;
                let task = std::mem::replace(&mut top.next, NONE);
                (task != NONE).then_some(())?;
                self.begin(lane, slot, task, t)
            }
            Event::Begin(name) => {
                let task = self.named(name)?;
                self.begin(lane, slot, task, t)
            }
            Event::Resume => self.resume(lane, slot, t),
            _ => self.rare(lane, slot, t, event),
        }
    }

    #[cold]
    fn rare(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64, event: Event<'a>) -> Option<()> {
        match event {
            Event::Root if lane.stack.is_empty() => {
                let birth = Birth {
                    parent: NONE,
                    kind: TaskKind::Root,
                    site: ROOT_PLACE,
                    level: 0,
                    creator: NONE,
                    rank: 0,
                    scope: NONE,
                };
                let task = self.task(slot, birth);
                return self.begin(lane, slot, task, t);
            }
            Event::Yield { site } => return self.stop(lane, slot, t, site, false),
            Event::Leave { site } => return self.stop(lane, slot, t, site, true),
            Event::ResumeYielded { thread, count } => {
                return self.take_over(lane, slot, t, (thread, count));
            }
            Event::Steal { victim, leap, task } => {
                let steal = Steal {
                    t,
                    thief: slot as u32,
                    victim: self.thread(victim),
                    task: self.named(task)?,
                    leap,
                };
                self.raw.steals.push(steal);
            }
            Event::StealFailed { victim } => {
                let victim = self.thread(victim);
                self.happened(slot, t, ThreadEvent::StealFailed(victim));
            }
            Event::Sleep => self.happened(slot, t, ThreadEvent::Sleep),
            Event::Wake => self.happened(slot, t, ThreadEvent::Wake),
            Event::Worker { pool, .. } => lane.told.worker_begins(pool, t),
            Event::WorkerEnd => lane.told.worker_ends(t),
            Event::Pool { pool, size } => self.told.pool_begins(pool, size, t),
            Event::PoolEnd { pool } => self.told.pool_ends(pool, t),
            Event::Recorder { ticks } => self.raw.recorder_runs.push(RecorderRun {
                thread: slot as u32,
                start: t,
                end: t.saturating_add(ticks),
            }),
            Event::Off { blocked, ticks } => {
                let why = if blocked {
                    OffWhy::Blocked
                } else {
                    OffWhy::Preempted
                };
                self.raw.offs.push(Off {
                    thread: slot as u32,
                    start: t.saturating_sub(ticks),
                    end: t,
                    why,
                    on: None,
                });
            }
            _ => return None,
        }
        Some(())
    }

    /// The task on top ends; one that it had interrupted goes on.
    #[inline]
    fn end(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64) -> Option<()> {
        self.running(lane, slot, t)?;
        self.end_strand(lane, t, EndKind::End, NONE);
        let top = lane.stack.pop()?;
        self.states[top.task as usize] = State::Ended;
        self.uncover(lane, slot, t)
    }

    /// What was on top of the stack is gone.
    #[inline]
    fn uncover(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64) -> Option<()> {
        match lane.stack.last() {
            Some(below)
                if below.interrupted && self.states[below.task as usize] == State::Stopped =>
            {
                self.go_on(lane, slot, t)
            }
            _ => Some(()),
        }
    }

    /// The task on top goes on after a wait or a yield. Where another thread has it, that one must
    /// have left it.
    #[inline]
    fn resume(&mut self, lane: &mut Lane<'a>, slot: usize, t: u64) -> Option<()> {
        if !(self.handed.is_empty() && self.holders.is_empty()) {
            let task = lane.stack.last()?.task;
            let holder = self.holders.get(&task).and_then(|threads| threads.last());
            if self.handed.contains_key(&task) || holder.is_some_and(|&held| held != slot as u32) {
                return None;
            }
        }
        self.go_on(lane, slot, t)
    }

    /// The task on top yields, or leaves this thread's stack.
    fn stop(
        &mut self,
        lane: &mut Lane<'a>,
        slot: usize,
        t: u64,
        site: Option<u32>,
        leave: bool,
    ) -> Option<()> {
        self.running(lane, slot, t)?;
        let to = self.places.of_optional(site);
        self.end_strand(lane, t, EndKind::Yield, to);
        let top = lane.stack.last_mut()?;
        let task = top.task;
        top.stopped = true;
        self.states[task as usize] = State::Stopped;
        let name = (
            self.gathered.threads[slot].number,
            self.yielded[slot].len() as u64,
        );
        self.yielded[slot].push(task);
        if self.taken.binary_search(&name).is_ok() {
            self.handed.insert(task, name.1);
        }
        if !leave {
            return Some(());
        }
        if let Some(threads) = self.holders.get_mut(&task)
            && threads.last() == Some(&(slot as u32))
        {
            threads.pop();
            if threads.is_empty() {
                self.holders.remove(&task);
            }
        }
        lane.stack.pop();
        self.uncover(lane, slot, t)
    }

    /// A task that yielded elsewhere goes on here.
    fn take_over(
        &mut self,
        lane: &mut Lane<'a>,
        slot: usize,
        t: u64,
        name: (u32, u64),
    ) -> Option<()> {
        let from = self::slot(&self.gathered.threads, name.0)?;
        let yielded = &self.yielded[from];
        let task = *yielded.get(usize::try_from(name.1).ok()?)?;
        if self.states[task as usize] != State::Stopped {
            return None;
        }
        let last = self.columns.tasks.last[task as usize] as usize;
        if self.columns.strands.end_kind[last] != EndKind::Yield {
            return None;
        }
        self.handed.remove(&task);
        self.holders.entry(task).or_default().push(slot as u32);
        self.push(lane, slot, task, t);
        Some(())
    }

    /// A task by the thread that created it and its count, created before.
    fn named(&self, (thread, count): (u32, u64)) -> Option<u32> {
        let from = slot(&self.gathered.threads, thread)?;
        self.created[from]
            .get(usize::try_from(count).ok()?)
            .copied()
    }

    /// A thread named by a record.
    fn thread(&self, number: Option<u32>) -> u32 {
        let slot = number.and_then(|number| slot(&self.gathered.threads, number));
        slot.map_or(NONE, |slot| slot as u32)
    }

    fn happened(&mut self, slot: usize, t: u64, what: ThreadEvent) {
        self.raw.thread_events.push((t, slot as u32, what));
    }
}
