//! Which stacks are in a runtime's own code, which creates, queues and waits for tasks, or in the
//! recorder's. Inside strands, the runtime's time is part of the work.

use workspan_dag::{Frame, Samples};

use crate::sample_profile::SampleProfile;

/// Functions of the C library that manage memory, make a system call or ask for the process's
/// settings, without a suffix `64`.
const SYSTEM_SERVICES: [&str; 14] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "mmap",
    "munmap",
    "madvise",
    "sched_yield",
    "syscall",
    "sysmalloc",
    "__lll_lock_wait",
    "__tls_get_addr",
    "__errno_location",
    "getenv",
];

/// Minimum number of samples in strands for a share of them.
const MIN_SAMPLES: u64 = 50;

/// By stack: whether it is in a runtime's code for tasks, or in memory management or a system call
/// on its behalf.
pub(crate) fn in_scheduler(samples: &Samples) -> Vec<bool> {
    on_behalf_of(samples, is_scheduler)
}

/// By stack: whether it is in any code of a runtime or in the recorder, or in memory management or
/// a system call on its behalf.
pub(crate) fn in_runtime(samples: &Samples) -> Vec<bool> {
    on_behalf_of(samples, |frame| frame.runtime)
}

/// By stack: whether it is in the recorder, or in memory management or a system call on its behalf.
pub(crate) fn in_recorder(samples: &Samples) -> Vec<bool> {
    on_behalf_of(samples, Frame::is_recording)
}

/// By stack: whether the innermost frame that is no service of the system is `wanted`.
fn on_behalf_of(samples: &Samples, wanted: impl Fn(&Frame) -> bool) -> Vec<bool> {
    let is_wanted = |stack: &[u32]| {
        let mut frames = stack.iter().map(|&frame| &samples.frames[frame as usize]);
        frames
            .find(|frame| !is_system_service(frame))
            .is_some_and(&wanted)
    };
    (0..samples.stacks.len())
        .map(|stack| is_wanted(samples.stacks.get(stack)))
        .collect()
}

fn is_scheduler(frame: &Frame) -> bool {
    frame.runtime && !frame.is_recording() && workspan_runtimes::is_scheduler(&frame.function)
}

fn is_system_service(frame: &Frame) -> bool {
    let name = frame.function.trim_end_matches("64");
    let is_unnamed = name.starts_with("libc.so") || name.starts_with("ld-linux");
    frame.file.is_none() && (is_unnamed || SYSTEM_SERVICES.contains(&name))
}

impl SampleProfile {
    /// The share of the work in which a runtime created, queued and waited for tasks, in percent,
    /// rounded down; `None` with fewer than 50 samples in strands.
    pub fn runtime_percent(&self) -> Option<u64> {
        (self.inside >= MIN_SAMPLES).then(|| 100 * self.in_runtime / self.inside)
    }
}
