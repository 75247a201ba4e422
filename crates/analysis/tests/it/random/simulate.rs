//! Random programs and random schedules of them, made together: a task that can run is given to a
//! thread, runs up to a random primitive, and so on until all have ended.
//!
//! There are no deadlocks: tasks wait only for tasks made later than themselves, or ended, or for
//! signals that those have promised; and the dependences of a new task never wait again.

use crate::random::dice::Dice;
use crate::random::run::{Event, For, Kind, Line, Off, Run, Task};

const SITES: [Option<&str>; 5] = [Some("s0"), Some("s1"), Some("s2"), Some("s3"), None];
const REGIONS: [&str; 3] = ["r0", "r1", "r2"];

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// Can run when everything in `For` (and the tasks it depends on) is done, not before `since`.
    Can {
        since: u64,
        begun: bool,
    },
    Waits {
        since: u64,
        what: For,
    },
    Ended(u64),
}

struct Making {
    task: Task,
    state: State,
    scope: Option<u64>,
    depends: Vec<usize>,
    created_at: u64,
    thread: usize,
    open_scopes: Vec<u64>,
    open_regions: Vec<&'static str>,
    children: Vec<usize>,
    joined: Vec<usize>,
    promises: Vec<u64>,
    never_waits: bool,
    budget: usize,
}

struct Scope {
    opener: usize,
    tree: bool,
    opened_at: u64,
    closed: bool,
}

pub struct Simulator<'a> {
    dice: &'a mut Dice,
    run: Run,
    tasks: Vec<Making>,
    scopes: Vec<Scope>,
    /// When each signal was set.
    signals: Vec<Option<u64>>,
    free: Vec<u64>,
    /// The task that a thread would run next by its runtime's policy.
    next: Vec<Option<usize>>,
    work_first: bool,
    most_tasks: usize,
    durations: Vec<u64>,
    gaps: Vec<u64>,
}

pub fn simulate(dice: &mut Dice) -> Run {
    let workers = 1 + dice.below(8);
    let threads = workers + dice.pick(&[0, 0, 1, 2]);
    let run = Run {
        workers,
        threads,
        continuation_stealing: dice.percent(40),
        burden: dice.pick(&[0, 1, 5, 40]),
        probe_cost: dice.pick(&[0, 0, 0, 1, 3]),
        counters: dice.percent(15),
        tasks: Vec::new(),
        offs: Vec::new(),
    };
    let most_tasks = dice.pick(&[1, 3, 8, 15, 30]);
    let (durations, gaps) = dice.pick(&[
        (vec![0, 0, 0, 1], vec![0, 0, 0, 0, 1]),
        (vec![0, 1, 1, 2, 3], vec![0, 0, 1, 2]),
        (vec![0, 3, 5, 10, 20], vec![0, 0, 0, 1, 5]),
        (vec![0, 1, 30], vec![0, 0, 17]),
    ]);
    let mut simulator = Simulator {
        work_first: dice.percent(50),
        dice,
        free: vec![0; threads],
        next: vec![None; threads],
        run,
        tasks: Vec::new(),
        scopes: Vec::new(),
        signals: Vec::new(),
        most_tasks,
        durations,
        gaps,
    };
    simulator.all();
    let Simulator {
        mut run,
        tasks,
        dice,
        ..
    } = simulator;
    run.tasks = tasks.into_iter().map(|t| t.task).collect();
    renumber(&mut run, dice);
    if dice.percent(50) {
        add_offs(&mut run, dice);
    }
    run
}

/// Task numbers need not follow the order of creation.
fn renumber(run: &mut Run, dice: &mut Dice) {
    if dice.percent(50) {
        let mut numbers: Vec<u64> = (0..run.tasks.len() as u64).map(|n| 3 * n + 7).collect();
        dice.shuffle(&mut numbers);
        for (task, number) in run.tasks.iter_mut().zip(numbers) {
            task.number = number;
        }
    }
}

fn add_offs(run: &mut Run, dice: &mut Dice) {
    let end = run
        .tasks
        .iter()
        .flat_map(|t| &t.lines)
        .map(|l| l.t)
        .max()
        .unwrap_or(0);
    for w in 0..run.threads {
        let mut t = dice.below(6) as u64;
        while t < end + 3 && dice.percent(80) {
            let length = dice.pick(&[0, 1, 2, 4, 9]);
            let blocked = dice.percent(50);
            run.offs.push(Off {
                w,
                start: t,
                end: t + length,
                blocked,
            });
            t += length + dice.pick(&[0, 1, 3, 10, 25]);
        }
    }
}

impl Simulator<'_> {
    fn all(&mut self) {
        let roots = self.dice.pick(&[1, 1, 1, 2, 3]);
        for _ in 0..roots {
            let since = self.dice.pick(&[0, 0, 3, 20]);
            self.add(None, Kind::Root, None, since);
        }
        while self
            .tasks
            .iter()
            .any(|t| !matches!(t.state, State::Ended(_)))
        {
            let w = if self.dice.percent(70) {
                (0..self.free.len()).min_by_key(|&w| self.free[w]).unwrap()
            } else {
                self.dice.below(self.free.len())
            };
            let able: Vec<(usize, u64)> = (0..self.tasks.len())
                .filter_map(|t| Some((t, self.ready(t)?)))
                .collect();
            assert!(!able.is_empty(), "deadlock in the generator");
            let next_task = self.next[w].take().filter(|_| self.dice.percent(85));
            let own: Vec<(usize, u64)> = able
                .iter()
                .copied()
                .filter(|&(t, _)| self.tasks[t].thread == w)
                .collect();
            let (task, ready) = match able.iter().find(|&&(t, _)| Some(t) == next_task) {
                Some(&found) => found,
                None if !own.is_empty() && self.dice.percent(60) => self.dice.pick(&own),
                None => self.dice.pick(&able),
            };
            let start = self.free[w].max(ready) + self.dice.pick(&self.gaps.clone());
            self.strand(task, w, start);
        }
    }

    fn add(&mut self, parent: Option<usize>, kind: Kind, scope: Option<u64>, since: u64) -> usize {
        let index = self.tasks.len();
        let site = if kind == Kind::Root {
            None
        } else {
            self.dice.pick(&SITES)
        };
        self.tasks.push(Making {
            task: Task {
                number: index as u64,
                parent,
                kind,
                site,
                lines: Vec::new(),
            },
            state: State::Can {
                since,
                begun: false,
            },
            scope,
            depends: Vec::new(),
            created_at: since,
            thread: usize::MAX,
            open_scopes: Vec::new(),
            open_regions: Vec::new(),
            children: Vec::new(),
            joined: Vec::new(),
            promises: Vec::new(),
            never_waits: false,
            budget: self.dice.below(9),
        });
        index
    }

    fn ended(&self, task: usize) -> Option<u64> {
        match self.tasks[task].state {
            State::Ended(t) => Some(t),
            _ => None,
        }
    }

    fn is_member(&self, task: usize, scope: u64) -> bool {
        let t = &self.tasks[task];
        t.scope == Some(scope)
            || self.scopes[scope as usize].tree
                && t.task.kind != Kind::Detached
                && t.task.parent.is_some_and(|p| self.is_member(p, scope))
    }

    /// The time from which `task` can run, if it can.
    fn ready(&self, task: usize) -> Option<u64> {
        let latest = |since: u64, tasks: &[usize]| {
            tasks
                .iter()
                .try_fold(since, |t, &other| Some(t.max(self.ended(other)?)))
        };
        match &self.tasks[task].state {
            State::Ended(_) => None,
            State::Can { since, begun: true } => Some(*since),
            State::Can {
                since,
                begun: false,
            } => latest(*since, &self.tasks[task].depends),
            State::Waits { since, what } => match what {
                For::Children => latest(*since, &self.unjoined(task)),
                For::Tasks(of) => latest(*since, of),
                For::Scope(id) => {
                    let members: Vec<usize> = (0..self.tasks.len())
                        .filter(|&t| self.is_member(t, *id))
                        .collect();
                    latest(*since, &members)
                }
                For::Signals(on) => on
                    .iter()
                    .try_fold(*since, |t, &s| Some(t.max(self.signals[s as usize]?))),
            },
        }
    }

    fn unjoined(&self, task: usize) -> Vec<usize> {
        let me = &self.tasks[task];
        let is_unjoined =
            |&&c: &&usize| self.tasks[c].task.kind != Kind::Detached && !me.joined.contains(&c);
        me.children.iter().filter(is_unjoined).copied().collect()
    }

    fn line(&mut self, task: usize, t: u64, w: usize, event: Event) {
        let ends = matches!(
            event,
            Event::Create { .. } | Event::Wait(_) | Event::Yield | Event::End
        );
        let counter = (ends && self.run.counters).then(|| self.dice.pick(&[0, 1, 7, 100, 1 << 62]));
        let counter = counter.filter(|_| self.dice.percent(80));
        self.tasks[task].task.lines.push(Line {
            t,
            w,
            event,
            counter,
        });
    }

    /// Runs `task` on `w` from `start` up to the end of its strand.
    fn strand(&mut self, task: usize, w: usize, start: u64) {
        match self.tasks[task].state.clone() {
            State::Can { begun: false, .. } => {
                for on in self.tasks[task].depends.clone() {
                    self.line(task, start, w, Event::Depend { on });
                }
                self.line(task, start, w, Event::Begin);
            }
            state => {
                if let State::Waits { what, .. } = state {
                    self.join(task, what);
                }
                self.line(task, start, w, Event::Resume);
            }
        }
        self.tasks[task].thread = w;
        let mut t = start;
        loop {
            t += self.dice.pick(&self.durations.clone());
            if let Some(state) = self.primitive(task, w, t) {
                self.tasks[task].state = state;
                break;
            }
        }
        self.free[w] = t;
    }

    fn join(&mut self, task: usize, what: For) {
        let joined = match what {
            For::Children => self.unjoined(task),
            For::Tasks(of) => of,
            For::Signals(_) => Vec::new(),
            For::Scope(id) => {
                self.scopes[id as usize].closed = true;
                (0..self.tasks.len())
                    .filter(|&t| self.is_member(t, id))
                    .collect()
            }
        };
        self.tasks[task].joined.extend(joined);
    }

    /// Does something; `Some` if that ended the strand.
    fn primitive(&mut self, task: usize, w: usize, t: u64) -> Option<State> {
        if self.tasks[task].budget == 0 {
            return self.finish(task, w, t);
        }
        self.tasks[task].budget -= 1;
        let waits = !self.tasks[task].never_waits;
        match self.dice.below(20) {
            0..=7 => self.create(task, w, t),
            8..=9 if waits => self.wait(task, w, t, For::Children),
            10 if waits => {
                let id = self.tasks[task].open_scopes.pop()?;
                self.wait(task, w, t, For::Scope(id))
            }
            11 if waits => {
                let of = self.others(task, t);
                self.wait(task, w, t, For::Tasks(of))
            }
            12 if waits => {
                let on = self.signals_for(task);
                self.wait(task, w, t, For::Signals(on))
            }
            13..=14 if waits => {
                let (id, tree) = (self.scopes.len() as u64, self.dice.percent(50));
                self.scopes.push(Scope {
                    opener: task,
                    tree,
                    opened_at: t,
                    closed: false,
                });
                self.tasks[task].open_scopes.push(id);
                self.line(task, t, w, Event::Scope { id, tree });
                None
            }
            15 => {
                self.line(task, t, w, Event::Yield);
                Some(State::Can {
                    since: t,
                    begun: true,
                })
            }
            16 => {
                let id = self.signals.len() as u64;
                self.signals.push(None);
                self.set(task, w, t, id);
                None
            }
            17..=18 => {
                let open = &mut self.tasks[task].open_regions;
                let event = if !open.is_empty() && self.dice.percent(50) {
                    let name = open.remove(self.dice.below(open.len()));
                    Event::RegionEnd { name }
                } else {
                    let name = self.dice.pick(&REGIONS);
                    open.push(name);
                    Event::RegionBegin {
                        name,
                        tree: self.dice.percent(50),
                    }
                };
                self.line(task, t, w, event);
                None
            }
            _ => None,
        }
    }

    /// Keeps promises, closes scopes, and ends the task.
    fn finish(&mut self, task: usize, w: usize, t: u64) -> Option<State> {
        if let Some(id) = self.tasks[task].promises.pop() {
            self.set(task, w, t, id);
            return None;
        }
        if let Some(id) = self.tasks[task].open_scopes.pop() {
            return self.wait(task, w, t, For::Scope(id));
        }
        if !self.tasks[task].never_waits && self.dice.percent(30) && !self.unjoined(task).is_empty()
        {
            return self.wait(task, w, t, For::Children);
        }
        self.line(task, t, w, Event::End);
        Some(State::Ended(t))
    }

    fn set(&mut self, task: usize, w: usize, t: u64, id: u64) {
        self.signals[id as usize] = Some(t);
        self.line(task, t, w, Event::Signal(id));
    }

    fn wait(&mut self, task: usize, w: usize, t: u64, what: For) -> Option<State> {
        if matches!(&what, For::Tasks(l) if l.is_empty())
            || matches!(&what, For::Signals(l) if l.is_empty())
        {
            return None;
        }
        self.line(task, t, w, Event::Wait(what.clone()));
        Some(State::Waits { since: t, what })
    }

    /// Tasks that `task` may wait for: tasks made up to now that are later than itself or ended.
    fn others(&mut self, task: usize, t: u64) -> Vec<usize> {
        let mut able: Vec<usize> = (0..self.tasks.len())
            .filter(|&o| o != task && self.tasks[o].task.kind != Kind::Root)
            .filter(|&o| self.tasks[o].created_at <= t)
            .filter(|&o| o > task || self.ended(o).is_some())
            .collect();
        self.dice.shuffle(&mut able);
        able.truncate(self.dice.below(3));
        able
    }

    /// Signals already set, or promised by a later task now.
    fn signals_for(&mut self, task: usize) -> Vec<u64> {
        let set = |s: &u64| self.signals[*s as usize].is_some();
        let mut on: Vec<u64> = (0..self.signals.len() as u64).filter(set).collect();
        self.dice.shuffle(&mut on);
        on.truncate(self.dice.below(3));
        let later: Vec<usize> = (task + 1..self.tasks.len())
            .filter(|&o| self.ended(o).is_none())
            .collect();
        if !later.is_empty() && self.dice.percent(60) {
            let id = self.signals.len() as u64;
            self.signals.push(None);
            let by = self.dice.pick(&later);
            self.tasks[by].promises.push(id);
            on.push(id);
        }
        on
    }

    fn create(&mut self, task: usize, w: usize, t: u64) -> Option<State> {
        if self.tasks.len() >= self.most_tasks {
            return None;
        }
        let kind = self.dice.pick(&[
            Kind::Deferred,
            Kind::Deferred,
            Kind::Deferred,
            Kind::Inline,
            Kind::Detached,
        ]);
        let (mut scope, mut named) = (self.tasks[task].open_scopes.last().copied(), false);
        let open: Vec<u64> = (0..self.scopes.len())
            .filter(|&s| !self.scopes[s].closed && self.scopes[s].opened_at <= t)
            .filter(|&s| {
                self.scopes[s].opener != task || self.tasks[task].open_scopes.contains(&(s as u64))
            })
            .map(|s| s as u64)
            .collect();
        if !open.is_empty() && self.dice.percent(40) {
            (scope, named) = (Some(self.dice.pick(&open)), true);
        }
        if kind == Kind::Detached {
            (scope, named) = (None, false);
        }
        let child = self.add(Some(task), kind, scope, t);
        self.line(
            task,
            t,
            w,
            Event::Create {
                child,
                scope,
                named,
            },
        );
        self.tasks[task].children.push(child);
        if self.dice.percent(15) {
            self.depend(child, t);
        }
        let child_next = kind == Kind::Inline || (kind == Kind::Deferred && self.work_first);
        self.next[w] = Some(if child_next { child } else { task });
        Some(State::Can {
            since: t,
            begun: true,
        })
    }

    /// Makes a new task depend on others that have ended, or that never wait again.
    fn depend(&mut self, child: usize, t: u64) {
        for _ in 0..=self.dice.below(2) {
            let on = self.dice.below(child);
            let other = &self.tasks[on];
            let could_wait =
                matches!(other.state, State::Waits { .. }) || !other.open_scopes.is_empty();
            let own_parent = self.tasks[child].task.parent == Some(on);
            if self.tasks[child].depends.contains(&on)
                || other.created_at > t
                || own_parent
                || (could_wait && self.ended(on).is_none())
            {
                continue;
            }
            if self.ended(on).is_none() {
                self.tasks[on].never_waits = true;
            }
            self.tasks[child].depends.push(on);
        }
    }
}
