//! Control of loading: a page can stop it, and start it again.

use std::sync::{Condvar, Mutex, PoisonError};

use workspan_dag::cancel::CancelToken;

/// State shared by the loading thread and the pages.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    token: CancelToken,
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Loading {
    /// Starts loading again, or stops it.
    pub(crate) fn want(&self, wanted: bool) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        *stopped = !wanted;
        if wanted {
            self.token.reset();
        } else {
            self.token.cancel();
        }
        self.changed.notify_all();
    }

    /// Whether loading was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Calls `load` until it completes. Each time loading is stopped, this calls `stopped` and
    /// waits.
    pub(crate) fn until_done(&self, load: impl Fn() + Sync, stopped: impl Fn()) {
        while self.token.run(&load).is_err() {
            stopped();
            self.wait();
        }
    }

    /// Waits until loading is started again.
    fn wait(&self) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while *stopped {
            let woken = self.changed.wait(stopped);
            stopped = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
