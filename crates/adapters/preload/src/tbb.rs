//! oneTBB, by standing in front of its entry points and of its tasks' virtual functions.
//!
//! A program (or libtbb itself, through its own PLT) that spawns a task calls [`entry`]'s function of the same name, which
//! tells the create, notes the task's number inside of it, gives it a copy of its own virtual table in which `execute` and
//! `cancel` are ours ([`class`], [`task`]), and calls the real function. So whoever runs the task tells its begin and
//! its end. What a task is created into follows from its context ([`context`], [`wait`]); what runs on a thread is known
//! by a chain of [`frame`]s on the machine stack, which moves with the stack when oneTBB suspends it ([`suspend`]).
//!
//! The layouts relied on are part of oneTBB's binary interface since 2021.1 and compared up to 2023.2: a task is a virtual
//! table pointer and seven words, of which libtbb uses the first, second and fourth; a context has 128 bytes, of which it uses 72;
//! what a wait counts is the second word of its `wait_context`.

mod arena;
mod budget;
mod call_frame;
mod call_site;
mod context;
mod entry_points;
mod native_stack;
mod next_symbol;
mod return_address_cache;
mod suspend;
mod task;
mod task_class;
mod task_frame;
mod wait;

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use workspan_recorder::front::{HAS_ROOT, Handle, IS_WORKER};
use workspan_recorder::{TABLE, adapter};

use task_frame::ThreadState;
pub(crate) use task_frame::thread_ends;

static POOL: OnceLock<u32> = OnceLock::new();
static WORKERS: AtomicU32 = AtomicU32::new(0);

/// The number of oneTBB's pool, given out when the first task is seen; with it goes the note which runtime it is.
fn pool() -> u32 {
    *POOL.get_or_init(|| {
        let version = next_symbol::version().map(|text| {
            // SAFETY: `TBB_runtime_version` returns a text that lasts as long as the library.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        });
        let runtime = match version {
            Some(version) => format!("oneTBB {version}"),
            None => "oneTBB".to_string(),
        };
        // A task's body itself lets the wait for it go on, as its last act, and only then returns to us.
        let notes = [
            ("runtime", &*runtime),
            ("steals", "child"),
            ("ends", "late"),
        ];
        for (key, value) in notes {
            (TABLE.note)(key.as_ptr(), key.len(), value.as_ptr(), value.len());
        }
        (TABLE.pool)()
    })
}

/// Whether another thread than the one that asks may have run tasks.
fn several_workers() -> bool {
    WORKERS.load(Ordering::Relaxed) > 1
}

/// Makes the calling thread a worker of the pool, unless it is one of some pool already. A thread that came from outside has
/// its root by now, when it needs one.
///
/// # Safety
/// `h` is the calling thread's live handle, `here` its own.
#[cold]
unsafe fn become_worker(h: *mut Handle, thread: *mut ThreadState) {
    // SAFETY: the caller's.
    unsafe {
        (*thread).worker = true;
        if (*h).flags & IS_WORKER == 0 {
            adapter::worker(h, pool(), WORKERS.fetch_add(1, Ordering::Relaxed));
        }
    }
}

/// Whether records of the calling thread have a task to speak of where no task of oneTBB's runs: a root, made now if it may
/// have one. A worker of oneTBB's own has none between its tasks.
///
/// # Safety
/// `h` is the calling thread's live handle.
unsafe fn has_root(h: *mut Handle) -> bool {
    // SAFETY: the caller's.
    unsafe {
        adapter::root(h);
        (*h).flags & (HAS_ROOT | IS_WORKER) != IS_WORKER
    }
}
