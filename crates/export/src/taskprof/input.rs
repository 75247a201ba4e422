//! Writes a run as the files that TaskProf2's analysis (`gentprof`) reads.
//!
//! Its tree has asyncs (tasks), finishes (closed by a wait) and steps (strands). Each is a line, in
//! program order: its number, the parent's number, its kind, the number of the spawn site. A step
//! also has its work, its start and its end. The numbers are line numbers, as the analysis counts
//! lines. The analysis expects every async and finish to begin with a step, so a step without work
//! is written where the run has none. Only the first of the thread files has lines, because the
//! analysis does not use the thread of a step.

use std::fmt::{self, Write};

use workspan_analysis::{Error, Options, strand_facts};
use workspan_dag::{Dag, NONE, PlaceId, ROOT_PLACE};

use crate::dag_recorder::tree::{Kind, Node, tree};
use crate::position::place;

/// A file in the folder in which the analysis is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskprofFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Why a run can't be written.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskprofError {
    /// The run can't be measured.
    Measure(Error),
    /// The tree can't express something in the run.
    Shape(String),
}

impl fmt::Display for TaskprofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskprofError::Measure(error) => error.fmt(f),
            TaskprofError::Shape(why) => {
                write!(f, "TaskProf2's tree has no place for this run: {why}")
            }
        }
    }
}

impl std::error::Error for TaskprofError {}

impl From<Error> for TaskprofError {
    fn from(error: Error) -> TaskprofError {
        TaskprofError::Measure(error)
    }
}

/// Number of thread files that the analysis opens, whether they have lines or not.
const THREADS: usize = 32;
/// Maximum length of a name in bytes: a longer one would not fit into the buffers of the analysis.
const MAX_NAME: usize = 63;

const ASYNC: u32 = 1;
const FINISH: u32 = 2;
const STEP: u32 = 3;

/// The files of `dag`, with weights by `options`.
///
/// # Errors
/// See [`TaskprofError`]: only series-parallel runs that are not folded have such a tree.
pub fn taskprof_input(dag: &Dag, options: &Options) -> Result<Vec<TaskprofFile>, TaskprofError> {
    if !dag.folded.is_empty() {
        let why = "subtrees are folded (record it with --fold off)";
        return Err(TaskprofError::Shape(why.into()));
    }
    let nodes = tree(dag).map_err(TaskprofError::Shape)?;
    let facts = strand_facts(dag, options)?;
    let mut lines = Lines {
        dag,
        text: String::new(),
        count: 0,
    };
    // The next node to write, and the line of its parent.
    let mut next: Vec<(usize, usize)> = vec![(0, 0)];
    while let Some((at, parent)) = next.pop() {
        let node = &nodes[at];
        let line = match node.kind {
            Kind::Section => lines.inner(FINISH, parent, ROOT_PLACE),
            Kind::Task => match node.of.map_or(ROOT_PLACE, |t| dag.tasks.site[t as usize]) {
                ROOT_PLACE => lines.inner(FINISH, parent, ROOT_PLACE),
                site => lines.inner(ASYNC, parent, site),
            },
            _ => {
                let work = node.strand.map_or(0, |s| facts.weight.get(s as usize));
                lines.step(parent, work, node);
                if let Some(task) = node.task {
                    next.push((task, parent));
                }
                continue;
            }
        };
        let starts_with_step = |&first: &usize| nodes[first].kind < Kind::Section;
        if !node.children.first().is_some_and(starts_with_step) {
            let nothing = Node {
                from: NONE,
                ..node.clone()
            };
            lines.step(line, 0, &nothing);
        }
        next.extend(node.children.iter().rev().map(|&child| (child, line)));
    }
    let steps = std::mem::take(&mut lines.text);
    let mut files: Vec<TaskprofFile> = (0..THREADS)
        .map(|thread| TaskprofFile {
            name: format!("step_work_{thread}.csv"),
            text: String::new(),
        })
        .collect();
    files[0].text = steps;
    files.push(TaskprofFile {
        name: "callsite_info.csv".into(),
        text: sites(dag),
    });
    Ok(files)
}

/// One line per spawn site: its number, file, line, and whether it is a loop's.
fn sites(dag: &Dag) -> String {
    let mut used = vec![false; dag.places.len()];
    for &site in &dag.tasks.site {
        used[site as usize] = true;
    }
    let mut text = String::new();
    for (site, at) in dag.places.iter().enumerate().skip(1) {
        if used[site] {
            let name = cell(at.file.as_deref().unwrap_or(&at.label), usize::MAX);
            let _ = writeln!(text, "{site},{name},{},0", at.line.unwrap_or(0));
        }
    }
    text
}

struct Lines<'a> {
    dag: &'a Dag,
    text: String,
    count: usize,
}

impl Lines<'_> {
    /// The line of an async or a finish.
    fn inner(&mut self, kind: u32, parent: usize, site: PlaceId) -> usize {
        self.count += 1;
        let _ = writeln!(self.text, "{},{parent},{kind},{site}", self.count);
        self.count
    }

    fn step(&mut self, parent: usize, work: u64, node: &Node) {
        self.count += 1;
        let _ = write!(self.text, "{},{parent},{STEP},0,{work}", self.count);
        let position = |id: PlaceId| {
            let at = place(self.dag, id).filter(|_| id != NONE)?;
            Some((at.line?, cell(at.file.as_deref()?, MAX_NAME)))
        };
        // A step with a start must also have an end, and to search for regions the analysis needs
        // both for all steps.
        match (position(node.from), position(node.to)) {
            (Some((from, file)), Some((to, end))) => {
                let _ = writeln!(self.text, ",{from},{file},{to},{end}");
            }
            _ => self.text.push_str(",0,?,0,?\n"),
        }
    }
}

/// The end of a name, in at most `most` bytes; these files have no quotes.
fn cell(name: &str, most: usize) -> String {
    let name = name.replace([',', '\n', '\r'], "_");
    let mut from = name.len().saturating_sub(most);
    while !name.is_char_boundary(from) {
        from += 1;
    }
    name[from..].to_owned()
}
