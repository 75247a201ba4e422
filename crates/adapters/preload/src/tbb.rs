//! Records oneTBB by interposing its entry points and its tasks' virtual functions. `tbb/README.md`
//! describes the protocol, with an example.
//!
//! A program that spawns a task calls the function of that name in [`entry_points`]; so does libtbb
//! itself, through its own PLT. Our function records the create, notes the task's number inside the
//! task, gives it a copy of its virtual table in which `execute` and `cancel` are ours
//! ([`task_class`], [`task`]), and calls libtbb's function. So whichever thread runs the task
//! records its begin and its end.
//!
//! The context tells into which scope a task is created ([`context`], [`wait`]). A chain of
//! [`task_frame`]s on the machine stack has the tasks of a thread; it moves with the stack when
//! oneTBB suspends it ([`suspend`]).
//!
//! These layouts are part of oneTBB's binary interface since 2021.1, and were compared up to
//! 2023.2. A task is a virtual table pointer and seven words, of which libtbb uses the first,
//! second and fourth. A context has 128 bytes, of which libtbb uses 72. The second word of a
//! `wait_context` is its count.

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

use workspan_recorder::TABLE;
use workspan_recorder::adapter::LiveHandle;

use task_frame::ThreadState;
pub(crate) use task_frame::thread_ends;

static POOL: OnceLock<u32> = OnceLock::new();
static WORKERS: AtomicU32 = AtomicU32::new(0);

/// The number of oneTBB's pool. The first call, at the first task, creates the pool and notes the
/// runtime's name.
fn pool() -> u32 {
    *POOL.get_or_init(|| {
        let version = next_symbol::version().map(|text| {
            // SAFETY: `TBB_runtime_version` returns a text that lives as long as the library.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        });
        let runtime = match version {
            Some(version) => format!("oneTBB {version}"),
            None => "oneTBB".to_string(),
        };
        // A task's body lets its waiter continue as its last action, and only then returns to us.
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

/// Whether a thread other than the calling one may have run tasks.
fn several_workers() -> bool {
    WORKERS.load(Ordering::Relaxed) > 1
}

/// Makes the calling thread a worker of the pool, unless it is a worker of some pool already. A
/// thread that came from outside has its root by now, if it needs one.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
unsafe fn become_worker(h: LiveHandle, thread: *mut ThreadState) {
    // SAFETY: the state is the calling thread's.
    unsafe {
        (*thread).worker = true;
        if !h.is_worker() {
            h.become_worker(pool(), WORKERS.fetch_add(1, Ordering::Relaxed));
        }
    }
}

/// Whether the calling thread has a current task outside of oneTBB tasks: a root, which is created
/// now if the thread may have one. A worker of oneTBB has no current task between its tasks.
fn has_root(h: LiveHandle) -> bool {
    h.ensure_root();
    h.has_root() || !h.is_worker()
}
