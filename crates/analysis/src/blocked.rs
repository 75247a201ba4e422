//! Where strands gave up the CPU, and what for, by the stacks that were taken as they did.

use std::collections::BTreeMap;

use workspan_dag::{Dag, Frame};

use crate::causes::{Cause, Finding};
use crate::sample_profile::{FrameOfStack, attributed_frame, is_in_block, is_program};

/// Where strands gave up the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedIn {
    /// The function of the program that did, or the runtime's where none of the program's is on the
    /// stack.
    pub function: String,
    /// Its file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// The function that it called, and that waits: `std::thread::sleep`; `None` where the chain
    /// does not tell.
    pub waits_in: Option<String>,
    /// What the wait is, by the names on the stacks.
    pub kind: WaitKind,
    /// Ticks blocked there.
    pub ticks: u64,
    /// Ticks blocked of all stops that were looked at.
    pub of: u64,
    /// How many stops were looked at.
    pub stops: u64,
}

/// What a thread waits for, as the names of the functions tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// A time.
    Sleep,
    /// A lock.
    Lock,
    /// The lock under which Rayon's `par_bridge` asks the iterator for the next item.
    Bridge,
    /// The other end of a channel.
    Channel,
    /// A file, a socket, a pipe.
    Io,
    /// Something else.
    Other,
}

/// Names that tell what a wait is; the first that one of a stack's frames has, from the innermost
/// on.
const TELLING: [(&str, WaitKind); 19] = [
    ("IterParallelProducer", WaitKind::Bridge),
    ("mpmc", WaitKind::Channel),
    ("mpsc", WaitKind::Channel),
    ("Channel", WaitKind::Channel),
    ("SyncSender", WaitKind::Channel),
    ("nanosleep", WaitKind::Sleep),
    ("sleep", WaitKind::Sleep),
    ("mutex", WaitKind::Lock),
    ("Mutex", WaitKind::Lock),
    ("rwlock", WaitKind::Lock),
    ("RwLock", WaitKind::Lock),
    ("read", WaitKind::Io),
    ("write", WaitKind::Io),
    ("pread64", WaitKind::Io),
    ("pwrite64", WaitKind::Io),
    ("open64", WaitKind::Io),
    ("statx", WaitKind::Io),
    ("fsync", WaitKind::Io),
    ("recv", WaitKind::Io),
];

/// What the wait on `stack` is: the outermost telling frame between the system and the program's
/// own, so that a channel's lock is a channel's.
fn wait_kind(dag: &Dag, stack: u32) -> WaitKind {
    let frames = dag.samples.stacks.get(stack as usize);
    let mut kind = WaitKind::Other;
    for &frame in frames {
        let frame = &dag.samples.frames[frame as usize];
        if is_program(frame) {
            break;
        }
        let file = frame.file.as_deref().unwrap_or("");
        let tells = |&&(name, kind): &&(&str, WaitKind)| match kind {
            // Whole names: `read` is a part of many.
            WaitKind::Io | WaitKind::Sleep => {
                short(&frame.function) == name || short(&frame.function).ends_with("_nanosleep")
            }
            _ => {
                frame.function.contains(name)
                    || (file.contains("library/std") && file.contains(name))
            }
        };
        if let Some((_, told)) = TELLING.iter().find(tells) {
            kind = *told;
        }
        if frame.runtime {
            break;
        }
    }
    kind
}

fn short(function: &str) -> &str {
    function.rsplit("::").next().unwrap_or(function)
}

/// Where the strands of a finding about blocked time gave up the CPU: the place that took most of
/// it. `None` for other causes, and without stacks of that.
pub fn blocked_in(dag: &Dag, finding: &Finding) -> Option<BlockedIn> {
    if !matches!(finding.cause, Cause::Blocked | Cause::OtherThreads) {
        return None;
    }
    let is_in_block = is_in_block(dag, finding);
    let stops = dag.samples.stops.iter().filter(|s| is_in_block(s.strand));
    type Key<'a> = (&'a str, Option<&'a str>, Option<u32>);
    // Ticks, and those of the stack that took most of them.
    let mut places: BTreeMap<Key<'_>, (u64, u64, u32)> = BTreeMap::new();
    let (mut of, mut count) = (0u64, 0);
    let mut frames = FrameOfStack::new(|stack| program_line(dag, stack));
    for stop in stops {
        let Some(frame) = frames.of(stop.stack) else {
            continue;
        };
        of = of.saturating_add(stop.ticks);
        count += 1;
        let key = (frame.function.as_str(), frame.file.as_deref(), frame.line);
        let place = places.entry(key).or_default();
        place.0 = place.0.saturating_add(stop.ticks);
        if stop.ticks >= place.1 {
            (place.1, place.2) = (stop.ticks, stop.stack);
        }
    }
    let most = places
        .iter()
        .max_by_key(|(key, place)| (place.0, std::cmp::Reverse(*key)));
    let (&(function, file, line), &(ticks, _, stack)) = most?;
    // Of a library without symbols there is nothing to tell.
    if function == "?" || (file.is_none() && function.contains("+0x")) {
        return None;
    }
    Some(BlockedIn {
        function: function.to_owned(),
        file: file.map(str::to_owned),
        line,
        waits_in: called_by(dag, stack),
        kind: wait_kind(dag, stack),
        ticks,
        of,
        stops: count,
    })
}

/// The innermost frame of the program's own; else the runtime's, which called what waits.
fn program_line(dag: &Dag, stack: u32) -> Option<&Frame> {
    let frames = || {
        let frames = dag.samples.stacks.get(stack as usize).iter();
        frames.map(|&frame| &dag.samples.frames[frame as usize])
    };
    dag.samples
        .own_frames(stack)
        .find(|frame| is_program(frame))
        .or_else(|| frames().find(|frame| frame.runtime))
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
