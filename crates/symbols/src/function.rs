//! Readable names of functions.

use workspan_trace::function_name::without_arguments;

use crate::cplusplus;

/// The language of a name, if the debug information or the module shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Names are lower-case with an underscore appended, or `__module_MOD_procedure`.
    Fortran,
    /// Any other language, which its names reveal.
    Other,
}

impl Language {
    /// The language with DWARF's number.
    pub(crate) fn from_dwarf(number: gimli::DwLang) -> Self {
        match number {
            gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
            | gimli::DW_LANG_Fortran18 => Self::Fortran,
            _ => Self::Other,
        }
    }
}

/// The demangled name without hash, parameters and generic arguments; closures, and functions that
/// a compiler made from a part of a function (`main._omp_fn.0`, `main.omp_outlined`, `f.part.1`,
/// `f.cold`), get the name of the function that contains them. Empty if the name does not reveal
/// that function ([`is_anonymous`]).
pub(crate) fn readable(raw: &str, language: Option<Language>) -> String {
    if is_anonymous(raw) {
        return String::new();
    }
    if let Ok(demangled) = rustc_demangle::try_demangle(raw) {
        return without_arguments(&format!("{demangled:#}"));
    }
    // gfortran's name of a main program without a name of its own.
    if raw == "MAIN__" || raw.starts_with("MAIN__.") {
        return "main program".to_owned();
    }
    let whole = raw
        .split('.')
        .next()
        .filter(|name| !name.is_empty() && !name.contains(['<', '(', ' ', ':']))
        .unwrap_or(raw);
    if whole.starts_with("_Z")
        && let Some(name) = cplusplus::readable(whole)
    {
        return name;
    }
    if let Some((module, procedure)) = whole
        .strip_prefix("__")
        .and_then(|name| name.split_once("_MOD_"))
    {
        return format!("{module}::{procedure}");
    }
    if language == Some(Language::Fortran) {
        // With -fsecond-underscore, a name with an underscore inside gets two.
        return whole.trim_end_matches('_').to_owned();
    }
    without_arguments(whole)
}

/// Whether this is a function that an OpenMP compiler made from a part of another.
pub(crate) fn is_outlined(raw: &str) -> bool {
    is_anonymous(raw) || raw.contains("._omp_fn.") || raw.contains(".omp_outlined")
}

/// Whether this is a part of a function whose name does not reveal the whole function (Clang's
/// `.omp_outlined.` and `.omp_task_entry.`; GCC's lambdas, whose names have no meaning outside of
/// their unit).
pub(crate) fn is_anonymous(raw: &str) -> bool {
    raw.starts_with(".omp_") || raw.starts_with("operator()") || raw.starts_with("<lambda")
}

/// The crate of a demangled name; for `<T as Trait>::f` the crate of the type, as far as the text
/// shows it.
fn crate_of(name: &str) -> &str {
    let start = name
        .find(|c: char| c.is_alphanumeric() || c == '_')
        .unwrap_or(name.len());
    let rest = &name[start..];
    &rest[..rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len())]
}

/// Functions that start a thread.
const STARTS: [&str; 8] = [
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
];

/// Crates of the Rust API, including its old name; they are glue between a program and the
/// recorder.
const API_CRATES: [&str; 2] = ["workspan", "workspan_api"];

/// Whether the name belongs to a task runtime's crates, or to code that starts programs and
/// threads.
pub(crate) fn is_task_runtime(name: &str) -> bool {
    const THREADS: [&str; 3] = ["std::rt::", "std::thread::", "std::sys::thread"];
    // Functions in the same namespaces that the program calls to wait.
    const WAITS: [&str; 5] = ["sleep", "park", "::join", "::yield_now", "::scope"];
    let of_threads = THREADS.iter().any(|start| name.starts_with(start));
    is_start(name)
        || of_threads && !WAITS.iter().any(|wait| name.contains(wait))
        || (name.contains("::") && is_runtime_crate(crate_of(name)))
}

/// Whether the name belongs to a task runtime, a standard library or the C library's start of a
/// thread, none of which is ever a user's call site.
pub(crate) fn is_runtime(name: &str) -> bool {
    is_runtime_beside_users(name) || is_standard(name)
}

/// Like [`is_runtime`], for a function in a file of the user's, whose own program may be called
/// `alloc` or `core`.
pub(crate) fn is_runtime_beside_users(name: &str) -> bool {
    let in_runtime =
        |space: &str| is_runtime_crate(space) || workspan_runtimes::is_namespace(space);
    name.is_empty()
        || name.starts_with("__rust_")
        || name.starts_with("_rust_")
        || workspan_runtimes::is_function(name)
        || is_start(name)
        || (name.contains("::") && in_runtime(crate_of(name)))
}

/// Whether the name belongs to a standard library.
fn is_standard(name: &str) -> bool {
    // Crates, and C++ namespaces.
    const STANDARD: [&str; 8] = [
        "__pstl",
        "pstl",
        "__gnu_cxx",
        "__gnu_parallel",
        "__cxxabiv1",
        "std",
        "core",
        "alloc",
    ];
    name.contains("::") && STANDARD.contains(&crate_of(name))
}

fn is_runtime_crate(name: &str) -> bool {
    API_CRATES.contains(&name) || workspan_runtimes::is_crate(name)
}

/// Whether the function with this name, without a symbol version, starts a program or a thread.
fn is_start(name: &str) -> bool {
    STARTS.contains(&name.split('@').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::{Language, is_outlined, is_runtime, is_runtime_beside_users, readable};

    #[test]
    fn closures_hashes_and_generics_go() {
        assert_eq!(
            readable("_ZN4sort5merge17h0123456789abcdefE", None),
            "sort::merge"
        );
        assert_eq!(
            readable(
                "_ZN4sort4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
                None
            ),
            "sort::main"
        );
        assert_eq!(
            readable(
                "sort::msort::<u32, alloc::vec::Vec<u8>>::{closure#0}::{closure#1}",
                None
            ),
            "sort::msort"
        );
        assert_eq!(
            readable(
                "<sort::Sorter<u8> as core::ops::FnOnce<()>>::call_once",
                None
            ),
            "sort::Sorter::call_once"
        );
        assert_eq!(readable("msort<u32, fn(u8) -> u8>", None), "msort");
        assert_eq!(readable("{closure#0}", None), "{closure#0}");
        assert_eq!(
            readable("<&mut sort::A as core::fmt::Debug>::fmt", None),
            "sort::A::fmt"
        );
        assert_eq!(readable("<<<<", None), "");
        assert_eq!(readable(">>>", None), ">>>");
    }

    #[test]
    fn what_openmp_compilers_cut_out_is_named_as_its_function() {
        for (raw, name) in [
            ("main._omp_fn.0", "main"),
            ("fib._omp_fn.12", "fib"),
            ("main.omp_outlined", "main"),
            ("main.omp_outlined_debug__", "main"),
            ("_ZZN12_GLOBAL__N_12goEiENKUlvE_clEv._omp_fn.0", "go"),
            ("_ZN3app4TreeIlE4walkEl.omp_outlined", "app::Tree::walk"),
            (".omp_task_entry..3", ""),
            (".omp_outlined._debug__", ""),
            ("__tree_MOD_walk._omp_fn.2", "tree::walk"),
            ("MAIN__._omp_fn.0", "main program"),
        ] {
            assert_eq!(readable(raw, None), name, "{raw}");
            assert!(is_outlined(raw), "{raw}");
        }
        assert_eq!(readable("fib.part.3", None), "fib");
        assert_eq!(
            readable("outside_._omp_fn.1", Some(Language::Fortran)),
            "outside"
        );
        assert_eq!(readable("outside_", Some(Language::Other)), "outside_");
        assert_eq!(readable("inner.0", Some(Language::Fortran)), "inner");
        assert!(!is_outlined("main"));
    }

    #[test]
    fn runtime_is_told_from_user() {
        assert!(is_runtime("rayon_core_real::join::join"));
        assert!(is_runtime(
            "<rayon::iter::Map<I, F> as rayon::iter::ParallelIterator>::drive"
        ));
        assert!(is_runtime("__libc_start_main@@GLIBC_2.34"));
        assert!(!is_runtime("sort::core::merge"));
        assert!(!is_runtime("main"));
        assert!(is_runtime("tbb::detail::d1::task_group::run"));
        assert!(is_runtime("GOMP_parallel"));
        assert!(!is_runtime("tbb_like"));
        // A program of the user's may have the name of a crate of the standard library.
        assert!(is_runtime("alloc::main") && !is_runtime_beside_users("alloc::main"));
        assert!(is_runtime_beside_users("GOMP_parallel"));
        assert!(!is_runtime("corekit::f"));
    }
}
