//! What a task costs that is recorded, in full or left out to stay inside the overhead budget, in the runtimes that a program used: measured with the very
//! library it had loaded, bare and behind the preloaded one, in turns.

use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use serde::{Deserialize, Serialize};
use workspan_calibrate::{TaskTime, task_time};

use crate::costs::library_measurement;
use crate::costs::task_strands::TaskStrands;
use crate::embedded;
use crate::launch::environment;
use crate::program::spool_below;

/// The name under which this program measures the library in its first argument.
pub const ROLE: &str = "workspan-task-time";

/// What is kept under that name.
const KEPT: &str = "left-out";

/// Processes of each kind, taking turns: the least of each kind counts, and on a machine kept busy most are slowed down.
const TURNS: u32 = 7;

/// Everything is left out from the first tasks on, and hardly any drawn.
const ALL_LEFT_OUT: &str = "1:0";
/// No limit.
const ALL_RECORDED: &str = "0";

/// What recording a task of a runtime costs. A kept one of before tasks recorded in full were measured is none: it lacks a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskCost {
    /// `GNU OpenMP`, `LLVM OpenMP`, `oneTBB`.
    pub runtime: String,
    /// The runtime's file.
    pub library: Option<PathBuf>,
    /// What a task takes in a bare program, in nanoseconds.
    pub bare_ns: f64,
    /// What it takes more for being left out.
    pub left_out_ns: f64,
    /// What is to be taken out of its three strands where it is recorded in full, so that they add up to what it takes bare.
    pub recorded_ns: f64,
}

/// What a task costs in a trace, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfTrace {
    /// [`TaskCost::left_out_ns`].
    pub left_out_ns: f64,
    /// [`TaskCost::recorded_ns`]; `None` where the trace has a runtime whose probes cost what was calibrated, as Rayon's.
    pub recorded_ns: Option<f64>,
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
pub fn measure(folder: &Path, library: &Path) -> Result<TaskCost, String> {
    let preloaded = embedded::library_in(folder).map_err(|error| error.to_string())?;
    let spool = spool_below(folder).map_err(|error| error.to_string())?;
    let measured = in_turns(&preloaded, &spool, library);
    // What was recorded of the measured tasks is of no more use.
    let _ = std::fs::remove_dir_all(&spool);
    measured
}

/// Measures tasks bare and behind that library, which records them below `spool`.
fn in_turns(preloaded: &Path, spool: &Path, library: &Path) -> Result<TaskCost, String> {
    let recorded = |name: String, most: &str| {
        let folder = spool.join(name);
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let time = library_measurement::played::<TaskTime>(ROLE, library, |command| {
            command
                .env("LD_PRELOAD", preloaded)
                .env(environment::SPOOL_DIR, &folder)
                .env(environment::MAX_OVERHEAD, most);
        })?;
        Ok::<_, String>((time.ns, folder))
    };
    let mut of = None;
    let (mut bare, mut left_out) = (f64::INFINITY, f64::INFINITY);
    let mut strands: Option<TaskStrands> = None;
    for turn in 0..TURNS {
        let time = library_measurement::played::<TaskTime>(ROLE, library, |_| ())?;
        bare = bare.min(time.ns);
        of = Some((time.runtime, time.library));
        left_out = left_out.min(recorded(format!("left-out-{turn}"), ALL_LEFT_OUT)?.0);
        let (_, folder) = recorded(format!("recorded-{turn}"), ALL_RECORDED)?;
        let found = TaskStrands::in_spool(&folder)?;
        if strands
            .as_ref()
            .is_none_or(|least| found.a_task() < least.a_task())
        {
            strands = Some(found);
        }
    }
    let ((runtime, library), Some(strands)) = (of.unwrap_or_default(), strands) else {
        return Err("no turn was taken".into());
    };
    if left_out <= bare {
        return Err("it can't be told from nothing".into());
    }
    Ok(TaskCost {
        runtime,
        library,
        bare_ns: bare,
        left_out_ns: left_out - bare,
        recorded_ns: strands.beyond(bare),
    })
}

/// What a task costs in a trace: the least of its runtimes, as nobody knows which of them a task is of. `runtimes` are the values of
/// its notes, `libraries` the files that were loaded. `None` when none of them could be measured.
pub fn of_trace<'a>(
    folder: &Path,
    runtimes: &[String],
    libraries: impl Iterator<Item = &'a Path> + Clone,
) -> Option<OfTrace> {
    let costs = runtimes.iter().filter_map(|runtime| {
        let file = library_measurement::file(runtime, libraries.clone())?;
        of(folder, &file).ok()
    });
    let (left_out_ns, recorded_ns) = costs
        .map(|cost| (cost.left_out_ns, cost.recorded_ns))
        .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
    let alone = runtimes
        .iter()
        .all(|runtime| library_measurement::is_known(runtime));
    Some(OfTrace {
        left_out_ns,
        recorded_ns: alone.then_some(recorded_ns),
    })
}

/// That of a library: what is kept in `folder`, or measured now.
fn of(folder: &Path, library: &Path) -> Result<TaskCost, String> {
    match library_measurement::find(folder, KEPT, library) {
        Some(cost) => Ok(cost),
        None => {
            let cost = measure(folder, library)?;
            keep(folder, &cost);
            Ok(cost)
        }
    }
}

/// Keeps what was measured for the traces to come; whether it is kept.
pub fn keep(folder: &Path, cost: &TaskCost) -> bool {
    let library = cost.library.as_deref();
    library.is_some_and(|library| library_measurement::keep(folder, KEPT, library, cost.clone()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn loaded(folder: &Path, name: &str) -> PathBuf {
        let library = folder.join(name);
        fs::write(&library, name).expect("a file");
        library
    }

    #[test]
    fn of_several_runtimes_the_least_counts_and_rayons_probes_are_the_calibrated() {
        let folder = tempfile::tempdir().expect("a folder");
        let gomp = loaded(folder.path(), "libgomp.so.1.0.0");
        let tbb = loaded(folder.path(), "libtbb.so.12.8");
        for (library, left_out_ns, recorded_ns) in [(&gomp, 15.0, 90.0), (&tbb, 20.0, 70.0)] {
            let cost = TaskCost {
                runtime: "as if".into(),
                library: Some(library.clone()),
                bare_ns: 80.0,
                left_out_ns,
                recorded_ns,
            };
            assert!(keep(folder.path(), &cost));
        }
        let libraries = [gomp.as_path(), tbb.as_path()];
        let of = |runtimes: &[&str]| {
            let runtimes: Vec<String> = runtimes.iter().map(ToString::to_string).collect();
            let cost = of_trace(folder.path(), &runtimes, libraries.iter().copied());
            cost.map(|cost| (cost.left_out_ns, cost.recorded_ns))
        };
        let (gomp, tbb) = ("GNU OpenMP (libgomp)", "oneTBB 2021.8");
        assert_eq!(of(&[gomp]), Some((15.0, Some(90.0))));
        assert_eq!(of(&[gomp, tbb]), Some((15.0, Some(70.0))));
        assert_eq!(of(&[tbb, "Rayon 1.13.0"]), Some((20.0, None)));
        assert_eq!(of(&["Rayon 1.13.0"]), None);
    }

    /// As it was kept before tasks recorded in full were measured.
    #[test]
    fn what_was_kept_without_a_number_is_measured_again() {
        #[derive(Clone, Serialize, Deserialize)]
        struct Before {
            runtime: String,
            library: Option<PathBuf>,
            bare_ns: f64,
            left_out_ns: f64,
        }
        let folder = tempfile::tempdir().expect("a folder");
        let library = loaded(folder.path(), "libgomp.so.1.0.0");
        let before = Before {
            runtime: "GNU OpenMP".into(),
            library: Some(library.clone()),
            bare_ns: 70.0,
            left_out_ns: 15.0,
        };
        assert!(library_measurement::keep(
            folder.path(),
            KEPT,
            &library,
            before.clone()
        ));
        assert!(library_measurement::find::<Before>(folder.path(), KEPT, &library).is_some());
        assert_eq!(
            library_measurement::find::<TaskCost>(folder.path(), KEPT, &library),
            None
        );
        let now = TaskCost {
            runtime: before.runtime,
            library: Some(library.clone()),
            bare_ns: 70.0,
            left_out_ns: 15.0,
            recorded_ns: 80.0,
        };
        assert!(keep(folder.path(), &now));
        assert_eq!(
            library_measurement::find(folder.path(), KEPT, &library),
            Some(now)
        );
    }
}
