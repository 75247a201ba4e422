//! Where strands gave up the CPU, what they waited for and for which thread, by the stacks taken at
//! that moment and by what the process reported about its waits.

use std::collections::BTreeMap;

use workspan_dag::{Dag, Frame, PlaceId, Stop, WaitKind, WaitKinds};

use crate::causes::{Cause, Finding};
use crate::holder::{Holder, holder};
use crate::sample_profile::{FrameCache, attributed_frame, is_in_block};
use crate::wait_kind::StopCauses;

/// A place where strands gave up the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockingPlace {
    /// The innermost function of the program on the stack, or else of the runtime.
    pub function: String,
    /// Its file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// The function that it called and that waits, for instance `std::thread::sleep`; `None` if the
    /// stack does not show it.
    pub waits_in: Option<String>,
    /// The kind of wait, by the names on the stacks.
    pub kind: WaitKind,
    /// Ticks blocked there.
    pub ticks: u64,
    /// Ticks blocked in all stops that were examined.
    pub of: u64,
    /// Number of stops that were examined.
    pub stops: u64,
    /// The thread that ended these waits, if it is known for some of them.
    pub holder: Option<Holder>,
    /// Where the holder of the lock waited in a join meanwhile, if it did.
    pub join: Option<PlaceId>,
    /// The process that others waited for most, in calls of MPI. If there is one, all other fields
    /// are about the waits for it.
    pub late: Option<LateProcess>,
}

/// A process that others waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateProcess {
    /// Index into the processes of the run.
    pub process: usize,
    /// Ticks of the waits for it.
    pub ticks: u64,
    /// Ticks of the waits for all processes.
    pub of: u64,
}

impl BlockingPlace {
    /// Whether it is a lock of the C library: that of its allocator, which all threads share, or of
    /// a stream.
    pub fn is_c_library_lock(&self) -> bool {
        let is_it = |name: &str| name.contains("lll_lock_wait");
        self.kind == WaitKind::Lock
            && (is_it(&self.function) || self.waits_in.as_deref().is_some_and(is_it))
    }
}

/// Where the strands of a finding about blocked time gave up the CPU: the place with most of that
/// time. `None` for other causes, and without stacks of these strands.
pub fn blocked_in(dag: &Dag, finding: &Finding) -> Option<BlockingPlace> {
    let (mut stops, join) = stops_of(dag, finding)?;
    let late = (finding.cause == Cause::LateRank).then(|| late_process(dag, &mut stops));
    let late = late.flatten();
    type Key<'a> = (&'a str, Option<&'a str>, Option<u32>);
    // By place: the ticks, and the longest stop with its ticks.
    let mut places: BTreeMap<Key<'_>, (u64, u64, Option<&Stop>)> = BTreeMap::new();
    let (mut of, mut count) = (0u64, 0);
    let mut frames = FrameCache::new(|stack| program_line(dag, stack));
    for &stop in &stops {
        let Some(frame) = frames.of(stop.stack) else {
            continue;
        };
        of = of.saturating_add(stop.ticks);
        count += 1;
        let key = (frame.function.as_str(), frame.file.as_deref(), frame.line);
        let place = places.entry(key).or_default();
        place.0 = place.0.saturating_add(stop.ticks);
        if stop.ticks >= place.1 {
            (place.1, place.2) = (stop.ticks, Some(stop));
        }
    }
    let most = places
        .iter()
        .max_by_key(|(key, place)| (place.0, std::cmp::Reverse(*key)));
    let (&(function, file, line), &(ticks, _, longest)) = most?;
    let longest = longest?;
    if function == "?" {
        return None;
    }
    Some(BlockingPlace {
        function: function.to_owned(),
        file: file.map(str::to_owned),
        line,
        waits_in: called_by(dag, longest.stack),
        kind: WaitKinds::new(&dag.samples).of(longest),
        ticks,
        of,
        stops: count,
        holder: holder(dag, &stops),
        join,
        late,
    })
}

/// The process that these stops waited for most. Only the stops that waited for it stay in `stops`.
fn late_process(dag: &Dag, stops: &mut Vec<&Stop>) -> Option<LateProcess> {
    let processes = &dag.meta.processes;
    let awaited = |stop: &Stop| {
        let wait = stop.wait?;
        processes.of(wait.by, stop.t.saturating_add(wait.held))
    };
    let mut ticks: BTreeMap<usize, u64> = BTreeMap::new();
    let mut of = 0u64;
    for stop in stops.iter() {
        of = of.saturating_add(stop.ticks);
        if let Some(process) = awaited(stop) {
            let sum = ticks.entry(process).or_default();
            *sum = sum.saturating_add(stop.ticks);
        }
    }
    let most = ticks
        .into_iter()
        .max_by_key(|&(process, ticks)| (ticks, std::cmp::Reverse(process)));
    let (process, ticks) = most?;
    stops.retain(|stop| awaited(stop) == Some(process));
    Some(LateProcess { process, ticks, of })
}

/// The stops of a finding about blocked time. Also the join of the longest stop that waited for a
/// lock held across a join.
fn stops_of<'a>(dag: &'a Dag, finding: &Finding) -> Option<(Vec<&'a Stop>, Option<PlaceId>)> {
    if !finding.cause.is_blocked() && finding.cause != Cause::OtherThreads {
        return None;
    }
    let is_in_block = is_in_block(dag, finding);
    let mut causes = StopCauses::new(dag);
    let stops = (0..).zip(&dag.samples.stops);
    let stops: Vec<(u32, &Stop)> = stops
        .filter(|&(i, stop)| {
            let is_any = finding.cause == Cause::OtherThreads;
            is_in_block(stop.strand) && (is_any || causes.of(i, stop) == finding.cause)
        })
        .collect();
    let longest = stops.iter().max_by_key(|(_, stop)| stop.ticks);
    let join = longest.and_then(|&(i, _)| causes.join(i));
    let join = join.filter(|_| finding.cause == Cause::LockAcrossJoin);
    Some((stops.into_iter().map(|(_, stop)| stop).collect(), join))
}

/// The innermost frame of the program's own code; if there is none, that of the runtime, which
/// called the waiting function. Where the recorder seems to have called it, a task that the
/// recorder called did so last, by a jump: then the frame of the function that the task called.
pub fn program_line(dag: &Dag, stack: u32) -> Option<&Frame> {
    let frames = || {
        let frames = dag.samples.stacks.get(stack as usize).iter();
        frames.map(|&frame| &dag.samples.frames[frame as usize])
    };
    dag.samples
        .own_frames(stack)
        .find(|frame| frame.is_program())
        .or_else(|| match frames().find(|frame| frame.runtime) {
            Some(caller) if caller.is_recording() => dag.samples.own_frames(stack).last(),
            caller => caller,
        })
        .or_else(|| attributed_frame(dag, stack))
}

/// The function that the frame of [`program_line`] called.
fn called_by(dag: &Dag, stack: u32) -> Option<String> {
    let frames = dag.samples.stacks.get(stack as usize);
    let caller: *const Frame = program_line(dag, stack)?;
    let frame = |f: u32| &dag.samples.frames[f as usize];
    let at = frames
        .iter()
        .position(|&f| std::ptr::eq(frame(f), caller))?;
    let called = frame(*frames.get(at.checked_sub(1)?)?);
    (called.function != "?").then(|| called.function.clone())
}
