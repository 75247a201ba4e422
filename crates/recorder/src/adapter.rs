//! Records the events of a runtime for the adapters in the preloaded library.
//!
//! An adapter takes a [`LiveHandle`] once in each of the runtime's callbacks. Its methods write one
//! record each. They are the general path of `calls`, without the search for the thread's handle,
//! and the records that only adapters write: teams, dependences, lock waits, skipped subtrees.
//!
//! A thread that runs no task and is not a worker gets a root task where a record needs a current
//! task ([`LiveHandle::ensure_root`]). Methods whose names end in `_at` do not check that, and take
//! the time from the caller: several records of one event share one reading of the clock.

mod live_handle;
mod operands;
mod region;
mod skipped;
mod stop;
mod task;
mod wait;

pub use live_handle::LiveHandle;
pub use stop::Stop;

pub use crate::system::KeepErrno;
use crate::thread;
use workspan_trace::entry::SitePosition;

/// Registers a function that is called on each recorded thread when it ends, after its handle was
/// given up. May be called once.
pub fn at_thread_ends(call: fn()) {
    thread::at_ends(call);
}

/// Call this when the calling thread may have a new name.
pub fn note_thread_name() {
    thread::note_name();
}

/// Whether the program has a thread sanitizer. On a new thread, the recorder must not run before
/// the sanitizer does.
pub fn has_thread_sanitizer() -> bool {
    crate::lock::has_sanitizer()
}

/// Whether the threads that the calling thread starts are a runtime's workers, as a front end
/// announced ([`crate::abi::Table::starts_workers`]).
pub fn is_starting_workers() -> bool {
    thread::is_starting_workers()
}

/// Whether the calling thread is recorded. Gives it a handle if it can have one.
pub fn is_recorded() -> bool {
    !thread::of_thread().is_null()
}

/// The site of a call by its return addresses, innermost first. `name` is a mangled symbol, or
/// empty, shown where no address has a line. Returns 0 when nothing is recorded.
///
/// Takes a lock, so adapters cache the result.
pub fn site_calls(addresses: &[usize], name: &str, primitive: u8) -> u32 {
    if !crate::process::is_on() {
        return 0;
    }
    let addresses = addresses.iter().map(|&address| address as u64).collect();
    let name = name.to_owned();
    crate::intern::site(primitive, SitePosition::Calls { addresses, name })
}

/// The executable segment that holds this address.
///
/// Walks the loaded files, so adapters cache the result.
pub fn code_around(address: usize) -> Option<core::ops::Range<usize>> {
    let (start, end) = crate::objects::code_around(address as u64)?;
    Some(start as usize..end as usize)
}
