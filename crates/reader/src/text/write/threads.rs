//! Lines about threads.

use super::Writer;
use workspan_dag::{NONE, OffCpuReason, ThreadEvent};

impl Writer<'_> {
    /// Writes the lines about threads instead of tasks, each kind in time order.
    pub(super) fn thread_lines(&mut self) {
        let dag = self.dag;
        let or_null = |n: Option<u64>| n.map_or("null".to_owned(), |n| n.to_string());
        let thread = |v: u32| or_null(Some(u64::from(v)).filter(|_| v != NONE));
        for s in &dag.steals {
            let task = or_null((s.task != NONE).then(|| dag.tasks.number(s.task)));
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
        for run in &dag.recorder_runs {
            let ticks = run.end - run.start;
            self.put(&format!(
                "{{\"ev\":\"recorder\",\"t\":{},\"w\":{},\"ticks\":{ticks}}}\n",
                run.start, run.thread
            ));
        }
        for off in &dag.offs {
            let why = match off.why {
                OffCpuReason::Preempted => "preempted",
                OffCpuReason::Blocked => "blocked",
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
