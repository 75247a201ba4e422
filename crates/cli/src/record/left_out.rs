//! What a task costs that is left out to stay inside the overhead budget, in the runtimes that a program used: measured with the very library it
//! had loaded, bare and behind the preloaded one, in turns.

use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use serde::{Deserialize, Serialize};
use workspan_calibrate::{TaskTime, task_time};

use super::direct::spool_below;
use super::{environment, in_library};
use crate::embedded;

/// The name under which this program measures the library in its first argument.
pub const ROLE: &str = "workspan-task-time";

/// What is kept under that name.
const KEPT: &str = "left-out";

/// Processes of either kind, taking turns.
const TURNS: u32 = 3;

/// Everything is left out from the first tasks on, and hardly any drawn.
const ALL_LEFT_OUT: &str = "1:0";

/// What leaving out a task of a runtime costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// `GNU OpenMP`, `LLVM OpenMP`, `oneTBB`.
    pub runtime: String,
    /// The runtime's file.
    pub library: Option<PathBuf>,
    /// What a task takes in a bare program, in nanoseconds.
    pub bare_ns: f64,
    /// What it takes more for being left out.
    pub left_out_ns: f64,
}

/// Measures the runtime in a file as [`ROLE`] does: on one CPU, so that nobody takes the tasks.
///
/// # Errors
/// Why nothing was measured.
pub fn on_one_cpu(library: &Path) -> Result<TaskTime, String> {
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    sched_setaffinity(None, &one).map_err(|error| error.to_string())?;
    task_time(library)
}

/// Measures the runtime in this file, or, by its bare name, in the one that the loader finds. `folder` is where the tool is unpacked.
///
/// # Errors
/// Why nothing was measured.
pub fn measure(folder: &Path, library: &Path) -> Result<LeftOut, String> {
    let preloaded = embedded::library_in(folder).map_err(|error| error.to_string())?;
    let spool = spool_below(folder).map_err(|error| error.to_string())?;
    let measured = in_turns(&preloaded, &spool, library);
    // What was drawn of the measured tasks is of no use.
    let _ = std::fs::remove_dir_all(&spool);
    measured
}

/// Measures tasks bare and behind that library, which records them below `spool`.
fn in_turns(preloaded: &Path, spool: &Path, library: &Path) -> Result<LeftOut, String> {
    let bare = || in_library::played::<TaskTime>(ROLE, library, |_| ());
    let left_out = || {
        in_library::played::<TaskTime>(ROLE, library, |command| {
            command
                .env("LD_PRELOAD", preloaded)
                .env(environment::SPOOL_DIR, spool)
                .env(environment::MAX_OVERHEAD, ALL_LEFT_OUT);
        })
    };
    let (first, mut least) = (bare()?, left_out()?.ns);
    let mut least_bare = first.ns;
    for _ in 1..TURNS {
        least_bare = least_bare.min(bare()?.ns);
        least = least.min(left_out()?.ns);
    }
    if least <= least_bare {
        return Err("it can't be told from nothing".into());
    }
    Ok(LeftOut {
        runtime: first.runtime,
        library: first.library,
        bare_ns: least_bare,
        left_out_ns: least - least_bare,
    })
}

/// What leaving out a task costs in a trace, in nanoseconds: the least of its runtimes, as nobody knows which of them a task is of. `runtimes` are the values of
/// its notes, `libraries` the files that were loaded. None when none of them could be measured.
pub fn of_trace<'a>(
    folder: &Path,
    runtimes: &[String],
    libraries: impl Iterator<Item = &'a Path> + Clone,
) -> Option<f64> {
    let costs = runtimes.iter().filter_map(|runtime| {
        let file = in_library::file(runtime, libraries.clone())?;
        of(folder, &file).ok().map(|cost| cost.left_out_ns)
    });
    costs.reduce(f64::min)
}

/// That of a library: what is kept in `folder`, or measured now.
fn of(folder: &Path, library: &Path) -> Result<LeftOut, String> {
    match in_library::find(folder, KEPT, library) {
        Some(cost) => Ok(cost),
        None => {
            let cost = measure(folder, library)?;
            keep(folder, &cost);
            Ok(cost)
        }
    }
}

/// Keeps what was measured for the traces to come; whether it is kept.
pub fn keep(folder: &Path, cost: &LeftOut) -> bool {
    let library = cost.library.as_deref();
    library.is_some_and(|library| in_library::keep(folder, KEPT, library, cost.clone()))
}
