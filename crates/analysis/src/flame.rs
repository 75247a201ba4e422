//! Flame graphs over *logical* stacks: the spawn sites from the root across steals, followed by the
//! sampled strand's own frames.
//!
//! A stolen task's physical stack starts in a worker's loop; its logical stack starts where the
//! program did. The runtime's frames are folded away. Recursion of tasks over any number of sites
//! and of functions in themselves is folded away too, unless [`FlameOptions::recursion`] is set.
//! Restricted to the critical path, a flame graph shows the code that must become faster for a
//! shorter run, which no profile of CPU time does.

use std::collections::{BTreeMap, BTreeSet};

use workspan_dag::{Dag, Frame, NONE, Place, PlaceId, StrandId, TaskId};

use crate::blocks::CodeBlock;
use crate::no_work_shares::no_work_shares;
use crate::options::{Error, Options};
use crate::stretch::{RowKey, Stretch};
use crate::weight::Weights;
use crate::{heaviest_paths::Heaviest, ready_path::ready_path};

/// Which samples are used, and what each stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum FlameOf {
    /// All samples: CPU time.
    All,
    /// Samples in strands of the critical path (MODEL.md §3).
    CriticalPath,
    /// Samples in strands of the ready path (MODEL.md §5).
    ReadyPath,
    /// All samples while workers had nothing to do because of the program (no-work-app, MODEL.md
    /// §5). Each stands for its share of the idle workers' time.
    NoWorkApp,
    /// Samples in tasks of some spawn sites and their descendants: sites whose label contains the
    /// text.
    Site(String),
    /// All samples. Each counts with the share by which its code block took longer than in a serial
    /// run ([`stretched`]).
    Stretch(Stretched),
}

/// Code blocks that took longer than in a serial run, with the additional share of their time, 0 to
/// 1.
pub type Stretched = BTreeMap<CodeBlock, f64>;

/// The blocks of `parallel` that `stretch` found to be stretched.
pub fn stretched(stretch: &Stretch, parallel: &Dag) -> Stretched {
    // In `stretch`, places of both runs have numbers of their own.
    let mut numbers: BTreeMap<&str, PlaceId> = BTreeMap::new();
    for (place, number) in parallel.places.iter().zip(0..) {
        numbers.entry(&place.label).or_insert(number);
    }
    let number = |id: PlaceId| match stretch.places.get(id as usize) {
        Some(place) => numbers.get(place.label.as_str()).copied(),
        None => Some(NONE),
    };
    let mut blocks = Stretched::new();
    for row in &stretch.blocks {
        let RowKey::Block(block) = row.key else {
            continue;
        };
        let longer = row.time.surplus();
        if longer > 0
            && let Some(block) = block.renumbered(number)
        {
            let share = longer as f64 / row.time.parallel.max(1) as f64;
            blocks.insert(block, share.min(1.0));
        }
    }
    blocks
}

/// How stacks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlameOptions {
    /// Keep every level. Otherwise a task whose site is already on the path is shown at that level.
    pub recursion: bool,
}

/// A stack and the time it stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlameStack {
    /// Names of the frames, outermost first.
    pub frames: Vec<String>,
    /// Nanoseconds.
    pub ns: u64,
}

/// Maximum number of task levels shown; of a deeper stack, the innermost ones.
const MAX_LEVELS: usize = 200;

/// The stacks, by frames. Empty if no sample is selected. O(n + samples · depth).
///
/// # Errors
/// See [`Error`].
pub fn flame(
    dag: &Dag,
    options: &Options,
    selection: &FlameOf,
    how: FlameOptions,
) -> Result<Vec<FlameStack>, Error> {
    let samples = &dag.samples;
    let filter = SampleFilter::new(dag, options, selection)?;
    let mut logical = Logical::new(dag, how);
    let mut times: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let each = 1e9 / f64::from(samples.hertz.max(1));
    for i in 0..samples.len() {
        let share = filter.share(dag, i);
        if share > 0.0 {
            let strand = samples.strand[i];
            let node = match dag.strands.task.get(strand as usize) {
                Some(&task) => logical.node(task),
                None => NONE,
            };
            *times.entry((node, samples.stack[i])).or_default() += each * share;
        }
    }
    let mut stacks: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for ((node, stack), ns) in times {
        let mut frames = logical.labels(node);
        let own: Vec<&Frame> = samples.own_frames(stack).filter(|f| !is_glue(f)).collect();
        let own = own.into_iter().rev().map(shown);
        frames.extend(own);
        if !how.recursion {
            frames.dedup();
        }
        *stacks.entry(frames).or_default() += ns;
    }
    Ok(stacks
        .into_iter()
        .map(|(frames, ns)| FlameStack {
            frames,
            ns: ns.round() as u64,
        })
        .collect())
}

/// The standard library's calls of closures, which are of no interest.
fn is_glue(frame: &Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or("");
    file.ends_with("core/src/ops/function.rs") || frame.function.starts_with("core::ops::function")
}

fn shown(frame: &Frame) -> String {
    if frame.runtime {
        format!("[runtime] {}", frame.function)
    } else {
        frame.function.clone()
    }
}

/// The selected share of each sample.
enum SampleFilter<'a> {
    All,
    Strands(BTreeSet<StrandId>),
    /// By task.
    Tasks(Vec<bool>),
    /// By sample.
    Shares(Vec<f64>),
    Blocks(&'a Stretched),
}

impl<'a> SampleFilter<'a> {
    fn new(dag: &Dag, options: &Options, selection: &'a FlameOf) -> Result<Self, Error> {
        Ok(match selection {
            FlameOf::All => SampleFilter::All,
            FlameOf::CriticalPath => {
                let weights = Weights::new(dag, options)?;
                let path = Heaviest::unburdened(dag, &weights).critical_path(dag);
                SampleFilter::Strands(path.into_iter().collect())
            }
            FlameOf::ReadyPath => {
                SampleFilter::Strands(ready_path(dag).strands.into_iter().map(|s| s.0).collect())
            }
            FlameOf::NoWorkApp => SampleFilter::Shares(no_work_shares(dag, &dag.samples.t)),
            FlameOf::Site(text) => {
                let matches: Vec<bool> = dag
                    .places
                    .iter()
                    .map(|place| named(place).contains(text) || place.label.contains(text))
                    .collect();
                let mut tasks = vec![false; dag.tasks.len()];
                for task in 0..tasks.len() {
                    // Parents come before their children.
                    let parent = dag.tasks.parent[task];
                    let inherited = tasks.get(parent as usize).copied().unwrap_or(false);
                    tasks[task] = inherited || matches[dag.tasks.site[task] as usize];
                }
                SampleFilter::Tasks(tasks)
            }
            FlameOf::Stretch(blocks) => SampleFilter::Blocks(blocks),
        })
    }

    fn share(&self, dag: &Dag, sample: usize) -> f64 {
        let strand = dag.samples.strand[sample];
        let yes = match self {
            SampleFilter::All => true,
            SampleFilter::Strands(strands) => strands.contains(&strand),
            SampleFilter::Tasks(tasks) => {
                let task = dag.strands.task.get(strand as usize);
                task.is_some_and(|&task| tasks[task as usize])
            }
            // An idle worker's own search for work does not cause its idleness.
            SampleFilter::Shares(_) if strand == NONE => false,
            SampleFilter::Shares(shares) => return shares[sample],
            SampleFilter::Blocks(blocks) => {
                if strand == NONE {
                    return 0.0;
                }
                let block = CodeBlock::from_strand(dag, strand);
                return blocks.get(&block).copied().unwrap_or(0.0);
            }
        };
        f64::from(u8::from(yes))
    }
}

/// The name of a spawn site on a stack.
fn named(place: &Place) -> String {
    let what = match (&place.primitive, &place.function) {
        (Some(primitive), Some(function)) => format!("{function}: {primitive}"),
        (Some(name), None) | (None, Some(name)) => name.clone(),
        (None, None) => return place.label.clone(),
    };
    if what == place.label {
        what
    } else {
        format!("{what} ({})", place.label)
    }
}

/// Paths of spawn sites from the roots, as a tree of nodes.
struct Logical<'a> {
    dag: &'a Dag,
    how: FlameOptions,
    /// (node of the parent, site).
    nodes: Vec<(u32, u32)>,
    by_key: BTreeMap<(u32, u32), u32>,
    of_task: BTreeMap<TaskId, u32>,
}

impl<'a> Logical<'a> {
    fn new(dag: &'a Dag, how: FlameOptions) -> Self {
        Logical {
            dag,
            how,
            nodes: Vec::new(),
            by_key: BTreeMap::new(),
            of_task: BTreeMap::new(),
        }
    }

    /// The node of a task; nodes of its ancestors are made as needed.
    fn node(&mut self, task: TaskId) -> u32 {
        let mut path = Vec::new();
        let mut at = task;
        let mut node = NONE;
        while at != NONE {
            if let Some(&known) = self.of_task.get(&at) {
                node = known;
                break;
            }
            path.push(at);
            at = self.dag.tasks.parent[at as usize];
        }
        for task in path.into_iter().rev() {
            let site = self.dag.tasks.site[task as usize];
            let above = if self.how.recursion {
                None
            } else {
                self.above(node, site)
            };
            if let Some(above) = above {
                node = above;
            } else {
                let key = (node, site);
                node = match self.by_key.get(&key) {
                    Some(&known) => known,
                    None => {
                        let new = self.nodes.len() as u32;
                        self.nodes.push(key);
                        self.by_key.insert(key, new);
                        new
                    }
                };
            }
            self.of_task.insert(task, node);
        }
        node
    }

    /// The node of `site` at or above a node. Without recursion a path has each site once, so this
    /// is short.
    fn above(&self, mut node: u32, site: u32) -> Option<u32> {
        while let Some(&(parent, node_site)) = self.nodes.get(node as usize) {
            if node_site == site {
                return Some(node);
            }
            node = parent;
        }
        None
    }

    /// The labels from the root.
    fn labels(&self, node: u32) -> Vec<String> {
        let levels = self.levels(node).into_iter();
        levels.map(|level| level.name).collect()
    }

    /// The spawn sites from the root.
    fn levels(&self, node: u32) -> Vec<LogicalFrame> {
        let marker = |name: &str| LogicalFrame {
            name: name.to_owned(),
            ..LogicalFrame::default()
        };
        if node == NONE {
            return vec![marker("[no task]")];
        }
        let mut levels = Vec::new();
        let mut at = node;
        while let Some(&(parent, site)) = self.nodes.get(at as usize) {
            if levels.len() == MAX_LEVELS {
                levels.push(marker("[more levels]"));
                break;
            }
            let place = &self.dag.places[site as usize];
            levels.push(LogicalFrame {
                name: named(place),
                file: place.file.clone(),
                line: place.line,
            });
            at = parent;
        }
        levels.reverse();
        levels
    }
}

/// A level of a logical stack: a spawn site or a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogicalFrame {
    /// The name, as in a flame graph.
    pub name: String,
    /// Source file, as the trace names it.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
}

/// The samples of a run with their logical stacks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogicalSamples {
    /// The levels of all stacks, each once.
    pub frames: Vec<LogicalFrame>,
    /// Indices into `frames`, outermost first.
    pub stacks: Vec<Vec<u32>>,
    /// By sample, in the order of [`workspan_dag::Samples`]: an index into `stacks`.
    pub stack: Vec<u32>,
    /// By sample: whether it lies in a strand of the critical path.
    pub critical: Vec<bool>,
}

/// The samples with the stacks that [`flame`] draws, recursion folded away. O(n + samples · depth).
///
/// # Errors
/// See [`Error`].
pub fn logical_samples(dag: &Dag, options: &Options) -> Result<LogicalSamples, Error> {
    let samples = &dag.samples;
    let critical = SampleFilter::new(dag, options, &FlameOf::CriticalPath)?;
    let mut logical = Logical::new(dag, FlameOptions::default());
    let mut frames: BTreeMap<LogicalFrame, u32> = BTreeMap::new();
    let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut made = LogicalSamples::default();
    for i in 0..samples.len() {
        let task = dag.strands.task.get(samples.strand[i] as usize);
        let node = task.map_or(NONE, |&task| logical.node(task));
        let key = (node, samples.stack[i]);
        let stack = match known.get(&key) {
            Some(&stack) => stack,
            None => {
                let mut levels = logical.levels(node);
                let own: Vec<&Frame> = samples
                    .own_frames(samples.stack[i])
                    .filter(|f| !is_glue(f))
                    .collect();
                levels.extend(own.into_iter().rev().map(|frame| LogicalFrame {
                    name: shown(frame),
                    file: frame.file.clone(),
                    line: frame.line,
                }));
                levels.dedup_by(|next, last| next.name == last.name);
                let number = |level: LogicalFrame| {
                    let next = frames.len() as u32;
                    *frames.entry(level).or_insert(next)
                };
                made.stacks.push(levels.into_iter().map(number).collect());
                let stack = made.stacks.len() as u32 - 1;
                known.insert(key, stack);
                stack
            }
        };
        made.stack.push(stack);
        made.critical.push(critical.share(dag, i) > 0.0);
    }
    let mut ordered: Vec<(LogicalFrame, u32)> = frames.into_iter().collect();
    ordered.sort_by_key(|(_, number)| *number);
    made.frames = ordered.into_iter().map(|(frame, _)| frame).collect();
    Ok(made)
}
