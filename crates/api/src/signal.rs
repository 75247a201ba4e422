//! Signals: edges from one place to another that are no task's end (futures, channels, flow graphs).

use core::panic::Location;

use crate::site::site;
use crate::table::{Number, table};
use crate::task::{Goes, numbers};

/// Something that is set once, and waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(pub(crate) Number);

impl Signal {
    /// A signal that is not set.
    #[inline]
    #[allow(clippy::new_without_default, reason = "two signals are never the same")]
    pub fn new() -> Signal {
        Signal(table().map_or(Number::default(), |t| Number::new((t.signal_new)())))
    }

    /// The current task sets it: tell it just before others can see it.
    #[inline]
    #[track_caller]
    pub fn set(self) {
        if let Some(table) = table() {
            (table.signal_set)(site(table, Location::caller()), self.0.get());
        }
    }
}

/// The current task waits, in `blocking`, until these signals are set.
#[inline]
#[track_caller]
pub fn wait_signals<R>(signals: &[Signal], blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    let list = numbers(signals.iter().map(|s| s.0));
    // SAFETY: the list lives during the call and has the length given.
    unsafe { (table.wait_signals)(site(table, Location::caller()), list.as_ptr(), list.len()) };
    let _goes = Goes(table);
    blocking()
}
