//! A word about work that takes long, on a terminal only.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shown after this.
const PATIENCE: Duration = Duration::from_secs(1);

/// While it lives, a line stands on stderr once the work has taken more than a second.
pub struct Progress {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the wait.
    pub fn new(text: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self {
                done: None,
                thread: None,
            };
        }
        let (done, wait) = channel();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let mut stderr = std::io::stderr();
                // A terminal that is gone needs no message.
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
            // It can't panic, and there would be nothing to do about it.
            let _ = thread.join();
        }
    }
}
