//! Handles every line except the first, with all checks that need no other line.

mod marks;
mod samples;
mod tasks;
mod threads;
mod waits;

use std::collections::{BTreeMap, HashMap};

use super::header;
use super::line::{Line, fault};
use super::places::Places;
use super::value::{Quoted, Value};
use workspan_dag::Error;
use workspan_dag::OffCpuReason;
use workspan_dag::raw::{RawEnd, RawTrace};

/// The state of a task after the lines so far.
pub(super) struct TaskState {
    /// The line of its create; 0 for a root.
    pub created: usize,
    /// The line of its begin; 0 before.
    pub begun: usize,
    /// The line of its end; 0 before.
    pub ended: usize,
    /// Its open strand, or `NONE`.
    open: u32,
    /// The time of its last line.
    t: u64,
    /// The thread of its last strand.
    thread: u32,
    /// Its last strand with a fold, or `NONE`.
    folded: u32,
    /// The scopes it opened, innermost last; closed ones are dropped when they come on top.
    scopes: Vec<u32>,
}

/// The line numbers of a scope.
pub(super) struct ScopeState {
    pub opened: usize,
    pub closed: usize,
}

/// Names that a later line may still define.
#[derive(Default)]
pub(super) struct ForwardNames {
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
pub(super) struct OpenOffCpu {
    pub line: usize,
    pub t: u64,
    pub why: OffCpuReason,
    pub on: Option<String>,
}

/// The reader's state.
pub(super) struct Events {
    pub raw: RawTrace,
    pub places: Places,
    labels: HashMap<String, u32>,
    counters: BTreeMap<String, Vec<(u32, u64)>>,
    /// Raw task by task number.
    pub tasks: HashMap<u64, u32>,
    pub task_states: Vec<TaskState>,
    /// Raw scope by scope number.
    pub scopes: HashMap<u64, u32>,
    pub scope_states: Vec<ScopeState>,
    signals: HashMap<u64, u32>,
    /// The line that set each signal; 0 for none.
    pub signal_lines: Vec<usize>,
    /// Open regions and parts: (raw task, label, part?) → indices, innermost last.
    open_regions: HashMap<(u32, u32, bool), Vec<u32>>,
    pub open_offs: BTreeMap<u32, OpenOffCpu>,
    last_off: HashMap<u32, u64>,
    /// Frames and stacks by number.
    frames: HashMap<u64, u32>,
    stacks: HashMap<u64, u32>,
    /// The lines of each raw strand's start and end.
    pub strand_lines: Vec<(u32, u32)>,
    pub unresolved: ForwardNames,
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
        let mut raw = RawTrace {
            meta,
            ..RawTrace::default()
        };
        if line.given("sample_hz").is_some() {
            raw.samples.hertz = line.small("sample_hz")?;
        }
        Ok(Events {
            places: Places::new(&line)?,
            raw,
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
            frames: HashMap::new(),
            stacks: HashMap::new(),
            strand_lines: Vec::new(),
            unresolved: ForwardNames::default(),
            lines: 1,
        })
    }

    /// Returns the data read, for the final checks.
    pub(super) fn close(&mut self) -> RawTrace {
        let mut raw = std::mem::take(&mut self.raw);
        raw.counters = std::mem::take(&mut self.counters).into_iter().collect();
        raw.places = std::mem::take(&mut self.places.list);
        raw
    }

    /// Handles an event.
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
            "recorder" => self.recorder(&line),
            "off" => self.off(&line),
            "on" => self.on(&line),
            "frame" => self.frame(&line),
            "stack" => self.stack(&line),
            "sample" => self.sample(&line),
            "stop" => self.stop(&line),
            "pool" => self.pool(&line),
            "worker" => self.worker(&line),
            "steal" => self.steal(&line),
            "steal_failed" | "sleep" | "wake" | "cpu" | "queue" => self.thread_event(&line),
            other => line.fail(format!(
                "unknown event {}; expected begin, create, resume, scope, wait, yield, end, depend, signal, region_begin, \
                 region_end, part_begin, part_end, off, on, steal, steal_failed, sleep, wake, cpu, queue, frame, stack, \
                 sample, stop, pool, worker, recorder or folded",
                Quoted(other)
            )),
        }
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
}
