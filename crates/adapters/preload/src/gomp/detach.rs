//! Tasks with an event (`detach`): such a task has ended when its body has run and `omp_fulfill_event` was called, in either
//! order, each on any thread. An event is named by an address that libgomp uses again for later tasks, so what is kept of it
//! lives from the first of the two to the second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;
use workspan_recorder::{TABLE, adapter};

use super::call_site;
use super::entry_points::{Call, entries};
use super::next_symbol::Entry;

enum Event {
    /// The signal was set; the body runs, or has not begun.
    Fulfilled { signal: u64 },
    /// The body has run and waits for the signal; where it stopped.
    Waits { signal: u64, stop: u64 },
}

static EVENTS: Mutex<BTreeMap<usize, Event>> = Mutex::new(BTreeMap::new());

fn events() -> MutexGuard<'static, BTreeMap<usize, Event>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

entries! { events, fulfill:
    omp_fulfill_event = 0,
    omp_fulfill_event_ = 0,
}

/// The current task's body has run. True when the task goes on waiting, off this thread's stack.
///
/// # Safety
/// `h` is the calling thread's live handle, the task on top one with this event.
pub(super) unsafe fn body_has_run(h: *mut Handle, event: usize, site: u32) -> bool {
    let mut events = events();
    // SAFETY: the caller's.
    unsafe {
        if let Some(Event::Fulfilled { signal }) = events.remove(&event) {
            adapter::wait_signal(h, site, signal);
            adapter::resume(h);
            adapter::task_end(h);
            return false;
        }
        let signal = (TABLE.signal_new)();
        adapter::wait_signal(h, site, signal);
        let stop = adapter::leave(h, site);
        events.insert(event, Event::Waits { signal, stop });
    }
    true
}

unsafe extern "C-unwind" fn fulfill(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    if !h.is_null() {
        let event = call.argument(0);
        let site = call_site::site(call.return_address(), primitive::DETACH);
        let mut events = events();
        // SAFETY: the handle is this thread's.
        unsafe {
            match events.remove(&event) {
                Some(Event::Waits { signal, stop }) => {
                    adapter::signal(h, site, signal);
                    adapter::resume_left(h, stop);
                    adapter::task_end(h);
                }
                Some(twice) => {
                    events.insert(event, twice);
                }
                None => {
                    let signal = (TABLE.signal_new)();
                    adapter::signal(h, site, signal);
                    events.insert(event, Event::Fulfilled { signal });
                }
            }
        }
    }
    // SAFETY: the arguments are the entry point's. Only now may anybody go on who waits for the task.
    unsafe { call.forward(entry.next_symbol()) }
}
