//! Profiles of the code by samples: lines and functions of the whole run, or of some strands in a
//! range of time.
//!
//! A sample stands for 1/hertz seconds of CPU time of its thread. It counts for the *line* of the
//! innermost frame of the program's own code (which called the library function, if one ran), and
//! for the *function* that it was in.

use std::collections::BTreeMap;

use workspan_dag::{Dag, Frame, NONE, StrandId};

use crate::blocks::CodeBlock;
use crate::causes::{Cause, Finding};
use crate::holder::CodePlace;
use crate::runtime_samples::in_scheduler;

/// What the name of a place in a module without symbols contains: its offset there
/// (`linux-vdso.so.1+0x0`).
const ADDRESS: &str = "+0x";

/// Whether a function has a name. Nobody can change code of which only the address is known, and
/// without frame pointers its callers are not known either.
pub(crate) fn is_named(function: &str, file: Option<&str>) -> bool {
    file.is_some() || !function.contains(ADDRESS)
}

/// A line of the program with its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSamples {
    /// Source file.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// The function that contains the line.
    pub function: String,
    /// Number of samples there.
    pub samples: u64,
    /// Number of them on the critical path.
    pub critical: u64,
}

/// A function with its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSamples {
    /// Its name.
    pub function: String,
    /// Source file, if known.
    pub file: Option<String>,
    /// Number of samples in the function itself.
    pub own: u64,
    /// Number of samples in the function or its callees, within one strand.
    pub total: u64,
    /// The part of `own` on the critical path.
    pub critical: u64,
}

/// All samples, by line and by function.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleProfile {
    /// Samples per second of CPU time; 0 if none were taken.
    pub hertz: u32,
    /// Number of samples inside strands.
    pub inside: u64,
    /// The part of `inside` in the code of a runtime that creates, queues and waits for tasks.
    pub in_runtime: u64,
    /// Number of samples while their thread ran no strand, plus those in the recorder's code.
    pub outside: u64,
    /// The part of `outside` in the recorder's code.
    pub recording: u64,
    /// Lines, hottest first; ties by file and line.
    pub lines: Vec<LineSamples>,
    /// Functions, hottest (own) first; ties by name.
    pub functions: Vec<FunctionSamples>,
}

impl SampleProfile {
    /// Ticks that `samples` samples stand for.
    pub fn ticks(&self, samples: u64, ticks_per_second: u64) -> u64 {
        let ticks = u128::from(samples) * u128::from(ticks_per_second);
        ticks.checked_div(u128::from(self.hertz)).unwrap_or(0) as u64
    }
}

/// A function in which some strands spent some of their time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotFunction {
    /// Its name.
    pub function: String,
    /// Its file.
    pub file: Option<String>,
    /// Its hottest line.
    pub line: Option<u32>,
    /// Number of samples in that function.
    pub samples: u64,
    /// Number of them on the critical path, if that was requested.
    pub critical: u64,
    /// Number of samples that were examined.
    pub of: u64,
    /// Where most of these samples were called from: the nearest other function of the program, and
    /// its line. `None` if the function is the task's own.
    pub called_at: Option<CodePlace>,
}

/// The frame that a sample's line is taken from: the innermost of the program's own frames, else
/// the innermost with a line, else the innermost.
pub fn attributed_frame(dag: &Dag, stack: u32) -> Option<&Frame> {
    let own = || dag.samples.own_frames(stack);
    own()
        .find(|frame| frame.is_program())
        .or_else(|| own().find(|frame| frame.line.is_some() && !frame.runtime))
        .or_else(|| own().next())
}

/// The frame of each queried stack, looked up once: many samples share a stack, which may be
/// thousands of frames deep.
pub(crate) struct FrameCache<'a, F> {
    look_up: F,
    known: BTreeMap<u32, Option<&'a Frame>>,
}

impl<'a, F: Fn(u32) -> Option<&'a Frame>> FrameCache<'a, F> {
    /// `look_up` returns a stack's frame.
    pub(crate) fn new(look_up: F) -> Self {
        FrameCache {
            look_up,
            known: BTreeMap::new(),
        }
    }

    /// The frame of `stack`.
    pub(crate) fn of(&mut self, stack: u32) -> Option<&'a Frame> {
        let known = self.known.entry(stack);
        *known.or_insert_with(|| (self.look_up)(stack))
    }
}

/// All samples of the run; `critical_path` has the strands of the path. O(samples + frames of all
/// stacks · log functions).
pub fn sample_profile(dag: &Dag, critical_path: &[StrandId]) -> SampleProfile {
    let samples = &dag.samples;
    let mut critical = critical_path.to_vec();
    critical.sort_unstable();
    let mut profile = SampleProfile {
        hertz: samples.hertz,
        ..SampleProfile::default()
    };
    // (own, critical) by stack, because many samples share one.
    let mut stacks = vec![(0u64, 0u64); samples.stacks.len()];
    let (recording, in_scheduler) = (samples.in_recording(), in_scheduler(samples));
    for (&stack, &strand) in samples.stack.iter().zip(&samples.strand) {
        if strand == NONE {
            profile.outside += 1;
            profile.recording += u64::from(recording[stack as usize]);
            continue;
        }
        profile.inside += 1;
        profile.in_runtime += u64::from(in_scheduler[stack as usize]);
        let on = &mut stacks[stack as usize];
        on.0 += 1;
        on.1 += u64::from(critical.binary_search(&strand).is_ok());
    }
    let mut lines: BTreeMap<(&str, u32), LineSamples> = BTreeMap::new();
    // With the last stack that the function was on: it counts once per stack, however often it
    // recurs.
    let mut functions: BTreeMap<(&str, Option<&str>), (FunctionSamples, u32)> = BTreeMap::new();
    for (stack, &(count, critical)) in (0u32..).zip(&stacks) {
        if count == 0 {
            continue;
        }
        if let Some(frame) = attributed_frame(dag, stack)
            && let (Some(file), Some(line)) = (&frame.file, frame.line)
        {
            let row = lines.entry((file, line)).or_insert_with(|| LineSamples {
                file: file.clone(),
                line,
                function: frame.function.clone(),
                samples: 0,
                critical: 0,
            });
            row.samples += count;
            row.critical += critical;
        }
        for (depth, frame) in samples.own_frames(stack).enumerate() {
            let key = (frame.function.as_str(), frame.file.as_deref());
            let (row, last_stack) = functions.entry(key).or_insert_with(|| {
                let row = FunctionSamples {
                    function: frame.function.clone(),
                    file: frame.file.clone(),
                    own: 0,
                    total: 0,
                    critical: 0,
                };
                (row, NONE)
            });
            if depth == 0 {
                row.own += count;
                row.critical += critical;
            }
            if *last_stack != stack {
                row.total += count;
                *last_stack = stack;
            }
        }
    }
    profile.lines = lines.into_values().collect();
    profile
        .lines
        .sort_by(|a, b| (b.samples, &a.file, a.line).cmp(&(a.samples, &b.file, b.line)));
    profile.functions = functions.into_values().map(|(row, _)| row).collect();
    profile.functions.sort_by(|a, b| {
        (b.own, b.total, &a.function, &a.file).cmp(&(a.own, a.total, &b.function, &b.file))
    });
    profile
}

/// Number of samples of a function, by line.
#[derive(Debug, Clone, Default)]
struct FunctionHits<'a> {
    samples: u64,
    critical: u64,
    lines: BTreeMap<Option<u32>, u64>,
    /// By function, file and line.
    callers: BTreeMap<Option<Caller<'a>>, u64>,
}

type Caller<'a> = (&'a str, Option<&'a str>, Option<u32>);

/// Counts samples by function and line.
#[derive(Debug, Clone, Default)]
pub(crate) struct FunctionTally<'a> {
    /// By name and file.
    functions: BTreeMap<(&'a str, Option<&'a str>), FunctionHits<'a>>,
    /// Number of samples that were examined, in a function or not.
    samples: u64,
}

impl<'a> FunctionTally<'a> {
    /// Counts a sample, for `frame` if it has one; `caller` is the calling function.
    pub(crate) fn add(
        &mut self,
        frame: Option<&'a Frame>,
        caller: Option<&'a Frame>,
        critical: bool,
    ) {
        self.samples += 1;
        if let Some(frame) = frame {
            let key = (frame.function.as_str(), frame.file.as_deref());
            let hits = self.functions.entry(key).or_default();
            hits.samples += 1;
            hits.critical += u64::from(critical);
            *hits.lines.entry(frame.line).or_default() += 1;
            let caller = caller.map(|c| (c.function.as_str(), c.file.as_deref(), c.line));
            *hits.callers.entry(caller).or_default() += 1;
        }
    }

    /// The functions, hottest first (ties by name), each with its hottest line (ties: the first).
    pub(crate) fn finish(self) -> Vec<HotFunction> {
        let row = |((function, file), hits): ((&str, Option<&str>), FunctionHits<'_>)| {
            let most = hits.lines.values().copied().max();
            let line = hits.lines.iter().find(|(_, n)| Some(**n) == most);
            HotFunction {
                function: function.to_owned(),
                file: file.map(str::to_owned),
                line: line.and_then(|(line, _)| *line),
                samples: hits.samples,
                critical: hits.critical,
                of: self.samples,
                called_at: hits.most_called_at(),
            }
        };
        let mut rows: Vec<HotFunction> = self.functions.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            (b.samples, &a.function, &a.file).cmp(&(a.samples, &b.function, &b.file))
        });
        rows
    }

    /// The hottest function.
    pub(crate) fn hottest(self) -> Option<HotFunction> {
        self.finish().into_iter().next()
    }
}

impl FunctionHits<'_> {
    fn most_called_at(&self) -> Option<CodePlace> {
        let most = self.callers.values().copied().max();
        let (caller, _) = self.callers.iter().find(|(_, n)| Some(**n) == most)?;
        caller.map(|(function, file, line)| CodePlace {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line,
        })
    }
}

/// The nearest function of the program that called the one of [`attributed_frame`].
fn calling_frame(dag: &Dag, stack: u32) -> Option<&Frame> {
    let frame = attributed_frame(dag, stack)?;
    let mut own = dag.samples.own_frames(stack);
    own.by_ref().find(|own| std::ptr::eq(*own, frame))?;
    own.find(|caller| caller.is_program() && caller.function != frame.function)
}

/// The functions of the samples taken in `[from, to)` in strands for which `is_included` is true,
/// hottest first (ties by name), each with its hottest line. O(log n + samples in that time +
/// frames of their stacks), without the lookups.
pub fn hot_functions(
    dag: &Dag,
    (from, to): (u64, u64),
    critical_path: &[StrandId],
    is_included: impl Fn(StrandId) -> bool,
) -> Vec<HotFunction> {
    let samples = &dag.samples;
    let first = samples.t.partition_point(|&t| t < from);
    let last = samples.t.partition_point(|&t| t < to).max(first);
    let mut tally = FunctionTally::default();
    let mut frames = FrameCache::new(|stack| attributed_frame(dag, stack));
    let mut callers = FrameCache::new(|stack| calling_frame(dag, stack));
    for i in first..last {
        let strand = samples.strand[i];
        if strand != NONE && is_included(strand) {
            // The path's strands are in the order of starts, as all strands are.
            let critical = critical_path.binary_search(&strand).is_ok();
            let stack = samples.stack[i];
            tally.add(frames.of(stack), callers.of(stack), critical);
        }
    }
    tally.finish()
}

/// The first of `functions` that has a name, else the first.
fn hottest_named(functions: Vec<HotFunction>) -> Option<HotFunction> {
    let named = |hot: &HotFunction| is_named(&hot.function, hot.file.as_deref());
    let first = functions.iter().position(named).unwrap_or(0);
    functions.into_iter().nth(first)
}

/// The first one of [`hot_functions`] that has a name, else the first.
pub fn hottest_function(
    dag: &Dag,
    time: (u64, u64),
    is_included: impl Fn(StrandId) -> bool,
) -> Option<HotFunction> {
    hottest_named(hot_functions(dag, time, &[], is_included))
}

/// The function in which most of these stacks were taken, of those that have a name.
pub(crate) fn hottest_of_stacks(
    dag: &Dag,
    stacks: impl Iterator<Item = u32>,
) -> Option<HotFunction> {
    let mut tally = FunctionTally::default();
    let mut frames = FrameCache::new(|stack| attributed_frame(dag, stack));
    stacks.for_each(|stack| tally.add(frames.of(stack), None, false));
    hottest_named(tally.finish())
}

/// Whether a strand belongs to the code block of `finding`.
pub(crate) fn is_in_block<'a>(
    dag: &'a Dag,
    finding: &'a Finding,
) -> impl Fn(StrandId) -> bool + 'a {
    move |s: StrandId| CodeBlock::from_strand(dag, s) == finding.block
}

/// First and last line of a function that have samples of the included strands.
pub(crate) fn sampled_lines(
    dag: &Dag,
    hot: &HotFunction,
    is_included: impl Fn(StrandId) -> bool,
) -> Option<(u32, u32)> {
    let samples = &dag.samples;
    let strands = samples.stack.iter().zip(&samples.strand);
    let mut frames = FrameCache::new(|stack| attributed_frame(dag, stack));
    let inside = strands.filter(|(_, s)| **s != NONE && is_included(**s));
    let lines = inside.filter_map(|(&stack, _)| {
        let frame = frames.of(stack)?;
        let same = frame.function == hot.function && frame.file == hot.file;
        frame.line.filter(|_| same)
    });
    lines.fold(None, |range, line| match range {
        None => Some((line, line)),
        Some((a, b)) => Some((a.min(line), b.max(line))),
    })
}

/// Where the code of a finding spends its time: in the block or the tasks that it names. `None` for
/// a cause that is not about running code, and without samples.
pub fn hot_function_of(dag: &Dag, finding: &Finding) -> Option<HotFunction> {
    let strands = &dag.strands;
    let of_site =
        |s: StrandId| dag.tasks.site[strands.task[s as usize] as usize] == finding.block.site;
    let all = (0, u64::MAX);
    match finding.cause {
        Cause::SerialStrand => hottest_function(dag, all, is_in_block(dag, finding)),
        Cause::GrainCoarse | Cause::Stretch => hottest_function(dag, all, of_site),
        _ => None,
    }
}
