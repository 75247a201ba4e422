//! Tasks with an event (`detach`). Such a task ends when its body has run and `omp_fulfill_event`
//! was called, in either order, each on any thread. An event is named by an address, which libgomp
//! reuses for later tasks. So an entry here lives from the first of the two to the second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use workspan_recorder::TABLE;
use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::primitive;

use super::call_site;
use super::entry_points::{Call, entries};
use super::next_symbol::Entry;

enum Event {
    /// The signal was set. The body runs, or has not begun.
    Fulfilled { signal: u64 },
    /// The body has run and waits for the signal; `stop` is where it stopped.
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

/// The current task's body has run. Returns true if the task keeps waiting, off this thread's
/// stack.
pub(super) fn body_has_run(h: LiveHandle, event: usize, site: u32) -> bool {
    let mut events = events();
    if let Some(Event::Fulfilled { signal }) = events.remove(&event) {
        h.wait_signal(site, signal);
        h.resume();
        h.task_end();
        return false;
    }
    let signal = (TABLE.signal_new)();
    h.wait_signal(site, signal);
    let stop = h.leave(site);
    events.insert(event, Event::Waits { signal, stop });
    true
}

unsafe extern "C-unwind" fn fulfill(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    if let Some(h) = h {
        let event = call.argument(0);
        let site = call_site::site(call.return_address(), primitive::DETACH);
        let mut events = events();
        match events.remove(&event) {
            Some(Event::Waits { signal, stop }) => {
                h.signal(site, signal);
                h.resume_left(stop);
                h.task_end();
            }
            Some(twice) => {
                events.insert(event, twice);
            }
            None => {
                let signal = (TABLE.signal_new)();
                h.signal(site, signal);
                events.insert(event, Event::Fulfilled { signal });
            }
        }
    }
    // SAFETY: the arguments are the entry point's. Threads that wait for the task may go on only
    // now, after the records are written.
    unsafe { call.forward(entry.next_symbol()) }
}
