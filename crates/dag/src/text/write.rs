//! The exporter: strands in the DAG's order, so every create stands before its begin.

use std::collections::HashMap;
use std::io::{self, Write};

use super::header::UNITS;
use super::places::{place_of_label, root_place, used_places};
use crate::dag::{
    Dag, EndKind, NONE, OffWhy, PlaceId, ScopeKind, StartKind, StrandId, TaskId, TaskKind,
    ThreadEvent,
};
use crate::folded::Folded;
use crate::meta::{Steals, TimeUnit};

/// Writes `dag` as a text trace that reads back to the same [`Dag`].
///
/// # Errors
/// Those of `out`.
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
    out.write_all(&writer.text)?;
    out.flush()
}

/// Where a region or part opens or closes, in the order of the lines: (strand, creates before, t, class, index, close?).
/// What was open before closes first (class 0); then come openings, each with its close if that is at the same point.
type Mark = (StrandId, u32, u64, u8, u32, bool, bool);

struct Writer<'a> {
    dag: &'a Dag,
    text: Vec<u8>,
    /// Tasks by creator and rank.
    children: Vec<TaskId>,
    next_child: usize,
    /// Region and part marks; the last field says part.
    marks: Vec<Mark>,
    next_mark: usize,
    /// Scopes by place of opening.
    scopes: Vec<u32>,
    next_scope: usize,
    /// Scopes each task has open.
    open_scopes: Vec<u32>,
    /// (strand that ends in the wait, wait).
    waits: Vec<(StrandId, u32)>,
    /// Next value of each counter.
    next_value: Vec<usize>,
    /// The place each label stands for, when the header's table is read first.
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
        // Regions and parts apart, so that each pairs up by itself.
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
        // Writing a text to memory can't fail.
        let _ = serde_json::to_writer(&mut self.text, text);
    }

    fn string(&mut self, key: &str, text: &str) {
        self.put(&format!(",\"{key}\":"));
        self.quoted(text);
    }

    /// `{"ev":…,"t":…,"w":…,"task":…` of a strand's line.
    fn event(&mut self, ev: &str, t: u64, s: StrandId) {
        let (w, task) = (
            self.dag.strands.thread[s as usize],
            self.dag.strands.task[s as usize],
        );
        let task = self.dag.tasks.number[task as usize];
        self.put(&format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{task}"
        ));
    }

    fn close(&mut self) {
        self.put("}\n");
    }

    fn header(&mut self) {
        let meta = &self.dag.meta;
        let (unit, ..) = UNITS
            .iter()
            .find(|u| u.1 == meta.time_unit)
            .unwrap_or(&UNITS[0]);
        self.put(&format!(
            "{{\"workspan_trace\":1,\"workers\":{},\"threads\":{},\"time_unit\":\"{unit}\"",
            meta.workers, meta.threads
        ));
        if meta.time_unit == TimeUnit::Cycles {
            self.number("clock_hz", meta.ticks_per_second);
        }
        let steals = match meta.steals {
            Steals::Child => "child",
            Steals::Continuation => "continuation",
        };
        self.put(&format!(
            ",\"steals\":\"{steals}\",\"burden\":{}",
            meta.burden
        ));
        if meta.probe_cost != 0 {
            self.number("probe_cost", meta.probe_cost);
        }
        let texts = [
            ("name", &meta.name),
            ("runtime", &meta.runtime),
            ("command", &meta.command),
            ("host", &meta.host),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                self.string(key, text);
            }
        }
        if let Some(cpus) = meta.cpus {
            self.number("cpus", cpus);
        }
        if meta.recorded {
            self.put(",\"recorded\":true");
        }
        self.each("facts", &meta.facts, |w, (key, value)| {
            w.put("{\"key\":");
            w.quoted(key);
            w.string("value", value);
            w.put("}");
        });
        self.each("warnings", &meta.warnings, |w, text| w.quoted(text));
        if !self.places_follow_from_labels() {
            self.each("places", &self.dag.places, |w, place| {
                w.put("{\"label\":");
                w.quoted(&place.label);
                let texts = [
                    ("file", &place.file),
                    ("function", &place.function),
                    ("primitive", &place.primitive),
                    ("source", &place.source),
                ];
                for (key, text) in texts {
                    if let Some(text) = text {
                        w.string(key, text);
                    }
                }
                if let Some(line) = place.line {
                    w.number("line", line);
                }
                w.put("}");
            });
        }
        self.close();
    }

    /// `,"key":[…]`, or nothing for an empty list.
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

    /// Would a reader come to the same places without a table?
    fn places_follow_from_labels(&self) -> bool {
        let places = &self.dag.places;
        let plain = |p: &crate::dag::Place| *p == place_of_label(&p.label);
        places.first() == Some(&root_place())
            && places[1..].iter().all(plain)
            && places[1..].is_sorted_by(|a, b| a.label < b.label)
            && used_places(self.dag).iter().all(|&u| u)
    }

    /// A position under `key`, by index too when its label stands for another.
    fn place(&mut self, key: &str, place: PlaceId) {
        let label = &self.dag.places[place as usize].label;
        self.string(key, label);
        if self.by_label.get(label.as_str()) != Some(&place) {
            self.number(&format!("{key}_place"), place);
        }
    }

    fn strand(&mut self, s: StrandId) {
        let dag = self.dag;
        let i = s as usize;
        let (task, start, end) = (
            dag.strands.task[i],
            dag.strands.start[i],
            dag.strands.end[i],
        );
        match dag.strands.start_kind[i] {
            StartKind::Begin => {
                self.depends(task);
                self.event("begin", start, s);
                self.close();
            }
            StartKind::AfterCreate | StartKind::AfterWait | StartKind::AfterYield => {
                self.event("resume", start, s);
                let prev = dag.strands.prev[i] as usize;
                // Else a reader would merge it into the strand before.
                let mergeable = start == end
                    && end == dag.strands.end[prev]
                    && dag.strands.thread[prev] == dag.strands.thread[i];
                if mergeable && dag.strands.start_kind[i] == StartKind::AfterCreate {
                    self.put(",\"keep\":true");
                }
                self.close();
            }
            StartKind::AfterSignal => {}
        }
        if let Some(fold) = dag.fold_of(s) {
            self.folded(s, fold);
        }
        self.inside(s, 0);
        let children = self.next_child;
        while self
            .children
            .get(self.next_child)
            .is_some_and(|&c| dag.tasks.creator[c as usize] == s)
        {
            self.next_child += 1;
        }
        let count = self.next_child - children;
        let end_kind = dag.strands.end_kind[i];
        for rank in 0..count {
            let child = self.children[children + rank];
            let last = end_kind == EndKind::Create && rank + 1 == count;
            self.create(s, child);
            self.end_keys(s, rank == 0, last, dag.tasks.site[child as usize]);
            self.close();
            if !last {
                self.event("resume", end, s);
                self.close();
                self.inside(s, rank as u32 + 1);
            }
        }
        if end_kind == EndKind::Create {
            return;
        }
        match end_kind {
            EndKind::Wait => self.wait(s),
            EndKind::Yield => self.event("yield", end, s),
            EndKind::Signal => {
                self.event("signal", end, s);
                if let Ok(i) = dag.signals.binary_search_by_key(&s, |x| x.0) {
                    self.number("id", dag.signals[i].1);
                }
            }
            EndKind::End | EndKind::Create => self.event("end", end, s),
        }
        let default = match count {
            0 => NONE,
            _ => dag.tasks.site[self.children[self.next_child - 1] as usize],
        };
        self.end_keys(s, count == 0, true, default);
        self.close();
    }

    fn depends(&mut self, task: TaskId) {
        if let Ok(d) = self.dag.dependents.binary_search(&task) {
            for &on in self.dag.depends.get(d) {
                let (task, on) = (
                    self.dag.tasks.number[task as usize],
                    self.dag.tasks.number[on as usize],
                );
                self.put(&format!(
                    "{{\"ev\":\"depend\",\"task\":{task},\"on\":{on}}}\n"
                ));
            }
        }
    }

    fn create(&mut self, s: StrandId, child: TaskId) {
        let tasks = &self.dag.tasks;
        let (c, parent) = (child as usize, self.dag.strands.task[s as usize] as usize);
        self.event("create", self.dag.strands.end[s as usize], s);
        self.number("child", tasks.number[c]);
        match tasks.kind[c] {
            TaskKind::Inline => self.put(",\"inline\":true"),
            TaskKind::Detached => self.put(",\"detached\":true"),
            TaskKind::Deferred | TaskKind::Root => {}
        }
        self.place("site", tasks.site[c]);
        match tasks.scope[c] {
            NONE if tasks.kind[c] != TaskKind::Detached && self.open_scopes[parent] > 0 => {
                self.put(",\"scope\":null")
            }
            NONE => {}
            scope => self.number("scope", self.dag.scopes[scope as usize].number),
        }
    }

    fn wait(&mut self, s: StrandId) {
        self.event("wait", self.dag.strands.end[s as usize], s);
        let Ok(w) = self.waits.binary_search_by_key(&s, |w| w.0) else {
            return;
        };
        let w = self.waits[w].1 as usize;
        let waits = &self.dag.waits;
        let signals = waits.signals.get(w);
        if waits.scope[w] != NONE {
            self.number("scope", self.dag.scopes[waits.scope[w] as usize].number);
            let open = &mut self.open_scopes[self.dag.strands.task[s as usize] as usize];
            *open = open.saturating_sub(1);
        } else if !signals.is_empty() {
            let signal_number = |s: &u32| {
                self.dag
                    .signals
                    .binary_search_by_key(s, |x| x.0)
                    .map_or(0, |i| self.dag.signals[i].1)
            };
            let numbers: Vec<u64> = signals.iter().map(signal_number).collect();
            self.numbers("on", &numbers);
        } else if !waits.plain[w] {
            let numbers: Vec<u64> = waits
                .tasks
                .get(w)
                .iter()
                .map(|&t| self.dag.tasks.number[t as usize])
                .collect();
            self.numbers("of", &numbers);
        }
    }

    fn numbers(&mut self, key: &str, numbers: &[u64]) {
        let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
        self.number(key, format!("[{}]", list.join(",")));
    }

    /// `counters` on the first line that ends a strand, `at` on the last, where it says more than `default`.
    fn end_keys(&mut self, s: StrandId, first: bool, last: bool, default: PlaceId) {
        let to = self.dag.strands.to[s as usize];
        if last && to != NONE && to != default {
            self.place("at", to);
        }
        if !first {
            return;
        }
        let mut any = false;
        for (counter, next) in self.dag.counters.iter().zip(0..) {
            if let Some(&(strand, value)) = counter.values.get(self.next_value[next])
                && strand == s
            {
                self.next_value[next] += 1;
                self.put(if any { "," } else { ",\"counters\":{" });
                self.quoted(&counter.name);
                self.put(&format!(":{value}"));
                any = true;
            }
        }
        if any {
            self.put("}");
        }
    }

    /// Scopes, regions and parts that open or close in strand `s` after `creates` creates.
    fn inside(&mut self, s: StrandId, creates: u32) {
        let dag = self.dag;
        while let Some(&scope) = self.scopes.get(self.next_scope) {
            let scope = &dag.scopes[scope as usize];
            if (scope.strand, scope.creates_before) > (s, creates) {
                break;
            }
            self.next_scope += 1;
            self.open_scopes[scope.opener as usize] += 1;
            let kind = match scope.kind {
                ScopeKind::Group => "group",
                ScopeKind::Tree => "tree",
            };
            let opener = dag.tasks.number[scope.opener as usize];
            self.put(&format!(
                "{{\"ev\":\"scope\",\"task\":{opener},\"scope\":{},\"kind\":\"{kind}\"}}\n",
                scope.number
            ));
        }
        while let Some(&(strand, before, t, _, i, is_end, part)) = self.marks.get(self.next_mark) {
            if (strand, before) > (s, creates) {
                break;
            }
            self.next_mark += 1;
            let (kind, region) = if part {
                ("part", &dag.parts[i as usize])
            } else {
                ("region", &dag.regions[i as usize])
            };
            self.event(
                &format!("{kind}_{}", if is_end { "end" } else { "begin" }),
                t,
                s,
            );
            self.string(kind, &dag.labels[region.label as usize]);
            if region.tree && !part && !is_end {
                self.put(",\"tree\":true");
            }
            self.close();
        }
    }

    fn folded(&mut self, s: StrandId, fold: &Folded) {
        self.event("folded", self.dag.strands.start[s as usize], s);
        let sums = [
            ("work", fold.work),
            ("span", fold.span),
            ("ready_integral", fold.ready_integral),
        ];
        let counts = [
            ("tasks", fold.tasks),
            ("spawns", fold.spawns),
            ("syncs", fold.syncs),
            ("strands", fold.strands),
        ];
        for (key, n) in sums.into_iter().chain(counts) {
            self.number(key, n);
        }
        self.number("levels", fold.levels);
        let points: Vec<String> = fold
            .envelope
            .iter()
            .map(|(w, edges)| format!("[{w},{edges}]"))
            .collect();
        self.number("envelope", format!("[{}]", points.join(",")));
        self.put(",\"sites\":[");
        for (i, site) in fold.sites.iter().enumerate() {
            self.put(if i > 0 { ",{\"count\":" } else { "{\"count\":" });
            self.put(&site.count.to_string());
            self.place("site", site.site);
            for (key, n) in [
                ("work", site.work),
                ("span", site.span),
                ("critical_work", site.critical_work),
            ] {
                self.number(key, n);
            }
            self.numbers("lengths", &site.lengths);
            self.put("}");
        }
        self.put("],\"blocks\":[");
        for (i, &(from, to, work)) in fold.blocks.iter().enumerate() {
            self.put(if i > 0 { ",[" } else { "[" });
            for place in [from, to] {
                self.position(place);
                self.put(",");
            }
            self.put(&format!("{work}]"));
        }
        self.put("]");
        self.close();
    }

    fn position(&mut self, place: PlaceId) {
        if place == NONE {
            return self.put("null");
        }
        let label = &self.dag.places[place as usize].label;
        if self.by_label.get(label.as_str()) == Some(&place) {
            self.quoted(label);
        } else {
            self.put(&place.to_string());
        }
    }

    /// What belongs to threads rather than tasks, each by time.
    fn thread_lines(&mut self) {
        let dag = self.dag;
        let or_null = |n: Option<u64>| n.map_or("null".to_owned(), |n| n.to_string());
        let thread = |v: u32| or_null(Some(u64::from(v)).filter(|_| v != NONE));
        for s in &dag.steals {
            let task = or_null(dag.tasks.number.get(s.task as usize).copied());
            let leap = if s.leap { ",\"leap\":true" } else { "" };
            let (t, w, victim) = (s.t, s.thief, thread(s.victim));
            self.put(&format!("{{\"ev\":\"steal\",\"t\":{t},\"w\":{w},\"victim\":{victim},\"task\":{task}{leap}}}\n"));
        }
        for &(t, w, event) in &dag.thread_events {
            let (ev, rest) = match event {
                ThreadEvent::StealFailed(victim) => {
                    ("steal_failed", format!(",\"victim\":{}", thread(victim)))
                }
                ThreadEvent::Sleep => ("sleep", String::new()),
                ThreadEvent::Wake => ("wake", String::new()),
                ThreadEvent::Cpu(load) => (
                    "cpu",
                    format!(",\"load\":{:?}", if load.is_finite() { load } else { 0.0 }),
                ),
                ThreadEvent::Queue(depth) => ("queue", format!(",\"depth\":{depth}")),
            };
            self.put(&format!("{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w}{rest}}}\n"));
        }
        for off in &dag.offs {
            let why = match off.why {
                OffWhy::Preempted => "preempted",
                OffWhy::Blocked => "blocked",
            };
            self.put(&format!(
                "{{\"ev\":\"off\",\"t\":{},\"w\":{},\"why\":\"{why}\"",
                off.start, off.thread
            ));
            if let Some(on) = &off.on {
                self.string("on", on);
            }
            self.put(&format!(
                "}}\n{{\"ev\":\"on\",\"t\":{},\"w\":{}}}\n",
                off.end, off.thread
            ));
        }
    }
}
