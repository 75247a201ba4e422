//! The records of an event chunk and their encoding.
//!
//! This file is compiled into the recorder, into every front end that writes on its hot path (the
//! Rayon stand-in has a copy), and into the reader. It uses `core` alone.
//!
//! A chunk holds the events of one thread in program order. The reader replays the thread's **stack
//! of tasks**: a task begins on top of what the thread was doing, and the *current task* is the top
//! of the stack, so most records name no task. A task is named by the thread that created it and
//! that thread's running count of creates, from 0: `(thread, seq)`. Threads therefore need not
//! agree on ids. Scopes are named in the same way, with a count of their own.
//!
//! A record is one *head* (kind in the low 5 bits, the number n of delta bytes in the high 3, then
//! n little-endian bytes of ticks since the thread's previous record in the chunk; the chunk's base
//! time for the first) and then its operands, each a *varint* ([`put_varint`]). A
//! [`Kind::Extended`] head is followed by a byte with the real kind.

use core::sync::atomic::{AtomicU64, Ordering};

/// The largest number of bytes that one record written by [`put_head`] and up to four varints can
/// touch, including stores beyond its end.
pub const SLACK: usize = 64;

/// The value of [`Kind::Off`]'s operand why if the thread ran the recorder.
pub const RECORDER: u64 = 2;

/// A chunk's count of committed bytes: a word in a mapped file, or in a model of one.
pub trait Count {
    /// Stores it.
    fn store(&self, bytes: u64, order: Ordering);
    /// Loads it.
    fn load(&self, order: Ordering) -> u64;
}

impl Count for AtomicU64 {
    #[inline(always)]
    fn store(&self, bytes: u64, order: Ordering) {
        AtomicU64::store(self, bytes, order);
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
}

/// Marks the first `bytes` bytes of a chunk as whole records, which readers see from now on.
#[inline(always)]
pub fn commit(count: &impl Count, bytes: u64) {
    count.store(bytes, Ordering::Release);
}

/// A task's creator thread and create count, as written in a record.
pub type TaskRef = (u32, u64);

/// The kind of a record. `t` is the head's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Padding: no record follows in this chunk.
    Pad = 0,
    /// A root task (it takes the thread's next create count) begins at the bottom of this thread's
    /// stack.
    Root = 1,
    /// Operands thread, seq: that task begins at t on top of the stack.
    Begin = 2,
    /// The current task ends; it is popped.
    End = 3,
    /// The current task ends, is popped, and the task below, which waited for it, resumes at the
    /// same tick.
    EndResume = 4,
    /// Operand site: the current task creates, in a new group scope, a deferred child (next create
    /// count) and then an inline child (the count after), waits for that scope, and the inline
    /// child begins here, all at t.
    Join = 5,
    /// No time: the deferred child of the join that the current task waits for begins here at the
    /// time of the record before.
    Next = 6,
    /// Operands flags ([`create`]), site, and with [`create::SCOPED`] the scope's thread and seq:
    /// the current task creates a task (next create count) and goes on at the same tick.
    Create = 7,
    /// Operand kind (0 group, 1 tree): the current task opens a scope (it takes the thread's next
    /// scope count).
    Scope = 8,
    /// Operands site + 1 (0 = unknown), kind of wait ([`wait`]), and the operands of that kind: the
    /// current task's strand ends in a wait.
    Wait = 9,
    /// The current task goes on (after a wait or a yield).
    Resume = 10,
    /// Operand site + 1: the current task's strand ends in a yield. It stays on this stack, and
    /// takes the thread's next yield count.
    Yield = 11,
    /// Operands thread, yield count: the task that yielded there goes on here, pushed on this
    /// stack.
    ResumeYielded = 12,
    /// Operand site + 1: like [`Kind::Yield`], but the task is popped from this stack.
    Leave = 13,
    /// Operands thread, seq of the dependent, thread, seq of the task it depends on.
    Depend = 14,
    /// Operands site + 1, id: the current task sets a signal; its strand is cut there and goes on
    /// at the same tick.
    Signal = 15,
    /// Operands label, tree (0 or 1): the current task opens a region.
    RegionBegin = 16,
    /// Operand label: closes it.
    RegionEnd = 17,
    /// Operand label: the current task starts a part.
    PartBegin = 18,
    /// Operand label: stops it.
    PartEnd = 19,
    /// Operands victim thread + 1 (0 = unknown), leap (0 or 1), thread, seq: this thread stole that
    /// task.
    Steal = 20,
    /// Operand victim thread + 1: a steal attempt failed.
    StealFailed = 21,
    /// The thread goes to sleep.
    Sleep = 22,
    /// The thread wakes up.
    Wake = 23,
    /// Operands pool, index: this thread is now a worker of the pool, with that index.
    Worker = 24,
    /// The thread is no longer a worker.
    WorkerEnd = 25,
    /// Operands pool, size: a pool with `size` workers exists from t.
    Pool = 26,
    /// Operand pool: the pool ended at t.
    PoolEnd = 27,
    /// Operands why (0 preempted, 1 blocked), ticks: the thread was off the CPU for `ticks`, ending
    /// at t. If why is 2, it ran the recorder for `ticks`, beginning at t.
    Off = 28,
    /// Operands length in bytes, then that many bytes: the current strand stands for a folded
    /// subtree (docs/format.md); written just before the record that ends it.
    Folded = 29,
    /// Operands counter label, value: the current strand's delta, written just before the record
    /// that ends it.
    Counter = 30,
    /// The byte after the head is the real kind, one of those below.
    Extended = 31,
    /// Operand site: the current task opens a parallel region. The region is a tree scope, which
    /// takes the thread's next scope count and names the *team*. Its members, inline tasks of the
    /// site, are recorded by [`Kind::Member`] on the threads that run them. The current task's
    /// strand ends: it waits for phase 0, goes on for an instant between two phases, and goes on
    /// with [`Kind::Resume`] after the last one. A region without barriers has one phase (MODEL.md
    /// §1, barrier).
    Team = 32,
    /// Operands the team's thread and scope count, phase, index: this thread begins, on top of its
    /// stack, the task with that index in that phase of that team. No other record creates the
    /// task. It ends like any other task; its children belong to the phase.
    Member = 33,
    /// Operands thread, seq of a task that its creator just created, n, n × ([`dependence`] kind,
    /// address): the task depends on tasks created before by the same parent, as OpenMP's `depend`
    /// clauses say.
    Depends = 34,
    /// Operands n, n × (counter label, increase): the increase of counters since this thread's
    /// previous record. It belongs to the strand that ran until now, if any. Written before each
    /// record at which counters are read.
    Readings = 35,
    /// Operands thread + 1, ticks: the task that stopped on that thread (by a wait or a yield)
    /// `ticks` before this record goes on here, pushed on this stack. Or operands 0, id: the task
    /// that waits for that signal goes on here. Tasks below or above it on the other stack stay
    /// there, and no later record refers to them as that stack's top.
    ResumeStopped = 36,
    /// Operands site, level: the current task's strand is cut, and everything it does on this
    /// thread until [`Kind::SkipEnd`] is a skipped subtree. The subtree was created at that site,
    /// at that level below its root. It takes the thread's next yield count, which names the
    /// subtree.
    SkipBegin = 37,
    /// The subtree that the current task began with [`Kind::SkipBegin`] has ended; the strand is
    /// cut, and the task goes on.
    SkipEnd = 38,
    /// Operands thread, yield count of a skipped subtree, site: this thread begins, on top of its
    /// stack, a task that was created somewhere in that subtree. The task takes this thread's next
    /// create count.
    StolenPart = 39,
    /// No time, operands site, level: the join that follows is a sampled subtree, recorded in full
    /// where others of its kind are skipped. If the level says so, this is the task that has just
    /// begun instead.
    SampleBegin = 40,
    /// Operands creates, scopes: advances this thread's next task and scope counts by these
    /// numbers, which the folded record before stands for. No record names those tasks and scopes.
    Skip = 41,
    /// Operands counts of tasks, scopes and yields that this thread recorded before, n, n × state
    /// of a task on its stack (0 runs, 1 waits or yielded, 2 stopped because another began on top
    /// of it), bottom first. As a thread's first record it means that earlier records are not in
    /// the trace. Anywhere else it repeats what is known.
    Restart = 42,
    /// No time, operand tasks: the number of tasks of the current task's skipped subtree that have
    /// begun on this thread since the open strand did. Written before the record that ends the
    /// strand. Tasks of a strand without this record were not counted.
    SkippedTasks = 43,
}

/// The largest code of a kind.
const LAST: u8 = Kind::SkippedTasks as u8;

impl Kind {
    /// The kind with this code; `None` for codes that version 1 does not have.
    pub const fn from_code(code: u8) -> Option<Kind> {
        const KINDS: [Kind; LAST as usize + 1] = [
            Kind::Pad,
            Kind::Root,
            Kind::Begin,
            Kind::End,
            Kind::EndResume,
            Kind::Join,
            Kind::Next,
            Kind::Create,
            Kind::Scope,
            Kind::Wait,
            Kind::Resume,
            Kind::Yield,
            Kind::ResumeYielded,
            Kind::Leave,
            Kind::Depend,
            Kind::Signal,
            Kind::RegionBegin,
            Kind::RegionEnd,
            Kind::PartBegin,
            Kind::PartEnd,
            Kind::Steal,
            Kind::StealFailed,
            Kind::Sleep,
            Kind::Wake,
            Kind::Worker,
            Kind::WorkerEnd,
            Kind::Pool,
            Kind::PoolEnd,
            Kind::Off,
            Kind::Folded,
            Kind::Counter,
            Kind::Extended,
            Kind::Team,
            Kind::Member,
            Kind::Depends,
            Kind::Readings,
            Kind::ResumeStopped,
            Kind::SkipBegin,
            Kind::SkipEnd,
            Kind::StolenPart,
            Kind::SampleBegin,
            Kind::Skip,
            Kind::Restart,
            Kind::SkippedTasks,
        ];
        if code <= LAST {
            Some(KINDS[code as usize])
        } else {
            None
        }
    }
}

/// Flags of [`Kind::Create`].
pub mod create {
    /// Another thread may take the task.
    pub const DEFERRED: u64 = 1;
    /// No other thread may take the task.
    pub const INLINE: u64 = 2;
    /// No task waits for it.
    pub const DETACHED: u64 = 3;
    /// The low bits, which hold one of the values above.
    pub const KIND: u64 = 3;
    /// The scope's thread and seq follow.
    pub const SCOPED: u64 = 4;
}

/// What a [`Kind::Wait`] record waits for.
pub mod wait {
    /// All children created before and not yet joined.
    pub const CHILDREN: u64 = 0;
    /// Operands thread, seq: a scope, which the wait closes.
    pub const SCOPE: u64 = 1;
    /// Operands n, n × (thread, seq).
    pub const TASKS: u64 = 2;
    /// Operands n, n × id.
    pub const SIGNALS: u64 = 3;
    /// Operands n, n × ([`super::dependence`] kind, address): the children, created before and not
    /// yet joined, that a task with these dependences would depend on.
    pub const DEPENDENCES: u64 = 4;
    /// The [`super::Kind::StolenPart`]s of the skipped subtree that the task is in which end before
    /// the task goes on.
    pub const PARTS: u64 = 5;
}

/// Kinds of OpenMP dependences, as in [`Kind::Depends`].
pub mod dependence {
    /// After the last dependence that is not `in`.
    pub const IN: u64 = 1;
    /// `out` and `inout`: after all dependences before.
    pub const OUT: u64 = 2;
    /// Not at the same time as others of its kind, in any order; otherwise like `out`.
    pub const MUTEX: u64 = 3;
    /// Unordered among its kind; otherwise like `out`.
    pub const INOUT_SET: u64 = 4;
    /// `omp_all_memory`: `out` on everything; the address is 0.
    pub const ALL: u64 = 5;
}

/// Primitives that a site can be a call of, as stored with the site.
pub mod primitive {
    /// Names by code; code 0 is unknown.
    pub const NAMES: [&str; 32] = [
        "?",
        "join",
        "scope",
        "spawn",
        "install",
        "broadcast",
        "task",
        "taskwait",
        "parallel",
        "barrier",
        "loop",
        "api",
        "section",
        "taskgroup",
        "taskloop",
        "taskyield",
        "single",
        "critical",
        "ordered",
        "detach",
        "parallel_for",
        "parallel_reduce",
        "parallel_scan",
        "parallel_for_each",
        "parallel_invoke",
        "parallel_sort",
        "parallel_pipeline",
        "flow graph",
        "enqueue",
        "execute",
        "suspend",
        "thread",
    ];
    /// Unknown.
    pub const UNKNOWN: u8 = 0;
    /// `join`, `join_context` and parallel iterators.
    pub const JOIN: u8 = 1;
    /// `scope` and related functions: the wait at the end.
    pub const SCOPE: u8 = 2;
    /// `spawn` into a scope or a pool.
    pub const SPAWN: u8 = 3;
    /// `install`.
    pub const INSTALL: u8 = 4;
    /// `broadcast`.
    pub const BROADCAST: u8 = 5;
    /// A task created by OpenMP's `task`, a task group's `run`, or the API.
    pub const TASK: u8 = 6;
    /// OpenMP's `taskwait`, or a wait for children.
    pub const TASKWAIT: u8 = 7;
    /// A parallel region.
    pub const PARALLEL: u8 = 8;
    /// A barrier, explicit or implied.
    pub const BARRIER: u8 = 9;
    /// A loop shared by a team: its chunks are tasks of this site.
    pub const LOOP: u8 = 10;
    /// A call of `workspan.h` or the Rust API.
    pub const API: u8 = 11;
    /// OpenMP's `sections`.
    pub const SECTION: u8 = 12;
    /// OpenMP's `taskgroup`, or oneTBB's `task_group`.
    pub const TASKGROUP: u8 = 13;
    /// OpenMP's `taskloop`.
    pub const TASKLOOP: u8 = 14;
    /// OpenMP's `taskyield`.
    pub const TASKYIELD: u8 = 15;
    /// OpenMP's `single`.
    pub const SINGLE: u8 = 16;
    /// A critical section or lock.
    pub const CRITICAL: u8 = 17;
    /// OpenMP's `ordered`.
    pub const ORDERED: u8 = 18;
    /// A detached task's event.
    pub const DETACH: u8 = 19;
    /// oneTBB's `parallel_for`.
    pub const PARALLEL_FOR: u8 = 20;
    /// oneTBB's `parallel_reduce`.
    pub const PARALLEL_REDUCE: u8 = 21;
    /// oneTBB's `parallel_scan`.
    pub const PARALLEL_SCAN: u8 = 22;
    /// oneTBB's `parallel_for_each`.
    pub const PARALLEL_FOR_EACH: u8 = 23;
    /// oneTBB's `parallel_invoke`.
    pub const PARALLEL_INVOKE: u8 = 24;
    /// oneTBB's `parallel_sort`.
    pub const PARALLEL_SORT: u8 = 25;
    /// oneTBB's `parallel_pipeline`.
    pub const PARALLEL_PIPELINE: u8 = 26;
    /// oneTBB's flow graph.
    pub const FLOW_GRAPH: u8 = 27;
    /// oneTBB's `enqueue`.
    pub const ENQUEUE: u8 = 28;
    /// oneTBB's `task_arena::execute`.
    pub const EXECUTE: u8 = 29;
    /// oneTBB's `suspend`.
    pub const SUSPEND: u8 = 30;
    /// The program starts a thread of its own.
    pub const THREAD: u8 = 31;
}

/// The number of bytes of `v` in little-endian order without leading zeros: 0 to 8.
#[inline(always)]
const fn byte_length(v: u64) -> usize {
    (71 - v.leading_zeros() as usize) / 8
}

/// Writes a record's head at `p` and returns the address of its operands. Always stores 8 bytes.
///
/// # Safety
/// At least 9 bytes from `p` must be writable.
#[inline(always)]
pub unsafe fn put_head(p: *mut u8, kind: Kind, delta: u64) -> *mut u8 {
    let delta = if delta < 1 << 56 {
        delta
    } else {
        (1 << 56) - 1
    };
    let n = byte_length(delta);
    let extended = kind as u8 > Kind::Extended as u8;
    let code = if extended { Kind::Extended } else { kind };
    let word = code as u64 | (n as u64) << 5 | delta << 8;
    // SAFETY: the caller grants 9 bytes from `p`; n is at most 7.
    unsafe {
        p.cast::<u64>().write_unaligned(word.to_le());
        let p = p.add(1 + n);
        if extended {
            *p = kind as u8;
            return p.add(1);
        }
        p
    }
}

/// Writes a varint at `p` and returns the address behind it. n bytes hold 7·n bits, and the number
/// of trailing zeros of the first byte is n − 1. A first byte of 0 is followed by 8 plain bytes.
///
/// # Safety
/// At least 9 bytes from `p` must be writable.
#[inline(always)]
pub unsafe fn put_varint(p: *mut u8, v: u64) -> *mut u8 {
    if v < 1 << 56 {
        let bits = 64 - (v | 1).leading_zeros() as usize;
        // bits / 7 rounded up, without a division.
        let n = (bits * 9 + 63) >> 6;
        let word = (v << 1 | 1) << (n - 1);
        // SAFETY: the caller grants 9 bytes from `p`; n is at most 8.
        unsafe {
            p.cast::<u64>().write_unaligned(word.to_le());
            p.add(n)
        }
    } else {
        // SAFETY: the caller grants 9 bytes from `p`.
        unsafe {
            *p = 0;
            p.add(1).cast::<u64>().write_unaligned(v.to_le());
            p.add(9)
        }
    }
}

/// Reads a varint at `*at` and moves `at` past it; `None` when the bytes end first.
#[inline]
pub fn get_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let rest = bytes.get(*at..)?;
    let first = *rest.first()?;
    if first & 1 == 1 {
        *at += 1;
        return Some(u64::from(first >> 1));
    }
    let n = if first == 0 {
        9
    } else {
        first.trailing_zeros() as usize + 1
    };
    if let Some(head) = rest.first_chunk::<9>() {
        *at += n;
        if n == 9 {
            return Some(u64::from_le_bytes(*head.last_chunk::<8>()?));
        }
        let word = u64::from_le_bytes(*head.first_chunk::<8>()?);
        let word = if n == 8 {
            word
        } else {
            word & ((1 << (8 * n)) - 1)
        };
        return Some(word >> n);
    }
    let body = rest.get(..n)?;
    *at += n;
    let mut word = [0u8; 8];
    if n == 9 {
        word.copy_from_slice(&body[1..]);
        return Some(u64::from_le_bytes(word));
    }
    word[..n].copy_from_slice(body);
    Some(u64::from_le_bytes(word) >> n)
}

/// Reads a record's head at `*at`. Returns the code of its kind, which is not checked
/// ([`Kind::Extended`] for an extended kind that does not exist), and the ticks since the record
/// before; `None` if the bytes end first.
#[inline]
pub fn get_head(bytes: &[u8], at: &mut usize) -> Option<(u8, u64)> {
    let rest = bytes.get(*at..)?;
    let first = *rest.first()?;
    let n = usize::from(first >> 5);
    let delta = match rest.first_chunk::<8>() {
        Some(word) => (u64::from_le_bytes(*word) >> 8) & ((1 << (8 * n)) - 1),
        None => {
            let mut word = [0u8; 8];
            word[..n].copy_from_slice(rest.get(1..1 + n)?);
            u64::from_le_bytes(word)
        }
    };
    *at += 1 + n;
    let code = first & 31;
    if code == Kind::Extended as u8 {
        let real = *bytes.get(*at)?;
        *at += 1;
        return Some((real.max(code), delta));
    }
    Some((code, delta))
}
