//! A run as a list of events per task, and its text trace.

use crate::random::dice::Dice;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Root,
    Deferred,
    Inline,
    Detached,
}

#[derive(Debug, Clone, PartialEq)]
pub enum For {
    Children,
    Scope(u64),
    Tasks(Vec<usize>),
    Signals(Vec<u64>),
}

/// A line of a task. Tasks are named by index.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Begin,
    Create {
        child: usize,
        scope: Option<u64>,
        named: bool,
    },
    Resume,
    Scope {
        id: u64,
        tree: bool,
    },
    Wait(For),
    Yield,
    End,
    Depend {
        on: usize,
    },
    Signal(u64),
    RegionBegin {
        name: &'static str,
        tree: bool,
    },
    RegionEnd {
        name: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub t: u64,
    pub w: usize,
    pub event: Event,
    /// Number of instructions of the strand that ends here.
    pub counter: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Task {
    pub number: u64,
    pub parent: Option<usize>,
    pub kind: Kind,
    pub site: Option<&'static str>,
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone)]
pub struct Off {
    pub w: usize,
    pub start: u64,
    pub end: u64,
    pub blocked: bool,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub workers: usize,
    pub threads: usize,
    pub continuation_stealing: bool,
    pub burden: u64,
    pub probe_cost: u64,
    pub counters: bool,
    pub tasks: Vec<Task>,
    pub offs: Vec<Off>,
}

impl Run {
    /// Changes all times t to t · factor + shift; costs are scaled too.
    pub fn rescaled(&self, factor: u64, shift: u64) -> Run {
        let mut run = self.clone();
        run.burden *= factor;
        run.probe_cost *= factor;
        for task in &mut run.tasks {
            for line in &mut task.lines {
                line.t = line.t * factor + shift;
            }
        }
        for off in &mut run.offs {
            off.start = off.start * factor + shift;
            off.end = off.end * factor + shift;
        }
        run
    }

    /// The text trace; with `dice` the tasks' lines are interleaved at random.
    pub fn text(&self, dice: Option<&mut Dice>) -> String {
        let steals = if self.continuation_stealing {
            "continuation"
        } else {
            "child"
        };
        let mut out = format!(
            "{{\"workspan_trace\":1,\"workers\":{},\"threads\":{},\"time_unit\":\"ns\",\"steals\":\"{steals}\",\"burden\":{},\"probe_cost\":{},\"name\":\"random\"}}\n",
            self.workers, self.threads, self.burden, self.probe_cost
        );
        let mut queues: Vec<Vec<String>> = Vec::new();
        for i in 0..self.tasks.len() {
            queues.push(
                self.tasks[i]
                    .lines
                    .iter()
                    .map(|l| self.line(i, l))
                    .collect(),
            );
        }
        for w in 0..self.threads {
            let mut lines = Vec::new();
            for off in self.offs.iter().filter(|o| o.w == w) {
                let why = if off.blocked { "blocked" } else { "preempted" };
                lines.push(format!(
                    "{{\"ev\":\"off\",\"t\":{},\"w\":{w},\"why\":\"{why}\"}}",
                    off.start
                ));
                lines.push(format!("{{\"ev\":\"on\",\"t\":{},\"w\":{w}}}", off.end));
            }
            queues.push(lines);
        }
        match dice {
            None => queues
                .iter()
                .flatten()
                .for_each(|l| writeln!(out, "{l}").unwrap()),
            Some(dice) => self.interleave(&queues, dice, &mut out),
        }
        out
    }

    fn interleave(&self, queues: &[Vec<String>], dice: &mut Dice, out: &mut String) {
        let mut next = vec![0; queues.len()];
        let mut created: Vec<bool> = self.tasks.iter().map(|t| t.parent.is_none()).collect();
        created.resize(queues.len(), true);
        loop {
            let able: Vec<usize> = (0..queues.len())
                .filter(|&q| created[q] && next[q] < queues[q].len())
                .collect();
            if able.is_empty() {
                break;
            }
            let q = dice.pick(&able);
            for _ in 0..=dice.below(4) {
                let Some(line) = queues[q].get(next[q]) else {
                    break;
                };
                writeln!(out, "{line}").unwrap();
                if let Some(Event::Create { child, .. }) =
                    self.tasks.get(q).map(|t| &t.lines[next[q]].event)
                {
                    created[*child] = true;
                }
                next[q] += 1;
            }
        }
        assert!((0..queues.len()).all(|q| next[q] == queues[q].len()));
    }

    fn line(&self, task: usize, line: &Line) -> String {
        let number = |t: usize| self.tasks[t].number;
        let me = number(task);
        let (t, w) = (line.t, line.w);
        let at = |ev: &str, more: String| {
            let counter = match line.counter {
                Some(n) => format!(",\"counters\":{{\"instructions\":{n}}}"),
                None => String::new(),
            };
            format!("{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{me}{more}{counter}}}")
        };
        match &line.event {
            Event::Begin => at("begin", String::new()),
            Event::Resume => at("resume", String::new()),
            Event::Yield => at("yield", String::new()),
            Event::End => at("end", String::new()),
            Event::Create {
                child,
                scope,
                named,
            } => {
                let c = &self.tasks[*child];
                let mut more = format!(",\"child\":{}", c.number);
                if let Some(site) = c.site {
                    write!(more, ",\"site\":\"{site}\"").unwrap();
                }
                match c.kind {
                    Kind::Inline => more.push_str(",\"inline\":true"),
                    Kind::Detached => more.push_str(",\"detached\":true"),
                    _ => {}
                }
                if let (Some(scope), true) = (scope, named) {
                    write!(more, ",\"scope\":{scope}").unwrap();
                }
                at("create", more)
            }
            Event::Wait(what) => {
                let list = |items: Vec<u64>| {
                    let items: Vec<String> = items.iter().map(u64::to_string).collect();
                    items.join(",")
                };
                let more = match what {
                    For::Children => String::new(),
                    For::Scope(id) => format!(",\"scope\":{id}"),
                    For::Tasks(of) => format!(
                        ",\"of\":[{}]",
                        list(of.iter().map(|&t| number(t)).collect())
                    ),
                    For::Signals(on) => format!(",\"on\":[{}]", list(on.clone())),
                };
                at("wait", more)
            }
            Event::Scope { id, tree } => {
                let kind = if *tree { "tree" } else { "group" };
                format!("{{\"ev\":\"scope\",\"task\":{me},\"scope\":{id},\"kind\":\"{kind}\"}}")
            }
            Event::Depend { on } => {
                format!("{{\"ev\":\"depend\",\"task\":{me},\"on\":{}}}", number(*on))
            }
            Event::Signal(id) => at("signal", format!(",\"id\":{id}")),
            Event::RegionBegin { name, tree } => {
                let tree = if *tree { ",\"tree\":true" } else { "" };
                at("region_begin", format!(",\"region\":\"{name}\"{tree}"))
            }
            Event::RegionEnd { name } => at("region_end", format!(",\"region\":\"{name}\"")),
        }
    }
}
