//! The exporter writes strands in the DAG's order, so every create comes before its begin.

mod folded;
mod header;
mod samples;
mod strands;
mod threads;

use std::collections::HashMap;
use std::io::{self, Write};

use workspan_dag::{Dag, NONE, PlaceId, StrandId, TaskId};

/// Writes `dag` as a text trace that reads back to the same [`Dag`].
///
/// # Errors
/// The output's write errors.
pub fn write(dag: &Dag, out: &mut impl Write) -> io::Result<()> {
    let mut writer = Writer::new(dag);
    writer.header();
    for s in 0..dag.strands.len() as u32 {
        writer.strand(s);
        if writer.text.len() >= 1 << 16 {
            out.write_all(&writer.text)?;
            writer.text.clear();
        }
    }
    writer.thread_lines();
    writer.sample_lines();
    writer.pool_lines();
    out.write_all(&writer.text)?;
    out.flush()
}

/// The point at which a region or part opens or closes, in the order of the lines: (strand, creates
/// before, t, class, index, close?). Those that were open before close first (class 0); then come
/// openings, each with its close if that is at the same point.
type Mark = (StrandId, u32, u64, u8, u32, bool, bool);

struct Writer<'a> {
    dag: &'a Dag,
    text: Vec<u8>,
    /// Tasks by creator and rank.
    children: Vec<TaskId>,
    next_child: usize,
    /// Region and part marks; the last field is true for a part.
    marks: Vec<Mark>,
    next_mark: usize,
    /// Scopes in order of opening.
    scopes: Vec<u32>,
    next_scope: usize,
    /// The open scopes of each task.
    open_scopes: Vec<u32>,
    /// Pairs of the strand that ends in the wait, and the wait.
    waits: Vec<(StrandId, u32)>,
    /// The next value of each counter.
    next_value: Vec<usize>,
    /// The place that each label stands for, if the header's table is read first.
    by_label: HashMap<&'a str, PlaceId>,
}

impl<'a> Writer<'a> {
    fn new(dag: &'a Dag) -> Writer<'a> {
        let tasks = &dag.tasks;
        let created = |t: &u32| tasks.creator[*t as usize] != NONE;
        let mut children: Vec<u32> = (0..tasks.len() as u32).filter(created).collect();
        children
            .sort_unstable_by_key(|&t| (tasks.creator[t as usize], tasks.create_rank[t as usize]));
        let mut scopes: Vec<u32> = (0..dag.scopes.len() as u32).collect();
        scopes.sort_by_key(|&s| {
            (
                dag.scopes[s as usize].strand,
                dag.scopes[s as usize].creates_before,
            )
        });
        let mut waits: Vec<(u32, u32)> = dag
            .waits
            .after
            .iter()
            .zip(0..)
            .map(|(&s, w)| (dag.strands.prev[s as usize], w))
            .collect();
        waits.sort_unstable();
        let mut marks = Vec::new();
        for (part, list) in [(false, &dag.regions), (true, &dag.parts)] {
            for (r, i) in list.iter().zip(0..) {
                let begin = (r.begin.0, r.begin_creates_before, r.begin.1);
                let end = (r.end.0, r.end_creates_before, r.end.1);
                marks.push((begin.0, begin.1, begin.2, 1, i, false, part));
                marks.push((end.0, end.1, end.2, u8::from(begin == end), i, true, part));
            }
        }
        // Regions and parts are separate, so that each pairs up by itself.
        marks.sort_by_key(|m| (m.0, m.1, m.2, m.6, m.3, m.4, m.5));
        let mut by_label = HashMap::new();
        for (p, i) in dag.places.iter().zip(0..).skip(1) {
            by_label.entry(p.label.as_str()).or_insert(i);
        }
        Writer {
            dag,
            text: Vec::with_capacity(1 << 17),
            children,
            next_child: 0,
            marks,
            next_mark: 0,
            scopes,
            next_scope: 0,
            open_scopes: vec![0; tasks.len()],
            waits,
            next_value: vec![0; dag.counters.len()],
            by_label,
        }
    }

    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, key: &str, n: impl std::fmt::Display) {
        self.put(&format!(",\"{key}\":{n}"));
    }

    fn quoted(&mut self, text: &str) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.text, text);
    }

    fn string(&mut self, key: &str, text: &str) {
        self.put(&format!(",\"{key}\":"));
        self.quoted(text);
    }

    /// Writes `{"ev":…,"t":…,"w":…,"task":…` of a strand's line.
    fn event(&mut self, ev: &str, t: u64, s: StrandId) {
        let (w, task) = (
            self.dag.strands.thread[s as usize],
            self.dag.strands.task[s as usize],
        );
        let task = self.dag.tasks.number(task);
        self.put(&format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{task}"
        ));
    }

    fn close(&mut self) {
        self.put("}\n");
    }

    /// Writes `,"key":[…]`, or nothing for an empty list.
    fn each<T>(&mut self, key: &str, list: &[T], mut item: impl FnMut(&mut Self, &T)) {
        if list.is_empty() {
            return;
        }
        self.put(&format!(",\"{key}\":["));
        for (i, value) in list.iter().enumerate() {
            if i > 0 {
                self.put(",");
            }
            item(self, value);
        }
        self.put("]");
    }

    /// Writes a position under `key`, and its index if its label stands for another place.
    fn place(&mut self, key: &str, place: PlaceId) {
        let label = &self.dag.places[place as usize].label;
        self.string(key, label);
        if self.by_label.get(label.as_str()) != Some(&place) {
            self.number(&format!("{key}_place"), place);
        }
    }

    fn numbers(&mut self, key: &str, numbers: &[u64]) {
        let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
        self.number(key, format!("[{}]", list.join(",")));
    }
}
