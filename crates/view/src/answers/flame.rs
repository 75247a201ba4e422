//! `flame`: logical stacks, from the root through the spawn sites of a task's ancestors to the code
//! that ran, on whatever thread it ran.

use std::collections::HashMap;

use serde::Serialize;
use workspan_analysis::{FreeTime, ready_event};
use workspan_dag::{NONE, StrandId, TaskId};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};

/// Maximum number of frames in an answer. The lightest ones are omitted; `left_out` has their
/// ticks.
const MAX_FRAMES: usize = 4_000;
const ROOT: u32 = 0;

/// The measure that the widths of frames show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlameMeasure {
    /// Weight: time on the CPU.
    All,
    /// What strands on the critical path add to it.
    Critical,
    /// Time of free workers, shared among the strands that ran meanwhile.
    Free,
}

#[derive(Serialize)]
struct Flame {
    /// Parents come before their children; the first frame is the root.
    frames: Vec<Frame>,
    /// Ticks of all frames.
    total: u64,
    /// Ticks of the frames that were omitted.
    left_out: u64,
}

/// The tasks of a site, or, if `code` is given, the strands of that code in them.
#[derive(Serialize)]
struct Frame {
    parent: Option<u32>,
    site: u16,
    code: Option<u16>,
    /// The frame's own ticks, without those of the frames above it.
    ticks: u64,
    strands: u64,
    /// Ticks of strands that a thread stole.
    stolen: u64,
    /// Of a site's tasks: the smallest and the largest size that they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<(u64, u64)>,
    /// The sums over the frames below it that were omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<FrameSums>,
}

/// Sums over frames.
#[derive(Clone, Copy, Default, Serialize)]
struct FrameSums {
    ticks: u64,
    strands: u64,
    stolen: u64,
}

impl FrameSums {
    fn of(frame: &Frame) -> FrameSums {
        FrameSums {
            ticks: frame.ticks,
            strands: frame.strands,
            stolen: frame.stolen,
        }
    }

    fn add(&mut self, more: FrameSums) {
        self.ticks += more.ticks;
        self.strands += more.strands;
        self.stolen += more.stolen;
    }
}

/// Maximum depth of a stack. In deeper ones a site that is already in the stack is not added again,
/// even with recursion.
const MAX_DEPTH: u32 = 48;

/// Answers the request. `part` is in ticks from the run's begin. With `recursion`, a site that is
/// already in a stack is added to it again.
pub(crate) fn answer(
    run: &Run,
    of: &str,
    part: Option<(u64, u64)>,
    recursion: bool,
) -> Result<Reply, ApiError> {
    let of = match of {
        "all" => FlameMeasure::All,
        "critical" => FlameMeasure::Critical,
        "free" => FlameMeasure::Free,
        _ => {
            let why = "A flame graph is of `all`, `critical` or `free`.";
            return Err(ApiError::bad_request(why));
        }
    };
    let model = run.model()?;
    let end = model.elapsed();
    let (t0, t1) = part.unwrap_or((0, end));
    if t0 >= t1 && end > 0 {
        return Err(ApiError::bad_request("The part has no length."));
    }
    let part = (
        model.begin.saturating_add(t0),
        model.begin.saturating_add(t1.min(end)),
    );
    Reply::json(&flame(model, of, part, recursion)?)
}

fn flame(
    model: &RunModel,
    of: FlameMeasure,
    part: (u64, u64),
    recursion: bool,
) -> Result<Flame, ApiError> {
    let free = match of {
        FlameMeasure::Free => {
            let too_many = || ApiError::bad_request("The run has too many strands for that.");
            Some(FreeTime::new(&model.dag).ok_or_else(too_many)?)
        }
        _ => None,
    };
    let mut tree = Tree::new(model, recursion);
    let strands = &model.dag.strands;
    for s in 0..strands.len() {
        let ticks = ticks(model, of, free.as_ref(), s as StrandId, part);
        if ticks > 0 {
            tree.add(model, s as StrandId, ticks);
        }
    }
    Ok(tree.finish())
}

/// The ticks that strand `s` contributes within `part`, which is in absolute ticks.
fn ticks(
    model: &RunModel,
    of: FlameMeasure,
    free: Option<&FreeTime>,
    s: StrandId,
    part: (u64, u64),
) -> u64 {
    let strands = &model.dag.strands;
    let (start, end) = (strands.start[s as usize], strands.end[s as usize]);
    let (from, to) = (start.max(part.0), end.min(part.1));
    if from >= to || of == FlameMeasure::Critical && !model.critical(s) {
        return 0;
    }
    match free {
        Some(free) => free.sums(from, to).1 as u64,
        // A strand that the part cuts contributes its share.
        None => {
            let weight = u128::from(match of {
                FlameMeasure::Critical => model.path_weight(s),
                _ => model.weight(s),
            });
            (weight * u128::from(to - from) / u128::from(end - start)) as u64
        }
    }
}

/// Frames while their ticks are summed.
struct Tree {
    frames: Vec<Frame>,
    children: HashMap<(u32, u16, Option<u16>), u32>,
    /// The frame of each task's site; [`NONE`] if it was not needed yet.
    tasks: Vec<u32>,
    /// The depth of each frame.
    depths: Vec<u32>,
    recursion: bool,
}

impl Tree {
    fn new(model: &RunModel, recursion: bool) -> Tree {
        let dag = &model.dag;
        let root = Frame {
            parent: None,
            site: 0,
            code: None,
            ticks: 0,
            strands: 0,
            stolen: 0,
            sizes: None,
            omitted: None,
        };
        Tree {
            frames: vec![root],
            children: HashMap::new(),
            tasks: vec![NONE; dag.tasks.len()],
            depths: vec![0],
            recursion,
        }
    }

    fn child(&mut self, parent: u32, site: u16, code: Option<u16>) -> u32 {
        let next = self.frames.len() as u32;
        let id = *self.children.entry((parent, site, code)).or_insert(next);
        if id == next {
            self.depths.push(self.depths[parent as usize] + 1);
            self.frames.push(Frame {
                parent: Some(parent),
                site,
                code,
                ticks: 0,
                strands: 0,
                stolen: 0,
                sizes: None,
                omitted: None,
            });
        }
        id
    }

    /// The frame of a task. Without recursion, a site that is already in the stack is not added
    /// again.
    fn of_task(&mut self, model: &RunModel, task: TaskId) -> u32 {
        let tasks = &model.dag.tasks;
        let mut unknown = Vec::new();
        let mut at = task;
        let mut frame = loop {
            if at == NONE {
                break ROOT;
            }
            let known = self.tasks[at as usize];
            if known != NONE {
                break known;
            }
            unknown.push(at);
            at = tasks.parent[at as usize];
        };
        for &task in unknown.iter().rev() {
            let parent = tasks.parent[task as usize];
            if parent != NONE {
                let site = model.sites.of(tasks.site[task as usize]);
                frame = self
                    .standing(frame, site)
                    .unwrap_or_else(|| self.child(frame, site, None));
            }
            self.tasks[task as usize] = frame;
            if let Some(size) = model.sizes.of(task) {
                let sizes = self.frames[frame as usize]
                    .sizes
                    .get_or_insert((size, size));
                *sizes = (sizes.0.min(size), sizes.1.max(size));
            }
        }
        frame
    }

    /// The frame of `site` at or below `frame` in its stack, if that frame is to be reused.
    fn standing(&self, frame: u32, site: u16) -> Option<u32> {
        if self.recursion && self.depths[frame as usize] < MAX_DEPTH {
            return None;
        }
        let mut at = Some(frame);
        while let Some(frame) = at.filter(|&f| f != ROOT) {
            if self.frames[frame as usize].site == site {
                return Some(frame);
            }
            at = self.frames[frame as usize].parent;
        }
        None
    }

    fn add(&mut self, model: &RunModel, s: StrandId, ticks: u64) {
        let task = model.dag.strands.task[s as usize];
        let above = self.of_task(model, task);
        let site = self.frames[above as usize].site;
        let leaf = self.child(above, site, Some(model.codes.of(s)));
        let frame = &mut self.frames[leaf as usize];
        frame.ticks += ticks;
        frame.strands += 1;
        if is_stolen(model, task) {
            frame.stolen += ticks;
        }
    }

    fn finish(self) -> Flame {
        let mut sums: Vec<FrameSums> = self.frames.iter().map(FrameSums::of).collect();
        for i in (1..sums.len()).rev() {
            if let Some(parent) = self.frames[i].parent {
                let below = sums[i];
                sums[parent as usize].add(below);
            }
        }
        let total = sums[0].ticks;
        let mut ranked: Vec<u64> = sums.iter().map(|sum| sum.ticks).collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        // A parent has at least the ticks of its child, so the frames that remain are a tree.
        let least = ranked.get(MAX_FRAMES).map_or(0, |&v| v + 1);
        let mut numbers = vec![NONE; self.frames.len()];
        let mut frames: Vec<Frame> = Vec::new();
        let mut told = 0;
        for (i, mut frame) in self.frames.into_iter().enumerate() {
            let parent = frame.parent.map(|p| numbers[p as usize]);
            if i > 0 && sums[i].ticks < least {
                // The sums of an omitted frame include those of the frames below it.
                if let Some(parent) = parent.and_then(|p| frames.get_mut(p as usize)) {
                    let omitted = parent.omitted.get_or_insert(FrameSums::default());
                    omitted.add(sums[i]);
                }
                continue;
            }
            frame.parent = parent;
            numbers[i] = frames.len() as u32;
            told += frame.ticks;
            frames.push(frame);
        }
        Flame {
            frames,
            total,
            left_out: total - told,
        }
    }
}

/// Whether a thread other than the task's creator ran the task.
fn is_stolen(model: &RunModel, task: TaskId) -> bool {
    let first = model.dag.tasks.first[task as usize];
    ready_event(&model.dag, first).is_some_and(|event| event.stolen_from.is_some())
}
