//! Virtual workers and their events.
//!
//! A worker has a queue of tasks that can run, and a stack of tasks that are in a wait or in a call
//! of an inline task. A task on the stack continues only after the tasks above it. Under
//! work-first, no task stays on a stack in a wait: a waiting task leaves its worker, together with
//! the tasks that called it.
//!
//! Thieves don't poll. A thief that finds all queues empty sleeps, and each task put into a queue
//! wakes one thief. The number of empty queues that it would have looked at on its way is drawn
//! from the same distribution.
//!
//! * `task`: the operations of tasks: creates, waits, ends.
//! * `steal`: what a worker does when it has nothing to run.
//! * `deadlock`: what continues against the policy if nothing can continue under it.

mod deadlock;
mod sparse_set;
mod steal;
mod task;
mod worker;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use workspan_dag::NONE;

use super::program::Program;
use super::random::Random;
use super::schedule::Schedule;
use super::{Setup, Simulated};
use sparse_set::SparseSet;
use worker::{Frame, State, Worker};

pub(super) struct Engine<'a> {
    program: &'a Program,
    setup: Setup,
    schedule: Option<Schedule<'a>>,
    random: Random,
    /// (time, order, worker, epoch).
    events: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    order: u64,
    workers: Vec<Worker>,
    /// Workers with a task in their queues, and sleeping workers that may steal.
    full: SparseSet,
    asleep: SparseSet,
    /// Breadth-first: all ready tasks, each with the worker that put it there.
    shared: VecDeque<(u32, u32)>,
    /// Next operation of each task.
    next: Vec<u32>,
    /// Numbers of tasks that have not ended: those that each task depends on, and each wait's
    /// members.
    depends: Vec<u32>,
    members: Vec<u32>,
    /// Where the task in each wait is: on a worker's stack, or [`NONE`] for a task that left its
    /// worker.
    parked: HashMap<u32, (u32, u32)>,
    /// Work-first: the callers of a task that left its worker.
    callers: HashMap<u32, Vec<Frame>>,
    /// Children that are not visible to other workers yet.
    delayed: HashMap<u32, Vec<u32>>,
    /// By task: whether it was created. It can run once all that it depends on has ended.
    created: Vec<bool>,
    left: usize,
    result: Simulated,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        program: &'a Program,
        setup: Setup,
        schedule: Option<Schedule<'a>>,
    ) -> Engine<'a> {
        let count = setup.workers.max(1) as usize;
        let worker = || Worker {
            state: State::Idle,
            task: NONE,
            paid: false,
            stack: Vec::new(),
            queue: VecDeque::new(),
            epoch: 0,
        };
        Engine {
            program,
            setup,
            schedule,
            random: Random::new(setup.seed),
            events: BinaryHeap::new(),
            order: 0,
            workers: (0..count).map(|_| worker()).collect(),
            full: SparseSet::new(count),
            asleep: SparseSet::new(count),
            shared: VecDeque::new(),
            next: program.first.clone(),
            depends: program.depends.clone(),
            members: program.members.clone(),
            parked: HashMap::new(),
            callers: HashMap::new(),
            delayed: HashMap::new(),
            created: vec![false; program.first.len()],
            left: program.first.len(),
            result: Simulated::default(),
        }
    }

    pub(super) fn run(mut self) -> (Simulated, Option<Schedule<'a>>) {
        let mut roots = (0..self.program.first.len() as u32)
            .filter(|&t| self.program.parent[t as usize] == NONE)
            .collect::<Vec<u32>>()
            .into_iter();
        for w in 1..self.workers.len() as u32 {
            self.asleep.add(w);
        }
        if let Some(first) = roots.next() {
            for root in roots {
                self.put(0, root, 0);
            }
            self.created[first as usize] = true;
            self.start(0, first, 0);
        }
        let mut now = 0;
        loop {
            while let Some(Reverse((t, _, w, epoch))) = self.events.pop() {
                if self.workers[w as usize].epoch != epoch {
                    continue;
                }
                now = t;
                match self.workers[w as usize].state {
                    State::Busy => self.go_on(w, t),
                    State::Seeking => self.arrive(w, t),
                    State::Idle => {}
                }
            }
            if self.left == 0 || !self.break_deadlock(now) {
                break;
            }
        }
        (self.result, self.schedule)
    }

    pub(super) fn at(&mut self, t: u64, w: u32) {
        let epoch = self.workers[w as usize].epoch;
        self.events.push(Reverse((t, self.order, w, epoch)));
        self.order += 1;
    }

    /// Called when worker `w` takes up `task`.
    pub(super) fn start(&mut self, w: u32, task: u32, t: u64) {
        self.asleep.remove(w);
        let worker = &mut self.workers[w as usize];
        worker.epoch = worker.epoch.wrapping_add(1);
        (worker.state, worker.task) = (State::Busy, task);
        if let Some(callers) = self.callers.remove(&task) {
            worker.stack.extend(callers);
        }
        if let Some(schedule) = &mut self.schedule {
            schedule.open(task, w, t);
        }
        self.at(t, w);
    }
}
