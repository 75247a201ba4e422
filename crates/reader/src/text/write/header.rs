//! The header, with the exporter's own keys.

use super::Writer;
use crate::text::header::UNITS;
use crate::text::places::{place_of_label, root_place, used_places};
use workspan_dag::Process;
use workspan_dag::meta::{Steals, TimeUnit};

impl Writer<'_> {
    pub(super) fn header(&mut self) {
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
        if meta.join_cost != 0 {
            self.number("join_cost", meta.join_cost);
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
        if self.dag.samples.hertz != 0 {
            self.number("sample_hz", self.dag.samples.hertz);
        }
        if meta.recorded {
            self.put(",\"recorded\":true");
        }
        if let Some(part) = meta.unread {
            self.put(&format!(
                ",\"unread\":{{\"damaged\":{},\"threads\":{},\"dropped\":{},\"off_cpu\":{}}}",
                part.damaged, part.threads, part.dropped, part.off_cpu
            ));
        }
        self.processes();
        self.each("facts", &meta.facts, |w, (key, value)| {
            w.put("{\"key\":");
            w.quoted(key);
            w.string("value", value);
            w.put("}");
        });
        self.each("thread_names", &meta.thread_names, |w, name| w.quoted(name));
        self.each("on_cpus", &meta.topology.on_cpus, |w, on| {
            let (thread, cpu, ns) = (on.thread, on.cpu, on.ns);
            w.put(&format!("{{\"w\":{thread},\"cpu\":{cpu},\"ns\":{ns}}}"));
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
                if let Some(reporter) = place.reporter {
                    w.string("told_by", reporter.name());
                }
                w.put("}");
            });
        }
        self.close();
    }

    /// The processes of a run of several processes.
    fn processes(&mut self) {
        let processes = &self.dag.meta.processes;
        let numbered = (0..).zip(&processes.list);
        let list: Vec<(u32, &Process)> = numbered.collect();
        self.each("processes", &list, |w, (number, process)| {
            w.put("{\"name\":");
            w.quoted(&process.name);
            if let Some(rank) = process.rank {
                w.number("rank", rank);
            }
            if process.pid != 0 {
                w.number("pid", process.pid);
            }
            if let Some(host) = &process.host {
                w.string("host", host);
            }
            w.number("workers", process.workers);
            w.number("t", process.from);
            w.number("to", process.to);
            if process.in_mpi != 0 {
                w.number("in_mpi", process.in_mpi);
            }
            let own = processes.threads.iter();
            let own = own.filter(|thread| thread.process == *number);
            let threads: Vec<String> = own.map(|thread| thread.thread.to_string()).collect();
            w.put(&format!(",\"threads\":[{}]}}", threads.join(",")));
        });
        self.each("clocks", &processes.clocks, |w, clock| {
            w.put("{\"host\":");
            w.quoted(&clock.host);
            let side = if clock.offset_ns < 0 {
                "ahead_ns"
            } else {
                "behind_ns"
            };
            w.number(side, clock.offset_ns.unsigned_abs());
            if let Some(uncertainty) = clock.uncertainty_ns {
                w.number("uncertainty_ns", uncertainty);
            }
            if clock.drift != 0.0 {
                let side = if clock.drift < 0.0 {
                    "fast_ppb"
                } else {
                    "slow_ppb"
                };
                w.number(side, clock.drift.abs());
            }
            w.number("bounds", clock.bounds);
            if clock.contradictions.0 > 0 {
                w.number("contradictions", clock.contradictions.0);
                w.number("contradict_by_ns", clock.contradictions.1);
            }
            w.put("}");
        });
    }

    /// Whether a reader would find the same places without a table.
    pub(super) fn places_follow_from_labels(&self) -> bool {
        let places = &self.dag.places;
        let plain = |p: &workspan_dag::Place| *p == place_of_label(&p.label);
        places.first() == Some(&root_place())
            && places[1..].iter().all(plain)
            && places[1..].is_sorted_by(|a, b| a.label < b.label)
            && used_places(self.dag).iter().all(|&u| u)
    }
}
