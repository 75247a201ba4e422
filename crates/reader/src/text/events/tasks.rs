//! Tasks and their strands: begin, resume, create, end, and the checks for every line inside a
//! strand.

use super::{Events, TaskState};
use crate::text::line::Line;
use crate::text::value::Value;
use workspan_dag::Error;
use workspan_dag::raw::{RawEnd, RawStrand, RawTask};
use workspan_dag::{NONE, ROOT_PLACE, TaskKind};

impl Events {
    pub(super) fn new_task(
        &mut self,
        line: &Line<'_>,
        number: u64,
        task: RawTask,
        created: usize,
    ) -> Result<u32, Error> {
        let id = self.raw.tasks.len() as u32;
        if id == NONE - 1 || self.raw.strands.len() >= NONE as usize - 2 {
            return line.fail("more tasks or strands than 2^32 - 2; record less or fold");
        }
        self.raw.tasks.push(task);
        self.task_states.push(TaskState {
            created,
            begun: 0,
            ended: 0,
            open: NONE,
            folded: NONE,
            t: 0,
            thread: 0,
            scopes: Vec::new(),
        });
        self.tasks.insert(number, id);
        Ok(id)
    }

    /// The time `t`, which must not decrease within the task.
    pub(super) fn time(&self, line: &Line<'_>, task: u32) -> Result<u64, Error> {
        let t = line.time("t")?;
        let last = self.task_states[task as usize].t;
        if t < last {
            return line.fail(format!("`t` is {t}, earlier than the task's line before it at {last}; expected {last} or later"));
        }
        Ok(t)
    }

    /// The task that a line names, which must have begun: (raw task).
    pub(super) fn task(&self, line: &mut Line<'_>) -> Result<u32, Error> {
        let number = line.whole("task")?;
        line.task = Some(number);
        match self.tasks.get(&number) {
            Some(&task) if self.task_states[task as usize].begun != 0 => Ok(task),
            _ => line.fail(format!(
                "`{}` before the task's `begin`; expected its `begin` first",
                line.name
            )),
        }
    }

    /// The task and its open strand, on the thread it started on: (raw task, strand, t).
    pub(super) fn inside(&self, line: &mut Line<'_>) -> Result<(u32, u32, u64), Error> {
        let task = self.task_in_strand(line)?;
        let t = self.time(line, task)?;
        let thread = self.thread(line, "w")?;
        let state = &self.task_states[task as usize];
        if thread != state.thread {
            let what = format!(
                "`{}` on thread {thread}, but the open strand started on thread {}; expected one thread a strand",
                line.name, state.thread
            );
            return line.fail(what);
        }
        Ok((task, state.open, t))
    }

    pub(super) fn task_in_strand(&self, line: &mut Line<'_>) -> Result<u32, Error> {
        let task = self.task(line)?;
        let state = &self.task_states[task as usize];
        if state.ended != 0 {
            let again = if line.name == "end" {
                "a second end"
            } else {
                line.name.as_str()
            };
            return line.fail(format!(
                "{again} after the task's end at line {}; expected nothing of it there",
                state.ended
            ));
        }
        if state.open == NONE {
            return line.fail(format!(
                "`{}` with no strand open; expected a `resume` before it",
                line.name
            ));
        }
        Ok(task)
    }

    pub(super) fn start_strand(
        &mut self,
        line: &Line<'_>,
        task: u32,
        thread: u32,
        t: u64,
    ) -> Result<(), Error> {
        let strand = self.raw.strands.len() as u32;
        if strand >= NONE - 2 {
            return line.fail("more strands than 2^32 - 3; record less or fold");
        }
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start: t,
            end: t,
            end_op: RawEnd::End,
            at: NONE,
            keep: false,
        });
        self.strand_lines.push((line.number as u32, 0));
        let state = &mut self.task_states[task as usize];
        state.open = strand;
        state.t = t;
        state.thread = thread;
        Ok(())
    }

    pub(super) fn begin(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let number = line.whole("task")?;
        line.task = Some(number);
        let thread = self.thread(line, "w")?;
        let t = line.time("t")?;
        let task = match self.tasks.get(&number) {
            Some(&task) => {
                let begun = self.task_states[task as usize].begun;
                if begun != 0 {
                    return line.fail(format!(
                        "a second begin, after the one at line {begun}; expected one begin a task"
                    ));
                }
                task
            }
            None => {
                let root = RawTask {
                    number,
                    parent: NONE,
                    kind: TaskKind::Root,
                    site: ROOT_PLACE,
                    scope: NONE,
                };
                self.new_task(line, number, root, 0)?
            }
        };
        self.task_states[task as usize].begun = line.number;
        if line.given("waited").is_some() {
            self.raw.start_waits.push((task, line.time("waited")?));
        }
        self.start_strand(line, task, thread, t)
    }

    pub(super) fn resume(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let task = self.task(line)?;
        let state = &self.task_states[task as usize];
        if state.ended != 0 {
            return line.fail(format!(
                "resume after the task's end at line {}; expected nothing of it there",
                state.ended
            ));
        }
        if state.open != NONE {
            let started = self.strand_lines[state.open as usize].0;
            return line.fail(format!("resume with a strand open since line {started}; expected a create, wait or yield before it"));
        }
        let t = self.time(line, task)?;
        let thread = self.thread(line, "w")?;
        let keep = line.flag("keep")?;
        self.start_strand(line, task, thread, t)?;
        if keep {
            let strand = self.raw.strands.len() - 1;
            self.raw.strands.keep(strand);
        }
        Ok(())
    }

    /// Handles a line that ends a strand; `op` may look things up.
    pub(super) fn ends(
        &mut self,
        line: &mut Line<'_>,
        op: impl FnOnce(&mut Events, &Line<'_>, (u32, u32)) -> Result<RawEnd, Error>,
    ) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let at = self.places.named(line, "at", "at_place")?.unwrap_or(NONE);
        let counters = line.whole_map("counters")?;
        let end_op = op(self, line, (task, strand))?;
        let strands = &mut self.raw.strands;
        strands.end[strand as usize] = t;
        strands.end_op[strand as usize] = end_op;
        strands.at[strand as usize] = at;
        if !counters.is_empty() {
            strands.keep(strand as usize);
        }
        for (name, value) in counters {
            match self.counters.get_mut(name) {
                Some(values) => values.push((strand, value)),
                None => {
                    self.counters.insert(name.to_owned(), vec![(strand, value)]);
                }
            }
        }
        self.strand_lines[strand as usize].1 = line.number as u32;
        let state = &mut self.task_states[task as usize];
        state.open = NONE;
        state.t = t;
        Ok(())
    }

    pub(super) fn create(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        self.ends(line, |events, line, (task, _)| {
            let child = line.whole("child")?;
            if let Some(&there) = events.tasks.get(&child) {
                let state = &events.task_states[there as usize];
                return match state.created {
                    0 => line.fail(format!(
                        "creates task {child}, which already began at line {}; expected its create before its begin",
                        state.begun
                    )),
                    created => line.fail(format!(
                        "creates task {child}, which exists already (created at line {created}); expected a new number"
                    )),
                };
            }
            let thread = line.flag("thread")?;
            let (inline, detached) = (line.flag("inline")?, line.flag("detached")? || thread);
            let kind = match (inline, detached) {
                (true, true) => return line.fail("both `inline` and `detached`; expected at most one of them"),
                (true, false) => TaskKind::Inline,
                (false, true) => TaskKind::Detached,
                (false, false) => TaskKind::Deferred,
            };
            let site = match events.places.named(line, "site", "site_place")? {
                Some(place) => place,
                None => events.places.of("?"),
            };
            if thread {
                events.places.is_of_threads(site);
            }
            let scope = match line.get("scope") {
                None => events.innermost_scope(task),
                Some(Value::Null) => NONE,
                Some(_) => {
                    let number = line.whole("scope")?;
                    events.unresolved.creates.push((events.raw.tasks.len() as u32, number, line.number));
                    NONE
                }
            };
            let raw = RawTask { number: child, parent: task, kind, site, scope };
            events.new_task(line, child, raw, line.number).map(RawEnd::Create)
        })
    }

    pub(super) fn end(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let (task, _, _) = self.inside(line)?;
        let open = self.innermost_scope(task);
        if open != NONE {
            let number = self.raw.scopes[open as usize].number;
            let opened = self.scope_states[open as usize].opened;
            return line.fail(format!(
                "scope {number}, opened at line {opened}, is still open at its task's end; expected a wait with \"scope\":{number} before"
            ));
        }
        self.ends(line, |_, _, _| Ok(RawEnd::End))?;
        let state = &mut self.task_states[task as usize];
        state.ended = line.number;
        state.scopes = Vec::new();
        Ok(())
    }

    pub(super) fn depend(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let task = line.whole("task")?;
        line.task = Some(task);
        let on = line.whole("on")?;
        if let Some(&there) = self.tasks.get(&task) {
            let begun = self.task_states[there as usize].begun;
            if begun != 0 {
                return line.fail(format!(
                    "`depend` after the task's begin at line {begun}; expected it before"
                ));
            }
        }
        self.unresolved.depends.push((task, on, line.number));
        Ok(())
    }
}
