//! What the adapters in the preloaded library record with: the general path of `calls`, on a handle the adapter has at
//! hand, and the records only adapters write (teams, dependences, lock waits).
//!
//! Every function takes the calling thread's live handle ([`handle`]), which is the one safety condition of all of them:
//! never a null one, never another thread's. A function that needs a current task gives a thread that runs none, and is no
//! worker, a root ([`root`]) first.

use crate::front::{HAS_ROOT, Handle, IS_WORKER, id};
pub use crate::system::KeepErrno;
use crate::thread;
use crate::wire::{Kind, create, wait};
use workspan_trace::entry::{SitePosition, push_varint};

/// The calling thread's handle, made on first use; null when this process is not recorded (any more).
#[inline]
pub fn handle() -> *mut Handle {
    thread::of_thread()
}

/// A site as records that may not know theirs have it: 0 = unknown, else site + 1.
#[inline]
fn optional(site: u32) -> u64 {
    if site == 0 { 0 } else { u64::from(site) + 1 }
}

/// Gives the thread a root where a current task is needed and there is none.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn root(h: *mut Handle) {
    // SAFETY: the caller's.
    unsafe {
        if (*h).flags & (HAS_ROOT | IS_WORKER) == 0 && thread::depth(h) == 0 {
            thread::ensure_root(h);
        }
    }
}

/// The calling thread is a worker of this pool from now on (`TABLE.pool` gives numbers).
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn worker(h: *mut Handle, pool: u32, index: u32) {
    // SAFETY: the caller's.
    unsafe {
        (*h).flags |= IS_WORKER;
        Handle::event_with(h, Kind::Worker, [u64::from(pool), u64::from(index)]);
    }
}

/// The current task creates one ([`create`] kind, into a scope if not 0) and goes on; the task's number.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_create(h: *mut Handle, kind: u64, site: u32, scope: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        task_create_at(h, kind, site, scope, Handle::now(h))
    }
}

/// [`task_create`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_create_at(h: *mut Handle, kind: u64, site: u32, scope: u64, now: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match id::split(scope) {
            Some((thread, seq)) => record_at(
                h,
                Kind::Create,
                now,
                [
                    kind | create::SCOPED,
                    u64::from(site),
                    u64::from(thread),
                    seq,
                ],
            ),
            None => record_at(h, Kind::Create, now, [kind, u64::from(site)]),
        }
        let count = (*h).next_task;
        (*h).next_task = count + 1;
        id::new((*h).thread, count)
    }
}

/// A record at time `now`, which may lie before this moment (several records of one event share a reading of the clock),
/// but not before the thread's last record: that one's time is taken then.
///
/// # Safety
/// `h` is the calling thread's live handle; at most 5 operands below 2^56.
#[inline]
pub unsafe fn record_at<const N: usize>(h: *mut Handle, kind: Kind, now: u64, operands: [u64; N]) {
    // SAFETY: the caller's.
    unsafe {
        let p = Handle::head(h, kind, now);
        Handle::commit(h, put_operands(p, operands));
    }
}

/// Writes varints at `p` and returns the end. Mostly all but the last one, a running count, fit a byte each: those are stored
/// together.
///
/// # Safety
/// There is room for them, and 8 bytes more, from `p`.
#[inline(always)]
unsafe fn put_operands<const N: usize>(p: *mut u8, operands: [u64; N]) -> *mut u8 {
    // A varint of one byte.
    const SMALL: u64 = 1 << 7;
    let front = &operands[..N.saturating_sub(1)];
    // SAFETY: the caller's.
    unsafe {
        if N > 1 && N <= 9 && front.iter().fold(0, |all, v| all | v) < SMALL {
            let word = front.iter().rev().fold(0, |word, v| word << 8 | v << 1 | 1);
            p.cast::<u64>().write_unaligned(word.to_le());
            return crate::wire::put_varint(p.add(N - 1), operands[N - 1]);
        }
        operands
            .into_iter()
            .fold(p, |p, v| crate::wire::put_varint(p, v))
    }
}

/// A task begins on top of the thread's stack. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_begin(h: *mut Handle, task: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        task_begin_at(h, task, now);
        now
    }
}

/// [`task_begin`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_begin_at(h: *mut Handle, task: u64, now: u64) {
    let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        record_at(h, Kind::Begin, now, [u64::from(thread), seq]);
    }
}

/// The task on top of the thread's stack ends. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        task_end_at(h, now);
        now
    }
}

/// [`task_end`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, -1);
        record_at(h, Kind::End, now, []);
    }
}

/// The task on top ends, and the one below, which waited for it, goes on at the same tick.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end_resume(h: *mut Handle) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, -1);
        Handle::event(h, Kind::EndResume);
    }
}

/// The current task opens a scope, a tree or a group; the scope's number.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn scope_open(h: *mut Handle, tree: bool) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        scope_open_at(h, tree, Handle::now(h))
    }
}

/// [`scope_open`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn scope_open_at(h: *mut Handle, tree: bool, now: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        record_at(h, Kind::Scope, now, [u64::from(tree)]);
        next_scope(h)
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
unsafe fn next_scope(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let count = (*h).next_scope;
        (*h).next_scope = count + 1;
        id::new((*h).thread, count)
    }
}

/// The current task waits for all its children; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_children(h: *mut Handle, site: u32) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Wait, [optional(site), wait::CHILDREN]);
    }
}

/// The current task waits for the members of a scope, which is closed by that; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_scope(h: *mut Handle, site: u32, scope: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_scope_at(h, site, scope, Handle::now(h));
    }
}

/// [`wait_scope`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_scope_at(h: *mut Handle, site: u32, scope: u64, now: u64) {
    let (thread, seq) = id::split(scope).unwrap_or((u32::MAX, 0));
    let operands = [optional(site), wait::SCOPE, u64::from(thread), seq];
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Wait, now, operands) }
}

/// The current task waits for this task (an undeferred child, say); it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_task(h: *mut Handle, site: u32, task: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_task_at(h, site, task, Handle::now(h));
    }
}

/// [`wait_task`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_task_at(h: *mut Handle, site: u32, task: u64, now: u64) {
    let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
    let operands = [optional(site), wait::TASKS, 1, u64::from(thread), seq];
    // SAFETY: the caller's; 5 operands.
    unsafe { record_at(h, Kind::Wait, now, operands) }
}

/// The current task waits for these tasks; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_tasks(h: *mut Handle, site: u32, tasks: &[u64]) {
    let named = tasks.iter().filter_map(|&task| id::split(task));
    let pairs = named.map(|(thread, seq)| (u64::from(thread), seq));
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_list(h, site, wait::TASKS, pairs);
    }
}

/// The current task waits for this signal; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_signal(h: *mut Handle, site: u32, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_signal_at(h, site, signal, Handle::now(h));
    }
}

/// [`wait_signal`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_signal_at(h: *mut Handle, site: u32, signal: u64, now: u64) {
    // SAFETY: the caller's; 4 operands.
    unsafe {
        record_at(
            h,
            Kind::Wait,
            now,
            [optional(site), wait::SIGNALS, 1, signal],
        )
    }
}

/// The current task waits for those of its children that a task with these dependences ([`crate::wire::dependence`] kind,
/// address) would depend on; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_dependences(h: *mut Handle, site: u32, on: &[(u64, u64)]) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_list(h, site, wait::DEPENDENCES, on.iter().copied());
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
unsafe fn wait_list(
    h: *mut Handle,
    site: u32,
    what: u64,
    pairs: impl Iterator<Item = (u64, u64)> + Clone,
) {
    let _errno = KeepErrno::new();
    let mut bytes = Vec::with_capacity(64);
    push_varint(&mut bytes, optional(site));
    push_varint(&mut bytes, what);
    push_pairs(&mut bytes, pairs);
    // SAFETY: the caller's handle; the bytes are as many as said.
    unsafe { thread::long_record(h, Kind::Wait, Handle::now(h), bytes.as_ptr(), bytes.len()) }
}

fn push_pairs(bytes: &mut Vec<u8>, pairs: impl Iterator<Item = (u64, u64)> + Clone) {
    push_varint(bytes, pairs.clone().count() as u64);
    for (first, second) in pairs {
        push_varint(bytes, first);
        push_varint(bytes, second);
    }
}

/// The task on top goes on after a wait or a yield. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe { Handle::event(h, Kind::Resume) }
}

/// [`resume`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Resume, now, []) }
}

/// The current task stops for nobody and stays on this stack, to go on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn yield_task(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Yield, [optional(site)]);
        next_yield(h)
    }
}

/// The current task leaves this thread: it stops for nobody, or, right after a wait, goes on waiting. It goes on where
/// [`resume_left`] names the number returned.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn leave(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        Handle::event_with(h, Kind::Leave, [optional(site)]);
        if thread::depth(h) > 0 {
            thread::deepen(h, -1);
        } else {
            (*h).flags &= !HAS_ROOT;
        }
        next_yield(h)
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
unsafe fn next_yield(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let count = (*h).next_yield;
        (*h).next_yield = count + 1;
        id::new((*h).thread, count)
    }
}

/// A task that left a thread goes on here, on top of the stack.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume_left(h: *mut Handle, stop: u64) {
    let (thread, count) = id::split(stop).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        Handle::event_with(h, Kind::ResumeYielded, [u64::from(thread), count]);
    }
}

/// Where and when a task stopped, by which it goes on wherever its stack has come to ([`go_on`]).
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// The thread whose record the stop is.
    thread: u32,
    /// The height of that thread's stack of tasks.
    depth: u32,
    /// The time of the record.
    at: u64,
}

/// The stop that the thread's last record, a wait or a yield, told.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn stopped(h: *mut Handle) -> Stop {
    // SAFETY: the caller's.
    unsafe {
        Stop {
            thread: (*h).thread,
            depth: thread::depth(h),
            at: (*h).last,
        }
    }
}

/// The task of that stop goes on here: at the time of the thread's last record if `at_once` and its place is the top of this
/// thread's stack, as it is unless the runtime has moved it.
///
/// A place on top of others is given up by an end alone, so the height tells whether the stopped task is on top.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn go_on(h: *mut Handle, stop: Stop, at_once: bool) {
    // SAFETY: the caller's.
    unsafe {
        if !is_on_top(h, stop) {
            resume_stopped(h, stop);
        } else if at_once {
            resume_at(h, (*h).last);
        } else {
            resume(h);
        }
    }
}

/// The task of that stop, which waits for this signal, goes on here. Its thread may not have told of the stop yet.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn go_on_signalled(h: *mut Handle, stop: Stop, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        if is_on_top(h, stop) {
            resume(h);
        } else {
            thread::deepen(h, 1);
            Handle::event_with(h, Kind::ResumeStopped, [0, signal]);
        }
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
unsafe fn is_on_top(h: *mut Handle, stop: Stop) -> bool {
    // SAFETY: the caller's.
    unsafe { (*h).thread == stop.thread && thread::depth(h) == stop.depth }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[cold]
unsafe fn resume_stopped(h: *mut Handle, stop: Stop) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        // Two threads' clocks may differ by a little.
        let now = Handle::now(h).max((*h).last).max(stop.at);
        let operands = [u64::from(stop.thread) + 1, now - stop.at];
        record_at(h, Kind::ResumeStopped, now, operands);
    }
}

/// The current task sets a signal (`TABLE.signal_new` gives numbers).
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn signal(h: *mut Handle, site: u32, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Signal, [optional(site), signal]);
    }
}

/// The first task cannot begin before the second has ended.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn depend(h: *mut Handle, task: u64, on: u64) {
    if let (Some((a, b)), Some((c, d))) = (id::split(task), id::split(on)) {
        // SAFETY: the caller's.
        unsafe { Handle::event_with(h, Kind::Depend, [u64::from(a), b, u64::from(c), d]) };
    }
}

/// The dependences ([`crate::wire::dependence`] kind, address) of a task, told by its creator before it can begin.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn depends(h: *mut Handle, task: u64, on: &[(u64, u64)]) {
    let Some((thread, seq)) = id::split(task) else {
        return;
    };
    let _errno = KeepErrno::new();
    let mut bytes = Vec::with_capacity(64);
    push_varint(&mut bytes, u64::from(thread));
    push_varint(&mut bytes, seq);
    push_pairs(&mut bytes, on.iter().copied());
    // SAFETY: the caller's handle; the bytes are as many as said.
    unsafe {
        thread::long_record(
            h,
            Kind::Depends,
            Handle::now(h),
            bytes.as_ptr(),
            bytes.len(),
        )
    }
}

/// The current task opens a parallel region and waits for it ([`Kind::Team`]); the team's number. It goes on with
/// [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn team(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Team, [u64::from(site)]);
        next_scope(h)
    }
}

/// This thread begins, at time `now`, the index-th task of a phase of a team ([`Kind::Member`]); [`task_end`] ends it. `now` may lie
/// before this moment, but not before the thread's last record: a thread that leaves a barrier does not know yet
/// whether its region goes on.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn member(h: *mut Handle, team: u64, phase: u64, index: u64, now: u64) {
    let (thread, seq) = id::split(team).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's; four operands.
    unsafe {
        thread::deepen(h, 1);
        record_at(h, Kind::Member, now, [u64::from(thread), seq, phase, index]);
    }
}

/// The current strand waited for a lock from `since` (in ticks, [`Handle::now`]) until now: that time is blocked, not work.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn blocked(h: *mut Handle, since: u64) {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        let mut p = Handle::head(h, Kind::Off, now);
        for v in [1, now.saturating_sub(since)] {
            p = crate::wire::put_varint(p, v);
        }
        Handle::commit(h, p);
    }
}

/// The site of a call by return addresses, innermost first, and a name (a mangled symbol, or empty) for when no line is known
/// of any; 0 when nothing is recorded. Takes a lock: adapters keep the numbers.
pub fn site_calls(addresses: &[usize], name: &str, primitive: u8) -> u32 {
    if !crate::process::is_on() {
        return 0;
    }
    let addresses = addresses.iter().map(|&address| address as u64).collect();
    let name = name.to_owned();
    crate::intern::site(primitive, SitePosition::Calls { addresses, name })
}

/// The executable segment that holds this address. Walks the loaded files, so adapters keep the answer.
pub fn code_around(address: usize) -> Option<core::ops::Range<usize>> {
    let _errno = KeepErrno::new();
    crate::objects::executable_mappings()
        .iter()
        .map(|mapping| mapping.start as usize..mapping.end as usize)
        .find(|code| code.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::put_operands;

    fn same<const N: usize>(operands: [u64; N]) {
        let (mut together, mut one_by_one) = ([0u8; 64], [0u8; 64]);
        // SAFETY: 64 bytes hold five varints of 9 and what is stored beyond the last.
        let (n, m) = unsafe {
            let end = put_operands(together.as_mut_ptr(), operands);
            let mut p = one_by_one.as_mut_ptr();
            for v in operands {
                p = crate::wire::put_varint(p, v);
            }
            (
                end as usize - together.as_ptr() as usize,
                p as usize - one_by_one.as_ptr() as usize,
            )
        };
        assert_eq!(together[..n], one_by_one[..m], "{operands:?}");
    }

    #[test]
    fn operands_stored_together_are_those_stored_one_by_one() {
        let edges = [0, 1, 127, 128, 16_383, 16_384, (1 << 56) - 1];
        same([]);
        for a in edges {
            same([a]);
            for b in edges {
                same([a, b]);
                same([b, 0, a]);
                same([1, a, 127, b]);
                same([127, 126, a, 1, b]);
            }
        }
    }
}
