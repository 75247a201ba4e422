//! What threads waited for: by what the process told of a wait, and by the names on its stack.

use std::collections::BTreeMap;

use workspan_dag::samples::WaitedFor as Told;
use workspan_dag::{Dag, Stop};

use crate::causes::Cause;
use crate::sample_profile::is_program;

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
    /// A condition variable or a semaphore, which another thread signals.
    Condition,
    /// The other threads at a barrier.
    Barrier,
    /// A file, a socket, a pipe.
    Io,
    /// Something else.
    Other,
}

/// Names that tell what a wait is; the first that one of a stack's frames has, from the innermost
/// on.
const TELLING: [(&str, WaitKind); 24] = [
    ("IterParallelProducer", WaitKind::Bridge),
    ("mpmc", WaitKind::Channel),
    ("mpsc", WaitKind::Channel),
    ("Channel", WaitKind::Channel),
    ("SyncSender", WaitKind::Channel),
    ("flume", WaitKind::Channel),
    ("Condvar", WaitKind::Condition),
    ("Barrier", WaitKind::Barrier),
    ("RawMutex", WaitKind::Lock),
    ("RawRwLock", WaitKind::Lock),
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

/// What the wait on `stack` is by its names: the outermost telling frame between the system and
/// the program's own, so that a channel's lock is a channel's.
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

impl WaitKind {
    /// The cause that blocked time of this kind is charged to.
    pub fn cause(self) -> Cause {
        match self {
            WaitKind::Sleep => Cause::Sleep,
            WaitKind::Lock | WaitKind::Bridge => Cause::Lock,
            WaitKind::Channel | WaitKind::Condition => Cause::Channel,
            WaitKind::Io => Cause::Io,
            WaitKind::Barrier | WaitKind::Other => Cause::Blocked,
        }
    }
}

/// What each of the stops waited for.
pub fn wait_kinds(dag: &Dag) -> Vec<WaitKind> {
    let mut kinds = WaitKinds::new(dag);
    dag.samples
        .stops
        .iter()
        .map(|stop| kinds.of(stop))
        .collect()
}

/// The kinds of waits; each stack is looked at once.
pub(crate) struct WaitKinds<'a> {
    dag: &'a Dag,
    by_names: BTreeMap<u32, WaitKind>,
}

impl<'a> WaitKinds<'a> {
    pub(crate) fn new(dag: &'a Dag) -> WaitKinds<'a> {
        WaitKinds {
            dag,
            by_names: BTreeMap::new(),
        }
    }

    /// What the thread waited for.
    pub(crate) fn of(&mut self, stop: &Stop) -> WaitKind {
        let dag = self.dag;
        let mut by_names = || {
            let known = self.by_names.entry(stop.stack);
            *known.or_insert_with(|| wait_kind(dag, stop.stack))
        };
        let Some(wait) = &stop.wait else {
            return by_names();
        };
        // The names tell whose lock or condition variable it is.
        match wait.kind {
            Told::Futex => by_names(),
            Told::Mutex | Told::RwLock => match by_names() {
                kind @ (WaitKind::Bridge | WaitKind::Channel) => kind,
                _ => WaitKind::Lock,
            },
            Told::Condition | Told::Semaphore => match by_names() {
                WaitKind::Channel => WaitKind::Channel,
                _ => WaitKind::Condition,
            },
            Told::Barrier => WaitKind::Barrier,
            Told::Sleep => WaitKind::Sleep,
            Told::Io => WaitKind::Io,
        }
    }
}
