//! Which runtime a library is.

use std::path::PathBuf;

use crate::library::Library;

/// A runtime that can be measured in its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    Gnu,
    Llvm,
    Tbb,
}

impl Runtime {
    /// The runtime in that library, and its file; `None` if it is none.
    pub(crate) fn of(library: &Library) -> Option<(Runtime, Option<PathBuf>)> {
        // LLVM's has GNU's functions too.
        let known = [
            (Runtime::Tbb, c"TBB_runtime_version"),
            (Runtime::Llvm, c"__kmpc_fork_call"),
            (Runtime::Gnu, c"GOMP_parallel"),
        ];
        known.into_iter().find_map(|(runtime, name)| {
            let function = library.has(name)?;
            Some((runtime, Library::file_of(function)))
        })
    }

    /// How `record` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Runtime::Gnu => "GNU OpenMP",
            Runtime::Llvm => "LLVM OpenMP",
            Runtime::Tbb => "oneTBB",
        }
    }
}
