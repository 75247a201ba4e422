//! Random task-parallel programs with a random schedule, in the form of a recorder's output:
//! records of each thread.

use workspan_test_kit::put_record;
use workspan_trace::wire::Kind;

use crate::random::dice::Dice;

/// What a program does besides joins, creates and waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Habits {
    /// Number of threads.
    pub threads: usize,
    /// Probability in percent that a thread without work looks for some in its turn.
    pub steals: usize,
    /// Probability per thousand steps of each.
    pub detached: usize,
    pub marks: usize,
    pub yields: usize,
    pub signals: usize,
    pub depends: usize,
    /// Probability in percent that children are not waited for at an end.
    pub escapes: usize,
    /// Probability in percent that another task is run during a wait, if there is any.
    pub foreign: usize,
    /// Largest step of time.
    pub step: usize,
    /// Number of tasks.
    pub tasks: usize,
    /// Only joins.
    pub joins_only: bool,
    /// Tasks create into their own scopes and into the scope that they belong to; no task waits for
    /// all children.
    pub outward: bool,
}

/// A thread's records.
#[derive(Default, Clone)]
pub struct Lane {
    pub bytes: Vec<u8>,
    pub now: u64,
    /// Where each record starts.
    pub starts: Vec<usize>,
    tasks: u64,
    scopes: u64,
}

impl Lane {
    pub fn put(&mut self, t: u64, kind: Kind, operands: &[u64]) {
        self.starts.push(self.bytes.len());
        put_record(&mut self.bytes, kind, t - self.now, operands);
        self.now = t;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Waiting,
    Begun,
    Ended,
}

#[derive(Clone)]
struct Task {
    name: (u64, u64),
    state: State,
    /// Created, not detached, and not yet waited for.
    unjoined: Vec<usize>,
    scopes: Vec<(u64, bool, Vec<usize>)>,
    open_marks: Vec<u64>,
    /// The opener of the scope that it was created into, and that scope's name.
    member_of: Option<(usize, u64)>,
    /// Number of creates into one scope from its opener.
    level: u32,
}

#[derive(Clone)]
enum Act {
    Runs(usize),
    /// The join with the task's deferred child, which is cleared after it began here.
    Joins(usize, usize, bool),
    /// What it waits for.
    Waits(usize, Vec<usize>),
    /// One of its own tasks began on top of it.
    Interrupted(usize),
}

struct Sim<'a> {
    dice: &'a mut Dice,
    habits: Habits,
    lanes: Vec<Lane>,
    stacks: Vec<Vec<Act>>,
    tasks: Vec<Task>,
    now: u64,
    signals: u64,
}

/// The lanes of a run, and its end.
pub fn run(dice: &mut Dice, habits: Habits) -> (Vec<Lane>, u64) {
    let threads = habits.threads;
    let mut sim = Sim {
        dice,
        habits,
        lanes: vec![Lane::default(); threads],
        stacks: vec![Vec::new(); threads],
        tasks: Vec::new(),
        now: 0,
        signals: 0,
    };
    sim.lanes[0].put(0, Kind::Root, &[]);
    for (w, lane) in sim.lanes.iter_mut().enumerate().skip(1) {
        lane.put(0, Kind::Worker, &[0, w as u64]);
    }
    let root = sim.create(0);
    sim.tasks[root].state = State::Begun;
    sim.stacks[0].push(Act::Runs(root));
    while sim.tasks.iter().any(|t| t.state != State::Ended) {
        let w = sim.dice.below(threads);
        if sim.dice.percent(70) {
            sim.now += sim.dice.below(sim.habits.step + 1) as u64;
        }
        sim.step(w);
    }
    let end = sim.now;
    (sim.lanes, end)
}

impl Sim<'_> {
    fn put(&mut self, w: usize, kind: Kind, operands: &[u64]) {
        self.lanes[w].put(self.now, kind, operands);
    }

    /// The thread's next create.
    fn create(&mut self, w: usize) -> usize {
        let name = (w as u64, self.lanes[w].tasks);
        self.lanes[w].tasks += 1;
        self.tasks.push(Task {
            name,
            state: State::Waiting,
            unjoined: vec![],
            scopes: vec![],
            open_marks: vec![],
            member_of: None,
            level: 0,
        });
        self.tasks.len() - 1
    }

    fn begin(&mut self, w: usize, task: usize) {
        let (thread, seq) = self.tasks[task].name;
        self.put(w, Kind::Begin, &[thread, seq]);
        self.tasks[task].state = State::Begun;
        self.stacks[w].push(Act::Runs(task));
    }

    fn ended(&self, tasks: &[usize]) -> bool {
        tasks.iter().all(|&t| self.tasks[t].state == State::Ended)
    }

    /// Takes any task that has not begun, except the deferred child of a join that its own thread
    /// is about to begin.
    fn steal(&mut self, w: usize) -> bool {
        let ready: Vec<usize> = (0..self.tasks.len())
            .filter(|&t| self.tasks[t].state == State::Waiting)
            .collect();
        if ready.is_empty() {
            return false;
        }
        let own = ready.iter().rfind(|&&t| self.tasks[t].name.0 == w as u64);
        let task = match own.filter(|_| self.habits.outward && self.dice.percent(70)) {
            Some(&own) => own,
            None => self.dice.pick(&ready),
        };
        if self.dice.percent(50) {
            let (thread, seq) = self.tasks[task].name;
            self.put(w, Kind::Steal, &[thread + 1, 0, thread, seq]);
        }
        self.begin(w, task);
        true
    }

    fn step(&mut self, w: usize) {
        match self.stacks[w].last().cloned() {
            None => {
                if self.dice.percent(self.habits.steals) && !self.steal(w) && self.dice.percent(5) {
                    self.put(w, Kind::StealFailed, &[0]);
                }
            }
            Some(Act::Runs(task)) => self.run(w, task),
            Some(Act::Interrupted(task)) => {
                // The task on top is gone.
                *self.stacks[w].last_mut().unwrap() = Act::Runs(task);
                self.run(w, task);
            }
            Some(Act::Joins(task, deferred, here)) => {
                let top = self.stacks[w].len() - 1;
                if self.tasks[deferred].state == State::Waiting && !here {
                    // At the time of the previous record, so that nothing comes in between.
                    let now = self.lanes[w].now;
                    self.lanes[w].put(now, Kind::Next, &[]);
                    self.tasks[deferred].state = State::Begun;
                    self.stacks[w][top] = Act::Joins(task, deferred, true);
                    self.stacks[w].push(Act::Runs(deferred));
                } else if self.ended(&[deferred]) {
                    self.put(w, Kind::Resume, &[]);
                    self.stacks[w][top] = Act::Runs(task);
                } else if self.dice.percent(self.habits.foreign) {
                    self.steal(w);
                }
            }
            Some(Act::Waits(task, on)) => {
                if self.ended(&on) {
                    self.put(w, Kind::Resume, &[]);
                    *self.stacks[w].last_mut().unwrap() = Act::Runs(task);
                    return;
                }
                let mine: Vec<usize> = on
                    .iter()
                    .copied()
                    .filter(|&t| self.tasks[t].state == State::Waiting)
                    .collect();
                if self.dice.percent(self.habits.foreign) {
                    self.steal(w);
                } else if !mine.is_empty() {
                    let order = if self.habits.outward { 20 } else { 4 };
                    let task = match self.dice.below(order) {
                        0 => self.dice.pick(&mine),
                        1 => mine[0],
                        _ => mine[mine.len() - 1],
                    };
                    self.begin(w, task);
                }
            }
        }
    }

    fn run(&mut self, w: usize, task: usize) {
        let h = self.habits;
        // A thread that next runs what it created last does not return from a tree whose tasks
        // create more than one task each.
        let deep = h.outward && self.tasks[task].level > 7;
        let full = self.tasks.len() >= h.tasks || deep;
        if self.dice.below(1000) < h.detached + h.marks + h.yields + h.signals {
            return self.rare(w, task);
        }
        let site = 1 + self.dice.below(4) as u64;
        let depth = self.stacks[w].len();
        match self.dice.below(if full || depth > 30 { 3 } else { 10 }) {
            0 | 1 => self.end(w, task),
            2 => self.wait(w, task),
            3 if !h.joins_only => {
                // A task that escapes from a task in a tree scope is still the scope's member,
                // which is not tracked here.
                let tree = self.dice.percent(50) && self.habits.escapes == 0;
                self.put(w, Kind::Scope, &[u64::from(tree)]);
                let number = self.lanes[w].scopes;
                self.lanes[w].scopes += 1;
                // A scope is named after the thread that opened it; the task may be on another one
                // by then.
                self.tasks[task]
                    .scopes
                    .push((number << 8 | w as u64, tree, vec![]));
            }
            4..=6 if !h.joins_only => self.create_child(w, task, site),
            _ => {
                self.put(w, Kind::Join, &[site]);
                let deferred = self.create(w);
                let inline = self.create(w);
                self.tasks[inline].state = State::Begun;
                *self.stacks[w].last_mut().unwrap() = Act::Joins(task, deferred, false);
                self.stacks[w].push(Act::Runs(inline));
            }
        }
    }

    fn create_child(&mut self, w: usize, task: usize, site: u64) {
        if self.habits.outward && self.create_outward(w, task, site) {
            return;
        }
        let inline = !self.habits.outward && self.dice.percent(15);
        let flags = if inline { 2 } else { 1 };
        let scope = self.tasks[task].scopes.len().checked_sub(1);
        match scope.filter(|_| self.dice.percent(70)) {
            Some(last) => {
                let name = self.tasks[task].scopes[last].0;
                self.put(w, Kind::Create, &[flags | 4, site, name & 255, name >> 8]);
                let child = self.create(w);
                self.tasks[task].scopes[last].2.push(child);
                self.created(w, task, child, inline);
            }
            None => {
                self.put(w, Kind::Create, &[flags, site]);
                let child = self.create(w);
                let tree = self.tasks[task].scopes.iter_mut().rev().find(|s| s.1);
                if let Some(tree) = tree {
                    tree.2.push(child);
                }
                self.created(w, task, child, inline);
            }
        }
    }

    /// Creates a task into the innermost scope that this task opened, or into the scope that it was
    /// created into. False if there is neither, or if the usual way is chosen.
    fn create_outward(&mut self, w: usize, task: usize, site: u64) -> bool {
        let opened = self.tasks[task].scopes.last().map(|s| (task, s.0));
        let own = self.dice.percent(40);
        let Some((owner, name)) = opened
            .filter(|_| own)
            .or(self.tasks[task].member_of)
            .or(opened)
        else {
            return true;
        };
        self.put(w, Kind::Create, &[1 | 4, site, name & 255, name >> 8]);
        let child = self.create(w);
        self.tasks[child].member_of = Some((owner, name));
        self.tasks[child].level = self.tasks[task].level + 1;
        let open = self.tasks[owner].scopes.iter_mut().find(|s| s.0 == name);
        match open {
            Some(scope) => scope.2.push(child),
            None => {
                let waits = self.stacks.iter_mut().flatten().find_map(|act| match act {
                    Act::Waits(who, on) if *who == owner && on.contains(&task) => Some(on),
                    _ => None,
                });
                waits.unwrap().push(child);
            }
        }
        true
    }

    fn created(&mut self, w: usize, task: usize, child: usize, inline: bool) {
        self.tasks[task].unjoined.push(child);
        if self.habits.depends > self.dice.below(1000) {
            let (thread, seq) = self.tasks[child].name;
            self.put(w, Kind::Depends, &[thread, seq, 1, 2, 77]);
        }
        if inline {
            if self.dice.percent(50) {
                *self.stacks[w].last_mut().unwrap() = Act::Interrupted(task);
            } else {
                let (thread, seq) = self.tasks[child].name;
                let at = self.dice.below(4) as u64;
                self.put(w, Kind::Wait, &[at, 2, 1, thread, seq]);
                self.tasks[task].unjoined.pop();
                for scope in &mut self.tasks[task].scopes {
                    scope.2.retain(|&t| t != child);
                }
                *self.stacks[w].last_mut().unwrap() = Act::Waits(task, vec![child]);
            }
            self.begin(w, child);
        }
    }

    /// Waits for the innermost scope, or for all children; true if there was something to wait for.
    fn wait(&mut self, w: usize, task: usize) {
        if self.habits.outward && self.tasks[task].scopes.is_empty() {
            return;
        }
        let at = self.dice.below(4) as u64;
        if let Some((name, _, on)) = self.tasks[task].scopes.pop() {
            self.put(w, Kind::Wait, &[at, 1, name & 255, name >> 8]);
            self.tasks[task].unjoined.retain(|t| !on.contains(t));
            *self.stacks[w].last_mut().unwrap() = Act::Waits(task, on);
        } else {
            let on = std::mem::take(&mut self.tasks[task].unjoined);
            self.put(w, Kind::Wait, &[at, 0]);
            *self.stacks[w].last_mut().unwrap() = Act::Waits(task, on);
        }
    }

    fn end(&mut self, w: usize, task: usize) {
        if self.habits.outward && task == 0 && self.tasks.len() < self.habits.tasks {
            return;
        }
        let escapes = self.dice.percent(self.habits.escapes);
        let t = &self.tasks[task];
        if !t.scopes.is_empty() || !t.unjoined.is_empty() && !escapes {
            return self.wait(w, task);
        }
        self.tasks[task].state = State::Ended;
        self.stacks[w].pop();
        let goes_on = match self.stacks[w].last() {
            Some(Act::Joins(below, deferred, _)) => self.ended(&[*deferred]).then_some(*below),
            Some(Act::Waits(below, on)) => self.ended(on).then_some(*below),
            _ => None,
        };
        match goes_on.filter(|_| self.dice.percent(70)) {
            Some(below) => {
                self.put(w, Kind::EndResume, &[]);
                *self.stacks[w].last_mut().unwrap() = Act::Runs(below);
            }
            None => self.put(w, Kind::End, &[]),
        }
        if let Some(&Act::Interrupted(below)) = self.stacks[w].last() {
            *self.stacks[w].last_mut().unwrap() = Act::Runs(below);
            if self.dice.percent(70) {
                self.name_ended(w, below, task);
            }
        }
    }

    /// The task waits for a child that ran on top of it and has ended, as in libgomp for undeferred
    /// tasks.
    fn name_ended(&mut self, w: usize, task: usize, child: usize) {
        let (thread, seq) = self.tasks[child].name;
        self.put(w, Kind::Wait, &[1, 2, 1, thread, seq]);
        self.put(w, Kind::Resume, &[]);
        let joined = &mut self.tasks[task];
        joined.unjoined.retain(|&t| t != child);
        for scope in &mut joined.scopes {
            scope.2.retain(|&t| t != child);
        }
    }

    fn rare(&mut self, w: usize, task: usize) {
        let h = self.habits;
        let mut at = self.dice.below(h.detached + h.marks + h.yields + h.signals);
        if at < h.detached {
            self.put(w, Kind::Create, &[3, 2]);
            self.create(w);
            return;
        }
        at -= h.detached;
        if at < h.marks {
            match self.tasks[task].open_marks.pop() {
                Some(label) => self.put(w, Kind::RegionEnd, &[label]),
                None => {
                    let (label, tree) = (self.dice.below(2) as u64, self.dice.below(2) as u64);
                    self.put(w, Kind::RegionBegin, &[label, tree]);
                    self.tasks[task].open_marks.push(label);
                }
            }
            return;
        }
        if at - h.marks < h.yields {
            self.put(w, Kind::Yield, &[1]);
            self.now += 1;
            self.put(w, Kind::Resume, &[]);
        } else {
            self.signals += 1;
            self.put(w, Kind::Signal, &[2, self.signals]);
        }
    }
}
