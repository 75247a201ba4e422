//! What must hold of every task before anything else: valid indices, strands, one creator, an end.

use super::{At, Fault, Repairs};
use crate::dag::{NONE, ROOT_PLACE, TaskKind};
use crate::raw::{RawEnd, RawStrand, RawTask, RawTrace};

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
