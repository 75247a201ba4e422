//! Prints the current checks every minute, as a passing test prints nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval between two lines.
const EVERY: Duration = Duration::from_secs(60);

/// Checks that currently run: at most two, in parallel.
static RUNNING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Number of tests that have passed.
static PASSED: AtomicUsize = AtomicUsize::new(0);

/// A running check; it ends when this is dropped.
pub struct Check(String);

impl Check {
    /// Begins the check.
    pub fn begin(name: &str) -> Check {
        println!("== {name}");
        running(|names| names.insert(name.to_owned()));
        Check(name.to_owned())
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        running(|names| names.remove(&self.0));
    }
}

fn running<R>(change: impl FnOnce(&mut BTreeSet<String>) -> R) -> R {
    change(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Counts a test that has passed.
pub fn passed() {
    PASSED.fetch_add(1, Ordering::Relaxed);
}

/// Prints a line per minute until it is dropped.
pub struct EachMinute {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl EachMinute {
    /// The first line comes after a minute.
    pub fn begin(started: Instant) -> EachMinute {
        let (done, wait) = channel();
        let thread = thread::spawn(move || {
            while wait.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let names = running(|names| names.iter().cloned().collect::<Vec<_>>());
                println!(
                    "{}",
                    line(started.elapsed(), &names, PASSED.load(Ordering::Relaxed))
                );
            }
        });
        EachMinute {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for EachMinute {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // The thread can't panic, and there would be no way to handle it.
            let _ = thread.join();
        }
    }
}

fn line(elapsed: Duration, names: &[String], passed: usize) -> String {
    let minutes = elapsed.as_secs() / 60;
    let now = if names.is_empty() {
        "between two checks".to_owned()
    } else {
        names.join(", beside it ")
    };
    format!("-- {minutes} min: {now}; {passed} tests passed so far")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_what_runs() {
        let names = ["lints".to_owned(), "tests".to_owned()];
        assert_eq!(
            line(Duration::from_secs(185), &names, 12),
            "-- 3 min: lints, beside it tests; 12 tests passed so far"
        );
        let none = line(Duration::from_secs(59), &[], 0);
        assert_eq!(none, "-- 0 min: between two checks; 0 tests passed so far");
    }
}
