//! Strands and the edges between them.

use super::strands::{Strands, TaskColumns};
use super::tasks::Tasks;
use super::waits::Waits;
use super::{At, Fault, Mode};
use crate::dag::{NONE, RaggedArray};
use crate::raw::RawTrace;

/// Depend edges: the dependent tasks, ascending, and what each depends on.
#[derive(Default)]
pub(super) struct Depends {
    pub tasks: Vec<u32>,
    pub on: RaggedArray,
}

/// Resolves depend edges; in strict mode a cycle among them is an error of its own.
pub(super) fn depends(raw: &RawTrace, tasks: &Tasks, mode: Mode) -> Result<Depends, Fault> {
    let id = |raw: u32| tasks.id(raw);
    let mut pairs: Vec<(u32, u32)> = raw
        .depends
        .iter()
        .map(|&(task, on)| (id(task), id(on)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut out = Depends::default();
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        out.tasks.push(group[0].0);
        out.on.push(group.iter().map(|&(_, on)| on));
    }
    if mode == Mode::Strict
        && let Some(task) = depend_cycle(&out)
    {
        return Err(cycle(tasks, task));
    }
    Ok(out)
}

pub(super) fn cycle(tasks: &Tasks, task: u32) -> Fault {
    let what = "depends on itself, through the tasks it depends on or waits for (a depend cycle)";
    Fault::new(At::Task(tasks.raw(task)), tasks.number(task), what)
}

/// A task on a cycle that consists of depend edges only.
pub(super) fn depend_cycle(depends: &Depends) -> Option<u32> {
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![0u8; depends.tasks.len()];
    let mut stack = Vec::new();
    for root in 0..depends.tasks.len() {
        stack.push((root, false));
        while let Some((at, leave)) = stack.pop() {
            if leave {
                state[at] = DONE;
            } else if state[at] == 0 {
                state[at] = OPEN;
                stack.push((at, true));
                for on in depends.on.get(at) {
                    if let Ok(next) = depends.tasks.binary_search(on) {
                        match state[next] {
                            OPEN => return Some(depends.tasks[next]),
                            DONE => {}
                            _ => stack.push((next, false)),
                        }
                    }
                }
            }
        }
    }
    None
}

/// Strands and their edges.
pub(super) struct Graph<'a> {
    pub tasks: &'a mut TaskColumns,
    pub strands: &'a mut Strands,
    pub waits: &'a mut Waits,
    pub depends: &'a mut Depends,
}

/// An edge into a strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// From the task's previous strand.
    Previous,
    /// From the creating strand.
    Create,
    /// From the end of task `.0`, joined by wait `.1`.
    Join(u32, u32),
    /// From a signalling strand, by wait `.0`.
    Signal(u32),
    /// From the end of task `.0`.
    Depend(u32),
}

impl Graph<'_> {
    /// Calls `f(predecessor, edge)` for every edge into `s`, always in the same order.
    pub(super) fn for_each_predecessor(&self, s: u32, mut f: impl FnMut(u32, Edge)) {
        let task = self.strands.task[s as usize];
        let prev = self.strands.prev[s as usize];
        if prev != NONE {
            f(prev, Edge::Previous);
            if let Some(w) = self.waits.of(prev) {
                for &t in self.waits.tasks.get(w) {
                    f(self.tasks.last[t as usize], Edge::Join(t, w as u32));
                }
                for &p in self.waits.signals.get(w) {
                    f(p, Edge::Signal(w as u32));
                }
            }
            return;
        }
        let creator = self.tasks.creator[task as usize];
        if creator != NONE {
            f(creator, Edge::Create);
        }
        if let Ok(d) = self.depends.tasks.binary_search(&task) {
            for &on in self.depends.on.get(d) {
                f(self.tasks.last[on as usize], Edge::Depend(on));
            }
        }
    }

    /// The first edge that times contradict, in (task, program) order: (predecessor, strand, edge).
    pub(super) fn first_contradiction(&self) -> Option<(u32, u32, Edge)> {
        let (start, end) = (&self.strands.start, &self.strands.end);
        let bad = |p: u32, s: u32| p == s || end[p as usize] > start[s as usize];
        for (t, &creator) in self.tasks.creator.iter().enumerate() {
            let s = self.tasks.first[t];
            if creator != NONE && bad(creator, s) {
                return Some((creator, s, Edge::Create));
            }
        }
        for (d, &t) in self.depends.tasks.iter().enumerate() {
            let s = self.tasks.first[t as usize];
            for &on in self.depends.on.get(d) {
                let p = self.tasks.last[on as usize];
                if bad(p, s) {
                    return Some((p, s, Edge::Depend(on)));
                }
            }
        }
        for (w, &after) in self.waits.after.iter().enumerate() {
            for &t in self.waits.tasks.get(w) {
                let p = self.tasks.last[t as usize];
                if bad(p, after) {
                    return Some((p, after, Edge::Join(t, w as u32)));
                }
            }
            for &p in self.waits.signals.get(w) {
                if bad(p, after) {
                    return Some((p, after, Edge::Signal(w as u32)));
                }
            }
        }
        None
    }
}

pub(super) fn contradiction(
    graph: &Graph<'_>,
    p: u32,
    s: u32,
    edge: Edge,
    signals: &[u64],
    tasks: &Tasks,
) -> Fault {
    let strands = &graph.strands;
    let (start, end) = (strands.start[s as usize], strands.end[p as usize]);
    let what = match edge {
        Edge::Previous => {
            format!("a strand starts at {start}, before the one before it ended at {end}")
        }
        Edge::Create => format!(
            "begins at {start}, before its create at {end}; expected a begin at {end} or later"
        ),
        Edge::Depend(on) => {
            let on = tasks.number(on);
            format!(
                "begins at {start}, before task {on}, which it depends on, ended at {end}; expected a begin at {end} or later"
            )
        }
        Edge::Join(on, _) => {
            let on = tasks.number(on);
            format!(
                "resumes at {start}, before task {on}, which it waits for, ended at {end}; expected a resume at {end} or later"
            )
        }
        Edge::Signal(_) => {
            let set = strands
                .sets
                .iter()
                .find(|x| x.0 == p)
                .map_or(0, |x| signals[x.1 as usize]);
            format!(
                "resumes at {start}, before signal {set}, which it waits for, was set at {end}; expected a resume at {end} or later"
            )
        }
    };
    Fault::new(
        At::Start(strands.raw_of(s, true)),
        tasks.number(strands.task[s as usize]),
        what,
    )
}
