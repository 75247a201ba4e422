//! A progress message for long operations, on a terminal only.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The delay before the message is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Shows a line on stderr once the operation has taken more than a second, until dropped.
pub struct Progress {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the delay.
    pub fn new(text: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self {
                done: None,
                thread: None,
            };
        }
        let (done, wait) = channel();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                let mut stderr = std::io::stderr();
                // If the terminal is gone, the message is not needed.
                let _ = write!(stderr, "{text}");
                let _ = wait.recv();
                let _ = write!(stderr, "\r\x1b[K");
            }
        });
        Self {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic, and there would be nothing to do about it.
            let _ = thread.join();
        }
    }
}
