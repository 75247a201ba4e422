//! A byte-bounded LRU cache for expensive parts of answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by key; the least recently used are evicted first.
#[derive(Debug)]
pub(crate) struct ByteLru<K, V> {
    most: usize,
    all: Mutex<All<K, V>>,
}

#[derive(Debug)]
struct All<K, V> {
    by_key: BTreeMap<K, Entry<V>>,
    /// Keys by last use, the least recently used first.
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

impl<K: Ord + Clone, V> ByteLru<K, V> {
    /// An empty cache of at most `most` bytes. A single larger value is kept alone.
    pub(crate) fn new(most: usize) -> ByteLru<K, V> {
        ByteLru {
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

    /// The value for `key`, which becomes the most recently used.
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

    /// Stores a value that takes `bytes`, and evicts others until the cache is within its bound.
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

    /// Bytes of all values.
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
        let kept = ByteLru::new(30);
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
        let kept = ByteLru::new(30);
        kept.keep('a', Arc::new(()), 10);
        kept.keep('b', Arc::new(()), 100);
        assert_eq!((kept.get(&'a'), kept.bytes()), (None, 100));
        kept.keep('c', Arc::new(()), 10);
        assert_eq!((kept.get(&'b'), kept.bytes()), (None, 10));
    }

    #[test]
    fn a_key_that_is_kept_again_counts_once() {
        let kept = ByteLru::new(30);
        kept.keep(1, Arc::new("old"), 20);
        kept.keep(1, Arc::new("new"), 20);
        assert_eq!((kept.get(&1).as_deref(), kept.bytes()), (Some(&"new"), 20));
    }
}
