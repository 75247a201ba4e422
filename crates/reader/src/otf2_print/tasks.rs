//! What each location does, event by event.

use std::collections::{BTreeMap, HashMap};

use workspan_dag::meta::{Meta, TimeUnit};
use workspan_dag::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};
use workspan_dag::{Error, NONE, Place, ScopeKind, TaskKind};

use super::lines::{Line, fail, reference, value};

/// Locations at most.
const MAX_LOCATIONS: usize = 1 << 16;

/// What a region means for tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Create,
    Wait,
    Barrier,
    Parallel,
    /// A region that the user marked.
    Marked,
    Other,
}

/// A region: code that is entered and left.
#[derive(Debug, Clone, Copy)]
struct Region {
    role: Role,
    place: u32,
    label: u32,
}

/// A task of the run, by its index in `raw.tasks`.
#[derive(Debug, Default)]
struct Task {
    begun: bool,
    done: bool,
    /// Start of the strand that runs, and where.
    open: Option<(u64, u32)>,
    /// Regions it is in.
    regions: Vec<u64>,
    /// Marked regions that began or ended in the strand that runs: index and whether it ended.
    marks: Vec<(u32, bool)>,
    /// When it entered the region of a create in which it still is.
    creates_since: Option<u64>,
    /// It waits, from when it entered the region of the wait.
    waits: bool,
    /// Its strand until it came to a barrier: start, thread, end and place. What follows tells
    /// whether it was its last one.
    barrier: Option<(u64, u32, u64, u32)>,
}

/// A parallel region while it is there.
#[derive(Debug)]
struct Fork {
    task: u32,
    t: u64,
    start: u64,
    thread: u32,
    team: Option<u64>,
    scope: u32,
    site: u32,
    /// The forking task's strand is in the run.
    told: bool,
}

/// A thread.
#[derive(Debug, Default)]
struct Location {
    current: Option<u32>,
    /// Implicit tasks and the root, innermost last.
    base: Vec<u32>,
    last: u64,
    /// It has been in a team, so that it has no root of its own.
    in_team: bool,
}

/// A task's name: team, creating thread, generation.
type Key = (u64, u64, u64);

/// Everything so far.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    raw: RawTrace,
    tasks: Vec<Task>,
    by_key: HashMap<Key, u32>,
    forks: Vec<Fork>,
    locations: Vec<Location>,
    thread_of: BTreeMap<u64, u32>,
    names: BTreeMap<u64, String>,
    regions: HashMap<u64, Region>,
    labels: HashMap<String, u32>,
    origin: u64,
    left_out: u64,
}

impl Tasks {
    /// Takes a line.
    ///
    /// # Errors
    /// It contradicts what stands before.
    pub(super) fn add(&mut self, number: usize, line: Line<'_>) -> Result<(), Error> {
        match line {
            Line::Definition(kind, id, attributes) => {
                self.define(kind, id, attributes);
                Ok(())
            }
            Line::Event(kind, location, t, attributes) => {
                let w = self.thread(number, location)?;
                let t = t.saturating_sub(self.origin);
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

    fn define(&mut self, kind: &str, id: Option<u64>, attributes: &str) {
        match (kind, id) {
            ("CLOCK_PROPERTIES", _) => {
                let number = |name| value(attributes, name).and_then(|v| v.parse().ok());
                self.origin = number("Global Offset").unwrap_or(0);
                let rate = number("Ticks per Seconds").unwrap_or(0);
                self.raw.meta.ticks_per_second = rate;
            }
            ("LOCATION", Some(id)) => {
                if let Some(name) = value(attributes, "Name") {
                    self.names.insert(id, name.to_owned());
                }
            }
            ("REGION", Some(id)) => {
                let name = value(attributes, "Name").unwrap_or("?");
                let told = value(attributes, "Role").unwrap_or("");
                let paradigm = value(attributes, "Paradigm").unwrap_or("");
                let file = value(attributes, "File").filter(|f| !f.is_empty() && *f != "UNDEFINED");
                let line = value(attributes, "Begin").and_then(|l| l.parse().ok());
                let role = match told {
                    "TASK_CREATE" => Role::Create,
                    "TASK_WAIT" => Role::Wait,
                    "BARRIER" | "IMPLICIT_BARRIER" => Role::Barrier,
                    "PARALLEL" => Role::Parallel,
                    _ if paradigm == "USER" => Role::Marked,
                    _ => role_by_name(name),
                };
                let label = match (file, line) {
                    (Some(file), Some(line)) if line > 0 => format!("{file}:{line}"),
                    _ => name.to_owned(),
                };
                self.region_of(
                    id,
                    role,
                    name,
                    Place {
                        label,
                        file: file.map(str::to_owned),
                        line: line.filter(|&l| l > 0),
                        ..Place::default()
                    },
                );
            }
            _ => {}
        }
    }

    fn region_of(&mut self, id: u64, role: Role, name: &str, place: Place) -> Region {
        self.root_place();
        let places = self.raw.places.len() as u32;
        self.raw.places.push(place);
        let labels = &mut self.raw.labels;
        let label = *self.labels.entry(name.to_owned()).or_insert_with(|| {
            labels.push(name.to_owned());
            labels.len() as u32 - 1
        });
        let region = Region {
            role,
            place: places,
            label,
        };
        self.regions.insert(id, region);
        region
    }

    fn root_place(&mut self) {
        if self.raw.places.is_empty() {
            self.raw.places.push(Place {
                label: "root".into(),
                ..Place::default()
            });
        }
    }

    /// The region an event names; one that was not defined is known by its name.
    fn region(&mut self, number: usize, attributes: &str) -> Result<(u64, Region), Error> {
        let Some(id) = reference(attributes, "Region") else {
            return fail(number, "no `Region: \"name\" <number>`");
        };
        if let Some(&region) = self.regions.get(&id) {
            return Ok((id, region));
        }
        let name = value(attributes, "Region").unwrap_or("?");
        // OpenMP's regions are called `!$omp task @file.c:12`.
        let (file, line) = match name.rsplit_once('@').and_then(|at| at.1.rsplit_once(':')) {
            Some((file, line)) => (Some(file.to_owned()), line.parse().ok()),
            None => (None, None),
        };
        let label = match (&file, line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => name.to_owned(),
        };
        let place = Place {
            label,
            file,
            line,
            ..Place::default()
        };
        Ok((id, self.region_of(id, role_by_name(name), name, place)))
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
                let region = self.region(number, attributes)?;
                self.enter(w, t, region);
            }
            "LEAVE" => {
                let region = self.region(number, attributes)?;
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

    /// The task that runs on a thread; a thread that was never seen has a root.
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
        self.root_place();
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
        let of = &mut self.tasks[task as usize];
        of.begun = true;
        of.open = Some((t, w));
    }

    /// Ends the task's strand, where one runs.
    fn close(&mut self, task: u32, t: u64, end_op: RawEnd, at: u32) -> bool {
        let of = &mut self.tasks[task as usize];
        let is_implicit = self.raw.tasks[task as usize].kind == TaskKind::Inline;
        if end_op == RawEnd::End
            && is_implicit
            && let Some((start, thread, end, at)) = of.barrier.take()
        {
            // Nothing is done after a region's last barrier.
            of.open = None;
            self.push(task, (start, end), thread, end_op, at);
            return true;
        }
        let Some((start, thread)) = of.open.take() else {
            return false;
        };
        if let Some((start, thread, end, at)) = of.barrier.take() {
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

    /// Ends a task. One that waits has waited until then.
    fn end(&mut self, task: u32, w: u32, t: u64) {
        let of = &mut self.tasks[task as usize];
        if of.done {
            return;
        }
        if of.open.is_none() && of.barrier.is_none() {
            of.open = Some((t, w));
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
                if self.close(task, t, RawEnd::WaitChildren, region.place) {
                    self.tasks[task as usize].waits = true;
                }
            }
            Role::Barrier => {
                // Other tasks run in it, on top of this one.
                let of = &mut self.tasks[task as usize];
                let before = of.barrier.take();
                let open = of.open.take();
                of.barrier = open.map(|(start, thread)| (start, thread, t, region.place));
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
                self.tasks[task as usize].marks.push((number, false));
            }
            // A strand that creates ends where the creating begins; `create` has the task.
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
        let of = &mut self.tasks[task as usize];
        // A barrier's region is entered before the team and left after it at times.
        if of.regions.last() == Some(&id) {
            of.regions.pop();
        } else if of.regions.contains(&id) {
            return fail(
                number,
                "a region is left while one inside of it is still open",
            );
        } else {
            return Ok(());
        }
        match region.role {
            Role::Wait if of.waits => {
                of.waits = false;
                self.run(task, w, t);
            }
            Role::Barrier if of.barrier.is_some() => self.run(task, w, t),
            Role::Create if of.open.is_none() && of.begun && !of.done => self.run(task, w, t),
            Role::Marked if of.open.is_some() => {
                let open =
                    self.raw.regions.iter().rposition(|r| {
                        r.task == task && r.label == region.label && r.end.0 == NONE
                    });
                if let Some(at) = open {
                    self.raw.regions[at].end.1 = t;
                    of.marks.push((at as u32, true));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn fork(&mut self, w: u32, t: u64) {
        let Some(task) = self.current(w, t) else {
            return;
        };
        let Some((start, thread)) = self.tasks[task as usize].open.take() else {
            return;
        };
        let inside = self.tasks[task as usize].regions.last();
        let site = inside
            .and_then(|id| self.regions.get(id))
            .map_or(0, |r| r.place);
        let scope = self.raw.scopes.len() as u32;
        self.forks.push(Fork {
            task,
            t,
            start,
            thread,
            team: None,
            scope,
            site,
            told: false,
        });
        self.raw.scopes.push(RawScope {
            number: scope.into(),
            kind: ScopeKind::Team,
            opener: task,
            // Known when its strand is.
            strand: NONE,
        });
    }

    /// The forking task's next strand: the one before the fork, or an instant after it.
    fn at_fork(&mut self, fork: usize, end_op: RawEnd) {
        let of = &mut self.forks[fork];
        let start = if of.told { of.t } else { of.start };
        of.told = true;
        let (task, t, thread, scope) = (of.task, of.t, of.thread, of.scope);
        let scope = &mut self.raw.scopes[scope as usize];
        if scope.strand == NONE {
            scope.strand = self.raw.strands.len() as u32;
        }
        self.tasks[task as usize].open = Some((start, thread));
        self.close(task, t, end_op, NONE);
    }

    fn team_begins(&mut self, w: u32, t: u64, team: Option<u64>) {
        let own = self
            .forks
            .iter()
            .rposition(|f| f.team == team && team.is_some());
        let fork = own.or_else(|| self.forks.iter().rposition(|f| f.team.is_none()));
        let task = match fork {
            Some(fork) => {
                self.forks[fork].team = team;
                let (parent, site, scope) = {
                    let of = &self.forks[fork];
                    (of.task, of.site, of.scope)
                };
                let task = self.task(parent, TaskKind::Inline, site, scope);
                self.at_fork(fork, RawEnd::Create(task));
                task
            }
            // Nobody forked it: a thread of its own.
            None => self.task(NONE, TaskKind::Root, 0, NONE),
        };
        let location = &mut self.locations[w as usize];
        location.in_team = true;
        location.base.push(task);
        location.current = Some(task);
        self.run(task, w, t);
    }

    fn join(&mut self, w: u32, t: u64) {
        let task = self.locations[w as usize].current;
        let Some(fork) = self.forks.iter().rposition(|f| Some(f.task) == task) else {
            return;
        };
        let scope = self.forks[fork].scope;
        self.at_fork(fork, RawEnd::WaitScope(scope));
        let fork = self.forks.remove(fork);
        self.run(fork.task, w, t);
    }

    fn create(&mut self, w: u32, t: u64, key: Key) {
        let Some(parent) = self.current(w, t) else {
            return;
        };
        let of = &self.tasks[parent as usize];
        let inside = of.regions.last().and_then(|id| self.regions.get(id));
        let creates = inside.is_some_and(|region| region.role == Role::Create);
        let site = inside.map_or(0, |region| region.place);
        let task = self.task(parent, TaskKind::Deferred, site, NONE);
        self.by_key.insert(key, task);
        if self.tasks[parent as usize].open.is_none() {
            // Created in a wait, by a runtime's callback: as if it had gone on for that moment.
            self.run(parent, w, t);
        }
        let since = self.tasks[parent as usize].creates_since.take();
        let end = since.filter(|_| creates).unwrap_or(t);
        self.close(parent, end, RawEnd::Create(task), site);
        // The region that creates lasts on: the task goes on where it is left.
        if !creates {
            self.run(parent, w, t);
        }
    }

    /// The implicit task or root of the location that a switch names, which is the thread's own in
    /// OpenMP.
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
            // An implicit task, or a root: that of the location.
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
        let of = &self.tasks[to as usize];
        if of.open.is_some_and(|open| open.1 != w) {
            return fail(
                number,
                format!("{} runs on two threads at once", called(key)),
            );
        }
        // One that waits goes on where the wait's region is left.
        if of.open.is_none() && !of.waits && of.barrier.is_none() && !of.done {
            self.run(to, w, t);
        }
        Ok(())
    }

    /// The run. Tasks that have not ended end with their thread.
    ///
    /// # Errors
    /// There is no event at all.
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
            let of = &self.tasks[task as usize];
            if of.done {
                continue;
            }
            let is_root = self.raw.tasks[task as usize].kind == TaskKind::Root;
            open += u64::from(!is_root);
            let thread = of.open.map_or(0, |open| open.1);
            let until = match of.open {
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
            if let Some(name) = self.names.remove(location) {
                meta.thread_names[w as usize] = name;
            }
        }
        if rate == 0 {
            meta.warnings.push(
                "The text has no definitions, so that a tick is taken for a nanosecond: print it by `otf2-print -A`."
                    .into(),
            );
        }
        if self.left_out > 0 {
            meta.warnings.push(format!(
                "{} events that are neither of tasks nor of threads' regions were left out.",
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

/// OpenMP's regions by their names, where no definition tells.
fn role_by_name(name: &str) -> Role {
    let Some(name) = name.strip_prefix("!$omp ") else {
        return Role::Other;
    };
    match name {
        n if n.starts_with("create task") => Role::Create,
        n if n.starts_with("taskwait") => Role::Wait,
        n if n.starts_with("parallel") => Role::Parallel,
        n if n.contains("barrier") => Role::Barrier,
        _ => Role::Other,
    }
}

fn called(key: Key) -> String {
    format!("task {} of thread {}", key.2, key.1)
}

fn key(number: usize, attributes: &str) -> Result<Key, Error> {
    let team = reference(attributes, "Thread Team");
    let of = |name| value(attributes, name).and_then(|v| v.parse().ok());
    match (team, of("Creating Thread"), of("Generation Number")) {
        (Some(team), Some(thread), Some(generation)) => Ok((team, thread, generation)),
        _ => fail(
            number,
            "no `Thread Team`, `Creating Thread` and `Generation Number` of a task",
        ),
    }
}
