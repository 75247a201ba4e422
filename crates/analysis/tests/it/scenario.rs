//! Hand-written runs, line by line, as text traces.

use std::collections::BTreeSet;

/// An event of a task or a thread.
#[derive(Debug, Clone)]
struct Line {
    t: u64,
    w: u64,
    task: Option<u64>,
    ev: &'static str,
    child: Option<u64>,
    site: Option<String>,
    at: Option<String>,
    of: Option<u64>,
    why: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct Run {
    workers: u64,
    burden: u64,
    tasks: u64,
    lines: Vec<Line>,
    depends: Vec<(u64, u64)>,
    detached: BTreeSet<u64>,
    fact: Option<(&'static str, &'static str)>,
}

/// The name of `site` in a renamed run.
pub fn other_name(site: &str) -> String {
    let reversed: String = site.chars().rev().collect();
    format!("zz/{reversed}.rs:99")
}

impl Run {
    /// The root begins at 0 on worker 0.
    pub fn new(workers: u64) -> Run {
        let mut run = Run {
            workers,
            burden: 0,
            tasks: 1,
            lines: Vec::new(),
            depends: Vec::new(),
            detached: BTreeSet::new(),
            fact: None,
        };
        run.begin(0, 0, 0);
        run
    }

    pub fn burden(mut self, burden: u64) -> Run {
        self.burden = burden;
        self
    }

    /// What a thread may run while a task waits on it.
    pub fn tasks_in_waits(self, may: &'static str) -> Run {
        self.fact("tasks in waits", may)
    }

    /// A fact in the header.
    pub fn fact(mut self, key: &'static str, value: &'static str) -> Run {
        self.fact = Some((key, value));
        self
    }

    fn line(&mut self, ev: &'static str, task: u64, w: u64, t: u64) -> &mut Line {
        let new = Line {
            t,
            w,
            task: Some(task),
            ev,
            child: None,
            site: None,
            at: None,
            of: None,
            why: None,
        };
        self.lines.push(new);
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    pub fn begin(&mut self, task: u64, w: u64, t: u64) {
        self.line("begin", task, w, t);
    }

    pub fn end(&mut self, task: u64, w: u64, t: u64) {
        self.line("end", task, w, t);
    }

    /// A task of one strand.
    pub fn task(&mut self, task: u64, w: u64, start: u64, end: u64) {
        self.begin(task, w, start);
        self.end(task, w, end);
    }

    pub fn resume(&mut self, task: u64, w: u64, t: u64) {
        self.line("resume", task, w, t);
    }

    /// `task` creates a task at `t`, and continues at once.
    pub fn create(&mut self, task: u64, w: u64, t: u64, site: &str) -> u64 {
        self.create_at_once(task, w, t, site, t)
    }

    /// `task` creates a task at `t`, and continues at `resume`.
    pub fn create_at_once(&mut self, task: u64, w: u64, t: u64, site: &str, resume: u64) -> u64 {
        let child = self.tasks;
        self.tasks += 1;
        let line = self.line("create", task, w, t);
        line.child = Some(child);
        line.site = Some(site.to_owned());
        self.resume(task, w, resume);
        child
    }

    /// `task` yields, and continues at `resume`.
    pub fn yield_until(&mut self, task: u64, w: u64, t: u64, resume: u64) {
        self.line("yield", task, w, t);
        self.resume(task, w, resume);
    }

    /// `task` waits for all its children.
    pub fn wait(&mut self, task: u64, w: u64, t: u64) {
        self.line("wait", task, w, t);
    }

    pub fn wait_for(&mut self, task: u64, w: u64, t: u64, child: u64) {
        self.line("wait", task, w, t).of = Some(child);
    }

    /// Makes `child` detached.
    pub fn detach(&mut self, child: u64) {
        self.detached.insert(child);
    }

    pub fn depend(&mut self, task: u64, on: u64) {
        self.depends.push((task, on));
    }

    /// `task` creates a task of that length on each of `on` (worker, length) at `t`, which start at
    /// once, and waits for them; the wait's position is `wait SITE`. Returns the time at which it
    /// continues.
    pub fn fork(&mut self, task: u64, t: u64, site: &str, on: &[(u64, u64)]) -> u64 {
        self.fork_from(task, t, site, on, false)
    }

    /// Like `fork`, but the tasks of one worker run one after the other.
    pub fn fork_in_turn(&mut self, task: u64, t: u64, site: &str, on: &[(u64, u64)]) -> u64 {
        self.fork_from(task, t, site, on, true)
    }

    fn fork_from(&mut self, task: u64, t: u64, site: &str, on: &[(u64, u64)], turns: bool) -> u64 {
        let w = self
            .lines
            .iter()
            .rfind(|l| l.task == Some(task))
            .map_or(0, |l| l.w);
        let children: Vec<u64> = on.iter().map(|_| self.create(task, w, t, site)).collect();
        self.line("wait", task, w, t).at = Some(format!("wait {site}"));
        let mut free = vec![t; self.workers as usize];
        for (&child, &(w, length)) in children.iter().zip(on) {
            let start = if turns { free[w as usize] } else { t };
            free[w as usize] = start + length;
            self.task(child, w, start, start + length);
        }
        let end = free.into_iter().max().unwrap_or(t);
        self.resume(task, w, end);
        end
    }

    /// Worker `w` is off the CPU from `t` to `on`.
    pub fn off(&mut self, w: u64, why: &'static str, t: u64, on: u64) {
        if t == on {
            return;
        }
        for (ev, t, why) in [("off", t, Some(why)), ("on", on, None)] {
            let line = self.line(ev, 0, w, t);
            (line.task, line.why) = (None, why);
        }
    }

    /// The run with other names for all sites.
    pub fn renamed(&self) -> Run {
        let mut run = self.clone();
        for line in &mut run.lines {
            line.site = line.site.as_deref().map(other_name);
            line.at = line.at.as_deref().map(other_name);
        }
        run
    }

    /// The run in a unit `factor` times as small.
    pub fn multiplied(&self, factor: u64) -> Run {
        let mut run = self.clone();
        run.burden *= factor;
        run.lines.iter_mut().for_each(|l| l.t *= factor);
        run
    }

    pub fn text(&self) -> String {
        let fact =
            |(key, value)| format!(",\"facts\":[{{\"key\":\"{key}\",\"value\":\"{value}\"}}]");
        let facts = self.fact.map(fact).unwrap_or_default();
        let mut out = vec![format!(
            "{{\"workspan_trace\":1,\"workers\":{},\"time_unit\":\"ns\",\"steals\":\"child\",\"burden\":{}{}}}",
            self.workers, self.burden, facts
        )];
        out.extend(self.lines.iter().map(|l| self.write(l)));
        out.join("\n")
    }

    fn write(&self, line: &Line) -> String {
        let mut text = format!("{{\"ev\":\"{}\",\"t\":{},\"w\":{}", line.ev, line.t, line.w);
        if let Some(task) = line.task {
            text += &format!(",\"task\":{task}");
        }
        if let Some(child) = line.child {
            text += &format!(",\"child\":{child}");
            if self.detached.contains(&child) {
                text += ",\"detached\":true";
            }
        }
        if let Some(site) = &line.site {
            text += &format!(",\"site\":\"{site}\"");
        }
        if let Some(at) = &line.at {
            text += &format!(",\"at\":\"{at}\"");
        }
        if let Some(of) = line.of {
            text += &format!(",\"of\":[{of}]");
        }
        if let Some(why) = line.why {
            text += &format!(",\"why\":\"{why}\"");
        }
        text.push('}');
        for (task, on) in &self.depends {
            if line.child == Some(*task) {
                text += &format!("\n{{\"ev\":\"depend\",\"task\":{task},\"on\":{on}}}");
            }
        }
        text
    }
}
