//! The general path: the steps of a runtime (MODEL.md §1), with one record per call, on the calling
//! thread's handle.

use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{HAS_ROOT, Handle, IS_WORKER, id};
use crate::process;
use crate::system::KeepErrno;
use crate::thread;
use crate::wire::{Kind, create, wait};
use workspan_trace::entry::push_varint;

/// Runs `f` with the thread's handle, if it has one.
fn with<R: Default>(f: impl FnOnce(*mut Handle) -> R) -> R {
    let h = thread::handle();
    if h.is_null() { R::default() } else { f(h) }
}

/// Runs `f` with the thread's handle, for records that need a current task: a thread that is not a
/// worker and runs no task gets a root.
fn with_task<R: Default>(f: impl FnOnce(*mut Handle) -> R) -> R {
    with(|h| {
        // SAFETY: the handle is the calling thread's.
        unsafe {
            if (*h).flags & (HAS_ROOT | IS_WORKER) == 0 && thread::depth(h) == 0 {
                thread::ensure_root(h);
            }
        }
        f(h)
    })
}

fn event<const N: usize>(h: *mut Handle, kind: Kind, operands: [u64; N]) {
    // SAFETY: the handle is the calling thread's; no call here has more than 5 operands.
    unsafe { Handle::event_with(h, kind, operands) };
}

/// Encodes a site that may be unknown: 0 = unknown, otherwise site + 1.
fn optional(site: u32) -> u64 {
    if site == 0 { 0 } else { u64::from(site) + 1 }
}

/// Splits a number into thread and count; `None` for a number that was never assigned.
fn operands(number: u64) -> Option<[u64; 2]> {
    id::split(number).map(|(thread, count)| [u64::from(thread), count])
}

pub(crate) extern "C" fn root() {
    // SAFETY: the handle is the calling thread's or null.
    unsafe { thread::ensure_root(thread::handle()) }
}

pub(crate) extern "C" fn task_create(flags: u32, site: u32, scope: u64) -> u64 {
    let kind = match u64::from(flags) & create::KIND {
        0 => create::DEFERRED,
        kind => kind,
    };
    with_task(|h| {
        match operands(scope) {
            Some([thread, seq]) => event(
                h,
                Kind::Create,
                [kind | create::SCOPED, u64::from(site), thread, seq],
            ),
            None => event(h, Kind::Create, [kind, u64::from(site)]),
        }
        // SAFETY: the handle is the calling thread's.
        unsafe {
            let count = (*h).next_task;
            (*h).next_task = count + 1;
            id::new((*h).thread, count)
        }
    })
}

pub(crate) extern "C" fn task_begin(task: u64) {
    if let Some(operands) = operands(task) {
        with(|h| {
            // SAFETY: the handle is the calling thread's.
            unsafe { thread::deepen(h, 1) };
            event(h, Kind::Begin, operands);
        });
    }
}

pub(crate) extern "C" fn task_end() {
    with(|h| {
        // SAFETY: the handle is the calling thread's.
        unsafe {
            // The caller must not end the root.
            if thread::depth(h) > 0 {
                thread::deepen(h, -1);
                event(h, Kind::End, []);
            }
        }
    });
}

pub(crate) extern "C" fn scope_open(tree: u32) -> u64 {
    with_task(|h| {
        event(h, Kind::Scope, [u64::from(tree != 0)]);
        // SAFETY: the handle is the calling thread's.
        unsafe {
            let count = (*h).next_scope;
            (*h).next_scope = count + 1;
            id::new((*h).thread, count)
        }
    })
}

pub(crate) extern "C" fn wait_children(site: u32) {
    with_task(|h| event(h, Kind::Wait, [optional(site), wait::CHILDREN]));
}

pub(crate) extern "C" fn wait_scope(site: u32, scope: u64) {
    with_task(|h| match operands(scope) {
        Some([thread, seq]) => event(h, Kind::Wait, [optional(site), wait::SCOPE, thread, seq]),
        None => event(h, Kind::Wait, [optional(site), wait::TASKS, 0]),
    });
}

/// Writes a wait for a list of any length.
fn wait_list(site: u32, what: u64, numbers: impl Iterator<Item = u64> + Clone, per_item: u64) {
    with_task(|h| {
        let _errno = KeepErrno::new();
        let mut bytes = Vec::with_capacity(32);
        push_varint(&mut bytes, optional(site));
        push_varint(&mut bytes, what);
        push_varint(&mut bytes, numbers.clone().count() as u64 / per_item);
        for number in numbers {
            push_varint(&mut bytes, number);
        }
        // SAFETY: the handle is the calling thread's; `bytes` has the given length.
        unsafe { thread::long_record(h, Kind::Wait, Handle::now(h), bytes.as_ptr(), bytes.len()) }
    });
}

/// # Safety
/// `at` must hold `count` numbers, or be null.
unsafe fn list<'a>(at: *const u64, count: usize) -> &'a [u64] {
    if at.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees `count` numbers.
    unsafe { slice::from_raw_parts(at, count) }
}

pub(crate) unsafe extern "C" fn wait_tasks(site: u32, tasks: *const u64, count: usize) {
    // SAFETY: abi.rs requires that many tasks.
    let tasks = unsafe { list(tasks, count) };
    wait_list(
        site,
        wait::TASKS,
        tasks.iter().filter_map(|&t| operands(t)).flatten(),
        2,
    );
}

pub(crate) unsafe extern "C" fn wait_signals(site: u32, signals: *const u64, count: usize) {
    // SAFETY: abi.rs requires that many signals.
    let signals = unsafe { list(signals, count) };
    wait_list(
        site,
        wait::SIGNALS,
        signals.iter().copied().filter(|&s| s != 0),
        1,
    );
}

pub(crate) extern "C" fn resume() {
    with(|h| event(h, Kind::Resume, []));
}

fn stop(site: u32, kind: Kind) -> u64 {
    with_task(|h| {
        event(h, kind, [optional(site)]);
        // SAFETY: the handle is the calling thread's.
        unsafe {
            let count = (*h).next_yield;
            (*h).next_yield = count + 1;
            id::new((*h).thread, count)
        }
    })
}

pub(crate) extern "C" fn yield_task(site: u32) -> u64 {
    stop(site, Kind::Yield)
}

pub(crate) extern "C" fn leave_task(site: u32) -> u64 {
    let number = stop(site, Kind::Leave);
    with(|h| {
        // SAFETY: the handle is the calling thread's.
        unsafe {
            if thread::depth(h) > 0 {
                thread::deepen(h, -1);
            } else {
                // The root itself left, so another one may begin here.
                (*h).flags &= !HAS_ROOT;
            }
        }
    });
    number
}

pub(crate) extern "C" fn resume_yielded(number: u64) {
    if let Some(operands) = operands(number) {
        with(|h| {
            // SAFETY: the handle is the calling thread's.
            unsafe { thread::deepen(h, 1) };
            event(h, Kind::ResumeYielded, operands);
        });
    }
}

pub(crate) extern "C" fn depend(task: u64, on: u64) {
    if let (Some([a, b]), Some([c, d])) = (operands(task), operands(on)) {
        with(|h| event(h, Kind::Depend, [a, b, c, d]));
    }
}

pub(crate) extern "C" fn signal_new() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if process::is_on() {
        NEXT.fetch_add(1, Ordering::Relaxed)
    } else {
        0
    }
}

pub(crate) extern "C" fn signal_set(site: u32, signal: u64) {
    if signal != 0 {
        with_task(|h| event(h, Kind::Signal, [optional(site), signal]));
    }
}

pub(crate) extern "C" fn region_begin(label: u32, tree: u32) {
    with_task(|h| {
        event(
            h,
            Kind::RegionBegin,
            [u64::from(label), u64::from(tree != 0)],
        )
    });
}

pub(crate) extern "C" fn region_end(label: u32) {
    with_task(|h| event(h, Kind::RegionEnd, [u64::from(label)]));
}

pub(crate) extern "C" fn part_begin(label: u32) {
    with_task(|h| event(h, Kind::PartBegin, [u64::from(label)]));
}

pub(crate) extern "C" fn part_end(label: u32) {
    with_task(|h| event(h, Kind::PartEnd, [u64::from(label)]));
}

pub(crate) extern "C" fn counter(label: u32, increase: u64) {
    with_task(|h| event(h, Kind::Counter, [u64::from(label), increase]));
}

pub(crate) extern "C" fn steal(victim: u32, leap: u32, task: u64) {
    if let Some([thread, seq]) = operands(task) {
        with(|h| {
            event(
                h,
                Kind::Steal,
                [u64::from(victim), u64::from(leap != 0), thread, seq],
            )
        });
    }
}

pub(crate) extern "C" fn steal_failed(victim: u32) {
    with(|h| event(h, Kind::StealFailed, [u64::from(victim)]));
}

pub(crate) extern "C" fn sleep() {
    with(|h| event(h, Kind::Sleep, []));
}

pub(crate) extern "C" fn wake() {
    with(|h| event(h, Kind::Wake, []));
}

pub(crate) extern "C" fn thread_number() -> u32 {
    // SAFETY: the handle is the calling thread's.
    with(|h| unsafe { (*h).thread + 1 })
}

pub(crate) extern "C" fn pool_begin(size: u32) -> u32 {
    let Some(recording) = process::recording() else {
        return 0;
    };
    let pool = recording.pools.fetch_add(1, Ordering::Relaxed);
    with(|h| event(h, Kind::Pool, [u64::from(pool), u64::from(size)]));
    pool
}

pub(crate) extern "C" fn pool_end(pool: u32) {
    with(|h| event(h, Kind::PoolEnd, [u64::from(pool)]));
}

pub(crate) extern "C" fn worker_begin(pool: u32, index: u32) {
    with(|h| {
        // SAFETY: the handle is the calling thread's.
        unsafe {
            thread::end_thread_task(h);
            (*h).flags |= IS_WORKER;
        }
        event(h, Kind::Worker, [u64::from(pool), u64::from(index)]);
    });
}

pub(crate) extern "C" fn worker_end() {
    with(|h| {
        // SAFETY: the handle is the calling thread's.
        unsafe { (*h).flags &= !IS_WORKER };
        event(h, Kind::WorkerEnd, []);
    });
}
