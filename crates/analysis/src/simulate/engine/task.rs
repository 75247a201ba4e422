//! The operations of tasks, one after the other.

use workspan_dag::NONE;

use super::{Engine, Frame, State};
use crate::simulate::Policy;
use crate::simulate::program::{Kind, Op};

impl Engine<'_> {
    /// Runs the operations of the worker's task from `t` on, until one takes time or the worker has
    /// to look for another task.
    pub(super) fn go_on(&mut self, w: u32, t: u64) {
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
                schedule.note(task, w, t, at);
            }
            match op {
                Op::Run(_, 0) => {}
                Op::Run(_, ticks) => return self.at(t.saturating_add(ticks), w),
                Op::Create(child) => self.create(w, task, child, t),
                Op::Yield => self.show(w, task, t),
                Op::Signal(signal) => {
                    self.show(w, task, t);
                    let program = self.program;
                    for &wait in program.waits_of_signal.get(signal as usize) {
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
                Op::Block(wait) => {
                    self.show(w, task, t);
                    if self.members[wait as usize] > 0 {
                        self.block(w, task, wait, t);
                        return;
                    }
                    self.reopen(w, task, t);
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

    /// Continues with the frame below a task that has ended; true if the worker can run it at once.
    pub(super) fn below(&mut self, w: u32, t: u64) -> bool {
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

    pub(super) fn create(&mut self, w: u32, task: u32, child: u32, t: u64) {
        let kind = self.program.kind[child as usize];
        if kind == Kind::Call && self.depends[child as usize] == 0 {
            if let Some(schedule) = &mut self.schedule {
                schedule.calls(task, w, t, self.next[task as usize]);
            }
            return self.call(w, task, child, t);
        }
        if self.depends[child as usize] > 0 {
            // The worker that ends the last of its dependences makes it visible.
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

    /// Called when the creator continues.
    pub(super) fn reopen(&mut self, w: u32, task: u32, t: u64) {
        if let Some(schedule) = &mut self.schedule {
            schedule.open(task, w, t);
        }
    }

    /// Runs `child` above `task`.
    pub(super) fn call(&mut self, w: u32, task: u32, child: u32, t: u64) {
        self.created[child as usize] = true;
        let worker = &mut self.workers[w as usize];
        worker.stack.push(Frame::Call(task));
        worker.task = child;
        if let Some(schedule) = &mut self.schedule {
            schedule.open(child, w, t);
        }
    }

    /// Puts a new task into the queue of `w`.
    pub(super) fn put(&mut self, w: u32, task: u32, t: u64) {
        self.created[task as usize] = true;
        self.show_task(w, task, t);
    }

    /// Puts a ready task into the queue of `w`, and wakes a sleeping worker.
    pub(super) fn show_task(&mut self, w: u32, task: u32, t: u64) {
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

    /// Makes the children that `task` has kept to itself visible.
    pub(super) fn show(&mut self, w: u32, task: u32, t: u64) {
        if self.setup.policy != Policy::DelayedChildren {
            return;
        }
        for child in self.delayed.remove(&task).unwrap_or_default() {
            self.show_task(w, child, t);
        }
    }

    pub(super) fn park(&mut self, w: u32, task: u32, wait: u32, t: u64) {
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

    /// Blocks the thread that runs `task`. A pool's thread is not free meanwhile. A thread of the
    /// program itself frees its CPU, which a worker represents, for others.
    fn block(&mut self, w: u32, task: u32, wait: u32, t: u64) {
        if self.workers.len() == 1 || self.program.is_thread[task as usize] {
            return self.park(w, task, wait, t);
        }
        let worker = &mut self.workers[w as usize];
        worker.stack.push(Frame::Wait(task, wait));
        worker.state = State::Idle;
        self.parked.insert(wait, (task, w));
    }

    /// Called when a member of `wait` has ended on worker `w`.
    pub(super) fn ended(&mut self, w: u32, wait: u32, t: u64) {
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

    pub(super) fn end(&mut self, w: u32, task: u32, t: u64) {
        self.left -= 1;
        self.result.elapsed = self.result.elapsed.max(t);
        let program = self.program;
        for &wait in program.waits_of_task.get(task as usize) {
            self.ended(w, wait, t);
        }
        for &dependent in program.dependents.get(task as usize) {
            let left = &mut self.depends[dependent as usize];
            *left = left.saturating_sub(1);
            if *left == 0 && self.created[dependent as usize] {
                self.show_task(w, dependent, t);
            }
        }
    }
}
