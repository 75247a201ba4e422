//! Writes a run in the format in which `otf2-print -A` prints an OTF2 archive of Score-P:
//! definitions, then the events of threads and tasks in the order of time.
//!
//! A task is entered and left as a region of its spawn site. Its name consists of the thread that
//! created it and a number on that thread. A wait is a region from the strand that waits to the one
//! after it. Scopes, dependences, signals, steals and time off the CPU are left out, as the format
//! has no events for them. A folded strand is written like any strand.

use std::fmt::Write;

use workspan_dag::{Dag, EndKind, NONE, PlaceId, StartKind, StrandId, TaskId};

/// The regions of a place: its task, creating it, waiting there.
const ROLES: [(&str, &str); 3] = [
    ("task", "TASK"),
    ("create task", "TASK_CREATE"),
    ("taskwait", "TASK_WAIT"),
];

/// Indices into [`ROLES`].
const TASK: u64 = 0;
const CREATE: u64 = 1;
const WAIT: u64 = 2;

/// The run as text.
pub fn otf2_print(dag: &Dag) -> String {
    let mut out = String::from("\n=== OTF2-PRINT ===\n\n");
    let names = Names::new(dag);
    names.definitions(&mut out);
    out.push_str(EVENTS);
    let mut events = Events::new(dag);
    events.all();
    // Events of one thread are in order; at equal times the lower thread comes first.
    events.lines.sort_by_key(|event| event.0);
    for (t, thread, event) in &events.lines {
        names.event(&mut out, *t, *thread, *event);
    }
    out
}

const EVENTS: &str =
    "\n=== Events =====================================================================
Event                                   Location            Timestamp  Attributes
--------------------------------------------------------------------------------
";

/// An event on a thread.
#[derive(Debug, Clone, Copy)]
enum Event {
    Enter(u64),
    Leave(u64),
    Create(TaskId),
    Switch(TaskId),
    Complete(TaskId),
}

/// The region of a place in a role.
fn region(place: PlaceId, role: u64) -> u64 {
    u64::from(place) * ROLES.len() as u64 + role
}

struct Events<'a> {
    dag: &'a Dag,
    lines: Vec<(u64, u32, Event)>,
    /// The task of each thread, and the region that its last strand ended in.
    current: Vec<TaskId>,
    /// By task: the region that it has been in since its last strand.
    within: Vec<Option<u64>>,
}

impl<'a> Events<'a> {
    fn new(dag: &'a Dag) -> Events<'a> {
        Events {
            dag,
            lines: Vec::new(),
            current: vec![NONE; dag.meta.threads as usize],
            within: vec![None; dag.tasks.len()],
        }
    }

    fn all(&mut self) {
        let mut created: Vec<(StrandId, TaskId)> = Vec::new();
        for task in 0..self.dag.tasks.len() {
            created.push((self.dag.tasks.creator[task], task as TaskId));
        }
        created.sort_unstable();
        // Ends and starts of one moment: a thread's strands are in order, and ends come first.
        for s in 0..self.dag.strands.len() as StrandId {
            let first = created.partition_point(|c| c.0 < s);
            let children = created[first..].iter().take_while(|c| c.0 == s);
            let children: Vec<TaskId> = children.map(|c| c.1).collect();
            self.strand(s, &children);
        }
    }

    fn strand(&mut self, s: StrandId, children: &[TaskId]) {
        let strands = &self.dag.strands;
        let i = s as usize;
        let (task, thread) = (strands.task[i], strands.thread[i]);
        let (start, end) = (strands.start[i], strands.end[i]);
        let mut say = |t, event| self.lines.push((t, thread, event));
        let is_root = self.dag.tasks.creator[task as usize] == NONE;
        if self.current[thread as usize] != task {
            let begins = strands.start_kind[i] == StartKind::Begin;
            if !(is_root && begins) {
                say(start, Event::Switch(task));
            }
            self.current[thread as usize] = task;
        }
        if strands.prev[i] == NONE {
            say(
                start,
                Event::Enter(region(self.dag.tasks.site[task as usize], TASK)),
            );
        }
        if let Some(region) = self.within[task as usize].take() {
            say(start, Event::Leave(region));
        }
        let place = match strands.to[i] {
            NONE => self.dag.tasks.site[task as usize],
            place => place,
        };
        for &child in children {
            let created = region(self.dag.tasks.site[child as usize], CREATE);
            say(end, Event::Enter(created));
            say(end, Event::Create(child));
            say(end, Event::Leave(created));
        }
        match strands.end_kind[i] {
            EndKind::Wait => {
                say(end, Event::Enter(region(place, WAIT)));
                self.within[task as usize] = Some(region(place, WAIT));
            }
            EndKind::End => {
                say(
                    end,
                    Event::Leave(region(self.dag.tasks.site[task as usize], TASK)),
                );
                if !is_root {
                    say(end, Event::Complete(task));
                    self.current[thread as usize] = NONE;
                }
            }
            _ => {}
        }
    }
}

/// Names of threads, tasks and regions.
struct Names<'a> {
    dag: &'a Dag,
    /// By task: the thread that created it, and its number among that thread's tasks, from 1.
    keys: Vec<(u32, u64)>,
    begin: u64,
    end: u64,
}

impl<'a> Names<'a> {
    fn new(dag: &'a Dag) -> Names<'a> {
        let strands = &dag.strands;
        let mut created = vec![0u64; dag.meta.threads as usize];
        let key = |task: usize| match dag.tasks.creator[task] {
            NONE => (strands.thread[dag.tasks.first[task] as usize], 0),
            creator => {
                let thread = strands.thread[creator as usize];
                created[thread as usize] += 1;
                (thread, created[thread as usize])
            }
        };
        Names {
            dag,
            keys: (0..dag.tasks.len()).map(key).collect(),
            begin: strands.start.iter().min().copied().unwrap_or(0),
            end: strands.end.iter().max().copied().unwrap_or(0),
        }
    }

    fn thread(&self, thread: u32) -> String {
        let name = self.dag.meta.thread_names.get(thread as usize);
        match name.filter(|name| !name.is_empty()) {
            Some(name) => clean(name),
            None => format!("thread {thread}"),
        }
    }

    fn region(&self, number: u64) -> String {
        let (place, role) = (number / ROLES.len() as u64, number % ROLES.len() as u64);
        let label = clean(&self.dag.places[place as usize].label);
        format!("!$omp {} @{label}", ROLES[role as usize].0)
    }

    fn definitions(&self, out: &mut String) {
        out.push_str(
            "=== Global Definitions =========================================================\n\n\
             Definition                            ID  Attributes\n\
             --------------------------------------------------------------------------------\n",
        );
        let rate = self.dag.meta.tick_rate();
        let _ = writeln!(
            out,
            "{:<42}Ticks per Seconds: {rate}, Global Offset: {}, Length: {}, Date: UNDEFINED",
            "CLOCK_PROPERTIES",
            self.begin,
            self.end - self.begin
        );
        let mut definition = |kind: &str, number: u64, attributes: String| {
            let _ = writeln!(out, "{kind:<32}{number:>8}  {attributes}");
        };
        for thread in 0..self.dag.meta.threads {
            let attributes = format!(
                "Name: \"{}\" <{thread}>, Type: CPU_THREAD",
                self.thread(thread)
            );
            definition("LOCATION", thread.into(), attributes);
        }
        for (place, place_facts) in (0..).zip(&self.dag.places) {
            for role in 0..ROLES.len() as u64 {
                let number = region(place, role);
                let file = place_facts
                    .file
                    .as_deref()
                    .map_or("UNDEFINED".into(), |file| {
                        format!("\"{}\" <{number}>", clean(file))
                    });
                let line = place_facts.line.unwrap_or(0);
                let attributes = format!(
                    "Name: \"{}\" <{number}>, Role: {}, Paradigm: OPENMP, Flags: NONE, File: {file}, Begin: {line}, End: {line}",
                    self.region(number),
                    ROLES[role as usize].1
                );
                definition("REGION", number, attributes);
            }
        }
    }

    fn event(&self, out: &mut String, t: u64, thread: u32, event: Event) {
        let task = |task: TaskId| {
            let (by, number) = self.keys[task as usize];
            let name = self.thread(by);
            format!(
                "Thread Team: \"tasks\" <0>, Creating Thread: {by} (\"{name}\" <{by}>), Generation Number: {number}"
            )
        };
        let region_field = |number: u64| format!("Region: \"{}\" <{number}>", self.region(number));
        let (kind, attributes) = match event {
            Event::Enter(region) => ("ENTER", region_field(region)),
            Event::Leave(region) => ("LEAVE", region_field(region)),
            Event::Create(number) => ("THREAD_TASK_CREATE", task(number)),
            Event::Switch(number) => ("THREAD_TASK_SWITCH", task(number)),
            Event::Complete(number) => ("THREAD_TASK_COMPLETE", task(number)),
        };
        let _ = writeln!(out, "{kind:<27}{thread:>21}{t:>21}  {attributes}");
    }
}

/// A name without characters that would end its quotes.
fn clean(name: &str) -> String {
    name.replace(['"', '\n', '\r'], "'")
}
