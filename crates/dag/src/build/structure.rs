//! What must hold of every task before anything else: valid indices, strands, one creator, an end.

use super::{At, Fault, MAX_THREADS, Mode, Repairs};
use crate::dag::{NONE, ROOT_PLACE, TaskKind, ThreadEvent};
use crate::raw::{RawEnd, RawStrand, RawTask, RawTrace};

/// The tasks in number order.
pub(super) struct Tasks {
    /// By id; `parent` is an id.
    pub list: Vec<RawTask>,
    /// Id of each raw task.
    pub id_of_raw: Vec<u32>,
    /// Raw index of each task.
    pub raw_of_id: Vec<u32>,
    /// Creates from the root.
    pub level: Vec<u32>,
}

impl Tasks {
    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// Number people know the task by.
    pub fn number(&self, id: u32) -> u64 {
        self.list[id as usize].number
    }
}

/// Every index a reader wrote is in range, so that later stages can index; raises `meta.threads` to what is used.
pub(super) fn check_indices(raw: &mut RawTrace, mode: Mode) -> Result<(), Fault> {
    let (tasks, strands, places) = (raw.tasks.len(), raw.strands.len(), raw.places.len());
    let (scopes, labels, signals) = (raw.scopes.len(), raw.labels.len(), raw.signals.len());
    if tasks == 0 {
        return Err(Fault::whole(
            "the trace has no task; expected at least one task with a begin and an end",
        ));
    }
    // Two strands a task may be added below.
    if strands.saturating_add(tasks.saturating_mul(2)) >= NONE as usize {
        return Err(Fault::whole(format!(
            "{strands} strands of {tasks} tasks are more than this format of columns holds"
        )));
    }
    let below = |i: u32, n: usize| (i as usize) < n;
    let or_none = |i: u32, n: usize| i == NONE || (i as usize) < n;
    let mut good = places > 0;
    good &= raw
        .tasks
        .iter()
        .all(|t| or_none(t.parent, tasks) && below(t.site, places) && or_none(t.scope, scopes));
    good &= raw.strands.iter().all(|s| {
        let op = match s.end_op {
            RawEnd::Create(c) => below(c, tasks),
            RawEnd::WaitScope(c) => below(c, scopes),
            RawEnd::WaitTasks(l) => below(l, raw.wait_tasks.len()),
            RawEnd::WaitSignals(l) => below(l, raw.wait_signals.len()),
            RawEnd::Signal(c) => below(c, signals),
            RawEnd::WaitChildren | RawEnd::Yield | RawEnd::End => true,
        };
        op && below(s.task, tasks) && or_none(s.at, places)
    });
    good &= raw.wait_tasks.items.iter().all(|&t| below(t, tasks));
    good &= raw.wait_signals.items.iter().all(|&s| below(s, signals));
    good &= raw
        .scopes
        .iter()
        .all(|s| below(s.opener, tasks) && or_none(s.strand, strands));
    good &= raw
        .depends
        .iter()
        .all(|&(a, b)| below(a, tasks) && below(b, tasks));
    good &= raw.regions.iter().chain(&raw.parts).all(|r| {
        below(r.label, labels)
            && below(r.task, tasks)
            && below(r.begin.0, strands)
            && or_none(r.end.0, strands)
    });
    good &= raw.steals.iter().all(|s| or_none(s.task, tasks));
    good &= raw
        .counters
        .iter()
        .all(|(_, values)| values.iter().all(|&(s, _)| below(s, strands)));
    good &= raw.folded.iter().all(|(s, f)| {
        below(*s, strands)
            && f.sites.iter().all(|s| below(s.site, places))
            && f.blocks
                .iter()
                .all(|b| or_none(b.0, places) && or_none(b.1, places))
    });
    if !good {
        return Err(Fault::whole(
            "the trace names something it does not hold; this is a fault of its reader, please report it",
        ));
    }
    let threads = highest_thread(raw);
    if let Some(top) = threads.filter(|&t| t >= MAX_THREADS) {
        return Err(Fault::whole(format!(
            "thread {top} is out of range; expected thread numbers below {MAX_THREADS}"
        )));
    }
    let used = threads.map_or(0, |t| t + 1).max(raw.meta.workers);
    if mode == Mode::Repair {
        raw.meta.workers = raw.meta.workers.clamp(1, MAX_THREADS);
        raw.meta.threads = raw.meta.threads.max(used).clamp(1, MAX_THREADS);
    } else if raw.meta.workers == 0 || used > raw.meta.threads || raw.meta.threads > MAX_THREADS {
        let meta = &raw.meta;
        let what = format!(
            "{} workers and {} threads do not hold thread {}",
            meta.workers,
            meta.threads,
            used.saturating_sub(1)
        );
        return Err(Fault::whole(what));
    }
    Ok(())
}

fn highest_thread(raw: &RawTrace) -> Option<u32> {
    let victims = raw.thread_events.iter().filter_map(|e| match e.2 {
        ThreadEvent::StealFailed(victim) => Some(victim),
        _ => None,
    });
    let steals = raw.steals.iter().flat_map(|s| [s.thief, s.victim]);
    raw.strands
        .iter()
        .map(|s| s.thread)
        .chain(raw.offs.iter().map(|o| o.thread))
        .chain(raw.thread_events.iter().map(|e| e.1))
        .chain(victims.chain(steals).filter(|&t| t != NONE))
        .max()
}

/// Every task has strands and ends, is created once or is a root; every scope and signal is used as it may be.
pub(super) fn complete(raw: &mut RawTrace, repairs: &mut Repairs) -> Result<(), Fault> {
    let mut last = vec![NONE; raw.tasks.len()];
    for (i, s) in raw.strands.iter().enumerate() {
        last[s.task as usize] = i as u32;
    }
    let mut creator = vec![NONE; raw.tasks.len()];
    let mut closed = vec![false; raw.scopes.len()];
    let mut set = vec![false; raw.signals.len()];
    let mut unfinished = Vec::new();
    for i in 0..raw.strands.len() {
        let RawStrand { task, end_op, .. } = raw.strands[i];
        let number = raw.tasks[task as usize].number;
        let at = At::End(i as u32);
        let is_last = last[task as usize] == i as u32;
        let mut op = end_op;
        match op {
            RawEnd::Create(child) => {
                let c = child as usize;
                if creator[c] != NONE || raw.tasks[c].parent != task || child == task {
                    repairs.or("Creates of a task that existed already, dropped", || {
                        Fault::new(
                            at,
                            number,
                            format!("creates task {}, which exists already", raw.tasks[c].number),
                        )
                    })?;
                    op = RawEnd::Yield;
                } else {
                    creator[c] = i as u32;
                }
            }
            RawEnd::Signal(signal) if std::mem::replace(&mut set[signal as usize], true) => {
                repairs.or("Signals set twice, the later one dropped", || {
                    let id = raw.signals[signal as usize];
                    Fault::new(at, number, format!("sets signal {id} a second time"))
                })?;
                op = RawEnd::Yield;
            }
            RawEnd::WaitScope(scope) if !is_last => {
                let s = &raw.scopes[scope as usize];
                if s.opener != task || std::mem::replace(&mut closed[scope as usize], true) {
                    repairs.or("Waits for a scope already closed or another task's, dropped", || {
                        let what = "waits for a scope that is already closed or that another task opened; a scope is closed once, by its opener";
                        Fault::new(at, number, format!("{what} (scope {})", s.number))
                    })?;
                    op = RawEnd::Yield;
                }
            }
            RawEnd::End if !is_last => {
                repairs.or("Strands after their task's end, kept", || {
                    Fault::new(at, number, "goes on after its end")
                })?;
                op = RawEnd::Yield;
            }
            _ => {}
        }
        if is_last && op != RawEnd::End {
            repairs.or(
                "Tasks without an end in the trace, ended with their last strand",
                || {
                    Fault::new(
                        at,
                        number,
                        "has no end; expected an `end` after its last strand",
                    )
                },
            )?;
            match op {
                RawEnd::Create(_) | RawEnd::Signal(_) => unfinished.push(i),
                _ => op = RawEnd::End,
            }
        }
        raw.strands[i].end_op = op;
    }
    for i in unfinished {
        let s = raw.strands[i];
        raw.strands.push(RawStrand {
            start: s.end,
            end_op: RawEnd::End,
            at: NONE,
            keep: false,
            ..s
        });
    }
    orphans_and_unbegun(raw, &creator, &last, repairs)
}

/// Tasks nobody created are roots; tasks that never began get a strand of no length where they were created.
fn orphans_and_unbegun(
    raw: &mut RawTrace,
    creator: &[u32],
    last: &[u32],
    repairs: &mut Repairs,
) -> Result<(), Fault> {
    let first_start = raw.strands.iter().map(|s| s.start).min().unwrap_or(0);
    for t in 0..raw.tasks.len() {
        let number = raw.tasks[t].number;
        if creator[t] == NONE && raw.tasks[t].parent != NONE {
            repairs.or(
                "Tasks whose creation is not in the trace, taken as roots",
                || {
                    Fault::new(
                        At::Task(t as u32),
                        number,
                        "has a parent, but no strand creates it",
                    )
                },
            )?;
            raw.tasks[t].parent = NONE;
        }
        if last[t] == NONE {
            repairs.or(
                "Tasks created that never began in the trace, given no time",
                || {
                    Fault::new(
                        At::Task(t as u32),
                        number,
                        "has no begin; expected a `begin` and an `end`",
                    )
                },
            )?;
            let (thread, now) = match raw.strands.get(creator[t] as usize) {
                Some(s) => (s.thread, s.end),
                None => (0, first_start),
            };
            let (task, end_op) = (t as u32, RawEnd::End);
            raw.strands.push(RawStrand {
                task,
                thread,
                start: now,
                end: now,
                end_op,
                at: NONE,
                keep: false,
            });
        }
    }
    cut_ancestor_cycles(raw, repairs)?;
    let mut cut = vec![false; raw.tasks.len()];
    for (t, task) in raw.tasks.iter_mut().enumerate() {
        if task.parent == NONE {
            *task = RawTask {
                kind: TaskKind::Root,
                site: ROOT_PLACE,
                scope: NONE,
                ..*task
            };
            cut[t] = creator[t] != NONE;
        } else if task.kind == TaskKind::Root {
            task.kind = TaskKind::Deferred;
        }
        if task.kind == TaskKind::Detached {
            task.scope = NONE;
        }
    }
    for s in &mut raw.strands {
        if matches!(s.end_op, RawEnd::Create(c) if cut[c as usize]) {
            s.end_op = RawEnd::Yield;
        }
    }
    Ok(())
}

/// No task is its own ancestor.
fn cut_ancestor_cycles(raw: &mut RawTrace, repairs: &mut Repairs) -> Result<(), Fault> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; raw.tasks.len()];
    let mut path = Vec::new();
    for t in 0..raw.tasks.len() {
        let mut at = t;
        while state[at] == NEW {
            state[at] = OPEN;
            path.push(at);
            match raw.tasks[at].parent {
                NONE => break,
                parent => at = parent as usize,
            }
        }
        if state[at] == OPEN && raw.tasks[at].parent != NONE {
            let number = raw.tasks[at].number;
            repairs.or(
                "Tasks that were their own ancestors, taken as roots",
                || Fault::new(At::Task(at as u32), number, "is its own ancestor"),
            )?;
            raw.tasks[at].parent = NONE;
        }
        for p in path.drain(..) {
            state[p] = DONE;
        }
    }
    Ok(())
}

/// Sorts tasks by number and counts levels. Takes `raw.tasks`.
pub(super) fn in_number_order(raw: &mut RawTrace) -> Result<Tasks, Fault> {
    let told = std::mem::take(&mut raw.tasks);
    let n = told.len();
    let mut raw_of_id: Vec<u32> = (0..n as u32).collect();
    if !told.is_sorted_by_key(|t| t.number) {
        raw_of_id.sort_unstable_by_key(|&i| told[i as usize].number);
    }
    let mut id_of_raw = vec![0; n];
    for (id, &i) in raw_of_id.iter().enumerate() {
        id_of_raw[i as usize] = id as u32;
    }
    let mut list: Vec<RawTask> = raw_of_id.iter().map(|&i| told[i as usize]).collect();
    drop(told);
    for t in &mut list {
        if t.parent != NONE {
            t.parent = id_of_raw[t.parent as usize];
        }
    }
    if let Some(twice) = list.windows(2).find(|w| w[0].number == w[1].number) {
        return Err(Fault::new(
            At::Whole,
            twice[0].number,
            "appears twice; task numbers are unique",
        ));
    }
    let level = levels(&list);
    Ok(Tasks {
        list,
        id_of_raw,
        raw_of_id,
        level,
    })
}

fn levels(tasks: &[RawTask]) -> Vec<u32> {
    let mut level = vec![NONE; tasks.len()];
    let mut path = Vec::new();
    for t in 0..tasks.len() {
        let mut at = t as u32;
        while at != NONE && level[at as usize] == NONE {
            path.push(at);
            at = tasks[at as usize].parent;
        }
        let mut next = if at == NONE {
            0
        } else {
            level[at as usize] + 1
        };
        while let Some(p) = path.pop() {
            level[p as usize] = next;
            next += 1;
        }
    }
    level
}
