//! The file that contains switches and samples until the trace is finalised.
//!
//! An entry has 16 bytes, little-endian: thread id, flags, `CLOCK_MONOTONIC_RAW` in ns. Entries are
//! in the order in which they were drained, which is by time only within a CPU. A sample is
//! followed by its addresses, 8 bytes each, innermost first; their number is in the flags from bit
//! 8 on; a switch has its CPU there. A stack at a context switch has the same form. Before the
//! first entry of a thread of a process that the program started, an entry names its process. A
//! sample may be followed by an entry with the thread's stack and frame pointer and the words of
//! its stack. The file is next to the spool and is removed with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) const OUT: u32 = 1;
pub(crate) const PREEMPTED: u32 = 2;
pub(crate) const LOST: u32 = 4;
pub(crate) const SAMPLE: u32 = 8;
pub(crate) const RATE: u32 = 16;
pub(crate) const COST: u32 = 32;
pub(crate) const STOP: u32 = 64;
pub(crate) const ENDED: u32 = 128;
/// Marks the entry for a thread's process, as no other entry has both flags.
pub(crate) const PROCESS: u32 = LOST | RATE;
/// Marks the entry for the registers and the stack of the sample before it.
pub(crate) const STACK: u32 = LOST | COST;
/// The bit of a sample's flags from which on the number of its addresses is stored.
const COUNT_SHIFT: u32 = 8;
/// The bit of a switch's flags from which on its CPU's number is stored, plus 1; 0 is unknown.
const CPU_SHIFT: u32 = 8;

/// A thread went off a CPU or came onto one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// The kernel's id of the thread.
    pub tid: u32,
    /// `CLOCK_MONOTONIC_RAW`, in ns.
    pub ns: u64,
    /// True if it went off the CPU, false if it came onto it.
    pub out: bool,
    /// True if it went off although it could have run on.
    pub preempted: bool,
    /// True if it went off because the thread ended.
    pub ended: bool,
    /// The CPU, if the kernel told it.
    pub cpu: Option<u32>,
}

impl Switch {
    pub(crate) fn encode(&self) -> [u8; 16] {
        let flags = (u32::from(self.out) * OUT)
            | (u32::from(self.preempted) * PREEMPTED)
            | (u32::from(self.ended) * ENDED);
        let cpu = self.cpu.and_then(|cpu| cpu.checked_add(1));
        // A CPU whose number does not fit is unknown.
        let cpu = cpu.filter(|cpu| cpu.leading_zeros() >= CPU_SHIFT);
        let cpu = cpu.unwrap_or(0);
        entry(self.tid, flags | cpu << CPU_SHIFT, self.ns)
    }
}

pub(crate) fn lost(count: u64) -> [u8; 16] {
    entry(0, LOST, count)
}

/// The entry for the process of a thread that is not of the program itself.
pub(crate) fn process(tid: u32, pid: u32) -> [u8; 16] {
    entry(tid, PROCESS, u64::from(pid))
}

/// The entry for the sampling rate, per second of CPU time.
pub(crate) fn rate(hertz: u32) -> [u8; 16] {
    entry(0, RATE, u64::from(hertz))
}

/// The entry for the measured cost of a sample.
pub(crate) fn cost(cost: Duration) -> [u8; 16] {
    entry(0, COST, u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX))
}

/// A sample: the instruction pointer, then the chain of return addresses (which starts with the
/// pointer again).
pub(crate) fn sample(
    tid: u32,
    ns: u64,
    pointer: u64,
    chain: impl Iterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    let at = out.len();
    out.extend_from_slice(&[0; 16]);
    out.extend_from_slice(&pointer.to_le_bytes());
    let mut count = 1u32;
    for (i, address) in chain.enumerate() {
        if i > 0 || address != pointer {
            out.extend_from_slice(&address.to_le_bytes());
            count += 1;
        }
    }
    out[at..at + 16].copy_from_slice(&entry(tid, SAMPLE | count << COUNT_SHIFT, ns));
}

/// The entry for the stack of the sample before it: `sp`, `bp`, and the stack's words.
pub(crate) fn stack(tid: u32, sp: u64, bp: u64, words: &[u8], out: &mut Vec<u8>) {
    let (words, _) = words.as_chunks::<8>();
    let count = u32::try_from(words.len()).unwrap_or(0) + 1;
    out.extend_from_slice(&entry(tid, STACK | count << COUNT_SHIFT, sp));
    out.extend_from_slice(&bp.to_le_bytes());
    out.extend_from_slice(words.as_flattened());
}

/// The entry for the stack of a thread that leaves its CPU: its user return addresses.
pub(crate) fn stop(tid: u32, ns: u64, chain: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[0; 16]);
    let mut count = 0u32;
    for address in chain {
        out.extend_from_slice(&address.to_le_bytes());
        count += 1;
    }
    out[at..at + 16].copy_from_slice(&entry(tid, STOP | count << COUNT_SHIFT, ns));
}

fn entry(tid: u32, flags: u32, word: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&tid.to_le_bytes());
    bytes[4..8].copy_from_slice(&flags.to_le_bytes());
    bytes[8..].copy_from_slice(&word.to_le_bytes());
    bytes
}

/// All switches of a process, and of the processes that it started if they are watched too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Switches {
    /// The switches by time; equal times in the order in which they were drained.
    pub switches: Vec<Switch>,
    /// The processes of threads that do not belong to the watched process itself.
    pub processes: BTreeMap<u32, u32>,
    /// Number of records for which the kernel had no room.
    pub lost: u64,
    /// Samples by time.
    pub samples: Vec<Sample>,
    /// Stacks of threads that leave a CPU, by time; if there are many switches, only some have one.
    pub stops: Vec<Sample>,
    /// Samples per second of CPU time; 0 if none were taken.
    pub hertz: u32,
    /// Measured time that a sample takes from its thread, if the rate was chosen by it.
    pub cost: Option<Duration>,
}

/// A sample of a thread's position in its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The kernel's id of the thread.
    pub tid: u32,
    /// The time, `CLOCK_MONOTONIC_RAW` in ns.
    pub ns: u64,
    /// The instruction pointer, then the return addresses of its callers, as far as frame pointers
    /// lead.
    pub addresses: Vec<u64>,
    /// The stack at that moment; only some samples have it.
    pub stack: Option<Box<UserStack>>,
}

/// The top of a thread's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserStack {
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer.
    pub bp: u64,
    /// The words from `sp` on.
    pub words: Vec<u64>,
}

/// Reads a switch file, after waiting up to `patience` until its writer has finished. Bytes of a
/// cut-off entry at the end are ignored.
///
/// # Errors
/// The file can't be read, or its writer does not finish in time.
pub fn read_switches(path: &Path, patience: Duration) -> io::Result<Switches> {
    let file = File::open(path)?;
    let begun = Instant::now();
    // SAFETY: a plain system call on a descriptor we own.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } != 0 {
        if begun.elapsed() > patience {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "its writer is not done",
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(decode_switches(&mut BufReader::with_capacity(
        1 << 16,
        file,
    )))
}

/// Decodes a switch file; ends where `reader` ends or fails.
pub fn decode_switches(reader: &mut impl Read) -> Switches {
    let mut all = Switches::default();
    let mut bytes = [0u8; 16];
    while reader.read_exact(&mut bytes).is_ok() {
        let tid = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let flags = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8..]);
        let word = u64::from_le_bytes(word);
        if flags & (SAMPLE | STOP) != 0 {
            let addresses = words(reader, flags >> COUNT_SHIFT);
            let list = match flags & STOP {
                0 => &mut all.samples,
                _ => &mut all.stops,
            };
            list.push(Sample {
                tid,
                ns: word,
                addresses,
                stack: None,
            });
        } else if flags & STACK == STACK {
            let mut words = words(reader, flags >> COUNT_SHIFT).into_iter();
            let last_sample = all.samples.last_mut().filter(|sample| sample.tid == tid);
            if let (Some(sample), Some(bp)) = (last_sample, words.next()) {
                sample.stack = Some(Box::new(UserStack {
                    sp: word,
                    bp,
                    words: words.collect(),
                }));
            }
        } else if flags & PROCESS == PROCESS {
            all.processes.insert(tid, u32::try_from(word).unwrap_or(0));
        } else if flags & RATE != 0 {
            all.hertz = u32::try_from(word).unwrap_or(0);
        } else if flags & COST != 0 {
            all.cost = Some(Duration::from_nanos(word));
        } else if flags & LOST != 0 {
            all.lost = all.lost.saturating_add(word);
        } else {
            all.switches.push(Switch {
                tid,
                ns: word,
                out: flags & OUT != 0,
                preempted: flags & PREEMPTED != 0,
                ended: flags & ENDED != 0,
                cpu: (flags >> CPU_SHIFT).checked_sub(1),
            });
        }
    }
    sorted(all)
}

/// The next `count` words; fewer if the reader ends.
fn words(reader: &mut impl Read, count: u32) -> Vec<u64> {
    let mut words = Vec::new();
    let mut word = [0u8; 8];
    for _ in 0..count {
        if reader.read_exact(&mut word).is_err() {
            break;
        }
        words.push(u64::from_le_bytes(word));
    }
    words
}

fn sorted(mut all: Switches) -> Switches {
    all.switches.sort_by_key(|s| s.ns);
    all.samples.sort_by_key(|s| s.ns);
    all.stops.sort_by_key(|s| s.ns);
    all
}
