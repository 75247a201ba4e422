//! The tasks of each location, event by event.

mod key;
mod teams;

use std::collections::{BTreeMap, HashMap};

use workspan_dag::meta::{Meta, TimeUnit};
use workspan_dag::raw::{RawEnd, RawRegion, RawStrand, RawTask, RawTrace};
use workspan_dag::{Error, NONE, TaskKind};

use super::definitions::{Definitions, Region, Role, add_root_place};
use super::lines::{Line, fail, reference};
use key::{Key, called, key};
use teams::Fork;

/// The largest number of locations.
const MAX_LOCATIONS: usize = 1 << 16;

/// A task of the run, by its index in `raw.tasks`.
#[derive(Debug, Default)]
struct Task {
    begun: bool,
    done: bool,
    /// The start and the place of the open strand.
    open: Option<(u64, u32)>,
    /// The regions that it is in.
    regions: Vec<u64>,
    /// Marked regions that began or ended in the open strand: index, and whether it ended.
    marks: Vec<(u32, bool)>,
    /// The marked regions that it is in.
    marked: Vec<u32>,
    /// The time at which it entered the region of a create, if it is still in it.
    creates_since: Option<u64>,
    /// Whether it waits, since it entered the region of the wait.
    waits: bool,
    /// Its strand up to a barrier: start, thread, end and place. The next events show whether it
    /// was its last strand.
    barrier: Option<(u64, u32, u64, u32)>,
}

/// A thread.
#[derive(Debug, Default)]
struct Location {
    current: Option<u32>,
    /// Implicit tasks and the root, innermost last.
    base: Vec<u32>,
    last: u64,
    /// Whether it has been in a team. It then has no root of its own.
    in_team: bool,
}

/// The state of reading.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    raw: RawTrace,
    tasks: Vec<Task>,
    by_key: HashMap<Key, u32>,
    forks: Vec<Fork>,
    locations: Vec<Location>,
    thread_of: BTreeMap<u64, u32>,
    known: Definitions,
    left_out: u64,
}

impl Tasks {
    /// Handles a line.
    ///
    /// # Errors
    /// The line contradicts earlier lines.
    pub(super) fn add(&mut self, number: usize, line: Line<'_>) -> Result<(), Error> {
        match line {
            Line::Definition(kind, id, attributes) => {
                self.known.define(&mut self.raw, kind, id, attributes);
                Ok(())
            }
            Line::Event(kind, location, t, attributes) => {
                let w = self.thread(number, location)?;
                let t = t.saturating_sub(self.known.origin);
                let last = self.locations[w as usize].last;
                if t < last {
                    return fail(
                        number,
                        format!(
                            "location {location} goes back from {last} to {t}; expected times in order"
                        ),
                    );
                }
                self.locations[w as usize].last = t;
                self.event(number, kind, w, t, attributes)
            }
        }
    }

    fn thread(&mut self, number: usize, location: u64) -> Result<u32, Error> {
        if let Some(&w) = self.thread_of.get(&location) {
            return Ok(w);
        }
        if self.locations.len() >= MAX_LOCATIONS {
            return fail(number, format!("more than {MAX_LOCATIONS} locations"));
        }
        let w = self.locations.len() as u32;
        self.thread_of.insert(location, w);
        self.locations.push(Location::default());
        Ok(w)
    }

    fn event(
        &mut self,
        number: usize,
        kind: &str,
        w: u32,
        t: u64,
        attributes: &str,
    ) -> Result<(), Error> {
        match kind {
            "ENTER" => {
                let region = self.known.region(&mut self.raw, number, attributes)?;
                self.enter(w, t, region);
            }
            "LEAVE" => {
                let region = self.known.region(&mut self.raw, number, attributes)?;
                self.leave(number, w, t, region)?;
            }
            "THREAD_FORK" => self.fork(w, t),
            "THREAD_JOIN" => self.join(w, t),
            "THREAD_TEAM_BEGIN" => self.team_begins(w, t, reference(attributes, "Thread Team")),
            "THREAD_TEAM_END" => {
                if let Some(task) = self.locations[w as usize].base.pop() {
                    self.end(task, w, t);
                }
                let location = &mut self.locations[w as usize];
                location.current = location.base.last().copied();
            }
            "THREAD_TASK_CREATE" => {
                let key = key(number, attributes)?;
                self.create(w, t, key);
            }
            "THREAD_TASK_SWITCH" => {
                let key = key(number, attributes)?;
                self.switch(number, w, t, (key, attributes))?;
            }
            "THREAD_TASK_COMPLETE" => {
                let key = key(number, attributes)?;
                let Some(task) = self.by_key.remove(&key) else {
                    return fail(
                        number,
                        format!("{} ends, which nobody created", called(key)),
                    );
                };
                self.end(task, w, t);
                self.locations[w as usize].current = None;
            }
            _ => self.left_out += 1,
        }
        Ok(())
    }

    /// The task that runs on a thread. A new thread gets a root.
    fn current(&mut self, w: u32, t: u64) -> Option<u32> {
        let location = &self.locations[w as usize];
        if location.current.is_none() && location.base.is_empty() && !location.in_team {
            let root = self.task(NONE, TaskKind::Root, 0, NONE);
            let location = &mut self.locations[w as usize];
            location.base.push(root);
            location.current = Some(root);
            self.run(root, w, t);
        }
        self.locations[w as usize].current
    }

    fn task(&mut self, parent: u32, kind: TaskKind, site: u32, scope: u32) -> u32 {
        add_root_place(&mut self.raw);
        let number = self.raw.tasks.len() as u32;
        self.raw.tasks.push(RawTask {
            number: number.into(),
            parent,
            kind,
            site,
            scope,
        });
        self.tasks.push(Task::default());
        number
    }

    fn run(&mut self, task: u32, w: u32, t: u64) {
        let state = &mut self.tasks[task as usize];
        state.begun = true;
        state.open = Some((t, w));
    }

    /// Ends the task's strand, if one is open.
    fn close(&mut self, task: u32, t: u64, end_op: RawEnd, at: u32) -> bool {
        let state = &mut self.tasks[task as usize];
        let is_implicit = self.raw.tasks[task as usize].kind == TaskKind::Inline;
        if end_op == RawEnd::End
            && is_implicit
            && let Some((start, thread, end, at)) = state.barrier.take()
        {
            // After a region's last barrier, the task does nothing.
            state.open = None;
            self.push(task, (start, end), thread, end_op, at);
            return true;
        }
        let Some((start, thread)) = state.open.take() else {
            return false;
        };
        if let Some((start, thread, end, at)) = state.barrier.take() {
            self.push(task, (start, end), thread, RawEnd::Yield, at);
        }
        self.push(task, (start, t.max(start)), thread, end_op, at);
        true
    }

    fn push(&mut self, task: u32, (start, end): (u64, u64), thread: u32, end_op: RawEnd, at: u32) {
        let strand = self.raw.strands.len() as u32;
        for (region, ended) in self.tasks[task as usize].marks.drain(..) {
            let region = &mut self.raw.regions[region as usize];
            let side = if ended {
                &mut region.end
            } else {
                &mut region.begin
            };
            side.0 = strand;
        }
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start,
            end,
            end_op,
            at,
            keep: false,
        });
    }

    /// Ends a task. A waiting task has waited until then.
    fn end(&mut self, task: u32, w: u32, t: u64) {
        let state = &mut self.tasks[task as usize];
        if state.done {
            return;
        }
        if state.open.is_none() && state.barrier.is_none() {
            state.open = Some((t, w));
        }
        self.close(task, t, RawEnd::End, NONE);
        self.tasks[task as usize].done = true;
    }

    fn enter(&mut self, w: u32, t: u64, (id, region): (u64, Region)) {
        let Some(task) = self.current(w, t) else {
            return;
        };
        self.tasks[task as usize].regions.push(id);
        match region.role {
            Role::Wait => {
                let waits = self.close(task, t, RawEnd::WaitChildren, region.place);
                self.tasks[task as usize].waits |= waits;
            }
            Role::Barrier => {
                // Other tasks run in it, on top of this one.
                let state = &mut self.tasks[task as usize];
                let before = state.barrier.take();
                let open = state.open.take();
                state.barrier = open.map(|(start, thread)| (start, thread, t, region.place));
                if let Some((start, thread, end, at)) = before {
                    self.push(task, (start, end), thread, RawEnd::Yield, at);
                }
            }
            Role::Marked if self.tasks[task as usize].open.is_some() => {
                let number = self.raw.regions.len() as u32;
                self.raw.regions.push(RawRegion {
                    label: region.label,
                    task,
                    tree: false,
                    begin: (NONE, t),
                    end: (NONE, t),
                });
                let state = &mut self.tasks[task as usize];
                state.marks.push((number, false));
                state.marked.push(number);
            }
            // A strand that creates a task ends where the creation begins; `create` has the task.
            Role::Create => self.tasks[task as usize].creates_since = Some(t),
            _ => {}
        }
    }

    fn leave(
        &mut self,
        number: usize,
        w: u32,
        t: u64,
        (id, region): (u64, Region),
    ) -> Result<(), Error> {
        let Some(task) = self.current(w, t) else {
            return Ok(());
        };
        let state = &mut self.tasks[task as usize];
        // A barrier's region is sometimes entered before the team and left after it.
        if state.regions.last() == Some(&id) {
            state.regions.pop();
        } else if state.regions.contains(&id) {
            return fail(
                number,
                "a region is left while one inside of it is still open",
            );
        } else {
            return Ok(());
        }
        match region.role {
            Role::Wait if state.waits => {
                state.waits = false;
                self.run(task, w, t);
            }
            Role::Barrier if state.barrier.is_some() => self.run(task, w, t),
            Role::Create if state.open.is_none() && state.begun && !state.done => {
                self.run(task, w, t)
            }
            Role::Marked if state.open.is_some() => {
                let regions = &mut self.raw.regions;
                let is_open = |&at: &u32| regions[at as usize].label == region.label;
                if let Some(at) = state.marked.iter().rposition(is_open) {
                    let at = state.marked.remove(at);
                    regions[at as usize].end.1 = t;
                    state.marks.push((at, true));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn create(&mut self, w: u32, t: u64, key: Key) {
        let Some(parent) = self.current(w, t) else {
            return;
        };
        let creator = &self.tasks[parent as usize];
        let inside = creator
            .regions
            .last()
            .and_then(|id| self.known.regions.get(id));
        let creates = inside.is_some_and(|region| region.role == Role::Create);
        let site = inside.map_or(0, |region| region.place);
        let task = self.task(parent, TaskKind::Deferred, site, NONE);
        self.by_key.insert(key, task);
        if self.tasks[parent as usize].open.is_none() {
            // A runtime's callback created it in a wait: the parent counts as running for that
            // moment.
            self.run(parent, w, t);
        }
        let since = self.tasks[parent as usize].creates_since.take();
        let end = since.filter(|_| creates).unwrap_or(t);
        self.close(parent, end, RawEnd::Create(task), site);
        // The creating region continues; the task goes on where the region is left.
        if !creates {
            self.run(parent, w, t);
        }
    }

    /// The implicit task or root of the location in a switch, which in OpenMP is the thread's own.
    fn base_of(&self, w: u32, attributes: &str) -> Option<u32> {
        let named = attributes.split_once("Creating Thread: ")?.1;
        let (_, quoted) = named.split_once(" (")?;
        let location = reference(&format!("Location: {quoted}"), "Location");
        let named = location.and_then(|location| self.thread_of.get(&location));
        let base = |w: u32| self.locations[w as usize].base.last().copied();
        named.and_then(|&w| base(w)).or_else(|| base(w))
    }

    fn switch(
        &mut self,
        number: usize,
        w: u32,
        t: u64,
        (key, attributes): (Key, &str),
    ) -> Result<(), Error> {
        let to = match self.by_key.get(&key) {
            Some(&task) => task,
            // An implicit task, or a root: the location's.
            None if key.2 == 0 => match self.base_of(w, attributes) {
                Some(task) => task,
                None => return Ok(()),
            },
            None => {
                return fail(
                    number,
                    format!("{} runs, which nobody created", called(key)),
                );
            }
        };
        if let Some(from) = self.locations[w as usize].current.replace(to)
            && from != to
        {
            self.close(from, t, RawEnd::Yield, NONE);
        }
        let state = &self.tasks[to as usize];
        if state.open.is_some_and(|open| open.1 != w) {
            return fail(
                number,
                format!("{} runs on two threads at once", called(key)),
            );
        }
        // A waiting task goes on where the wait's region is left.
        if state.open.is_none() && !state.waits && state.barrier.is_none() && !state.done {
            self.run(to, w, t);
        }
        Ok(())
    }

    /// The finished trace. Tasks that have not ended end with their thread.
    ///
    /// # Errors
    /// There are no events.
    pub(super) fn finish(mut self) -> Result<RawTrace, Error> {
        let end = self.locations.iter().map(|l| l.last).max();
        let Some(end) = end else {
            return fail(0, "no events; print them by `otf2-print -A traces.otf2`");
        };
        while let Some(fork) = self.forks.len().checked_sub(1) {
            let scope = self.forks[fork].scope;
            self.at_fork(fork, RawEnd::WaitScope(scope));
            let fork = self.forks.remove(fork);
            self.run(fork.task, fork.thread, end);
        }
        let mut open = 0;
        for task in 0..self.tasks.len() as u32 {
            let state = &self.tasks[task as usize];
            if state.done {
                continue;
            }
            let is_root = self.raw.tasks[task as usize].kind == TaskKind::Root;
            open += u64::from(!is_root);
            let thread = state.open.map_or(0, |open| open.1);
            let until = match state.open {
                Some(_) => self.locations[thread as usize].last,
                None => end,
            };
            self.end(task, thread, until);
        }
        if self.tasks.is_empty() {
            return fail(
                0,
                "no event of a thread or a task; expected those of Score-P",
            );
        }
        let threads = self.locations.len() as u32;
        let rate = self.raw.meta.ticks_per_second;
        let mut meta = Meta {
            workers: threads,
            threads,
            ticks_per_second: if rate == 0 { 1_000_000_000 } else { rate },
            time_unit: match rate {
                0 | 1_000_000_000 => TimeUnit::Ns,
                _ => TimeUnit::Cycles,
            },
            ..Meta::default()
        };
        meta.thread_names = vec![String::new(); threads as usize];
        for (location, &w) in &self.thread_of {
            if let Some(name) = self.known.names.remove(location) {
                meta.thread_names[w as usize] = name;
            }
        }
        if rate == 0 {
            meta.warnings.push(
                "The text has no definitions, so a tick is taken as 1 ns: print it with `otf2-print -A`."
                    .into(),
            );
        }
        if self.left_out > 0 {
            meta.warnings.push(format!(
                "{} events that belong neither to tasks nor to threads' regions were left out.",
                self.left_out
            ));
        }
        if open > 0 {
            meta.warnings
                .push(format!("{open} tasks have no end in the text."));
        }
        self.raw.meta = meta;
        Ok(self.raw)
    }
}
