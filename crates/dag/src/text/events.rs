//! Every line but the first: what it says, and all that can be checked without having seen the rest.

use std::collections::{BTreeMap, HashMap};

use super::line::{Line, fault};
use super::places::Places;
use super::value::Value;
use super::{folded, header};
use crate::dag::{NONE, Off, OffWhy, ROOT_PLACE, ScopeKind, Steal, TaskKind, ThreadEvent};
use crate::error::Error;
use crate::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};

/// What the lines so far say of a task.
pub(super) struct TaskState {
    /// Line of its create; 0 for a root.
    pub created: usize,
    /// Line of its begin; 0 before.
    pub begun: usize,
    /// Line of its end; 0 before.
    pub ended: usize,
    /// Its open strand, or `NONE`.
    open: u32,
    /// Time of its last line.
    t: u64,
    /// Thread of its last strand.
    thread: u32,
    /// Its last strand with a fold, or `NONE`.
    folded: u32,
    /// Scopes it opened, innermost last; closed ones are dropped when they come on top.
    scopes: Vec<u32>,
}

/// Where a scope's lines stand.
pub(super) struct ScopeState {
    pub opened: usize,
    pub closed: usize,
}

/// Names that may be explained by a later line.
#[derive(Default)]
pub(super) struct Unresolved {
    /// Creates into a scope: (raw task, scope number, line).
    pub creates: Vec<(u32, u64, usize)>,
    /// Waits for a scope: (raw strand, scope number, line).
    pub scope_waits: Vec<(u32, u64, usize)>,
    /// Waits for tasks: (raw strand, task numbers, line).
    pub task_waits: Vec<(u32, Vec<u64>, usize)>,
    /// Waits for signals: (raw strand, list in `wait_signals`, line).
    pub signal_waits: Vec<(u32, u32, usize)>,
    /// (task, task depended on, line).
    pub depends: Vec<(u64, u64, usize)>,
    /// (index in `steals`, task number, line).
    pub steals: Vec<(usize, u64, usize)>,
}

/// An `off` without its `on` yet.
pub(super) struct OpenOff {
    pub line: usize,
    pub t: u64,
    pub why: OffWhy,
    pub on: Option<String>,
}

/// The reader's state.
pub(super) struct Events {
    pub raw: RawTrace,
    pub places: Places,
    labels: HashMap<String, u32>,
    counters: BTreeMap<String, Vec<(u32, u64)>>,
    /// Raw task by number.
    pub tasks: HashMap<u64, u32>,
    pub task_states: Vec<TaskState>,
    /// Raw scope by number.
    pub scopes: HashMap<u64, u32>,
    pub scope_states: Vec<ScopeState>,
    signals: HashMap<u64, u32>,
    /// Line that set each signal; 0 for none.
    pub signal_lines: Vec<usize>,
    /// Open regions and parts: (raw task, label, part?) → indices, innermost last.
    open_regions: HashMap<(u32, u32, bool), Vec<u32>>,
    pub open_offs: BTreeMap<u32, OpenOff>,
    last_off: HashMap<u32, u64>,
    /// Lines of each raw strand's start and end.
    pub strand_lines: Vec<(u32, u32)>,
    pub unresolved: Unresolved,
    pub lines: usize,
}

impl Events {
    /// Starts with the header's line.
    pub(super) fn new(first: &[u8]) -> Result<Events, Error> {
        if first.trim_ascii().is_empty() {
            let what = "an empty line; expected the header, {\"workspan_trace\":1,…}";
            return Err(fault(1, None, what));
        }
        let mut line = Line::parse(first, 1)?;
        let meta = header::read(&mut line)?;
        Ok(Events {
            places: Places::new(&line)?,
            raw: RawTrace {
                meta,
                ..RawTrace::default()
            },
            labels: HashMap::new(),
            counters: BTreeMap::new(),
            tasks: HashMap::new(),
            task_states: Vec::new(),
            scopes: HashMap::new(),
            scope_states: Vec::new(),
            signals: HashMap::new(),
            signal_lines: Vec::new(),
            open_regions: HashMap::new(),
            open_offs: BTreeMap::new(),
            last_off: HashMap::new(),
            strand_lines: Vec::new(),
            unresolved: Unresolved::default(),
            lines: 1,
        })
    }

    /// Hands out what was read, for the last checks.
    pub(super) fn close(&mut self) -> RawTrace {
        let mut raw = std::mem::take(&mut self.raw);
        raw.counters = std::mem::take(&mut self.counters).into_iter().collect();
        raw.places = std::mem::take(&mut self.places.list);
        raw
    }

    /// Takes an event.
    pub(super) fn take(&mut self, mut line: Line<'_>) -> Result<(), Error> {
        self.lines = line.number;
        if let Some(&Value::Whole(task)) = line.get("task") {
            line.task = Some(task);
        }
        if line.get("ev").is_none() {
            return line.fail("no `ev`; expected one that says what happened, as \"begin\"");
        }
        line.name = line.text("ev")?.to_owned();
        match line.name.as_str() {
            "begin" => self.begin(&mut line),
            "create" => self.create(&mut line),
            "resume" => self.resume(&mut line),
            "scope" => self.scope(&mut line),
            "wait" => self.wait(&mut line),
            "yield" => self.ends(&mut line, |_, _, _| Ok(RawEnd::Yield)),
            "end" => self.end(&mut line),
            "depend" => self.depend(&mut line),
            "signal" => self.signal(&mut line),
            "region_begin" => self.region_begin(&mut line, false),
            "region_end" => self.region_end(&mut line, false),
            "part_begin" => self.region_begin(&mut line, true),
            "part_end" => self.region_end(&mut line, true),
            "folded" => self.folded(&mut line),
            "off" => self.off(&line),
            "on" => self.on(&line),
            "steal" => self.steal(&line),
            "steal_failed" | "sleep" | "wake" | "cpu" | "queue" => self.thread_event(&line),
            other => line.fail(format!(
                "unknown event {other:?}; expected begin, create, resume, scope, wait, yield, end, depend, signal, region_begin, \
                 region_end, part_begin, part_end, off, on, steal, steal_failed, sleep, wake, cpu, queue or folded"
            )),
        }
    }

    fn new_task(
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

    /// Thread number under a key.
    fn thread(&self, line: &Line<'_>, key: &str) -> Result<u32, Error> {
        let w = line.whole(key)?;
        let threads = self.raw.meta.threads;
        if w >= u64::from(threads) {
            return line.fail(format!("`{key}` is {w}, out of range; expected 0 to {} (the header's threads are {threads})", threads - 1));
        }
        Ok(w as u32)
    }

    /// `t`, which must not decrease within the task.
    fn time(&self, line: &Line<'_>, task: u32) -> Result<u64, Error> {
        let t = line.time("t")?;
        let last = self.task_states[task as usize].t;
        if t < last {
            return line.fail(format!("`t` is {t}, earlier than the task's line before it at {last}; expected {last} or later"));
        }
        Ok(t)
    }

    /// The task a line names, which must have begun: (raw task).
    fn task(&self, line: &mut Line<'_>) -> Result<u32, Error> {
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
    fn inside(&self, line: &mut Line<'_>) -> Result<(u32, u32, u64), Error> {
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

    fn task_in_strand(&self, line: &mut Line<'_>) -> Result<u32, Error> {
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

    fn start_strand(
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

    fn begin(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
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
        self.start_strand(line, task, thread, t)
    }

    fn resume(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
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
        if keep && let Some(strand) = self.raw.strands.last_mut() {
            strand.keep = true;
        }
        Ok(())
    }

    /// A line that ends a strand; `op` may look things up.
    fn ends(
        &mut self,
        line: &mut Line<'_>,
        op: impl FnOnce(&mut Events, &Line<'_>, (u32, u32)) -> Result<RawEnd, Error>,
    ) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let at = self.places.named(line, "at", "at_place")?.unwrap_or(NONE);
        let counters = line.whole_map("counters")?;
        let end_op = op(self, line, (task, strand))?;
        let raw = &mut self.raw.strands[strand as usize];
        raw.end = t;
        raw.end_op = end_op;
        raw.at = at;
        raw.keep |= !counters.is_empty();
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

    fn create(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
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
            let (inline, detached) = (line.flag("inline")?, line.flag("detached")?);
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

    fn innermost_scope(&mut self, task: u32) -> u32 {
        let scopes = &mut self.task_states[task as usize].scopes;
        while let Some(&top) = scopes.last() {
            if self.scope_states[top as usize].closed == 0 {
                return top;
            }
            scopes.pop();
        }
        NONE
    }

    fn scope(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let task = self.task_in_strand(line)?;
        let number = line.whole("scope")?;
        let kind = [ScopeKind::Group, ScopeKind::Tree][line.word("kind", &["group", "tree"])?];
        if let Some(&there) = self.scopes.get(&number) {
            let opened = self.scope_states[there as usize].opened;
            return line.fail(format!("opens scope {number}, used already at line {opened}; expected a new id, each is used once"));
        }
        let scope = self.raw.scopes.len() as u32;
        let strand = self.task_states[task as usize].open;
        self.raw.scopes.push(RawScope {
            number,
            kind,
            opener: task,
            strand,
        });
        self.scope_states.push(ScopeState {
            opened: line.number,
            closed: 0,
        });
        self.scopes.insert(number, scope);
        self.task_states[task as usize].scopes.push(scope);
        Ok(())
    }

    fn wait(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        self.ends(line, |events, line, (task, strand)| {
            let named = ["scope", "of", "on"].map(|key| line.given(key).is_some());
            if named.iter().filter(|&&n| n).count() > 1 {
                return line.fail(
                    "more than one of `scope`, `of` and `on`; expected at most one of the three",
                );
            }
            match named {
                [true, ..] => events.wait_scope(line, task, strand),
                [_, true, _] => {
                    let numbers = line.wholes("of")?;
                    events
                        .unresolved
                        .task_waits
                        .push((strand, numbers, line.number));
                    Ok(RawEnd::Yield)
                }
                [_, _, true] => {
                    let numbers = line.wholes("on")?;
                    let signals: Vec<u32> = numbers
                        .into_iter()
                        .map(|n| events.signal_index(n))
                        .collect();
                    let list = events.raw.wait_signals.len() as u32;
                    events.raw.wait_signals.push(signals);
                    events
                        .unresolved
                        .signal_waits
                        .push((strand, list, line.number));
                    Ok(RawEnd::WaitSignals(list))
                }
                _ => Ok(RawEnd::WaitChildren),
            }
        })
    }

    fn wait_scope(&mut self, line: &Line<'_>, task: u32, strand: u32) -> Result<RawEnd, Error> {
        let number = line.whole("scope")?;
        let Some(&scope) = self.scopes.get(&number) else {
            self.unresolved
                .scope_waits
                .push((strand, number, line.number));
            return Ok(RawEnd::Yield);
        };
        let state = &mut self.scope_states[scope as usize];
        let opener = self.raw.scopes[scope as usize].opener;
        if opener != task {
            let opener = self.raw.tasks[opener as usize].number;
            return line.fail(format!(
                "waits for scope {number}, opened by task {opener} at line {}; expected its opener to close it",
                state.opened
            ));
        }
        if state.closed != 0 {
            return line.fail(format!(
                "closes scope {number} twice, first at line {}; expected one wait for a scope",
                state.closed
            ));
        }
        state.closed = line.number;
        Ok(RawEnd::WaitScope(scope))
    }

    fn end(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
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

    fn depend(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
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

    fn signal_index(&mut self, number: u64) -> u32 {
        *self.signals.entry(number).or_insert_with(|| {
            self.raw.signals.push(number);
            self.signal_lines.push(0);
            self.raw.signals.len() as u32 - 1
        })
    }

    fn signal(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        self.ends(line, |events, line, _| {
            let number = line.whole("id")?;
            let signal = events.signal_index(number);
            let set = &mut events.signal_lines[signal as usize];
            if *set != 0 {
                return line.fail(format!("sets signal {number} a second time, after line {set}; expected each to be set once"));
            }
            *set = line.number;
            Ok(RawEnd::Signal(signal))
        })?;
        // The strand is cut: the rest goes on at once on the same thread.
        let task = self.task(line)?;
        let state = &self.task_states[task as usize];
        let (thread, t) = (state.thread, state.t);
        self.start_strand(line, task, thread, t)
    }

    fn label(&mut self, text: &str) -> u32 {
        if let Some(&label) = self.labels.get(text) {
            return label;
        }
        let label = self.raw.labels.len() as u32;
        self.raw.labels.push(text.to_owned());
        self.labels.insert(text.to_owned(), label);
        label
    }

    fn region_begin(&mut self, line: &mut Line<'_>, part: bool) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let label = self.label(line.text(if part { "part" } else { "region" })?);
        let tree = part || line.flag("tree")?;
        let list = if part {
            &mut self.raw.parts
        } else {
            &mut self.raw.regions
        };
        self.open_regions
            .entry((task, label, part))
            .or_default()
            .push(list.len() as u32);
        list.push(RawRegion {
            label,
            task,
            tree,
            begin: (strand, t),
            end: (NONE, 0),
        });
        self.task_states[task as usize].t = t;
        Ok(())
    }

    fn region_end(&mut self, line: &mut Line<'_>, part: bool) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let key = if part { "part" } else { "region" };
        let name = line.text(key)?;
        let open = self
            .labels
            .get(name)
            .and_then(|&label| self.open_regions.get_mut(&(task, label, part))?.pop());
        let Some(open) = open else {
            return line.fail(format!("`{key}_end` of {name:?}, which this task has not open; expected a `{key}_begin` of it before"));
        };
        let list = if part {
            &mut self.raw.parts
        } else {
            &mut self.raw.regions
        };
        list[open as usize].end = (strand, t);
        self.task_states[task as usize].t = t;
        Ok(())
    }

    fn folded(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        if self.task_states[task as usize].folded == strand {
            return line.fail("a second `folded` line in one strand; expected at most one");
        }
        let fold = folded::read(line, &mut self.places)?;
        self.raw.folded.push((strand, fold));
        self.raw.strands[strand as usize].keep = true;
        let state = &mut self.task_states[task as usize];
        state.folded = strand;
        state.t = t;
        Ok(())
    }

    fn off(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let why =
            [OffWhy::Preempted, OffWhy::Blocked][line.word("why", &["preempted", "blocked"])?];
        let on = line.text_or_none("on")?.map(str::to_owned);
        if let Some(open) = self.open_offs.get(&w) {
            return line.fail(format!(
                "thread {w} is off already since line {}; expected an `on` before",
                open.line
            ));
        }
        self.thread_time(line, w, t)?;
        self.open_offs.insert(
            w,
            OpenOff {
                line: line.number,
                t,
                why,
                on,
            },
        );
        Ok(())
    }

    fn on(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let Some(off) = self.open_offs.remove(&w) else {
            return line.fail(format!(
                "`on` of thread {w} without an `off`; expected an `off` before"
            ));
        };
        self.thread_time(line, w, t)?;
        self.raw.offs.push(Off {
            thread: w,
            start: off.t,
            end: t,
            why: off.why,
            on: off.on,
        });
        Ok(())
    }

    /// `off` and `on` lines of one thread stand in time order.
    fn thread_time(&mut self, line: &Line<'_>, w: u32, t: u64) -> Result<(), Error> {
        match self.last_off.insert(w, t) {
            Some(last) if last > t => {
                line.fail(format!("`{}` of thread {w} at {t}, earlier than its line before at {last}; expected time order", line.name))
            }
            _ => Ok(()),
        }
    }

    fn victim(&self, line: &Line<'_>) -> Result<u32, Error> {
        if line.get("victim") == Some(&Value::Null) {
            Ok(NONE)
        } else {
            self.thread(line, "victim")
        }
    }

    fn steal(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, thief, victim, leap) = (
            line.time("t")?,
            self.thread(line, "w")?,
            self.victim(line)?,
            line.flag("leap")?,
        );
        if line.get("task") != Some(&Value::Null) {
            let task = line.whole("task")?;
            self.unresolved
                .steals
                .push((self.raw.steals.len(), task, line.number));
        }
        self.raw.steals.push(Steal {
            t,
            thief,
            victim,
            task: NONE,
            leap,
        });
        Ok(())
    }

    fn thread_event(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let event = match line.name.as_str() {
            "steal_failed" => ThreadEvent::StealFailed(self.victim(line)?),
            "sleep" => ThreadEvent::Sleep,
            "wake" => ThreadEvent::Wake,
            "cpu" => ThreadEvent::Cpu(line.number("load")?),
            _ => ThreadEvent::Queue(line.whole("depth")?),
        };
        self.raw.thread_events.push((t, w, event));
        Ok(())
    }
}
