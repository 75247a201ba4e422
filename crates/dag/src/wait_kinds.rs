//! Classifies the waits of threads by what the process reported about a wait, and by the function
//! names on its stack.

use std::collections::BTreeMap;

use crate::samples::{Samples, Stop, WaitedFor};

/// What a thread waits for, according to the names of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// A point in time.
    Sleep,
    /// A lock.
    Lock,
    /// The lock under which Rayon's `par_bridge` asks the iterator for the next item.
    Bridge,
    /// The other end of a channel.
    Channel,
    /// A condition variable or a semaphore that another thread signals.
    Condition,
    /// The other threads at a barrier.
    Barrier,
    /// A file, a socket, a pipe.
    Io,
    /// Another rank, in a call of MPI.
    Rank,
    /// Something else.
    Other,
}

impl WaitKind {
    /// Its name in JSON and in the page.
    pub const fn name(self) -> &'static str {
        match self {
            WaitKind::Sleep => "sleep",
            WaitKind::Lock => "lock",
            WaitKind::Bridge => "par_bridge",
            WaitKind::Channel => "channel",
            WaitKind::Condition => "condition",
            WaitKind::Barrier => "barrier",
            WaitKind::Io => "io",
            WaitKind::Rank => "rank",
            WaitKind::Other => "other",
        }
    }
}

/// Function names that reveal the kind of a wait. The first one that matches a stack's frames
/// counts, from the innermost frame on.
const KIND_BY_NAME: [(&str, WaitKind); 29] = [
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
    // Idle workers of Rayon in a library that was not built for recording.
    ("rayon_core::sleep", WaitKind::Condition),
    // The C library's own locks, such as the allocator's.
    ("lll_lock_wait", WaitKind::Lock),
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
    ("getdents64", WaitKind::Io),
    ("fstatat64", WaitKind::Io),
    ("lstat64", WaitKind::Io),
    ("openat64", WaitKind::Io),
    ("fsync", WaitKind::Io),
];

/// Functions of the C library that wait for a file or a socket. Methods that were inlined have such
/// names too, as `recv` of a channel, but their source file is known.
const C_IO: [&str; 34] = [
    "accept",
    "accept4",
    "close",
    "connect",
    "copy_file_range",
    "fallocate",
    "fallocate64",
    "fdatasync",
    "ftruncate",
    "ftruncate64",
    "link",
    "mkdir",
    "msync",
    "open",
    "openat",
    "pread",
    "preadv",
    "pwrite",
    "pwritev",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "rename",
    "renameat2",
    "rmdir",
    "send",
    "sendfile",
    "sendfile64",
    "sendmsg",
    "sendto",
    "unlink",
    "unlinkat",
    "writev",
];

/// The kind of the wait on `stack` by its names: that of the outermost matching frame between the
/// system and the program's own code, so that a channel's lock counts as a channel.
fn by_names(samples: &Samples, stack: u32) -> WaitKind {
    let frames = samples.stacks.get(stack as usize);
    let mut kind = WaitKind::Other;
    for &frame in frames {
        let frame = &samples.frames[frame as usize];
        if frame.is_program() {
            break;
        }
        let file = frame.file.as_deref().unwrap_or("");
        let is_match = |&&(name, kind): &&(&str, WaitKind)| match kind {
            // Whole names only, because `read` is a part of many names.
            WaitKind::Io | WaitKind::Sleep => {
                short(&frame.function) == name || short(&frame.function).ends_with("_nanosleep")
            }
            _ => {
                frame.function.contains(name)
                    || (file.contains("library/std") && file.contains(name))
            }
        };
        if let Some((_, named_kind)) = KIND_BY_NAME.iter().find(is_match) {
            kind = *named_kind;
        } else if (file.is_empty() || file.ends_with(".c"))
            && C_IO.contains(&frame.function.as_str())
        {
            kind = WaitKind::Io;
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

/// The kinds of waits; each stack is classified once.
pub struct WaitKinds<'a> {
    samples: &'a Samples,
    by_names: BTreeMap<u32, WaitKind>,
}

impl<'a> WaitKinds<'a> {
    /// The kinds of waits in these samples.
    pub fn new(samples: &'a Samples) -> WaitKinds<'a> {
        WaitKinds {
            samples,
            by_names: BTreeMap::new(),
        }
    }

    /// What the thread waited for. The names on the stack tell which kind of lock or condition
    /// variable it is.
    pub fn of(&mut self, stop: &Stop) -> WaitKind {
        let mut names = || {
            let known = self.by_names.entry(stop.stack);
            *known.or_insert_with(|| by_names(self.samples, stop.stack))
        };
        match stop.wait.map(|wait| wait.kind) {
            None | Some(WaitedFor::Futex) => names(),
            Some(WaitedFor::Mutex | WaitedFor::RwLock) => match names() {
                kind @ (WaitKind::Bridge | WaitKind::Channel) => kind,
                _ => WaitKind::Lock,
            },
            Some(WaitedFor::Condition | WaitedFor::Semaphore) => match names() {
                WaitKind::Channel => WaitKind::Channel,
                _ => WaitKind::Condition,
            },
            Some(WaitedFor::Barrier) => WaitKind::Barrier,
            Some(WaitedFor::Sleep) => WaitKind::Sleep,
            Some(WaitedFor::Io) => WaitKind::Io,
            Some(WaitedFor::Rank) => WaitKind::Rank,
        }
    }

    /// Whether the waiting thread could have been first. The order among the holders of a lock is
    /// specific to this run, whereas a signal, an item of a channel and a barrier need the other
    /// thread.
    pub fn is_order(&mut self, stop: &Stop) -> bool {
        match stop.wait.map(|wait| wait.kind) {
            Some(WaitedFor::Mutex | WaitedFor::RwLock) => true,
            _ => matches!(self.of(stop), WaitKind::Lock | WaitKind::Bridge),
        }
    }
}
