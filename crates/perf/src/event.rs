//! Opening the events.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use perf_event_open_sys as sys;
use sys::bindings::{
    PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_TASK_CLOCK,
    PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CPU, PERF_SAMPLE_IP, PERF_SAMPLE_REGS_USER,
    PERF_SAMPLE_STACK_USER, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, perf_event_attr,
};

/// The reason why the kernel refuses the watching; the text says what would allow it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct WatchRefusal {
    what: String,
}

impl WatchRefusal {
    pub(crate) fn new(doing: &str, error: &io::Error) -> Self {
        let remedy = match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                "; kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON, allows it"
            }
            Some(libc::ENOSYS) => "; this kernel or container has no perf events",
            Some(libc::EMFILE | libc::ENFILE) => "; too many open files",
            _ => "",
        };
        WatchRefusal {
            what: format!("{doing}: {error}{remedy}"),
        }
    }
}

/// Maximum number of return addresses of a sample: deeper stacks lose their outermost part, which
/// lies in the runtime.
const MAX_SAMPLE_DEPTH: u16 = 96;

/// The process whose events are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    /// The calling process, from its next exec on.
    FromExec,
    /// Another process with one thread, from the time at which the event is enabled.
    Process(i32),
}

impl Watched {
    fn pid(self) -> i32 {
        match self {
            // The calling process.
            Watched::FromExec => 0,
            Watched::Process(pid) => pid,
        }
    }
}

/// The size of the copied top of a thread's stack, in bytes. The C library's frames between a
/// program and the innermost functions of `malloc`, or the clock, fit into it. With more, a ring
/// would be full in a quarter of a second.
const STACK_BYTES: u32 = 512;
/// The registers in a sample, as the kernel numbers those of x86-64: BP, SP and IP. They come in
/// this order.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;

/// Opens context-switch records for a process on `cpu`, which its threads and the processes that it
/// starts inherit. With `hertz`, the same ring also gets user call chains at that rate of CPU time,
/// also of its time in the kernel if that is allowed ([`kernel_is_sampled`]).
/// The records of threads that end are needed too: the kernel detaches its events from a thread
/// before the thread's last switch, which therefore has no record.
pub(crate) fn open_switches(watched: Watched, cpu: i32, hertz: Option<u32>) -> io::Result<OwnedFd> {
    let mut attr = attributes(hertz);
    begin(&mut attr, watched);
    attr.set_context_switch(1);
    attr.set_task(1);
    attr.set_exclude_kernel(u64::from(hertz.is_none()));
    match open(&mut attr, watched.pid(), cpu) {
        Err(error) if hertz.is_some() && error.kind() == io::ErrorKind::PermissionDenied => {
            attr.set_exclude_kernel(1);
            open(&mut attr, watched.pid(), cpu)
        }
        opened => opened,
    }
}

/// Sets when the event of a process begins, and that what the process starts inherits it.
fn begin(attr: &mut perf_event_attr, watched: Watched) {
    attr.set_disabled(1);
    attr.set_enable_on_exec(u64::from(watched == Watched::FromExec));
    attr.set_inherit(1);
}

/// Number of stacks of threads that leave a CPU, per second of their time on one. Each costs about
/// as much as the switch, so that a program with many switches is not slowed down.
const STOPS_PER_SECOND: u64 = 1997;

/// Opens user call chains of a process's threads as they leave `cpu`. The kernel takes them in
/// kernel mode, so it allows them only with access to kernel events (kernel.perf_event_paranoid of
/// 1 or less, or CAP_PERFMON); its own addresses are left out anyway. All of a thread's first
/// switches have a stack; later ones are limited to the rate.
pub(crate) fn open_stops(watched: Watched, cpu: i32) -> io::Result<OwnedFd> {
    let mut attr = attributes(None);
    attr.config = u64::from(PERF_COUNT_SW_CONTEXT_SWITCHES);
    attr.sample_type |= u64::from(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
    attr.__bindgen_anon_1.sample_freq = STOPS_PER_SECOND;
    attr.set_freq(1);
    attr.set_exclude_kernel(0);
    attr.set_exclude_callchain_kernel(1);
    attr.sample_max_stack = MAX_SAMPLE_DEPTH;
    attr.__bindgen_anon_2.wakeup_watermark = (crate::ring::STOPS_BYTES / 4) as u32;
    begin(&mut attr, watched);
    open(&mut attr, watched.pid(), cpu)
}

/// Opens call chains of the calling thread, on any CPU, starting now.
pub(crate) fn open_own_samples(hertz: u32) -> io::Result<OwnedFd> {
    open(&mut attributes(Some(hertz)), 0, -1)
}

/// Whether samples also cover the time that a process spends in the kernel, in system calls and
/// page faults. That needs access to kernel events (kernel.perf_event_paranoid of 1 or less, or
/// CAP_PERFMON).
pub fn kernel_is_sampled() -> bool {
    let mut attr = attributes(Some(1));
    attr.set_disabled(1);
    attr.set_exclude_kernel(0);
    open(&mut attr, 0, -1).is_ok()
}

/// The attributes that both kinds of events share.
fn attributes(hertz: Option<u32>) -> perf_event_attr {
    let mut attr = perf_event_attr::default();
    attr.type_ = PERF_TYPE_SOFTWARE;
    attr.size = size_of::<perf_event_attr>() as u32;
    attr.config = u64::from(PERF_COUNT_SW_DUMMY);
    attr.sample_type = u64::from(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
    if let Some(hertz) = hertz {
        attr.config = u64::from(PERF_COUNT_SW_TASK_CLOCK);
        attr.sample_type |= u64::from(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
        attr.__bindgen_anon_1.sample_freq = u64::from(hertz);
        attr.set_freq(1);
        attr.set_exclude_callchain_kernel(1);
        attr.sample_max_stack = MAX_SAMPLE_DEPTH;
        if cfg!(target_arch = "x86_64") {
            attr.sample_type |= u64::from(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
            attr.sample_regs_user = REGISTERS;
            attr.sample_stack_user = STACK_BYTES;
        }
    }
    attr.clockid = libc::CLOCK_MONOTONIC_RAW;
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = (crate::ring::DATA_BYTES / 4) as u32;
    attr
}

/// Opens an event of a process; 0 is the calling one.
fn open(attr: &mut perf_event_attr, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
    let flags = u64::from(sys::bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: `attr` is a valid attribute structure of the size it states.
    let fd = unsafe { sys::perf_event_open(attr, pid, cpu, -1, flags as _) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The CPUs that are online, from the kernel's list (`0-3,8`); if it can't be read, the first ones
/// in the number that `sysconf` returns.
pub(crate) fn online_cpus() -> Vec<i32> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus = parse_cpu_list(list.trim());
    if !cpus.is_empty() {
        return cpus;
    }
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (0..count as i32).collect()
}

/// The CPUs of a list in the kernel's format (`0-3,8`); empty if the text is not such a list.
pub fn parse_cpu_list(list: &str) -> Vec<i32> {
    let mut cpus = Vec::new();
    for range in list.split(',').filter(|r| !r.is_empty()) {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (Ok(from), Ok(to)) = (from.parse::<i32>(), to.parse::<i32>()) else {
            return Vec::new();
        };
        if from < 0 || to < from || to > 8191 {
            return Vec::new();
        }
        cpus.extend(from..=to);
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::parse_cpu_list;

    #[test]
    fn cpu_lists() {
        assert_eq!(parse_cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_cpu_list("7"), [7]);
        assert!(parse_cpu_list("").is_empty());
        assert!(parse_cpu_list("3-1").is_empty());
        assert!(parse_cpu_list("0-99999999").is_empty());
    }
}
