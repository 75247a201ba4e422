//! Answers' parts that took long to make, within a number of bytes: what was not asked for longest goes first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is kept, by key.
#[derive(Debug)]
pub(crate) struct Kept<K, V> {
    most: usize,
    all: Mutex<All<K, V>>,
}

#[derive(Debug)]
struct All<K, V> {
    by_key: BTreeMap<K, Entry<V>>,
    /// Keys in the order in which they were asked for.
    asked: BTreeMap<u64, K>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    bytes: usize,
    asked: u64,
}

impl<K: Ord + Clone, V> Kept<K, V> {
    /// At most so many bytes, or a single value.
    pub(crate) fn new(most: usize) -> Kept<K, V> {
        Kept {
            most,
            all: Mutex::new(All {
                by_key: BTreeMap::new(),
                asked: BTreeMap::new(),
                next: 0,
                bytes: 0,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, All<K, V>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept under `key`.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        let mut all = self.lock();
        let now = all.next;
        let entry = all.by_key.get_mut(key)?;
        let before = std::mem::replace(&mut entry.asked, now);
        let value = entry.value.clone();
        all.next += 1;
        all.asked.remove(&before);
        all.asked.insert(now, key.clone());
        Some(value)
    }

    /// Keeps a value that takes `bytes`, and lets go of others until all is within the bound.
    pub(crate) fn keep(&self, key: K, value: Arc<V>, bytes: usize) {
        let mut all = self.lock();
        all.forget(&key);
        let asked = all.next;
        all.next += 1;
        all.bytes += bytes;
        all.asked.insert(asked, key.clone());
        let entry = Entry {
            value,
            bytes,
            asked,
        };
        all.by_key.insert(key, entry);
        while all.bytes > self.most && all.by_key.len() > 1 {
            let Some((_, oldest)) = all.asked.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            all.forget(&oldest);
        }
    }

    /// Bytes of all that is kept.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }
}

impl<K: Ord, V> All<K, V> {
    fn forget(&mut self, key: &K) {
        if let Some(entry) = self.by_key.remove(key) {
            self.asked.remove(&entry.asked);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let kept = Kept::new(30);
        for key in 0..3 {
            kept.keep(key, Arc::new(key * 10), 10);
        }
        assert_eq!(kept.get(&0).as_deref(), Some(&0));
        kept.keep(3, Arc::new(30), 10);
        let there: Vec<i32> = (0..4).filter(|key| kept.get(key).is_some()).collect();
        assert_eq!(there, [0, 2, 3]);
        assert_eq!(kept.bytes(), 30);
    }

    #[test]
    fn a_value_that_is_larger_than_all_room_is_alone() {
        let kept = Kept::new(30);
        kept.keep('a', Arc::new(()), 10);
        kept.keep('b', Arc::new(()), 100);
        assert_eq!((kept.get(&'a'), kept.bytes()), (None, 100));
        kept.keep('c', Arc::new(()), 10);
        assert_eq!((kept.get(&'b'), kept.bytes()), (None, 10));
    }

    #[test]
    fn a_key_that_is_kept_again_counts_once() {
        let kept = Kept::new(30);
        kept.keep(1, Arc::new("old"), 20);
        kept.keep(1, Arc::new("new"), 20);
        assert_eq!((kept.get(&1).as_deref(), kept.bytes()), (Some(&"new"), 20));
    }
}
