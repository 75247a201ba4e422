//! The DAG for Graphviz, with one node per strand. Tasks are collapsed with all their descendants
//! if there are too many nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;

use workspan_analysis::codes::Codes;
use workspan_analysis::{Column, Error, Marks, Options, Subtrees, strand_facts, subtrees};
use workspan_dag::{Dag, EdgeKind, NONE, StrandId, TaskId};

use crate::quantity::{thousands, time};

/// Default maximum number of nodes.
pub const DOT_NODES: usize = 500;

/// What the colour of a node shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DotColors {
    /// Whether it lies on the critical path.
    #[default]
    Critical,
    /// Its level; the critical path has a border of its own.
    Level,
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotOptions {
    /// Maximum number of nodes; there is at least one for each root.
    pub nodes: usize,
    /// Tasks of this level and deeper stay collapsed; `None` for no limit.
    pub levels: Option<u32>,
    /// What colours show.
    pub colors: DotColors,
}

impl Default for DotOptions {
    fn default() -> DotOptions {
        DotOptions {
            nodes: DOT_NODES,
            levels: None,
            colors: DotColors::Critical,
        }
    }
}

/// Fill colours by level, repeated cyclically.
const LEVEL_FILLS: [&str; 8] = [
    "#ffffff", "#dbe9f6", "#dff2df", "#fdf3cf", "#eadff0", "#d8f0ef", "#f7dfe6", "#e8e8e0",
];

/// The DAG, drawn by the options `drawn`: the heaviest tasks are opened until the limit of nodes is
/// reached. A collapsed task shows the sums of the counters of all strands below it.
///
/// # Errors
/// The run can't be measured with these options.
pub fn dot(dag: &Dag, options: &Options, drawn: DotOptions) -> Result<String, Error> {
    let facts = strand_facts(dag, options)?;
    let picture = Picture {
        dag,
        codes: Codes::new(dag, |s| facts.weight.get(s as usize)),
        subtrees: subtrees(dag, options)?,
        weight: facts.weight,
        critical: facts.critical,
        drawn,
    };
    Ok(picture.draw())
}

struct Picture<'a> {
    dag: &'a Dag,
    codes: Codes,
    subtrees: Subtrees,
    weight: Column,
    critical: Marks,
    drawn: DotOptions,
}

impl Picture<'_> {
    fn draw(&self) -> String {
        let open = self.opened();
        let mut out = String::from(
            "digraph workspan {\n  rankdir=TB;\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
        );
        // The collapsed task around each task. Parents come before their children only in the order
        // of creation, so the search goes up the tree and keeps its results.
        let shown = self.shown(&open);
        let sums = self.counter_sums(&shown);
        let mut is_drawn = vec![false; self.dag.tasks.len()];
        for s in 0..self.dag.strands.len() as StrandId {
            let task = self.dag.strands.task[s as usize];
            match shown[task as usize] {
                NONE => self.strand(&mut out, s),
                around if !std::mem::replace(&mut is_drawn[around as usize], true) => {
                    self.collapsed(&mut out, around, &sums);
                }
                _ => {}
            }
        }
        self.edges(&mut out, &shown);
        out.push_str("}\n");
        out
    }

    /// By task: whether it is shown with its strands and children. The heaviest are, as long as
    /// there is room.
    fn opened(&self) -> Vec<bool> {
        let tasks = &self.dag.tasks;
        let most = self.drawn.nodes.max(1);
        let mut strands = vec![0usize; tasks.len()];
        for &task in &self.dag.strands.task {
            strands[task as usize] += 1;
        }
        let mut children: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        let mut heap = BinaryHeap::new();
        for (task, &parent) in (0..).zip(&tasks.parent) {
            match parent {
                NONE => heap.push((self.subtrees.work.get(task as usize), Reverse(task))),
                _ => children.entry(parent).or_default().push(task),
            }
        }
        let mut count = heap.len();
        let mut open = vec![false; tasks.len()];
        while let Some((_, Reverse(task))) = heap.pop() {
            let below = children.get(&task).map_or(&[][..], Vec::as_slice);
            let more = strands[task as usize] + below.len() - 1;
            let too_deep = |levels: u32| tasks.level[task as usize] >= levels;
            if count + more > most || self.drawn.levels.is_some_and(too_deep) {
                continue;
            }
            count += more;
            open[task as usize] = true;
            for &child in below {
                heap.push((self.subtrees.work.get(child as usize), Reverse(child)));
            }
        }
        open
    }

    /// By task: the collapsed task that it is in; [`NONE`] for those shown with their strands.
    fn shown(&self, open: &[bool]) -> Vec<TaskId> {
        const UNKNOWN: TaskId = NONE - 1;
        let parent = &self.dag.tasks.parent;
        let mut shown = vec![UNKNOWN; parent.len()];
        let mut line = Vec::new();
        for task in 0..parent.len() as TaskId {
            let mut at = task;
            while shown[at as usize] == UNKNOWN {
                line.push(at);
                match parent[at as usize] {
                    NONE => break,
                    up => at = up,
                }
            }
            while let Some(t) = line.pop() {
                let up = parent[t as usize];
                let around = if up == NONE { NONE } else { shown[up as usize] };
                shown[t as usize] = match (around, open[t as usize]) {
                    (NONE, true) => NONE,
                    (NONE, false) => t,
                    (around, _) => around,
                };
            }
        }
        shown
    }

    /// By collapsed task: the sum of each counter over its strands and its descendants'.
    fn counter_sums(&self, shown: &[TaskId]) -> BTreeMap<TaskId, Vec<u128>> {
        let mut sums: BTreeMap<TaskId, Vec<u128>> = BTreeMap::new();
        for (i, counter) in self.dag.counters.iter().enumerate() {
            for &(s, value) in &counter.values {
                let around = shown[self.dag.strands.task[s as usize] as usize];
                if around != NONE {
                    let none = || vec![0; self.dag.counters.len()];
                    sums.entry(around).or_insert_with(none)[i] += u128::from(value);
                }
            }
        }
        sums
    }

    fn strand(&self, out: &mut String, s: StrandId) {
        let code = self.codes.all.get(usize::from(self.codes.of(s)));
        let mut label = format!(
            "{}\n{}",
            code.map_or("?", |code| code.label.as_str()),
            time(&self.dag.meta, self.weight.get(s as usize) as f64)
        );
        for counter in &self.dag.counters {
            if let Ok(i) = counter.values.binary_search_by_key(&s, |v| v.0) {
                let value = thousands(counter.values[i].1.into());
                let _ = write!(label, "\n{} {value}", counter.name);
            }
        }
        let task = self.dag.strands.task[s as usize];
        let color = self.color(self.critical.has(s), task);
        let _ = writeln!(out, "  s{s} [label={}{color}];", quoted(&label));
    }

    fn collapsed(&self, out: &mut String, task: TaskId, sums: &BTreeMap<TaskId, Vec<u128>>) {
        let i = task as usize;
        let place = self.dag.places.get(self.dag.tasks.site[i] as usize);
        let mut label = format!(
            "{}\n{} tasks\nwork {}, span {}",
            place.map_or("?", |p| p.label.as_str()),
            thousands(u128::from(self.subtrees.tasks.get(i))),
            time(&self.dag.meta, self.subtrees.work.get(i) as f64),
            time(&self.dag.meta, self.subtrees.span.get(i) as f64)
        );
        for (counter, &sum) in self
            .dag
            .counters
            .iter()
            .zip(sums.get(&task).into_iter().flatten())
        {
            let _ = write!(label, "\n{} {}", counter.name, thousands(sum));
        }
        let color = self.color(self.subtrees.critical_work.get(i) > 0, task);
        let _ = writeln!(
            out,
            "  t{task} [shape=box3d, label={}{color}];",
            quoted(&label)
        );
    }

    fn color(&self, critical: bool, task: TaskId) -> String {
        let border = if critical {
            ", color=\"#b34700\", penwidth=2"
        } else {
            ""
        };
        let fill = match self.drawn.colors {
            DotColors::Level => {
                let level = self.dag.tasks.level[task as usize] as usize;
                LEVEL_FILLS[level % LEVEL_FILLS.len()]
            }
            DotColors::Critical if critical => "#ffd9b8",
            DotColors::Critical => return String::new(),
        };
        format!(", fillcolor=\"{fill}\"{border}")
    }

    fn edges(&self, out: &mut String, shown: &[TaskId]) {
        let strands = &self.dag.strands;
        let node = |s: StrandId| match shown[strands.task[s as usize] as usize] {
            NONE => (false, s),
            task => (true, task),
        };
        let mut edges: BTreeMap<_, u64> = BTreeMap::new();
        for s in 0..strands.len() as StrandId {
            let to = node(s);
            self.dag.for_each_predecessor(s, |p, kind| {
                let from = node(p);
                if from != to {
                    *edges.entry((from, to, kind)).or_default() += 1;
                }
            });
        }
        let name =
            |(collapsed, id): (bool, u32)| format!("{}{id}", if collapsed { "t" } else { "s" });
        for ((from, to, kind), count) in edges {
            let style = match kind {
                EdgeKind::Create => "color=\"#0072b2\"",
                EdgeKind::End => "color=\"#117733\"",
                EdgeKind::Depend => "style=dashed, color=\"#aa4499\"",
                EdgeKind::Signal => "style=dotted, color=\"#aa4499\"",
                _ => "color=\"#434c5a\"",
            };
            let label = if count > 1 {
                format!(", label=\"{count}\"")
            } else {
                String::new()
            };
            let _ = writeln!(out, "  {} -> {} [{style}{label}];", name(from), name(to));
        }
    }
}

/// A quoted string of the DOT language.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
