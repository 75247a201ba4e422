//! The threads that ended waits of others, where they did so, and what they ran until then.

use std::collections::BTreeMap;

use workspan_dag::{Dag, Frame, NONE, Stop, WaitCause};

use crate::blocking_places::program_line;
use crate::sample_profile::{FrameCache, attributed_frame, is_named};

/// A place of the program's code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

/// The threads that had what others waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Where the waits were ended: the place with most of their time. `None` if no frame of the
    /// program is known there.
    pub released_at: Option<CodePlace>,
    /// Ticks of the waits that were ended there.
    pub ticks: u64,
    /// Ticks of all waits that were ended by a known thread.
    pub of: u64,
    /// Number of threads that ended them; threads without records count as one.
    pub threads: u32,
    /// What these threads ran meanwhile.
    pub ran: Option<HolderCode>,
}

/// What threads ran while others waited for them: the function with the most samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderCode {
    /// The function, and its line with the most samples.
    pub at: CodePlace,
    /// The program's outermost function of the task, and the line of its call. `None` if that is
    /// the same function.
    pub called_at: Option<CodePlace>,
    /// Number of samples there.
    pub samples: u64,
    /// Number of all samples of these threads during the waits.
    pub of: u64,
}

impl From<&Frame> for CodePlace {
    fn from(frame: &Frame) -> CodePlace {
        CodePlace {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
        }
    }
}

/// The threads that ended the waits; `None` if nothing is known about them. O((n + samples) log n).
pub(crate) fn holder(dag: &Dag, stops: &[&Stop]) -> Option<Holder> {
    let mut places: BTreeMap<CodePlace, u64> = BTreeMap::new();
    let mut threads: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    let mut frames = FrameCache::new(|stack| program_line(dag, stack));
    let mut of = 0u64;
    for stop in stops {
        // A thread without records in the trace still has a stack.
        let is_known = |wait: &&WaitCause| wait.by != NONE || wait.released_at != NONE;
        let Some(wait) = stop.wait.as_ref().filter(is_known) else {
            continue;
        };
        of = of.saturating_add(stop.ticks);
        let during = (stop.t, stop.t.saturating_add(stop.ticks));
        threads.entry(wait.by).or_default().push(during);
        let known = (wait.released_at != NONE).then_some(wait.released_at);
        let own = |frame: &&Frame| !frame.runtime && frame.line.is_some();
        if let Some(frame) = known.and_then(|stack| frames.of(stack)).filter(own) {
            let ticks = places.entry(CodePlace::from(frame)).or_default();
            *ticks = ticks.saturating_add(stop.ticks);
        }
    }
    if threads.is_empty() {
        return None;
    }
    let released = places
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    let (released_at, ticks) = released.map_or((None, 0), |(place, ticks)| (Some(place), ticks));
    let count = threads.len() as u32;
    Some(Holder {
        released_at,
        ticks,
        of,
        threads: count,
        ran: ran(dag, threads),
    })
}

/// The code that the threads ran most in these times.
fn ran(dag: &Dag, mut threads: BTreeMap<u32, Vec<(u64, u64)>>) -> Option<HolderCode> {
    for times in threads.values_mut() {
        times.sort_unstable();
        // The latest end so far, so that one search finds whether a moment lies in any of them.
        let mut end = 0;
        for time in times {
            end = end.max(time.1);
            time.1 = end;
        }
    }
    let samples = &dag.samples;
    // By function and caller: the number of samples, in total and by line.
    type Lines = BTreeMap<Option<u32>, u64>;
    type Code<'a> = (&'a str, Option<&'a str>, Option<CodePlace>);
    let mut places: BTreeMap<Code<'_>, (u64, Lines)> = BTreeMap::new();
    let mut frames = FrameCache::new(|stack| attributed_frame(dag, stack));
    let mut callers = FrameCache::new(|stack| {
        let own = samples.own_frames(stack);
        own.filter(|frame| frame.is_program()).last()
    });
    let mut all = 0;
    for ((&t, thread), &stack) in samples.t.iter().zip(&samples.thread).zip(&samples.stack) {
        let Some(times) = threads.get(thread) else {
            continue;
        };
        let begun = times.partition_point(|time| time.0 <= t);
        let is_during = begun.checked_sub(1).is_some_and(|i| t < times[i].1);
        let Some(frame) = frames.of(stack).filter(|_| is_during) else {
            continue;
        };
        all += 1;
        let is_other = |caller: &&Frame| caller.function != frame.function;
        let caller = callers.of(stack).filter(is_other).map(CodePlace::from);
        let key = (frame.function.as_str(), frame.file.as_deref(), caller);
        let place = places.entry(key).or_default();
        place.0 += 1;
        *place.1.entry(frame.line).or_default() += 1;
    }
    let named = |(function, file, _): &Code<'_>| is_named(function, *file);
    let most = places.into_iter().max_by(|a, b| {
        let by_name = named(&a.0).cmp(&named(&b.0));
        by_name
            .then_with(|| a.1.0.cmp(&b.1.0))
            .then_with(|| b.0.cmp(&a.0))
    });
    let ((function, file, called_at), (samples, lines)) = most?;
    let line = lines
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    Some(HolderCode {
        at: CodePlace {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line: line.and_then(|(line, _)| line),
        },
        called_at,
        samples,
        of: all,
    })
}
