//! A second implementation of the measures of MODEL.md §2 and §3: every strand in the trace is
//! written out, every edge is in a list, every path is found by recursion, and no code of the crate
//! under test is used.

use std::collections::BTreeMap;

use crate::random::run::{Event, For, Kind, Run};

/// The kinds of edge, numbered as the report's keys are ordered.
pub const CREATE: usize = 0;
pub const CREATE_CONTINUATION: usize = 1;
pub const WAIT_CONTINUATION: usize = 2;
pub const YIELD_CONTINUATION: usize = 3;
pub const END: usize = 4;
pub const DEPEND: usize = 5;
pub const SIGNAL: usize = 6;

#[derive(Debug, Clone)]
pub struct Strand {
    pub task: usize,
    pub w: usize,
    pub start: u64,
    pub end: u64,
    pub probes: u64,
    pub counter: u64,
    /// (strand, kind of edge).
    pub preds: Vec<(usize, usize)>,
    /// The strand of the same task before it, when it follows a wait.
    pub waited_in: Option<usize>,
    /// Whether the strand ends by creating a deferred task.
    pub spawns: bool,
}

/// The options of weighing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    pub raw: bool,
    pub count_blocked: bool,
    pub counter: bool,
    pub burden: u64,
}

pub struct Slow<'a> {
    pub run: &'a Run,
    pub strands: Vec<Strand>,
    pub of_task: Vec<Vec<usize>>,
    pub waits: u64,
    joined: Vec<bool>,
    /// A site whose tasks' strands are that many times as fast: all other strands have that many
    /// times the weight.
    pub faster: Option<(&'static str, u128)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    pub count: u64,
    pub work: u128,
    pub span: u128,
    pub critical_work: u128,
}

impl<'a> Slow<'a> {
    pub fn new(run: &'a Run) -> Slow<'a> {
        let mut slow = Slow {
            run,
            strands: Vec::new(),
            of_task: vec![Vec::new(); run.tasks.len()],
            waits: 0,
            joined: vec![false; run.tasks.len()],
            faster: None,
        };
        for task in 0..run.tasks.len() {
            slow.cut(task);
        }
        for task in 0..run.tasks.len() {
            slow.connect(task);
        }
        slow
    }

    /// Cuts a task into strands.
    fn cut(&mut self, task: usize) {
        for line in &self.run.tasks[task].lines {
            let starts = matches!(line.event, Event::Begin | Event::Resume | Event::Signal(_));
            let ends = matches!(
                line.event,
                Event::Create { .. }
                    | Event::Wait(_)
                    | Event::Yield
                    | Event::End
                    | Event::Signal(_)
            );
            if ends {
                let s = *self.of_task[task].last().unwrap();
                let strand = &mut self.strands[s];
                strand.end = line.t;
                strand.probes += 1;
                strand.counter = line.counter.unwrap_or(0);
                if let Event::Create { child, .. } = line.event {
                    strand.spawns = self.run.tasks[child].kind == Kind::Deferred;
                }
            }
            if starts {
                self.of_task[task].push(self.strands.len());
                self.strands.push(Strand {
                    task,
                    w: line.w,
                    start: line.t,
                    end: line.t,
                    probes: u64::from(!matches!(line.event, Event::Signal(_))),
                    counter: 0,
                    preds: Vec::new(),
                    waited_in: None,
                    spawns: false,
                });
            }
        }
    }

    /// Adds the edges into a task's strands.
    fn connect(&mut self, task: usize) {
        let run = self.run;
        let mut depends = Vec::new();
        let mut children: Vec<usize> = Vec::new();
        let mut joined: Vec<usize> = Vec::new();
        let mut at = 0;
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut waited = false;
        for line in &run.tasks[task].lines {
            let here = self.of_task[task].get(at).copied().unwrap_or(0);
            match &line.event {
                Event::Depend { on } => depends.push((self.last(*on), DEPEND)),
                Event::Begin => self.strands[here].preds.append(&mut depends),
                Event::Create { child, .. } => {
                    let first = self.of_task[*child][0];
                    self.strands[first].preds.push((here, CREATE));
                    children.push(*child);
                    edges = vec![(here, CREATE_CONTINUATION)];
                }
                Event::Yield => edges = vec![(here, YIELD_CONTINUATION)],
                Event::Signal(_) => {
                    at += 1;
                    let next = self.of_task[task][at];
                    self.strands[next].preds.push((here, YIELD_CONTINUATION));
                }
                Event::Wait(what) => {
                    self.waits += 1;
                    waited = true;
                    edges = vec![(here, WAIT_CONTINUATION)];
                    let mut of = Vec::new();
                    match what {
                        For::Children => {
                            of = children
                                .iter()
                                .copied()
                                .filter(|c| !joined.contains(c))
                                .collect();
                            of.retain(|&c| run.tasks[c].kind != Kind::Detached);
                        }
                        For::Tasks(tasks) => of = tasks.clone(),
                        For::Scope(id) => {
                            of = (0..run.tasks.len())
                                .filter(|&t| self.is_member(t, *id))
                                .collect();
                        }
                        For::Signals(on) => {
                            edges.extend(on.iter().map(|&id| (self.setter(id), SIGNAL)));
                        }
                    }
                    for &t in &of {
                        edges.push((self.last(t), END));
                        self.joined[t] = true;
                    }
                    joined.extend(of);
                }
                Event::Resume => {
                    at += 1;
                    let next = self.of_task[task][at];
                    if waited {
                        self.strands[next].waited_in = Some(here);
                    }
                    waited = false;
                    self.strands[next].preds.append(&mut edges);
                }
                _ => {}
            }
        }
    }

    fn last(&self, task: usize) -> usize {
        *self.of_task[task].last().unwrap()
    }

    fn setter(&self, id: u64) -> usize {
        for (task, t) in self.run.tasks.iter().enumerate() {
            let mut at = 0;
            for line in &t.lines {
                match line.event {
                    Event::Signal(set) if set == id => return self.of_task[task][at],
                    Event::Signal(_) | Event::Resume => at += 1,
                    _ => {}
                }
            }
        }
        panic!("signal {id} is never set");
    }

    fn is_member(&self, task: usize, scope: u64) -> bool {
        let Some(parent) = self.run.tasks[task].parent else {
            return false;
        };
        for line in &self.run.tasks[parent].lines {
            if let Event::Create {
                child,
                scope: Some(into),
                ..
            } = line.event
                && child == task
                && into == scope
            {
                return true;
            }
        }
        let opened = |l: &crate::random::run::Line| {
            l.event
                == Event::Scope {
                    id: scope,
                    tree: true,
                }
        };
        let tree = self.run.tasks.iter().any(|t| t.lines.iter().any(opened));
        tree && self.run.tasks[task].kind != Kind::Detached && self.is_member(parent, scope)
    }

    pub fn number(&self, s: usize) -> u64 {
        self.run.tasks[self.strands[s].task].number
    }

    /// (descheduled, blocked) ticks of a strand.
    pub fn off(&self, s: usize) -> (u64, u64) {
        let strand = &self.strands[s];
        let mut sums = (0, 0);
        for off in self.run.offs.iter().filter(|o| o.w == strand.w) {
            let (a, b) = (off.start.max(strand.start), off.end.min(strand.end));
            if a < b {
                if off.blocked {
                    sums.1 += b - a;
                } else {
                    sums.0 += b - a;
                }
            }
        }
        sums
    }

    pub fn weight(&self, s: usize, m: Measure) -> u128 {
        let weight = self.weight_now(s, m);
        match self.faster {
            Some((site, factor)) if self.site(self.strands[s].task) != site => weight * factor,
            _ => weight,
        }
    }

    fn weight_now(&self, s: usize, m: Measure) -> u128 {
        let strand = &self.strands[s];
        if m.counter {
            return u128::from(strand.counter);
        }
        let (descheduled, blocked) = self.off(s);
        let mut w = i128::from(strand.end - strand.start) - i128::from(descheduled);
        if !m.count_blocked {
            w -= i128::from(blocked);
        }
        if !m.raw {
            w -= i128::from(strand.probes * self.run.probe_cost);
        }
        w.max(0) as u128
    }

    pub fn work(&self, m: Measure) -> u128 {
        (0..self.strands.len()).map(|s| self.weight(s, m)).sum()
    }

    /// The burden of the edge from `p` to `s`.
    fn burden(&self, p: usize, s: usize, kind: usize, m: Measure) -> u128 {
        let child = self.run.tasks[self.strands[s].task].kind == Kind::Deferred;
        let carries = if self.run.continuation_stealing {
            kind == CREATE_CONTINUATION && self.strands[p].spawns
        } else {
            kind == CREATE && child
        };
        if carries { u128::from(m.burden) } else { 0 }
    }

    /// Heaviest path from any root through the end of `s`.
    fn longest(&self, s: usize, m: Measure, memo: &mut Vec<Option<u128>>) -> u128 {
        if let Some(known) = memo[s] {
            return known;
        }
        let mut best = 0;
        for &(p, kind) in &self.strands[s].preds {
            best = best.max(self.longest(p, m, memo) + self.burden(p, s, kind, m));
        }
        let total = best + self.weight(s, m);
        memo[s] = Some(total);
        total
    }

    /// Length of the heaviest path.
    pub fn span(&self, m: Measure) -> u128 {
        let mut memo = vec![None; self.strands.len()];
        (0..self.strands.len())
            .map(|s| self.longest(s, m, &mut memo))
            .max()
            .unwrap()
    }

    /// Largest `key` of the sink's predecessors, by the tie rule.
    pub fn before_sink(&self, key: impl Fn(usize) -> u128) -> usize {
        let mut able: Vec<usize> = (0..self.run.tasks.len())
            .filter(|&t| !self.joined[t])
            .collect();
        able.sort_by_key(|&t| {
            let root = self.run.tasks[t].kind == Kind::Root;
            (
                std::cmp::Reverse(key(self.last(t))),
                !root,
                self.run.tasks[t].number,
            )
        });
        self.last(able[0])
    }

    /// Predecessor of `s` with the largest `key`, by the tie rule.
    pub fn best_pred(&self, s: usize, key: impl Fn(usize) -> u128) -> Option<(usize, usize)> {
        let mut preds = self.strands[s].preds.clone();
        preds.sort_by_key(|&(p, kind)| {
            let rank = match kind {
                END => 1,
                DEPEND => 2,
                SIGNAL => 3,
                _ => 0,
            };
            let place = self.of_task[self.strands[p].task]
                .iter()
                .position(|&x| x == p);
            (std::cmp::Reverse(key(p)), rank, self.number(p), place)
        });
        preds.first().copied()
    }

    pub fn critical_path(&self, m: Measure) -> Vec<usize> {
        let mut memo = vec![None; self.strands.len()];
        for s in 0..self.strands.len() {
            self.longest(s, m, &mut memo);
        }
        let mut path = vec![self.before_sink(|s| memo[s].unwrap())];
        while let Some((p, _)) = self.best_pred(*path.last().unwrap(), |s| memo[s].unwrap()) {
            path.push(p);
        }
        path.reverse();
        path
    }

    pub fn site(&self, task: usize) -> &'static str {
        match self.run.tasks[task].kind {
            Kind::Root => "root",
            _ => self.run.tasks[task].site.unwrap_or("?"),
        }
    }

    fn is_inside(&self, task: usize, around: usize) -> bool {
        task == around
            || self.run.tasks[task]
                .parent
                .is_some_and(|p| self.is_inside(p, around))
    }

    fn is_nested(&self, task: usize) -> bool {
        let mut at = self.run.tasks[task].parent;
        while let Some(t) = at {
            if self.site(t) == self.site(task) {
                return true;
            }
            at = self.run.tasks[t].parent;
        }
        false
    }

    /// Heaviest path to the end of `s` that starts at the first strand of `instance` and stays
    /// inside it.
    fn longest_inside(
        &self,
        s: usize,
        instance: usize,
        m: Measure,
        memo: &mut BTreeMap<usize, Option<u128>>,
    ) -> Option<u128> {
        if let Some(&known) = memo.get(&s) {
            return known;
        }
        let mut best = (s == self.of_task[instance][0]).then_some(0);
        for &(p, _) in &self.strands[s].preds {
            if self.is_inside(self.strands[p].task, instance) {
                best = best.max(self.longest_inside(p, instance, m, memo));
            }
        }
        let total = best.map(|b| b + self.weight(s, m));
        memo.insert(s, total);
        total
    }

    /// True if an edge from outside enters some task with its descendants elsewhere than at its
    /// first strand.
    pub fn is_entered(&self) -> bool {
        let enters = |task: usize, s: usize| {
            let outside = |&(p, _): &(usize, usize)| !self.is_inside(self.strands[p].task, task);
            s != self.of_task[task][0]
                && self.is_inside(self.strands[s].task, task)
                && self.strands[s].preds.iter().any(outside)
        };
        (0..self.run.tasks.len()).any(|task| (0..self.strands.len()).any(|s| enters(task, s)))
    }

    pub fn sites(&self, m: Measure) -> BTreeMap<&'static str, Site> {
        let mut sites: BTreeMap<&'static str, Site> = BTreeMap::new();
        for task in 0..self.run.tasks.len() {
            let site = sites.entry(self.site(task)).or_default();
            site.count += 1;
            if self.is_nested(task) {
                continue;
            }
            let mut memo = BTreeMap::new();
            let inside: Vec<usize> = (0..self.strands.len())
                .filter(|&s| self.is_inside(self.strands[s].task, task))
                .collect();
            site.work += inside.iter().map(|&s| self.weight(s, m)).sum::<u128>();
            let lengths = inside
                .iter()
                .filter_map(|&s| self.longest_inside(s, task, m, &mut memo));
            site.span += lengths.max().unwrap();
        }
        for s in self.critical_path(m) {
            let site = sites.get_mut(self.site(self.strands[s].task)).unwrap();
            site.critical_work += self.weight(s, m);
        }
        sites
    }
}
