//! Events that the real crate's scheduler reports, on the worker concerned: steals, failed attempts
//! and sleep.
//!
//! A steal is reported before the job runs, and a job does not say which task it is. So the steal
//! is kept until a task begins on this thread, which is at once. It is written before that task's
//! begin, with the time of the report. Jobs come from the deque of the worker that created their
//! tasks. If the task has another creator, it is not the one that was stolen.
//!
//! An unsuccessful thief tries many times a microsecond. Of consecutive failed attempts, since the
//! worker ran out of jobs or woke, the 1st, 2nd, 4th, 8th, … are written: n records stand for
//! 2^(n-1) to 2^n - 1 attempts.

use crate::recording::{recorded_thread, RecordedThread};
use crate::wire::Kind;
use rayon_core_real::workspan_hooks::{set, Hooks};

static HOOKS: Hooks = Hooks {
    stolen,
    missed,
    idle,
    sleeps,
    wakes,
    waits,
    waited,
};

/// Installs the hooks.
pub(crate) fn install() {
    set(&HOOKS);
}

fn stolen(victim: usize) {
    if let Some(thread) = recorded_thread() {
        thread.state().stolen.set((victim + 1, thread.now()));
        thread.state().missed.set(0);
    }
}

fn missed(victim: usize) {
    let Some(thread) = recorded_thread() else { return };
    let count = thread.state().missed.get() + 1;
    thread.state().missed.set(count);
    if count.is_power_of_two() {
        thread.event(Kind::StealFailed, [u64::from(thread.worker_thread(victim))]);
    }
}

fn idle() {
    if let Some(thread) = recorded_thread() {
        thread.state().missed.set(0);
        // The job stolen before was not a task of a recorded thread.
        thread.state().stolen.set((0, 0));
    }
}

fn sleeps() {
    if let Some(thread) = recorded_thread() {
        thread.event(Kind::Sleep, []);
    }
}

fn wakes() {
    if let Some(thread) = recorded_thread() {
        thread.event(Kind::Wake, []);
        thread.state().missed.set(0);
    }
}

fn waits() {
    if let Some(thread) = recorded_thread() {
        thread.waits_in_subtree();
    }
}

fn waited() {
    if let Some(thread) = recorded_thread() {
        thread.waited_in_subtree();
    }
}

impl RecordedThread {
    /// A part of a skipped subtree of thread `owner` is about to begin here, as this thread's next
    /// task. If a job was stolen from that thread, it was this one.
    pub(crate) fn stolen_part(&self, owner: u32) {
        let (victim, time) = self.state().stolen.replace((0, 0));
        let victim = match victim {
            0 => return,
            index => self.worker_thread(index - 1),
        };
        if victim == 0 || victim == owner + 1 {
            let leap = !self.state().task.get().is_null() && self.state().yielding.get() == 0;
            let operands = [
                u64::from(owner) + 1,
                u64::from(leap),
                u64::from(self.number()),
                self.tasks(),
            ];
            self.record(Kind::Steal, time, operands);
        }
    }

    /// The thread number + 1 of a worker of this thread's pool; 0 if it is unknown.
    fn worker_thread(&self, index: usize) -> u32 {
        let pool = self.state().pool.get();
        // SAFETY: null, or this thread's share of its pool, which only this thread gives up.
        unsafe { pool.as_ref() }.map_or(0, |pool| pool.thread(index))
    }

    /// The task with this name is about to begin here. If it was stolen, the steal is written.
    #[inline(always)]
    pub(crate) fn stolen_begins(&self, task: (u32, u64)) {
        let (victim, time) = self.state().stolen.get();
        if victim != 0 {
            self.write_steal(victim - 1, time, task);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_steal(&self, victim: usize, time: u64, task: (u32, u64)) {
        self.state().stolen.set((0, 0));
        let victim = self.worker_thread(victim);
        if victim != 0 && victim != task.0 + 1 {
            return;
        }
        // A leapfrogging steal: a task waits below on this stack. A task in a yield does not wait.
        let leap = !self.state().task.get().is_null() && self.state().yielding.get() == 0;
        let operands = [
            u64::from(task.0) + 1,
            u64::from(leap),
            u64::from(task.0),
            task.1,
        ];
        self.record(Kind::Steal, time, operands);
    }
}
