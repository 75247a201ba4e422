//! Facts about a few tasks that do not fit into their words. The key is the word's address, because
//! another thread may look them up.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use super::ffi::Data;
use super::sync::Group;

/// One kind of fact. A lookup in an empty table costs one load.
pub(super) struct SideTable<T> {
    count: AtomicUsize,
    list: Mutex<Vec<(usize, T)>>,
}

/// Signals of detached tasks whose event was fulfilled before their body ended.
pub(super) static FULFILLED: SideTable<u64> = SideTable::new();
/// Signal and stop of detached tasks whose body ended before their event was fulfilled.
pub(super) static DETACHED: SideTable<(u64, u64)> = SideTable::new();
/// Groups that untied tasks had open when they left their thread, innermost first.
pub(super) static GROUPS: SideTable<Group> = SideTable::new();

impl<T> SideTable<T> {
    const fn new() -> Self {
        SideTable {
            count: AtomicUsize::new(0),
            list: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn put(&self, task: *mut Data, value: T) {
        if let Ok(mut list) = self.list.lock() {
            list.push((task as usize, value));
            self.count.store(list.len(), Ordering::Release);
        }
    }

    /// Whether there are no facts at all.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Removes and returns the fact that was stored last for this task.
    #[inline]
    pub(super) fn take(&self, task: *mut Data) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.search(task)
    }

    #[cold]
    fn search(&self, task: *mut Data) -> Option<T> {
        let mut list = self.list.lock().ok()?;
        let at = list
            .iter()
            .rposition(|(owner, _)| *owner == task as usize)?;
        let (_, value) = list.remove(at);
        self.count.store(list.len(), Ordering::Release);
        Some(value)
    }
}
