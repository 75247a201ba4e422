//! Random valid runs as text: every form of create, scope, wait and mark, on one to four threads.

pub use crate::dice::Dice;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The tasks that a wait must join according to the model: (task, number of the wait in it) →
/// tasks.
pub type Joins = BTreeMap<(u64, usize), Vec<u64>>;

/// A run: header, lines with the queue of each, and the tasks that its waits join.
pub struct Run {
    pub header: String,
    /// (queue, line): lines of one queue must keep their order.
    pub lines: Vec<(Queue, String)>,
    pub joins: Joins,
}

/// Lines that must keep their order among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Queue {
    Task(u64),
    Thread(u32),
}

impl Run {
    pub fn text(&self) -> String {
        let mut out = self.header.clone() + "\n";
        for (_, line) in &self.lines {
            out += line;
            out.push('\n');
        }
        out
    }
}

impl Dice {
    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }
}

#[derive(Clone)]
struct Task {
    number: u64,
    parent: Option<usize>,
    detached: bool,
    scope: Option<usize>,
    begun: bool,
    ended: bool,
    running: bool,
    /// The tasks that it waits for while stopped.
    waiting: Vec<usize>,
    waiting_scope: Option<usize>,
    waits: usize,
    children: Vec<usize>,
    joined: Vec<usize>,
    open_scopes: Vec<usize>,
    open_regions: Vec<u64>,
}

#[derive(Clone)]
struct Scope {
    number: u64,
    tree: bool,
    open: bool,
}

struct Sim {
    dice: Dice,
    tasks: Vec<Task>,
    scopes: Vec<Scope>,
    signals: Vec<u64>,
    threads: Vec<Option<usize>>,
    now: u64,
    lines: Vec<(Queue, String)>,
    joins: Joins,
    limit: usize,
}

/// A run of about `limit` tasks at most.
pub fn run(seed: u64, limit: usize) -> Run {
    let mut dice = Dice(seed);
    let workers = 1 + dice.roll(4);
    let threads = workers + dice.roll(2);
    let steals = dice.pick(&["child", "continuation"]);
    let header = format!(
        r#"{{"workspan_trace":1,"workers":{workers},"threads":{threads},"time_unit":"ns","steals":"{steals}","burden":{},"name":"a\"b"}}"#,
        dice.roll(3)
    );
    let now = dice.pick(&[0, 7, (1 << 62) + 3]);
    let mut sim = Sim {
        dice,
        tasks: Vec::new(),
        scopes: Vec::new(),
        signals: Vec::new(),
        threads: vec![None; threads as usize],
        now,
        lines: Vec::new(),
        joins: Joins::new(),
        limit,
    };
    sim.new_task(None, false, None);
    sim.go();
    sim.extras();
    Run {
        header,
        lines: sim.lines,
        joins: sim.joins,
    }
}

impl Sim {
    fn new_task(&mut self, parent: Option<usize>, detached: bool, scope: Option<usize>) -> usize {
        let i = self.tasks.len();
        // Numbers that are neither dense nor in ascending order.
        let number = (i as u64 * 7919 + 13) % 10_007;
        let (waiting, children, joined, open_scopes, open_regions) =
            (vec![], vec![], vec![], vec![], vec![]);
        self.tasks.push(Task {
            number,
            parent,
            detached,
            scope,
            begun: false,
            ended: false,
            running: false,
            waiting,
            waiting_scope: None,
            waits: 0,
            children,
            joined,
            open_scopes,
            open_regions,
        });
        i
    }

    fn say(&mut self, task: usize, w: usize, ev: &str, rest: &str) {
        let number = self.tasks[task].number;
        let line = format!(
            r#"{{"ev":"{ev}","t":{},"w":{w},"task":{number}{rest}}}"#,
            self.now
        );
        self.lines.push((Queue::Task(number), line));
    }

    fn members(&self, scope: usize) -> Vec<usize> {
        (0..self.tasks.len())
            .filter(|&t| self.is_member(t, scope))
            .collect()
    }

    fn is_member(&self, task: usize, scope: usize) -> bool {
        let t = &self.tasks[task];
        if t.detached {
            return false;
        }
        t.scope == Some(scope)
            || (self.scopes[scope].tree && t.parent.is_some_and(|p| self.is_member(p, scope)))
    }

    fn awaited(&self, task: usize) -> Vec<usize> {
        let t = &self.tasks[task];
        t.waiting_scope
            .map_or(t.waiting.clone(), |s| self.members(s))
    }

    fn startable(&self) -> Vec<usize> {
        let ready = |&t: &usize| {
            let task = &self.tasks[t];
            !task.ended && !task.running && self.awaited(t).iter().all(|&on| self.tasks[on].ended)
        };
        (0..self.tasks.len()).filter(ready).collect()
    }

    fn go(&mut self) {
        while self.tasks.iter().any(|t| !t.ended) {
            let w = self.dice.roll(self.threads.len() as u64) as usize;
            match self.threads[w] {
                None => self.start(w),
                Some(task) => {
                    if !self.dice.one_in(3) {
                        self.now += self.dice.roll(6);
                    }
                    self.step(task, w);
                }
            }
        }
    }

    fn start(&mut self, w: usize) {
        let ready = self.startable();
        if ready.is_empty() {
            return;
        }
        let t = self.dice.pick(&ready);
        if self.tasks[t].begun {
            let mut on: Vec<u64> = self
                .awaited(t)
                .iter()
                .map(|&on| self.tasks[on].number)
                .collect();
            on.sort_unstable();
            if self.tasks[t].waits > 0 && (self.tasks[t].waiting_scope.is_some() || !on.is_empty())
            {
                self.joins
                    .insert((self.tasks[t].number, self.tasks[t].waits - 1), on);
            }
            let awaited = self.awaited(t);
            self.tasks[t].joined.extend(awaited);
            self.tasks[t].waiting.clear();
            self.tasks[t].waiting_scope = None;
            self.say(t, w, "resume", "");
        } else {
            let ended: Vec<u64> = self
                .tasks
                .iter()
                .filter(|t| t.ended)
                .map(|t| t.number)
                .collect();
            if !ended.is_empty() && self.dice.one_in(5) {
                let (number, on) = (self.tasks[t].number, self.dice.pick(&ended));
                self.lines.push((
                    Queue::Task(number),
                    format!(r#"{{"ev":"depend","task":{number},"on":{on}}}"#),
                ));
            }
            self.tasks[t].begun = true;
            self.say(t, w, "begin", "");
        }
        self.tasks[t].running = true;
        self.threads[w] = Some(t);
    }

    fn stop(&mut self, task: usize, w: usize) {
        self.tasks[task].running = false;
        self.threads[w] = None;
    }

    /// Keys a strand-ending line may carry.
    fn extra_keys(&mut self) -> String {
        let mut out = String::new();
        if self.dice.one_in(4) {
            let _ = write!(out, r#","at":"f.rs:{}""#, self.dice.roll(4));
        }
        if self.dice.one_in(6) {
            let _ = write!(
                out,
                r#","counters":{{"misses":{},"cycles":5}}"#,
                self.dice.roll(9)
            );
        }
        out
    }

    fn step(&mut self, task: usize, w: usize) {
        let full = self.tasks.len() >= self.limit;
        match self.dice.roll(if full { 5 } else { 16 }) {
            0 => self.end(task, w),
            1 | 2 => self.wait(task, w),
            3 => {
                let keys = self.extra_keys();
                self.say(task, w, "yield", &keys);
                self.stop(task, w);
            }
            4 => self.mark(task, w),
            5 => {
                let number = 900 - self.scopes.len() as u64;
                let (tree, kind) = dice_kind(&mut self.dice);
                self.scopes.push(Scope {
                    number,
                    tree,
                    open: true,
                });
                self.tasks[task].open_scopes.push(self.scopes.len() - 1);
                let name = self.tasks[task].number;
                self.lines.push((
                    Queue::Task(name),
                    format!(r#"{{"ev":"scope","task":{name},"scope":{number},"kind":"{kind}"}}"#),
                ));
            }
            6 => {
                let id = 500 - self.signals.len() as u64;
                self.signals.push(id);
                let keys = self.extra_keys();
                self.say(task, w, "signal", &format!(r#","id":{id}{keys}"#));
            }
            _ => self.create(task, w),
        }
    }

    fn create(&mut self, task: usize, w: usize) {
        let innermost = self.tasks[task].open_scopes.last().copied();
        let mut scope = innermost;
        let mut keys = String::new();
        if self.dice.one_in(4) {
            let open: Vec<usize> = (0..self.scopes.len())
                .filter(|&s| self.scopes[s].open)
                .collect();
            if open.is_empty() || self.dice.one_in(4) {
                scope = None;
                keys += r#","scope":null"#;
            } else {
                let s = self.dice.pick(&open);
                scope = Some(s);
                let _ = write!(keys, r#","scope":{}"#, self.scopes[s].number);
            }
        }
        let mut detached = false;
        match self.dice.roll(8) {
            0 => keys += r#","inline":true"#,
            1 => {
                keys += r#","detached":true"#;
                detached = true;
            }
            _ => {}
        }
        if !self.dice.one_in(6) {
            let _ = write!(keys, r#","site":"m.rs:{}""#, self.dice.roll(5));
        }
        keys += &self.extra_keys();
        let child = self.new_task(Some(task), detached, scope.filter(|_| !detached));
        let number = self.tasks[child].number;
        self.tasks[task].children.push(child);
        self.say(task, w, "create", &format!(r#","child":{number}{keys}"#));
        if self.dice.one_in(2) {
            self.say(task, w, "resume", "");
        } else {
            self.stop(task, w);
        }
    }

    fn wait(&mut self, task: usize, w: usize) {
        let t = self.tasks[task].clone();
        let ended: Vec<usize> = (0..self.tasks.len())
            .filter(|&i| self.tasks[i].ended)
            .collect();
        let mut keys = String::new();
        let (mut waiting, mut scope) = (Vec::new(), None);
        match self.dice.roll(5) {
            0 if !ended.is_empty() => {
                waiting.push(self.dice.pick(&ended));
                waiting.extend(t.children.iter().copied().take(2));
                waiting.sort_unstable();
                waiting.dedup();
                let numbers: Vec<String> = waiting
                    .iter()
                    .map(|&i| self.tasks[i].number.to_string())
                    .collect();
                let _ = write!(keys, r#","of":[{}]"#, numbers.join(","));
            }
            1 if !self.signals.is_empty() => {
                let _ = write!(keys, r#","on":[{}]"#, self.dice.pick(&self.signals.clone()));
            }
            2 | 3 if !t.open_scopes.is_empty() => scope = Some(self.dice.pick(&t.open_scopes)),
            _ => {
                let open = |c: &usize| !self.tasks[*c].detached && !t.joined.contains(c);
                waiting = t.children.iter().copied().filter(open).collect();
            }
        }
        if let Some(s) = scope {
            let _ = write!(keys, r#","scope":{}"#, self.scopes[s].number);
        }
        keys += &self.extra_keys();
        self.stop_in_wait(task, w, &keys, waiting, scope);
    }

    fn stop_in_wait(
        &mut self,
        task: usize,
        w: usize,
        keys: &str,
        waiting: Vec<usize>,
        scope: Option<usize>,
    ) {
        self.say(task, w, "wait", keys);
        if let Some(s) = scope {
            self.scopes[s].open = false;
            self.tasks[task].open_scopes.retain(|&o| o != s);
        }
        self.tasks[task].waiting = waiting;
        self.tasks[task].waiting_scope = scope;
        self.tasks[task].waits += 1;
        self.stop(task, w);
    }

    fn end(&mut self, task: usize, w: usize) {
        if let Some(&s) = self.tasks[task].open_scopes.last() {
            let keys = format!(r#","scope":{}"#, self.scopes[s].number);
            return self.stop_in_wait(task, w, &keys, Vec::new(), Some(s));
        }
        let keys = self.extra_keys();
        self.say(task, w, "end", &keys);
        self.tasks[task].ended = true;
        self.stop(task, w);
    }

    fn mark(&mut self, task: usize, w: usize) {
        let label = self.dice.roll(3);
        match self.dice.roll(6) {
            0 => self.say(task, w, "part_begin", r#","part":"solve""#),
            1 | 2 if self.tasks[task].open_regions.contains(&label) => {
                let open = &mut self.tasks[task].open_regions;
                let i = open.iter().rposition(|&l| l == label).unwrap();
                open.remove(i);
                self.say(task, w, "region_end", &format!(r#","region":"r{label}""#));
            }
            3 => {
                let keys = r#","work":7,"span":5,"envelope":[[5,0],[3,2]],"tasks":2,"spawns":1,"syncs":1,"strands":4,"levels":1,
                    "sites":[{"site":"m.rs:9","count":2,"work":3,"span":3,"critical_work":2,"lengths":[0,1,1]}],
                    "blocks":[["m.rs:9",null,3],[0,"f.rs:1",4]],"ready_integral":6"#;
                // One per strand: a yield cuts the strand right after it.
                let keys = keys.replace(['\n', ' '], "");
                if self.dice.one_in(2) {
                    self.say(task, w, "yield", "");
                    self.say(task, w, "resume", "");
                    self.say(task, w, "folded", &keys);
                    self.say(task, w, "yield", "");
                    self.stop(task, w);
                }
            }
            _ => {
                let tree = if self.dice.one_in(2) {
                    r#","tree":true"#
                } else {
                    ""
                };
                self.tasks[task].open_regions.push(label);
                self.say(
                    task,
                    w,
                    "region_begin",
                    &format!(r#","region":"r{label}"{tree}"#),
                );
            }
        }
    }

    /// Adds lines about threads.
    fn extras(&mut self) {
        for w in 0..self.threads.len() as u32 {
            let mut t = self.now.saturating_sub(20);
            for _ in 0..self.dice.roll(3) {
                let until = t + self.dice.roll(4);
                let why = self
                    .dice
                    .pick(&[r#""preempted""#, r#""blocked","on":"lock""#]);
                self.lines.push((
                    Queue::Thread(w),
                    format!(r#"{{"ev":"off","t":{t},"w":{w},"why":{why}}}"#),
                ));
                self.lines.push((
                    Queue::Thread(w),
                    format!(r#"{{"ev":"on","t":{until},"w":{w}}}"#),
                ));
                t = until;
            }
            let rest = self.dice.pick(&[
                r#""steal_failed","victim":0"#,
                r#""sleep""#,
                r#""wake""#,
                r#""cpu","load":0.97"#,
                r#""queue","depth":3"#,
                r#""steal","victim":null,"task":13,"leap":true"#,
                r#""steal","victim":0,"task":null"#,
            ]);
            self.lines.push((
                Queue::Thread(w),
                format!(r#"{{"ev":{rest},"t":{t},"w":{w}}}"#),
            ));
        }
    }
}

fn dice_kind(dice: &mut Dice) -> (bool, &'static str) {
    dice.pick(&[(false, "group"), (true, "tree")])
}
