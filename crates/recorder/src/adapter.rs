//! What the adapters in the preloaded library record with: the general path of `calls`, on a handle the adapter has at
//! hand, and the records only adapters write (teams, dependences, lock waits, subtrees left out).
//!
//! Every function takes the calling thread's live handle ([`handle`]), which is the one safety condition of all of them:
//! never a null one, never another thread's. A function that needs a current task gives a thread that runs none, and is no
//! worker, a root ([`root`]) first.

mod operands;
mod region;
mod stop;
mod task;
mod unrecorded;
mod wait;

pub use operands::record_at;
pub use region::{blocked, depend, depends, member, team};
pub use stop::{Stop, go_on, go_on_signalled, leave, resume_left, stopped, yield_task};
pub use task::{
    scope_open, scope_open_at, task_begin, task_begin_at, task_create, task_create_at, task_end,
    task_end_at, task_end_resume,
};
pub use unrecorded::{inside, part_begin, recorded, sampled, unrecorded, wait_parts_at};
pub use wait::{
    resume, resume_at, signal, wait_children, wait_dependences, wait_scope, wait_scope_at,
    wait_signal, wait_signal_at, wait_task, wait_task_at, wait_tasks,
};

use crate::front::{HAS_ROOT, Handle, IS_WORKER};
pub use crate::system::KeepErrno;
use crate::thread;
use crate::wire::Kind;
use workspan_trace::entry::SitePosition;

/// The calling thread's handle, made on first use; null when this process is not recorded (any more).
#[inline]
pub fn handle() -> *mut Handle {
    thread::of_thread()
}

/// From now on this is called on each thread that had a handle, when it ends and its handle is given up. Called once.
pub fn at_thread_ends(call: fn()) {
    thread::at_ends(call);
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
    let (start, end) = crate::objects::code_around(address as u64)?;
    Some(start as usize..end as usize)
}
