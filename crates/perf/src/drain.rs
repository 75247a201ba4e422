//! The detached process that empties the rings.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use perf_event_open_sys::bindings::{
    PERF_RECORD_EXIT, PERF_RECORD_LOST, PERF_RECORD_MISC_SWITCH_OUT,
    PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH,
};

use crate::cost::Rate;
use crate::event::{WatchRefusal, Watched, online_cpus, open_stops, open_switches};
use crate::ring::{Ring, STOPS_BYTES};
use crate::switch_file::{self, Switch};
use crate::watch_requests::{WatchRequests, raise_file_limit};

/// Milliseconds between two checks of the rings if no ring calls for one.
const POLL_MS: i32 = 100;

/// The threads that are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The threads of the process itself.
    Process,
    /// Also the threads of all processes that it starts.
    Descendants,
}

/// Watches the calling process from its next exec on, into a new file at `path` (0600): its
/// threads' context switches and, with `rate`, call chains at that rate of CPU time. Call it last
/// before the exec, in a process with one thread. The watcher is a grandchild in a session of its
/// own, adopted by init: the program can neither wait for it nor signal it by its group. Processes
/// that write their id into the pipe `requests`, which this makes, are watched too. Returns the
/// reason if there will be no requested samples.
///
/// # Errors
/// The kernel refuses ([`WatchRefusal`]); nothing is left behind then, and the program can
/// run without it.
pub fn watch_from_exec(
    path: &Path,
    rate: Option<Rate>,
    scope: Scope,
    requests: Option<&Path>,
) -> Result<Option<WatchRefusal>, WatchRefusal> {
    let (events, unsampled) = match rate.map(|rate| open_all(Some(rate.hertz))) {
        Some(Ok(events)) => (events, None),
        sampled => {
            let refused = sampled
                .and_then(Result::err)
                .map(|error| WatchRefusal::new("code can't be sampled", &error));
            let events = open_all(None)
                .map_err(|error| WatchRefusal::new("context switches can't be watched", &error))?;
            (events, refused)
        }
    };
    let pid = std::process::id();
    let process = pidfd(pid)
        .map_err(|e| WatchRefusal::new("the process can't be watched for its end", &e))?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|e| WatchRefusal::new(&format!("{} can't be written", path.display()), &e))?;
    // The lock belongs to the open file, which the watcher inherits, so readers wait until the
    // watcher is gone. SAFETY: a plain system call on a descriptor we own.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) };
    let rate = rate.filter(|_| unsampled.is_none());
    // Blocked time has no place if the kernel does not take stacks at switches.
    let stops = match rate {
        Some(_) => open_each(|cpu| open_stops(Watched::FromExec, cpu)).unwrap_or_default(),
        None => Vec::new(),
    };
    // Without the pipe, such processes are not watched.
    let requests = requests.and_then(|pipe| WatchRequests::open(pipe).ok());
    start_watcher(
        (events, stops),
        process,
        (KeptThreads::new(pid, scope), rate),
        (file, requests),
    )
    .map_err(|error| {
        let _ = std::fs::remove_file(path);
        WatchRefusal::new("the watcher can't be started", &error)
    })?;
    Ok(unsampled)
}

/// An event of one CPU.
type CpuEvent = (i32, OwnedFd);

/// One event for each CPU.
fn open_all(hertz: Option<u32>) -> io::Result<Vec<CpuEvent>> {
    open_each(|cpu| open_switches(Watched::FromExec, cpu, hertz))
}

fn open_each(open: impl Fn(i32) -> io::Result<OwnedFd>) -> io::Result<Vec<CpuEvent>> {
    let mut events = Vec::new();
    for cpu in online_cpus() {
        match open(cpu) {
            Ok(event) => events.push((cpu, event)),
            // A CPU went offline between the list and the call.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(events)
}

/// Forks the watcher, and returns when its rings are mapped. (The watcher maps them itself, because
/// a fork does not copy such mappings.)
fn start_watcher(
    (events, stops): (Vec<CpuEvent>, Vec<CpuEvent>),
    process: OwnedFd,
    (threads, rate): (KeptThreads, Option<Rate>),
    (file, requests): (File, Option<WatchRequests>),
) -> io::Result<()> {
    let (mut answer, mut answering) = io::pipe()?;
    // SAFETY: this process has one thread, so the child may continue with ordinary code.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(answer);
            // SAFETY: this process has one thread, so the child may continue with ordinary code.
            // The first child only lives to be waited for.
            unsafe {
                libc::setsid();
                if libc::fork() != 0 {
                    libc::_exit(0);
                }
            }
            let rings: io::Result<Vec<Ring>> = events.into_iter().map(Ring::map).collect();
            let error = rings
                .as_ref()
                .err()
                .and_then(io::Error::raw_os_error)
                .unwrap_or(0);
            let _ = answering.write_all(&error.to_le_bytes());
            drop(answering);
            if let Ok(mut rings) = rings {
                let stops = stops.into_iter();
                let stops: io::Result<Vec<Ring>> = stops
                    .map(|event| Ring::map_bytes(event, STOPS_BYTES))
                    .collect();
                let mut stops = stops.unwrap_or_default();
                detach();
                drain(
                    (&mut rings, &mut stops),
                    &process,
                    (threads, rate),
                    (file, requests),
                );
            }
            // SAFETY: ends this process without running the runner's exit handlers.
            unsafe { libc::_exit(0) }
        }
        child => {
            drop(answering);
            // SAFETY: our own child, waited for once.
            while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } == -1
                && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
            {}
            let mut error = [0; 4];
            answer.read_exact(&mut error)?;
            match i32::from_le_bytes(error) {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }
}

fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes two integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Releases what others would miss: standard streams (a pipe's reader waits for the last writer)
/// and the working directory.
fn detach() {
    // SAFETY: plain system calls in a process of our own with one thread.
    unsafe {
        let fd = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        if fd >= 0 {
            for standard in 0..3 {
                libc::dup2(fd, standard);
            }
            if fd > 2 {
                libc::close(fd);
            }
        }
        libc::chdir(c"/".as_ptr());
        for signal in [
            libc::SIGHUP,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGPIPE,
        ] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    close_others();
}

/// We opened rings, file and pidfd close-on-exec, so every other descriptor beyond the standard
/// ones was inherited for the program and must not stay open here.
fn close_others() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let fds: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&fd| fd > 2)
        .collect();
    for fd in fds {
        // SAFETY: querying and closing descriptors of this process; Rust owns none without
        // close-on-exec here.
        unsafe {
            let flags = libc::fcntl(fd, libc::F_GETFD);
            if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
                libc::close(fd);
            }
        }
    }
}

/// Empties the rings until the program has ended. A write that fails (disk full) ends the watching;
/// the program is not affected.
fn drain(
    (rings, stops): (&mut [Ring], &mut [Ring]),
    process: &OwnedFd,
    (mut threads, rate): (KeptThreads, Option<Rate>),
    (mut file, mut requests): (File, Option<WatchRequests>),
) {
    raise_file_limit();
    let mut buffer = Vec::with_capacity(1 << 16);
    if let Some(rate) = rate {
        buffer.extend_from_slice(&switch_file::rate(rate.hertz));
        if let Some(cost) = rate.cost {
            buffer.extend_from_slice(&switch_file::cost(cost));
        }
    }
    // A negative descriptor is passed over.
    let asking = requests.as_ref().map_or(-1, WatchRequests::raw_fd);
    let mut polled: Vec<libc::pollfd> = [process.as_raw_fd(), asking]
        .into_iter()
        .chain(rings.iter().chain(stops.iter()).map(Ring::raw_fd))
        .map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        // SAFETY: an array of initialised entries and its length.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, POLL_MS) };
        let is_over = polled[0].revents != 0;
        let switches = rings.len();
        let all = rings.iter_mut().chain(stops.iter_mut()).enumerate();
        for ((number, ring), entry) in all.zip(&mut polled[2..]) {
            ring.drain(|kind, misc, body| {
                if number < switches {
                    keep(kind, misc, body, &mut threads, &mut buffer);
                } else {
                    keep_stop(kind, body, &mut threads, &mut buffer);
                }
            });
            // The event's own thread has ended. Its ring is still filled by inherited events, but
            // would always be ready in a poll.
            if entry.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                entry.fd = -1;
            }
        }
        if let Some(requests) = &mut requests {
            for pid in requests.take() {
                // Its records are in the rings that were emptied above if it inherited events.
                let watched = match threads.knows(pid) {
                    true => Ok(()),
                    false => requests.watch(pid, (rings, stops), rate.map(|rate| rate.hertz)),
                };
                requests.answer(pid, watched);
            }
        }
        if file.write_all(&buffer).is_err() || is_over {
            return;
        }
        buffer.clear();
    }
}

/// The threads whose records are kept, and how many of their stacks.
struct KeptThreads {
    pid: u32,
    scope: Scope,
    /// The processes of other threads, as written to the file.
    processes: BTreeMap<u32, u32>,
    stacks: StackRoom,
}

impl KeptThreads {
    fn new(pid: u32, scope: Scope) -> KeptThreads {
        KeptThreads {
            pid,
            scope,
            processes: BTreeMap::new(),
            stacks: StackRoom::default(),
        }
    }

    /// Whether records of the process were seen.
    fn knows(&self, pid: u32) -> bool {
        pid == self.pid || self.processes.values().any(|&known| known == pid)
    }

    /// Whether a thread's records are kept. Writes its process if that is another one. (The kernel
    /// has process 0 for a thread that is gone.)
    fn has(&mut self, pid: u32, tid: u32, out: &mut Vec<u8>) -> bool {
        if pid == self.pid {
            return true;
        }
        if self.scope == Scope::Process || pid == 0 || pid == u32::MAX {
            return false;
        }
        if self.processes.insert(tid, pid) != Some(pid) {
            out.extend_from_slice(&switch_file::process(tid, pid));
        }
        true
    }
}

/// Keeps the required parts of a record: switches and samples of the program's own threads, and
/// counts of lost ones.
fn keep(
    kind: u32,
    misc: u16,
    body: &[u8],
    threads: &mut KeptThreads,
    out: &mut Vec<u8>,
) -> Option<()> {
    let word32 = |at| word32(body, at);
    let word64 = |at| word64(body, at);
    match kind {
        PERF_RECORD_SWITCH if threads.has(word32(0)?, word32(4)?, out) => {
            let is = |bit: u32| u32::from(misc) & bit != 0;
            let gone = is(PERF_RECORD_MISC_SWITCH_OUT);
            let switch = Switch {
                tid: word32(4)?,
                ns: word64(8)?,
                out: gone,
                preempted: gone && is(PERF_RECORD_MISC_SWITCH_OUT_PREEMPT),
                ended: false,
                cpu: word32(16),
            };
            out.extend_from_slice(&switch.encode());
        }
        // Fields: process, parent process, thread, parent thread, time; then process, thread, time
        // and CPU, as of a switch.
        PERF_RECORD_EXIT if threads.has(word32(0)?, word32(8)?, out) => {
            let switch = Switch {
                tid: word32(8)?,
                ns: word64(16)?,
                out: true,
                preempted: false,
                ended: true,
                cpu: word32(40),
            };
            out.extend_from_slice(&switch.encode());
        }
        // Fields: instruction pointer, process, thread, time, CPU, number of addresses, addresses;
        // then those of `user_stack`.
        PERF_RECORD_SAMPLE if threads.has(word32(8)?, word32(12)?, out) => {
            let tid = word32(12)?;
            // In the kernel, the instruction pointer is the kernel's. The chain has the program's.
            let pointer = chain(body)?.next().or_else(|| word64(0))?;
            switch_file::sample(tid, word64(16)?, pointer, chain(body)?, out);
            if chain(body)?.count() <= MAX_DOUBTFUL_DEPTH
                && let Some((sp, bp, words)) = user_stack(body)
                && threads.stacks.has_room(words.len())
            {
                switch_file::stack(tid, sp, bp, words, out);
            }
        }
        PERF_RECORD_LOST => out.extend_from_slice(&switch_file::lost(word64(8)?)),
        _ => {}
    }
    Some(())
}

/// Keeps the stack in a record of the other rings, if it is from a thread of the program that
/// leaves its CPU. Lost ones are merely missing.
fn keep_stop(kind: u32, body: &[u8], threads: &mut KeptThreads, out: &mut Vec<u8>) -> Option<()> {
    if kind == PERF_RECORD_SAMPLE && threads.has(word32(body, 8)?, word32(body, 12)?, out) {
        let (tid, ns) = (word32(body, 12)?, word64(body, 16)?);
        switch_file::stop(tid, ns, chain(body)?, out);
    }
    Some(())
}

/// The addresses of a sample's call chain.
fn chain(body: &[u8]) -> Option<impl Iterator<Item = u64> + '_> {
    let count = usize::try_from(word64(body, 32)?).ok()?.min(1 << 10);
    let chain = (0..count).filter_map(|i| word64(body, 40 + 8 * i));
    // Skips the kernel's marks, which state the mode of the addresses after them.
    Some(chain.filter(|&address| address < PERF_CONTEXT_MARKS))
}

/// Chains of up to this many addresses may have lost the program's frames. Then the stack is kept.
const MAX_DOUBTFUL_DEPTH: usize = 6;

/// The stack and frame pointers of a sample, and the copied part of the stack.
fn user_stack(body: &[u8]) -> Option<(u64, u64, &[u8])> {
    let addresses = usize::try_from(word64(body, 32)?).ok()?;
    let at = addresses.checked_mul(8)?.checked_add(40)?;
    let rest = body.get(at..)?;
    // Fields: the registers' kind (0: none follow), BP, SP, IP, the size of the stack's copy, the
    // copy, and how much of it is the stack's.
    if word64(rest, 0)? == 0 {
        return None;
    }
    let size = usize::try_from(word64(rest, 32)?).ok()?;
    let copy = rest.get(40..)?.get(..size)?;
    let used = usize::try_from(word64(rest, size.checked_add(40)?)?).ok()?;
    Some((word64(rest, 16)?, word64(rest, 8)?, copy.get(..used)?))
}

/// Limits the room of stacks in the file. After each [`StackRoom::STEP`] bytes, half as many of the
/// stacks that follow are kept.
#[derive(Default)]
struct StackRoom {
    written: usize,
    every: usize,
    seen: usize,
}

impl StackRoom {
    const STEP: usize = 8 << 20;

    fn has_room(&mut self, bytes: usize) -> bool {
        self.seen += 1;
        if !self.seen.is_multiple_of(1 << self.every.min(30)) {
            return false;
        }
        self.written += bytes;
        if self.written >= Self::STEP {
            (self.written, self.every) = (0, self.every + 1);
        }
        true
    }
}

fn word32(body: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?))
}

fn word64(body: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?))
}

/// Entries of a call chain from this value on are the kernel's marks.
const PERF_CONTEXT_MARKS: u64 = u64::MAX - 4095;
