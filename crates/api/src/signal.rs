//! Signals: edges that do not begin at a task's end (futures, channels, flow graphs).

use core::panic::Location;

use crate::site::site;
use crate::table::{Number, table};
use crate::task::{ResumeOnDrop, numbers};

/// A signal is set once, and waited for.
///
/// ```
/// let signal = workspan_api::Signal::new();
/// signal.set();
/// workspan_api::wait_signals(&[signal], || ());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(pub(crate) Number);

impl Signal {
    /// A signal that is not set.
    ///
    /// ```
    /// let signal = workspan_api::Signal::new();
    /// # signal.set();
    /// ```
    #[inline]
    #[allow(clippy::new_without_default, reason = "two signals are never the same")]
    pub fn new() -> Signal {
        Signal(table().map_or(Number::default(), |t| Number::new((t.signal_new)())))
    }

    /// The current task sets the signal. Call this just before others can see that it is set.
    ///
    /// ```
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let ready = workspan_api::Signal::new();
    /// ready.set();
    /// send.send("data").unwrap();
    /// # assert_eq!(receive.recv(), Ok("data"));
    /// ```
    #[inline]
    #[track_caller]
    pub fn set(self) {
        if let Some(table) = table() {
            (table.signal_set)(site(table, Location::caller()), self.0.get());
        }
    }
}

/// The current task waits, in `blocking`, until these signals are set.
///
/// ```
/// let (send, receive) = std::sync::mpsc::channel();
/// let ready = workspan_api::Signal::new();
/// let thread = std::thread::spawn(move || {
///     ready.set();
///     send.send(1).unwrap();
/// });
/// assert_eq!(workspan_api::wait_signals(&[ready], || receive.recv()), Ok(1));
/// # thread.join().unwrap();
/// ```
#[inline]
#[track_caller]
pub fn wait_signals<R>(signals: &[Signal], blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    let list = numbers(signals.iter().map(|s| s.0));
    // SAFETY: the list has the length that is passed, and outlives the call.
    unsafe { (table.wait_signals)(site(table, Location::caller()), list.as_ptr(), list.len()) };
    let _resume = ResumeOnDrop(table);
    blocking()
}
