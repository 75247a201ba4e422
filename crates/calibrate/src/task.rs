//! What a task takes in a runtime's library: Fibonacci numbers by tasks that are created and waited for, on one thread. A recorder that was loaded
//! before stands in front of the library as in any program, so that what it adds to a task is the difference of two processes.

mod openmp;
mod tbb;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::library::Library;
use crate::runtime::Runtime;

/// A Fibonacci number that takes some 20 µs, and its tasks: short enough to be left out as one subtree.
const SIZE: u32 = 12;
/// As many tasks of one are created and waited for as one: the first creates all others.
pub const TASKS_AT_ONCE: usize = 233;
/// Numbers of which the least counts. The first ones of a recorder's budget are recorded.
const BATCHES: u32 = 200;

/// What a task takes that does nothing but create another one, or none, and wait for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskTime {
    /// `GNU OpenMP`, `LLVM OpenMP`, `oneTBB`.
    pub runtime: String,
    /// The runtime's file.
    pub library: Option<PathBuf>,
    /// In nanoseconds.
    pub ns: f64,
}

/// Measures the runtime in this file, or, by its bare name (`libgomp.so.1`), in the one that the loader finds, for some ten milliseconds. It is loaded
/// into the calling process for all to see: a process for this alone, kept on one CPU so that no worker of the runtime's takes a task, is meant.
///
/// # Errors
/// Why nothing was measured: it can't be loaded, or is no runtime that is known.
pub fn task_time(library: &Path) -> Result<TaskTime, String> {
    let file = library.file_name().unwrap_or_default().to_string_lossy();
    let own = Library::open_for_all(library)?;
    let Some((runtime, library)) = Runtime::of(&own) else {
        return Err(format!("{file} is no runtime that can be measured"));
    };
    let ns = match runtime {
        Runtime::Gnu | Runtime::Llvm => openmp::measure(&Library::ALL)?,
        Runtime::Tbb => tbb::measure(&Library::ALL)?,
    };
    Ok(TaskTime {
        runtime: runtime.name().into(),
        library,
        ns,
    })
}

/// Nanoseconds a task, where `fib` runs a Fibonacci number of that size as a task.
fn least(mut fib: impl FnMut(u32) -> u32) -> f64 {
    let batch = |_| {
        let begun = Instant::now();
        black_box(fib(black_box(SIZE)));
        begun.elapsed().as_nanos() as f64
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min) / TASKS_AT_ONCE as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_as_they_are_created() {
        fn tasks(n: u32) -> usize {
            if n < 2 {
                0
            } else {
                1 + tasks(n - 1) + tasks(n - 2)
            }
        }
        assert_eq!(1 + tasks(SIZE), TASKS_AT_ONCE);
    }
}
