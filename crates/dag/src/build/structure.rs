//! Checks what must hold for every task before anything else: valid indices, strands, one creator,
//! an end.

use super::{At, Fault, Repairs, joins};
use crate::cancel::checked;
use crate::dag::{NONE, ROOT_PLACE, TaskKind};
use crate::raw::{RawEnd, RawStrand, RawTask, RawTrace};

/// Checks that every task has strands and an end and is created once or is a root, and that every
/// scope and signal is used correctly.
pub(super) fn complete(raw: &mut RawTrace, repairs: &mut Repairs) -> Result<(), Fault> {
    let mut last = vec![NONE; raw.tasks.len()];
    for (i, &task) in raw.strands.task.iter().enumerate() {
        last[task as usize] = i as u32;
    }
    let mut creator = vec![NONE; raw.tasks.len()];
    let mut closed = vec![false; raw.scopes.len()];
    let mut set = vec![false; raw.signals.len()];
    let mut unfinished = Vec::new();
    for i in checked(0..raw.strands.len()) {
        let (task, end_op) = (raw.strands.task[i], raw.strands.end_op[i]);
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
            // A plain join, otherwise it would have been expanded.
            RawEnd::Join(first) => {
                creator[first as usize] = i as u32;
                creator[first as usize + 1] = i as u32;
                closed[raw.tasks[first as usize].scope as usize] = true;
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
        raw.strands.end_op[i] = op;
    }
    for i in unfinished {
        let s = raw.strands.get(i);
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

/// Makes tasks without a creator roots, and gives tasks that never began a strand of no length
/// where they were created.
fn orphans_and_unbegun(
    raw: &mut RawTrace,
    creator: &[u32],
    last: &[u32],
    repairs: &mut Repairs,
) -> Result<(), Fault> {
    let first_start = raw.strands.start.iter().copied().min().unwrap_or(0);
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
            let by = creator[t] as usize;
            let (thread, now) = match raw.strands.thread.get(by) {
                Some(&thread) => (thread, raw.strands.end[by]),
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
    let is_cut = |t: usize| raw.tasks[t].parent == NONE && creator[t] != NONE;
    let any_cut = (0..raw.tasks.len()).any(is_cut);
    if any_cut {
        // Expand joins while the tasks still have their scopes.
        joins::expand(raw);
    }
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
    if any_cut {
        for op in &mut raw.strands.end_op {
            if matches!(op, RawEnd::Create(c) if cut[*c as usize]) {
                *op = RawEnd::Yield;
            }
        }
    }
    Ok(())
}

/// Cuts cycles, so that no task is its own ancestor.
fn cut_ancestor_cycles(raw: &mut RawTrace, repairs: &mut Repairs) -> Result<(), Fault> {
    let created_before =
        |(t, task): (usize, &RawTask)| task.parent == NONE || (task.parent as usize) < t;
    if raw.tasks.iter().enumerate().all(created_before) {
        return Ok(());
    }
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
