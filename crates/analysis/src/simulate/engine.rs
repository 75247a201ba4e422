//! Virtual workers and their events.
//!
//! A worker has a queue of tasks that can be run and a stack of tasks that can't go on before what is above them has: in a wait, or
//! in a call of an inline task. Under work-first nothing is kept in waits: a task that waits leaves its worker, with the tasks that
//! called it.
//!
//! Thieves don't poll. One that finds all queues empty sleeps, and each task put into a queue wakes one; how many empty queues it
//! would have looked at on its way is drawn from the same distribution.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use workspan_dag::NONE;

use super::program::{Kind, Op, Program};
use super::random::Random;
use super::schedule::Schedule;
use super::{Policy, Setup, Simulated};

/// Why a task lies on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// It waits, for the wait of this number.
    Wait(u32, u32),
    /// It called what is above it.
    Call(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Busy,
    /// On the way to another worker's queue.
    Seeking,
    Idle,
}

struct Worker {
    state: State,
    /// What it runs while busy.
    task: u32,
    /// The create it stands at has been paid for.
    paid: bool,
    stack: Vec<Frame>,
    queue: VecDeque<u32>,
    /// Events of another epoch are void.
    epoch: u32,
}

/// Numbers below a bound, with a random one in constant time.
struct Few {
    list: Vec<u32>,
    at: Vec<u32>,
}

impl Few {
    fn new(bound: usize) -> Few {
        Few {
            list: Vec::new(),
            at: vec![NONE; bound],
        }
    }

    fn add(&mut self, n: u32) {
        if self.at[n as usize] == NONE {
            self.at[n as usize] = self.list.len() as u32;
            self.list.push(n);
        }
    }

    fn remove(&mut self, n: u32) {
        let at = std::mem::replace(&mut self.at[n as usize], NONE);
        if at != NONE {
            self.list.swap_remove(at as usize);
            if let Some(&moved) = self.list.get(at as usize) {
                self.at[moved as usize] = at;
            }
        }
    }

    fn random(&self, random: &mut Random) -> Option<u32> {
        self.list.get(random.below(self.list.len())).copied()
    }
}

/// Looks at empty queues that are drawn for one steal at most.
const MOST_ATTEMPTS: u64 = 1000;

pub(super) struct Engine<'a> {
    program: &'a Program,
    setup: Setup,
    schedule: Option<Schedule<'a>>,
    random: Random,
    /// (time, order, worker, epoch).
    events: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    order: u64,
    workers: Vec<Worker>,
    /// Workers with something in their queues, and sleeping ones that may steal.
    full: Few,
    asleep: Few,
    /// Breadth-first: all tasks, with who put them there.
    shared: VecDeque<(u32, u32)>,
    /// Next operation of each task.
    next: Vec<u32>,
    /// Not yet ended: what each task depends on, and each wait's members.
    depends: Vec<u32>,
    members: Vec<u32>,
    /// Where the task in each wait lies: a worker, or [`NONE`] for a task that left its worker.
    parked: HashMap<u32, (u32, u32)>,
    /// Work-first: those that called a task that left its worker.
    callers: HashMap<u32, Vec<Frame>>,
    /// Children not yet shown.
    delayed: HashMap<u32, Vec<u32>>,
    /// Created, and all it depends on has ended or it will be.
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
            full: Few::new(count),
            asleep: Few::new(count),
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
            if self.left == 0 || !self.unstick(now) {
                break;
            }
        }
        (self.result, self.schedule)
    }

    fn at(&mut self, t: u64, w: u32) {
        let epoch = self.workers[w as usize].epoch;
        self.events.push(Reverse((t, self.order, w, epoch)));
        self.order += 1;
    }

    /// Worker `w` takes up `task`.
    fn start(&mut self, w: u32, task: u32, t: u64) {
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

    /// The operations of the worker's task from `t` on, until one takes time or the worker has to look for another task.
    fn go_on(&mut self, w: u32, t: u64) {
        loop {
            let task = self.workers[w as usize].task;
            let at = self.next[task as usize];
            let op = self.program.ops[at as usize];
            let is_deferred =
                matches!(op, Op::Create(c) if self.program.kind[c as usize] == Kind::Deferred);
            if is_deferred && self.program.spawn_cost > 0 && !self.workers[w as usize].paid {
                self.workers[w as usize].paid = true;
                return self.at(t.saturating_add(self.program.spawn_cost), w);
            }
            self.workers[w as usize].paid = false;
            self.next[task as usize] += 1;
            if let Some(schedule) = &mut self.schedule {
                schedule.note(task, w, t, op);
            }
            match op {
                Op::Run(_, 0) => {}
                Op::Run(_, ticks) => return self.at(t.saturating_add(ticks), w),
                Op::Create(child) => self.create(w, task, child, t),
                Op::Yield => self.show(w, task, t),
                Op::Signal(signal) => {
                    self.show(w, task, t);
                    let program = self.program;
                    for &wait in program.waits_of_signal.of(signal) {
                        self.ended(w, wait, t);
                    }
                }
                Op::Wait(wait) => {
                    self.show(w, task, t);
                    if self.members[wait as usize] > 0 {
                        self.park(w, task, wait, t);
                        return;
                    }
                    if let Some(schedule) = &mut self.schedule {
                        schedule.open(task, w, t);
                    }
                }
                Op::End => {
                    self.show(w, task, t);
                    self.end(w, task, t);
                    if !self.below(w, t) {
                        return;
                    }
                }
            }
        }
    }

    /// What lies below a task that has ended: true when the worker goes on with it at once.
    fn below(&mut self, w: u32, t: u64) -> bool {
        let next = match self.workers[w as usize].stack.last().copied() {
            Some(Frame::Call(caller)) => Some(caller),
            Some(Frame::Wait(task, wait)) if self.members[wait as usize] == 0 => {
                self.parked.remove(&wait);
                Some(task)
            }
            _ => None,
        };
        let Some(task) = next else {
            self.seek(w, t);
            return false;
        };
        self.workers[w as usize].stack.pop();
        self.workers[w as usize].task = task;
        if let Some(schedule) = &mut self.schedule {
            schedule.open(task, w, t);
        }
        true
    }

    fn create(&mut self, w: u32, task: u32, child: u32, t: u64) {
        let kind = self.program.kind[child as usize];
        if kind == Kind::Call && self.depends[child as usize] == 0 {
            return self.call(w, task, child, t);
        }
        if self.depends[child as usize] > 0 {
            // Whoever ends the last of what it depends on shows it.
            self.created[child as usize] = true;
            return self.reopen(w, task, t);
        }
        match self.setup.policy {
            Policy::WorkFirst if kind == Kind::Deferred => {
                self.created[child as usize] = true;
                let stack = std::mem::take(&mut self.workers[w as usize].stack);
                if !stack.is_empty() {
                    self.callers.insert(task, stack);
                }
                self.show_task(w, task, t);
                self.workers[w as usize].task = child;
                if let Some(schedule) = &mut self.schedule {
                    schedule.open(child, w, t);
                }
                return;
            }
            Policy::BoundedQueue(most)
                if kind == Kind::Deferred
                    && self.workers[w as usize].queue.len() >= most as usize =>
            {
                return self.call(w, task, child, t);
            }
            Policy::DelayedChildren => {
                self.created[child as usize] = true;
                self.delayed.entry(task).or_default().push(child);
            }
            _ => self.put(w, child, t),
        }
        self.reopen(w, task, t);
    }

    /// The creator goes on.
    fn reopen(&mut self, w: u32, task: u32, t: u64) {
        if let Some(schedule) = &mut self.schedule {
            schedule.open(task, w, t);
        }
    }

    /// Runs `child` above `task`.
    fn call(&mut self, w: u32, task: u32, child: u32, t: u64) {
        self.created[child as usize] = true;
        let worker = &mut self.workers[w as usize];
        worker.stack.push(Frame::Call(task));
        worker.task = child;
        if let Some(schedule) = &mut self.schedule {
            schedule.open(child, w, t);
        }
    }

    /// A new task comes into the queue of `w`.
    fn put(&mut self, w: u32, task: u32, t: u64) {
        self.created[task as usize] = true;
        self.show_task(w, task, t);
    }

    /// A task that can be run comes into the queue of `w`, and a sleeping worker hears of it.
    fn show_task(&mut self, w: u32, task: u32, t: u64) {
        if self.setup.policy == Policy::BreadthFirst {
            self.shared.push_back((task, w));
        } else {
            self.workers[w as usize].queue.push_back(task);
            self.full.add(w);
        }
        if let Some(thief) = self.asleep.random(&mut self.random) {
            self.asleep.remove(thief);
            self.set_out(thief, t);
        }
    }

    /// The children that `task` has kept to itself.
    fn show(&mut self, w: u32, task: u32, t: u64) {
        if self.setup.policy != Policy::DelayedChildren {
            return;
        }
        for child in self.delayed.remove(&task).unwrap_or_default() {
            self.show_task(w, child, t);
        }
    }

    fn park(&mut self, w: u32, task: u32, wait: u32, t: u64) {
        if self.setup.policy == Policy::WorkFirst {
            let stack = std::mem::take(&mut self.workers[w as usize].stack);
            if !stack.is_empty() {
                self.callers.insert(task, stack);
            }
            self.parked.insert(wait, (task, NONE));
        } else {
            self.workers[w as usize].stack.push(Frame::Wait(task, wait));
            self.parked.insert(wait, (task, w));
        }
        self.seek(w, t);
    }

    /// One that `wait` waits for has ended, on worker `w`.
    fn ended(&mut self, w: u32, wait: u32, t: u64) {
        let left = &mut self.members[wait as usize];
        *left = left.saturating_sub(1);
        if *left > 0 {
            return;
        }
        let Some(&(task, on)) = self.parked.get(&wait) else {
            return;
        };
        if on == NONE {
            self.parked.remove(&wait);
            return self.show_task(w, task, t);
        }
        let waiter = &mut self.workers[on as usize];
        if waiter.state != State::Busy && waiter.stack.last() == Some(&Frame::Wait(task, wait)) {
            waiter.stack.pop();
            self.parked.remove(&wait);
            self.start(on, task, t);
        }
    }

    fn end(&mut self, w: u32, task: u32, t: u64) {
        self.left -= 1;
        self.result.elapsed = self.result.elapsed.max(t);
        let program = self.program;
        for &wait in program.waits_of_task.of(task) {
            self.ended(w, wait, t);
        }
        for &dependent in program.dependents.of(task) {
            let left = &mut self.depends[dependent as usize];
            *left = left.saturating_sub(1);
            if *left == 0 && self.created[dependent as usize] {
                self.show_task(w, dependent, t);
            }
        }
    }

    /// Worker `w` has nothing to run.
    fn seek(&mut self, w: u32, t: u64) {
        self.workers[w as usize].state = State::Idle;
        if self.setup.policy == Policy::BreadthFirst {
            return match self.shared.front() {
                Some(&(task, by)) if by == w => {
                    self.shared.pop_front();
                    self.start(w, task, t);
                }
                Some(_) => self.set_out(w, t),
                None => self.asleep.add(w),
            };
        }
        let restrained = self.setup.policy == Policy::RestrainedStealing;
        let worker = &mut self.workers[w as usize];
        let waits = match worker.stack.last() {
            Some(&Frame::Wait(task, _)) if restrained => Some(task),
            _ => None,
        };
        let mine = worker.queue.back().copied();
        let may = |task: &u32| waits.is_none_or(|by| self.program.parent[*task as usize] == by);
        if let Some(task) = mine.filter(may) {
            worker.queue.pop_back();
            if worker.queue.is_empty() {
                self.full.remove(w);
            }
            return self.start(w, task, t);
        }
        if waits.is_some() {
            // It sleeps until its wait is over.
            return;
        }
        if self.full.list.is_empty() {
            self.asleep.add(w);
        } else {
            self.set_out(w, t);
        }
    }

    /// Worker `w` goes stealing.
    fn set_out(&mut self, w: u32, t: u64) {
        let mut attempts = 0;
        if self.setup.policy != Policy::BreadthFirst {
            let others = self.workers.len() - 1;
            let full = self.full.list.len();
            while attempts < MOST_ATTEMPTS && self.random.below(others) >= full {
                attempts += 1;
            }
        }
        self.result.failed += attempts;
        let lost = self.setup.attempt_cost.saturating_mul(attempts);
        let cost = self.setup.steal_cost.saturating_add(lost);
        let worker = &mut self.workers[w as usize];
        worker.state = State::Seeking;
        worker.epoch = worker.epoch.wrapping_add(1);
        self.at(t.saturating_add(cost), w);
    }

    /// Worker `w` is where it set out to.
    fn arrive(&mut self, w: u32, t: u64) {
        let taken = if self.setup.policy == Policy::BreadthFirst {
            self.shared.pop_front()
        } else {
            self.full.random(&mut self.random).and_then(|victim| {
                let queue = &mut self.workers[victim as usize].queue;
                let task = queue.pop_front();
                if queue.is_empty() {
                    self.full.remove(victim);
                }
                task.map(|task| (task, victim))
            })
        };
        let Some((task, victim)) = taken else {
            return self.seek(w, t);
        };
        if victim != w {
            self.result.steals += 1;
            let leap = !self.workers[w as usize].stack.is_empty();
            if let Some(schedule) = &mut self.schedule {
                schedule.stolen(t, w, victim, task, leap);
            }
        }
        self.start(w, task, t);
    }

    /// No worker can go on under the policy: lets one. False when nothing is left that could.
    fn unstick(&mut self, t: u64) -> bool {
        let over = |frame: &Frame, members: &[u32]| matches!(frame, Frame::Wait(_, wait) if members[*wait as usize] == 0);
        for w in 0..self.workers.len() {
            let stack = &mut self.workers[w].stack;
            let found = stack.iter().rposition(|f| over(f, &self.members));
            if let Some(Frame::Wait(task, wait)) = found.map(|at| stack.remove(at)) {
                self.parked.remove(&wait);
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        for w in 0..self.workers.len() {
            if let Some(task) = self.workers[w].queue.pop_back() {
                if self.workers[w].queue.is_empty() {
                    self.full.remove(w as u32);
                }
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        for w in 0..self.workers.len() {
            let stack = &mut self.workers[w].stack;
            let found = stack.iter().rposition(|f| matches!(f, Frame::Call(_)));
            if let Some(Frame::Call(task)) = found.map(|at| stack.remove(at)) {
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        // Work-first: those that called a task that waits. The smallest, as the order of a hash map is no order.
        let Some(&task) = self.callers.keys().min() else {
            return false;
        };
        let mut frames = self.callers.remove(&task).unwrap_or_default();
        let Some(Frame::Call(caller)) = frames.pop() else {
            return true;
        };
        if !frames.is_empty() {
            self.callers.insert(caller, frames);
        }
        self.result.unstuck += 1;
        self.start(0, caller, t);
        true
    }
}
