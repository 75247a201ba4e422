//! The table of the task-parallel runtimes that workspan knows: [`ALL`].
//!
//! Recording, calibration, symbols and the benchmark read it. To support another runtime, write an
//! adapter (a folder in `crates/adapters/preload/src`) and add a row.

mod table;

use std::ffi::CStr;
use std::path::Path;

pub use table::{ALL, OTHER_THREAD_COUNT_VARIABLES};

/// Identifies a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// Rayon, recorded by a stand-in for `rayon-core`.
    Rayon,
    /// LLVM's `libomp`, recorded through its tools interface (OMPT).
    Libomp,
    /// Intel's build of `libomp`.
    IntelOpenMp,
    /// GCC's `libgomp`.
    Libgomp,
    /// oneTBB.
    OneTbb,
}

/// One runtime.
#[derive(Debug, PartialEq)]
pub struct Runtime {
    /// Its identifier.
    pub id: Id,
    /// Its name in reports, which is also the start of the value of its `runtime` note
    /// ([`Runtime::from_note`]).
    pub name: &'static str,
    /// Its shared library; `None` for a runtime that is compiled into programs.
    pub library: Option<Library>,
    /// Its functions and sources, as debug information names them.
    pub code: Code,
    /// The variable that sets its number of threads.
    pub thread_count_variable: Option<&'static str>,
    /// The variable that lifts the stealing constraint when it is 0; set if a thread may run only
    /// descendants of a task that waits on it.
    pub stealing_constraint: Option<&'static str>,
    /// Whether the threads of a team take tasks from one queue under one lock.
    pub shared_queue: bool,
    /// Prefixes of its settings in the environment.
    pub settings: &'static [&'static str],
    /// How it supports an overhead budget.
    pub budget: Budget,
    /// How `workspan bench runtimes` builds C++ programs for it.
    pub build: Option<Build>,
}

/// A runtime's shared library.
#[derive(Debug, PartialEq)]
pub struct Library {
    /// Prefixes of its file names, up to a `.` or `-`.
    pub stems: &'static [&'static str],
    /// The name by which the loader finds the system's copy; `None` for a runtime that shares its
    /// files with another one.
    pub soname: Option<&'static str>,
    /// A function that it exports, and that every program contains into which the runtime is
    /// linked.
    pub entry_point: &'static CStr,
    /// A text that the library contains, but no program that merely uses it.
    pub text: &'static [u8],
    /// The functions through which its steals are measured.
    pub interface: Interface,
    /// The possible reason why nothing was recorded although the library was loaded.
    pub silence: &'static str,
    /// A variable and its value that keep the runtime silent, and what to do about it.
    pub silencing_setting: Option<(&'static str, &'static str, &'static str)>,
}

/// A set of functions that create tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// `GOMP_parallel` and `GOMP_task`, which libomp has too.
    Gomp,
    /// oneTBB's `r1` functions.
    OneTbb,
}

/// A runtime's own code, as it appears on call stacks.
#[derive(Debug, PartialEq)]
pub struct Code {
    /// Its crates, as prefixes of function names.
    pub crates: &'static [&'static str],
    /// Its packages: folders named `NAME-VERSION`, or `NAME` below `vendor`.
    pub packages: &'static [&'static str],
    /// Its C++ namespaces.
    pub namespaces: &'static [&'static str],
    /// Prefixes of its C functions.
    pub function_prefixes: &'static [&'static str],
    /// Folders in the paths of its sources and headers.
    pub folders: &'static [&'static str],
    /// Prefixes of the functions, with their crate or namespaces, that create, queue and wait for
    /// tasks. Its other functions with a `::` are algorithms, such as a parallel sort.
    pub scheduler: &'static [&'static str],
}

/// Whether tasks of a runtime can be skipped to keep to an overhead budget, and the costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Its joins can be skipped; calibration measures the cost.
    MeasuredJoins,
    /// Its tasks can be skipped at a constant cost.
    ///
    /// The constants are near the median of measurements with Fibonacci numbers whose tasks do
    /// nothing else (docs/measured/budget.md). Skipping a task only costs instructions, so its cost
    /// is a time. Recording one reads the clock, so its cost is a multiple of the calibrated probe.
    Tasks {
        /// Time for skipping a task, in nanoseconds.
        skip_ns: f64,
        /// Cost of a task's probe in calibrated probes: a runtime with a tool attached is itself
        /// slower.
        probes: f64,
    },
}

/// How a C++ program is compiled for a runtime.
#[derive(Debug, PartialEq)]
pub struct Build {
    /// Compilers, the preferred one first.
    pub compilers: &'static [&'static str],
    /// Flags for the program.
    pub flags: &'static [&'static str],
    /// A header that is installed with the runtime.
    pub header: &'static str,
    /// The package to install if it is missing.
    pub remedy: &'static str,
}

impl Id {
    /// The row of the runtime.
    #[must_use]
    pub fn runtime(self) -> &'static Runtime {
        // The table has a row for each, as a test checks.
        let row = ALL.iter().find(|runtime| runtime.id == self);
        row.unwrap_or(&ALL[0])
    }
}

impl Runtime {
    /// The runtime that a trace's `runtime` note names: its name, possibly followed by a version
    /// (`oneTBB 2021.8`) or in brackets by what was recorded (`Rayon (rayon-core 1.13.0)`,
    /// `GNU OpenMP (libgomp)`). `None` for another name, such as a pool that the program reports
    /// itself.
    #[must_use]
    pub fn from_note(note: &str) -> Option<&'static Runtime> {
        ALL.iter().find(|runtime| {
            note.strip_prefix(runtime.name).is_some_and(|rest| {
                let version = rest.strip_prefix(' ');
                rest.is_empty()
                    || version
                        .is_some_and(|v| v.starts_with(|c: char| c == '(' || c.is_ascii_digit()))
            })
        })
    }

    /// The runtime whose library a file is: `libgomp.so.1`, or `libgomp-a34b3233.so.1.0.0` as in
    /// Python packages.
    #[must_use]
    pub fn from_library(file: &Path) -> Option<&'static Runtime> {
        ALL.iter().find(|runtime| runtime.is_library(file))
    }

    /// Whether a file is this runtime's library.
    #[must_use]
    pub fn is_library(&self, file: &Path) -> bool {
        let name = file_name(file);
        self.stems().iter().any(|stem| {
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.starts_with(['.', '-']) && rest.contains(".so"))
        })
    }

    fn stems(&self) -> &'static [&'static str] {
        self.library.as_ref().map_or(&[], |library| library.stems)
    }
}

/// Whether a module belongs to a runtime: its library, or one that comes with it, such as
/// `libtbbmalloc`.
#[must_use]
pub fn is_module(file: &Path) -> bool {
    let name = file_name(file);
    let mut stems = ALL.iter().flat_map(Runtime::stems);
    stems.any(|stem| name.starts_with(stem))
}

/// Whether a source file belongs to a runtime.
#[must_use]
pub fn is_source(file: &str) -> bool {
    ALL.iter().any(|runtime| {
        let folders = runtime.code.folders;
        folders.iter().any(|folder| file.contains(folder))
            || in_package(file, runtime.code.packages)
    })
}

fn in_package(file: &str, packages: &[&str]) -> bool {
    let is_package = |part: &str| {
        packages.iter().any(|package| {
            let Some(rest) = part.strip_prefix(package) else {
                return false;
            };
            let version = rest.strip_prefix('-');
            version.is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
                || rest.is_empty() && file.contains("/vendor/")
        })
    };
    file.split('/').any(is_package)
}

/// Whether a Rust crate belongs to a runtime.
#[must_use]
pub fn is_crate(name: &str) -> bool {
    ALL.iter()
        .any(|runtime| runtime.code.crates.contains(&name))
}

/// Whether an outermost C++ namespace belongs to a runtime.
#[must_use]
pub fn is_namespace(name: &str) -> bool {
    let mut all = ALL.iter().map(|runtime| runtime.code.namespaces);
    all.any(|names| names.contains(&name))
}

/// Whether a function's name is one of a runtime's C functions.
#[must_use]
pub fn is_function(name: &str) -> bool {
    let mut prefixes = ALL
        .iter()
        .flat_map(|runtime| runtime.code.function_prefixes);
    prefixes.any(|prefix| name.starts_with(prefix))
}

/// Whether a function of a runtime creates, queues or waits for tasks, as opposed to an algorithm
/// of the runtime. All C functions do, and so does a library whose functions have no names.
#[must_use]
pub fn is_scheduler(function: &str) -> bool {
    let mut prefixes = ALL.iter().flat_map(|runtime| runtime.code.scheduler);
    !function.contains("::") || prefixes.any(|prefix| function.starts_with(prefix))
}

/// Whether an environment variable is a runtime's setting.
#[must_use]
pub fn is_setting(variable: &str) -> bool {
    let mut prefixes = ALL.iter().flat_map(|runtime| runtime.settings);
    prefixes.any(|prefix| variable.starts_with(prefix))
}

/// The variables that set the number of threads of a recorded runtime, each once.
pub fn thread_count_variables() -> impl Iterator<Item = &'static str> {
    let variable = |at: usize| ALL[at].thread_count_variable;
    (0..ALL.len()).filter_map(move |at| {
        variable(at).filter(|_| (0..at).all(|before| variable(before) != variable(at)))
    })
}

fn file_name(file: &Path) -> &str {
    file.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_has_one_row() {
        for id in [
            Id::Rayon,
            Id::Libomp,
            Id::IntelOpenMp,
            Id::Libgomp,
            Id::OneTbb,
        ] {
            assert_eq!(ALL.iter().filter(|runtime| runtime.id == id).count(), 1);
            assert_eq!(id.runtime().id, id);
        }
    }

    #[test]
    fn notes_name_runtimes() {
        let id = |note: &str| Runtime::from_note(note).map(|runtime| runtime.id);
        assert_eq!(id("Rayon (rayon-core 1.13.0)"), Some(Id::Rayon));
        assert_eq!(id("Rayon 1.13.0"), Some(Id::Rayon), "of older traces");
        assert_eq!(id("GNU OpenMP (libgomp)"), Some(Id::Libgomp));
        assert_eq!(
            id("LLVM OpenMP (OMPT), version 5.0.20140926"),
            Some(Id::Libomp)
        );
        assert_eq!(
            id("Intel OpenMP (OMPT), version 5.0"),
            Some(Id::IntelOpenMp)
        );
        assert_eq!(id("oneTBB"), Some(Id::OneTbb));
        for other in [
            "",
            "Rayonne 1.0",
            "Rayon on fibers",
            "my oneTBB",
            "pool.c 1.0",
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }

    #[test]
    fn libraries_are_known_by_file_name() {
        for (file, id) in [
            ("/usr/lib/x86_64-linux-gnu/libgomp.so.1", Some(Id::Libgomp)),
            ("/a/numpy.libs/libgomp-a34b3233.so.1.0.0", Some(Id::Libgomp)),
            ("libomp.so.5", Some(Id::Libomp)),
            ("libiomp5.so", Some(Id::Libomp)),
            ("/opt/tbb/libtbb.so.12", Some(Id::OneTbb)),
            ("libtbbmalloc.so.2", None),
            ("libompd.so", None),
            ("libc.so.6", None),
            ("libgomp.a", None),
        ] {
            let found = Runtime::from_library(Path::new(file));
            assert_eq!(found.map(|runtime| runtime.id), id, "{file}");
        }
        assert!(is_module(Path::new("/usr/lib/libtbbmalloc.so.2")));
        assert!(!is_module(Path::new("/usr/lib/libgomp/sort")));
    }

    #[test]
    fn sources_are_known_by_path() {
        for file in [
            "/usr/include/oneapi/tbb/task_group.h",
            "/v/registry/src/i/rayon-core-1.13.0/src/join/mod.rs",
            "/w/vendor/rayon/src/lib.rs",
        ] {
            assert!(is_source(file), "{file}");
        }
        for file in [
            "/home/me/rayon-demo/src/main.rs",
            "/home/rayon/app/src/main.rs",
        ] {
            assert!(!is_source(file), "{file}");
        }
    }

    #[test]
    fn each_variable_is_named_once() {
        let all: Vec<&str> = thread_count_variables().collect();
        assert_eq!(all, ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"]);
    }
}
