//! Tasks: their creation (spawned, submitted, enqueued, or returned by the task before), and how
//! they run.

use std::ffi::c_void;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::create as kind;

use super::budget::{self, PausedSkip};
use super::call_site::{self, Call};
use super::task_class::{CANCEL, EXECUTE, TaskClass};
use super::task_frame::{
    FrameKind, TaskFrame, ThreadState, current_thread, ended, has_task, link, restore, set_top, top,
};
use super::{become_worker, context, next_symbol};

/// The beginning of every task of oneTBB.
#[repr(C)]
pub(super) struct Task {
    pub(super) table: *const usize,
    /// `m_version_and_traits`, then libtbb's first word of `m_reserved`: the context.
    traits: [u64; 2],
    /// For a task that outlives the wait of a part of its algorithm: the scope of the whole
    /// algorithm. 0 if there is no such part.
    outer: u64,
    /// libtbb's isolation tag.
    isolation: u64,
    /// The scope it was created into.
    scope: u64,
    /// Its site and its level: a [`budget::word`].
    pub(super) site: u64,
    /// Its number, or the name of the skipped subtree in which it was created.
    pub(super) number: u64,
}

const _: () = assert!(size_of::<Task>() == 64);

/// The scope that a task is created into.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    /// 0 for no scope.
    pub(super) of: u64,
    /// See [`Task::outer`].
    pub(super) outer: u64,
}

/// The first field of oneTBB's `execution_data`.
#[repr(C)]
pub(super) struct Execution {
    pub(super) context: usize,
}

/// The current task, which is that of `frame`, creates `task`. The virtual functions of `task` are
/// ours until it runs. With `at_once`, the time is that of the thread's last record.
///
/// # Safety
/// The thread has a current task; `task` is a live task that no thread runs yet.
#[inline]
pub(super) unsafe fn adopt(
    h: LiveHandle,
    frame: *mut TaskFrame,
    task: *mut Task,
    class: &TaskClass,
    (flags, site): (u64, u32),
    scope: Scope,
    at_once: bool,
) {
    // SAFETY: the task is live and not shared yet.
    unsafe {
        let now = if at_once { h.last() } else { h.now() };
        let number = h.task_create_at(flags, site, scope.of, now);
        (*task).scope = scope.of;
        (*task).outer = scope.outer;
        (*task).site = budget::word(site, (*frame).level + 1);
        (*task).number = number;
        (*task).table = class.table();
    }
}

/// Records a task that is about to be passed to libtbb. `context` is 0 if no task waits for it.
///
/// # Safety
/// `task` is a live task that no thread runs yet; `context` is its live context, or 0.
#[inline]
unsafe fn before_hand_over(task: *mut Task, context: usize, call: Call) {
    // SAFETY: task and context are live; the state is this thread's.
    unsafe {
        if context != 0 {
            let name = context::inside(context);
            if name != 0 {
                return budget::create(top(current_thread()), task, context, name, call);
            }
        }
        record_create(task, context, call);
    }
}

/// [`before_hand_over`] for a task that is recorded.
///
/// # Safety
/// The same as for [`before_hand_over`].
#[inline(never)]
unsafe fn record_create(task: *mut Task, context: usize, call: Call) {
    // SAFETY: task and context are live; the state is this thread's; no call here changes threads.
    unsafe {
        let frame = top(current_thread());
        let Some(h) = LiveHandle::current().filter(|&h| has_task(h, frame)) else {
            return;
        };
        let Some(class) = TaskClass::from_task(task) else {
            return;
        };
        let member = (*frame).is_in(context);
        let _paused = budget::leaves(frame, context).then(|| PausedSkip::new(frame));
        let site = if member && !class.users && (*frame).site != 0 {
            (*frame).site
        } else {
            call_site::site(call, class, class.primitive)
        };
        let site = match (*frame).whole {
            0 => site,
            // Inside a sampled task, the tasks of its class must be recognised.
            _ => call_site::like(site),
        };
        let mut at_once = false;
        let scope = if context == 0 {
            Scope::default()
        } else if member {
            (*frame).members(class.outlives)
        } else if !context::keeps(context) {
            Scope::default()
        } else {
            let mut scope = context::scope(context);
            if scope == 0 {
                let fresh = h.scope_open_at(false, h.now());
                scope = context::open(context, fresh);
                if scope == fresh {
                    (*frame).opened = scope;
                }
                at_once = true;
            }
            Scope {
                of: scope,
                outer: 0,
            }
        };
        let flags = if context == 0 {
            kind::DETACHED
        } else {
            kind::DEFERRED
        };
        adopt(h, frame, task, class, (flags, site), scope, at_once);
    }
}

/// `r1::spawn(task, context)`.
///
/// # Safety
/// The same as for oneTBB's function; the last two arguments locate the call.
pub(super) unsafe extern "C-unwind" fn spawn(
    task: *mut Task,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call.
    unsafe {
        before_hand_over(task, context, Call::made(from, sp));
        next_symbol::SPAWN.get(call_site::returns_to(from, sp))(task, context);
    }
}

/// `r1::spawn(task, context, slot)`.
///
/// # Safety
/// The same as for [`spawn`].
pub(super) unsafe extern "C-unwind" fn spawn_to(
    task: *mut Task,
    context: usize,
    slot: u16,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call.
    unsafe {
        before_hand_over(task, context, Call::made(from, sp));
        next_symbol::SPAWN_TO.get(call_site::returns_to(from, sp))(task, context, slot);
    }
}

/// `r1::submit(task, context, arena, critical)`.
///
/// # Safety
/// The same as for [`spawn`].
pub(super) unsafe extern "C-unwind" fn submit(
    task: *mut Task,
    context: usize,
    arena: *mut c_void,
    critical: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call.
    unsafe {
        before_hand_over(task, context, Call::made(from, sp));
        next_symbol::SUBMIT.get(call_site::returns_to(from, sp))(task, context, arena, critical);
    }
}

/// `r1::enqueue(task, arena)`: no task waits for the task.
///
/// # Safety
/// The same as for [`spawn`].
pub(super) unsafe extern "C-unwind" fn enqueue(
    task: *mut Task,
    arena: *mut c_void,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call.
    unsafe {
        before_hand_over(task, 0, Call::made(from, sp));
        next_symbol::ENQUEUE.get(call_site::returns_to(from, sp))(task, arena);
    }
}

/// `r1::enqueue(task, context, arena)`: a task group waits for the task.
///
/// # Safety
/// The same as for [`spawn`].
pub(super) unsafe extern "C-unwind" fn enqueue_in(
    task: *mut Task,
    context: usize,
    arena: *mut c_void,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call.
    unsafe {
        before_hand_over(task, context, Call::made(from, sp));
        next_symbol::ENQUEUE_IN.get(call_site::returns_to(from, sp))(task, context, arena);
    }
}

/// The `execute` of an adopted task.
///
/// # Safety
/// libtbb calls this as the task's own.
pub(super) unsafe extern "C-unwind" fn execute(task: *mut Task, data: *mut Execution) -> *mut Task {
    // SAFETY: the task is the one that libtbb runs now.
    unsafe { run(task, data, EXECUTE) }
}

/// The `cancel` of an adopted task.
///
/// # Safety
/// libtbb calls this as the task's own.
pub(super) unsafe extern "C-unwind" fn cancel(task: *mut Task, data: *mut Execution) -> *mut Task {
    // SAFETY: the task is the one that libtbb runs now.
    unsafe { run(task, data, CANCEL) }
}

pub(super) type Body = unsafe extern "C-unwind" fn(*mut Task, *mut Execution) -> *mut Task;

/// Ends the task of a frame when its body is left, also by an exception.
pub(super) struct RunGuard(*mut TaskFrame);

impl Drop for RunGuard {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: only this callback uses the handle.
        let h = unsafe { LiveHandle::current() };
        // SAFETY: the frame lives until this has run. The stack may have moved, so the state is
        // looked up now.
        unsafe {
            let thread = current_thread();
            restore(thread, (*self.0).parent);
            if let Some(h) = h {
                h.task_end();
                ended(h, thread);
            }
        }
    }
}

/// Class and body of an adopted task, whose virtual table becomes its own again.
///
/// # Safety
/// `task` has a copied table; `slot` is one of its entries.
#[inline]
pub(super) unsafe fn restored(task: *mut Task, slot: usize) -> (&'static TaskClass, Body) {
    // SAFETY: a copied table has its class in front, and as many entries as the original.
    unsafe {
        let class = TaskClass::behind((*task).table);
        (*task).table = class.original;
        let body = std::mem::transmute::<usize, Body>(*class.original.add(slot));
        (class, body)
    }
}

/// # Safety
/// The same as for [`restored`].
#[inline]
unsafe fn run(task: *mut Task, data: *mut Execution, slot: usize) -> *mut Task {
    // SAFETY: as for `restored`. Fields of the task are read before its body runs, which may free
    // it.
    unsafe {
        match budget::run(task, data, slot) {
            Some(next) => next,
            None => run_recorded(task, data, slot),
        }
    }
}

/// [`run`] for a recorded task. It is a separate function, because skipped tasks run on top of the
/// stack frame of [`run`].
///
/// # Safety
/// The same as for [`restored`].
#[inline(never)]
unsafe fn run_recorded(task: *mut Task, data: *mut Execution, slot: usize) -> *mut Task {
    // SAFETY: as in `run`. The handle is not used after the body has begun.
    unsafe {
        let (class, body) = restored(task, slot);
        let h = LiveHandle::current();
        let Some(h) = h else {
            return body(task, data);
        };
        let thread = current_thread();
        if !(*thread).worker {
            become_worker(h, thread);
        }
        budget::suspend(thread);
        let frame = TaskFrame {
            kind: FrameKind::Task,
            context: (*data).context,
            scope: (*task).scope,
            outer: (*task).outer,
            site: (*task).site as u32,
            level: budget::level((*task).site),
            inside: class.inside,
            ..TaskFrame::BOTTOM
        };
        h.task_begin((*task).number);
        run_in(h, thread, frame, class.whole, || body(task, data))
    }
}

/// Runs a task that has begun to its end, in a frame of its own.
///
/// # Safety
/// `thread` is the calling thread's state; `body` is the task's.
#[inline]
pub(super) unsafe fn run_in(
    h: LiveHandle,
    thread: *mut ThreadState,
    mut frame: TaskFrame,
    may_ask: bool,
    body: impl FnOnce() -> *mut Task,
) -> *mut Task {
    // SAFETY: the state is this thread's; the frame lives until the task has ended.
    unsafe {
        frame.parent = link(thread);
        frame.whole = frame.parent.as_ref().map_or(0, |parent| parent.whole);
        let at = &raw mut frame;
        set_top(thread, at);
        let running = RunGuard(at);
        let run = || {
            let next = body();
            if !next.is_null() {
                returned(next, at);
            }
            next
        };
        if may_ask && budget::asks(at) {
            return budget::ask(h, at, run, running);
        }
        let next = run();
        drop(running);
        next
    }
}

/// A task's body returned another task, which this thread runs next. Creating it is the body's last
/// action.
///
/// # Safety
/// `next` is a live task that no thread runs yet; `frame` is the innermost.
unsafe fn returned(next: *mut Task, frame: *mut TaskFrame) {
    // SAFETY: the task is live, and the frame is that of the current task.
    unsafe {
        let context = (*frame).context;
        let name = context::inside(context);
        if name != 0 {
            return budget::create(frame, next, context, name, Call::NONE);
        }
        let h = LiveHandle::current();
        let Some(h) = h else {
            return;
        };
        if let Some(class) = TaskClass::from_task(next) {
            let _paused = budget::leaves(frame, context).then(|| PausedSkip::new(frame));
            let site = match (*frame).site {
                0 => call_site::site(Call::NONE, class, class.primitive),
                site => site,
            };
            let scope = (*frame).members(class.outlives);
            adopt(h, frame, next, class, (kind::INLINE, site), scope, false);
        }
    }
}
