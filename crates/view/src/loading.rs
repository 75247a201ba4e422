//! Whether runs are wanted: a page can stop loading, and ask for it again.

use std::sync::{Condvar, Mutex, PoisonError};

use workspan_dag::cancel::CancelToken;

/// What the loading thread and the pages agree on.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    token: CancelToken,
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Loading {
    /// The runs are wanted, or no longer: what is being loaded ends.
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

    /// The runs are no longer wanted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Loads, by `load`, until that is through; while the runs are not wanted it calls `stopped`
    /// and waits.
    pub(crate) fn until_done(&self, load: impl Fn() + Sync, stopped: impl Fn()) {
        while self.token.run(&load).is_err() {
            stopped();
            self.wait();
        }
    }

    /// Waits until the runs are wanted.
    fn wait(&self) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while *stopped {
            let woken = self.changed.wait(stopped);
            stopped = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
