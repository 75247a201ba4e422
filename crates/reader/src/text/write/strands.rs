//! A strand's lines.

use super::Writer;
use workspan_dag::{EndKind, NONE, PlaceId, ScopeKind, StartKind, StrandId, TaskId, TaskKind};

impl Writer<'_> {
    pub(super) fn strand(&mut self, s: StrandId) {
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
                match dag.start_wait(task) {
                    0 => {}
                    ticks => self.number("waited", ticks),
                }
                self.close();
            }
            StartKind::AfterCreate | StartKind::AfterWait | StartKind::AfterYield => {
                self.event("resume", start, s);
                let prev = dag.strands.prev[i] as usize;
                // Otherwise a reader would merge it into the strand before.
                let mergeable = start == end
                    && end == dag.strands.end[prev]
                    && dag.strands.thread[prev] == dag.strands.thread[i];
                if mergeable && dag.strands.start_kind[i] == StartKind::AfterCreate {
                    self.put(",\"keep\":true");
                }
                self.close();
            }
            // A reader derives the handoffs from the waits.
            StartKind::AfterSignal | StartKind::AfterHandoff => {}
        }
        if let Some(fold) = dag.fold_of(s) {
            self.folded(s, &fold);
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
        if matches!(end_kind, EndKind::Create | EndKind::Handoff) {
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
            EndKind::End | EndKind::Create | EndKind::Handoff => self.event("end", end, s),
        }
        let default = match count {
            0 => NONE,
            _ => dag.tasks.site[self.children[self.next_child - 1] as usize],
        };
        self.end_keys(s, count == 0, true, default);
        self.close();
    }

    pub(super) fn depends(&mut self, task: TaskId) {
        if let Ok(d) = self.dag.dependents.binary_search(&task) {
            for &on in self.dag.depends.get(d) {
                let (task, on) = (self.dag.tasks.number(task), self.dag.tasks.number(on));
                self.put(&format!(
                    "{{\"ev\":\"depend\",\"task\":{task},\"on\":{on}}}\n"
                ));
            }
        }
    }

    pub(super) fn create(&mut self, s: StrandId, child: TaskId) {
        let tasks = &self.dag.tasks;
        let (c, parent) = (child as usize, self.dag.strands.task[s as usize] as usize);
        self.event("create", self.dag.strands.end[s as usize], s);
        self.number("child", tasks.number(child));
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

    pub(super) fn wait(&mut self, s: StrandId) {
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
                .map(|&t| self.dag.tasks.number(t))
                .collect();
            self.numbers("of", &numbers);
        }
    }

    /// Writes `counters` on the first line that ends a strand, and `at` on the last, if it differs
    /// from `default`.
    pub(super) fn end_keys(&mut self, s: StrandId, first: bool, last: bool, default: PlaceId) {
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

    /// Writes scopes, regions and parts that open or close in strand `s` after `creates` creates.
    pub(super) fn inside(&mut self, s: StrandId, creates: u32) {
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
                ScopeKind::Team => "team",
            };
            let opener = dag.tasks.number(scope.opener);
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
}
