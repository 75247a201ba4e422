//! Whether runs are wanted: a page can stop loading, and ask for it again.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the loading thread and the pages agree on.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    stopped: Mutex<bool>,
    changed: Condvar,
}

/// Why a run is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    /// A page stopped it.
    Stopped,
    /// It can't be: one sentence.
    Failed(String),
}

impl Why {
    /// Of an analysis that failed.
    pub(crate) fn of(error: workspan_analysis::Error) -> Why {
        Why::Failed(error.to_string())
    }
}

impl Loading {
    fn stopped(&self) -> MutexGuard<'_, bool> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runs are wanted, or no longer.
    pub(crate) fn want(&self, wanted: bool) {
        *self.stopped() = !wanted;
        self.changed.notify_all();
    }

    /// Between two stages.
    ///
    /// # Errors
    /// The runs are no longer wanted.
    pub(crate) fn check(&self) -> Result<(), Why> {
        if *self.stopped() {
            return Err(Why::Stopped);
        }
        Ok(())
    }

    /// Waits until the runs are wanted.
    pub(crate) fn wait(&self) {
        let mut stopped = self.stopped();
        while *stopped {
            let woken = self.changed.wait(stopped);
            stopped = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
