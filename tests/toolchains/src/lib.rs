//! Chooses the compilers and parallel runtimes of this machine that tests use.
//!
//! A test asks for a compiler of a family and a language. The choice is made once per process. A
//! compiler that builds OpenMP programs is preferred to a newer one that does not, since the
//! runtimes of two LLVM versions can't be installed side by side. A plain name is preferred to one
//! with a version, so that a folder at the front of `PATH` decides (`cargo xtask test runtimes`).
//!
//! Older runtimes report fewer events. What each version reports is listed here by version, and not
//! queried from the runtime: a test that relied on the runtime's answer would not notice when the
//! runtime stops reporting something.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Versions of Clang for which distributions have a command with the version in its name.
pub const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = OLDEST_CLANG..=23;

/// The oldest Clang and libomp that the tests are run with: those of Debian 12 and Ubuntu 22.04.
pub const OLDEST_CLANG: u32 = 14;

/// The first libomp that reports each chunk of a loop.
const FIRST_LIBOMP_WITH_CHUNKS: u32 = 15;

/// The first Clang, and the first GCC, that compile dependences of the kind `inoutset`.
const FIRST_WITH_INOUTSET: [u32; 2] = [17, 13];

/// The first libomp on which a team of one thread can run programs with detached tasks. Earlier
/// ones end the program with a failed assertion, recorded or not.
const FIRST_LIBOMP_WITH_DETACH_ON_ONE_THREAD: u32 = 17;

/// The first GCC that gives the call of a `taskloop` a line of its own. In earlier ones the call
/// has the line of the code before it.
const FIRST_GCC_WITH_LINES_OF_TASKLOOPS: u32 = 12;

/// The vendor of a compiler, and so of its OpenMP runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// GCC, with libgomp.
    Gnu,
    /// Clang, with libomp.
    Llvm,
}

/// A language of the test programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Fortran.
    Fortran,
}

impl Language {
    /// The language of a source file, by its extension. Extensions of neither C nor C++ mean
    /// Fortran.
    pub fn of(extension: &str) -> Language {
        match extension {
            "c" => Language::C,
            "cpp" => Language::Cxx,
            _ => Language::Fortran,
        }
    }

    /// The language's name for `-x`, and an empty OpenMP program.
    fn probe(self) -> (&'static str, &'static str) {
        match self {
            Language::C => ("c", "#include <omp.h>\nint main(void) { return 0; }\n"),
            Language::Cxx => ("c++", "#include <omp.h>\nint main() { return 0; }\n"),
            Language::Fortran => ("f95", "program empty\nuse omp_lib\nend program\n"),
        }
    }
}

/// A compiler of this machine.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The command that starts the compiler: `clang++-19`.
    pub command: String,
    /// The vendor of the compiler.
    pub family: Family,
    /// Its version as it reports it: `19.1.7`.
    pub version: String,
    /// Whether the compiler builds programs with its family's OpenMP runtime.
    pub openmp: bool,
}

impl Compiler {
    /// The first number of the version.
    pub fn major(&self) -> u32 {
        let digits = self.version.split('.').next().unwrap_or_default();
        digits.parse().unwrap_or(0)
    }

    /// Whether the OpenMP runtime of this compiler reports each chunk of a loop. If it does not, a
    /// thread's share of a loop is one chunk.
    pub fn tells_loop_chunks(&self) -> bool {
        self.family == Family::Gnu || self.major() >= FIRST_LIBOMP_WITH_CHUNKS
    }
}

impl Compiler {
    /// Why a program of `tests/openmp/programs` does not compile here, does not run on `threads`
    /// threads (recorded or not), or has no lines that identify its tasks; `None` if it is fine.
    pub fn lacks(&self, program: &str, threads: usize) -> Option<String> {
        let older = |first: u32| self.major() < first;
        let clang = self.family == Family::Llvm;
        match program {
            "inoutset.c" if older(FIRST_WITH_INOUTSET[usize::from(!clang)]) => {
                Some(format!("{self} knows no `inoutset`"))
            }
            "detach.c"
                if clang && threads == 1 && older(FIRST_LIBOMP_WITH_DETACH_ON_ONE_THREAD) =>
            {
                Some(format!(
                    "{self} itself fails in detached tasks of a team of one"
                ))
            }
            "aligned.cpp" | "orphans.c" | "taskloop.c"
                if !clang && older(FIRST_GCC_WITH_LINES_OF_TASKLOOPS) =>
            {
                Some(format!(
                    "{self} gives the call of a taskloop no line of its own"
                ))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runtime = match self.family {
            Family::Gnu => "libgomp",
            Family::Llvm => "libomp",
        };
        let with = if self.openmp { "with" } else { "without" };
        write!(f, "{} {} {with} {runtime}", self.command, self.version)
    }
}

/// The compiler of a family for a language; `None` if there is none.
pub fn compiler(family: Family, language: Language) -> Option<&'static Compiler> {
    static CHOSEN: [OnceLock<Option<Compiler>>; 6] = [const { OnceLock::new() }; 6];
    let slot = &CHOSEN[family as usize * 3 + language as usize];
    slot.get_or_init(|| choose(family, language)).as_ref()
}

/// The [`compiler`] that builds OpenMP programs, or the reason why there is none.
///
/// # Errors
/// The compiler or its OpenMP runtime is missing.
pub fn openmp(family: Family, language: Language) -> Result<&'static Compiler, String> {
    let base = base(family, language);
    let found = compiler(family, language).ok_or_else(|| format!("no {base}"))?;
    if !found.openmp {
        return Err(format!("{} builds no OpenMP programs", found.command));
    }
    Ok(found)
}

/// The compiler with one of these names in tests: `gcc`, `g++`, `gfortran`, `clang` or `clang++`.
pub fn named(base: &str) -> Option<&'static Compiler> {
    let (family, language) = match base {
        "gcc" => (Family::Gnu, Language::C),
        "g++" => (Family::Gnu, Language::Cxx),
        "gfortran" => (Family::Gnu, Language::Fortran),
        "clang" => (Family::Llvm, Language::C),
        "clang++" => (Family::Llvm, Language::Cxx),
        _ => return None,
    };
    compiler(family, language)
}

fn base(family: Family, language: Language) -> &'static str {
    match (family, language) {
        (Family::Gnu, Language::C) => "gcc",
        (Family::Gnu, Language::Cxx) => "g++",
        (Family::Gnu, Language::Fortran) => "gfortran",
        (Family::Llvm, Language::C) => "clang",
        (Family::Llvm, Language::Cxx) => "clang++",
        (Family::Llvm, Language::Fortran) => "flang",
    }
}

/// Makes the choice of [`compiler`] again. A program that installs compilers calls this first.
pub fn choose(family: Family, language: Language) -> Option<Compiler> {
    let base = base(family, language);
    let mut names = vec![base.to_owned()];
    if family == Family::Llvm {
        let versions = CLANG_VERSIONS.rev();
        names.extend(versions.map(|version| format!("{base}-{version}")));
    }
    let mut first = None;
    for command in names {
        let Some(version) = version(family, &command) else {
            continue;
        };
        let (kind, text) = language.probe();
        let openmp = builds(&command, kind, text, &["-fopenmp"]);
        let found = Compiler {
            command,
            family,
            version,
            openmp,
        };
        if openmp {
            return Some(found);
        }
        first.get_or_insert(found);
    }
    first
}

/// The library that the chosen Clang links to OpenMP programs.
pub fn libomp() -> Option<PathBuf> {
    let clang = openmp(Family::Llvm, Language::C).ok()?;
    let output = Command::new(&clang.command)
        .arg("-print-resource-dir")
        .output()
        .ok()?;
    // The folder is `lib/clang/14.0.6`, for instance. `-print-file-name` does not find the library
    // in every version.
    let resources = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let library = resources.join("../../libomp.so");
    let paths = [library, "/usr/lib/libomp.so".into()];
    paths.iter().find_map(|path| path.canonicalize().ok())
}

/// The version that the compiler reports; `None` if it does not start.
fn version(family: Family, command: &str) -> Option<String> {
    let mut ask = Command::new(command);
    if family == Family::Gnu {
        // Without this flag, some compilers print only the first number.
        ask.arg("-dumpfullversion");
    }
    let output = ask.arg("-dumpversion").stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !said.is_empty()).then_some(said)
}

/// Whether `compiler` builds a program of this text; `language` is the name for `-x`.
pub fn builds(compiler: &str, language: &str, text: &str, flags: &[&str]) -> bool {
    let spawned = Command::new(compiler)
        .args(["-x", language, "-", "-x", "none", "-o", "/dev/null"])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // If the compiler stops reading, its exit code reports the failure.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

/// The version of the system's oneTBB; `None` if g++ can't build a program with it.
pub fn onetbb() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let cxx = compiler(Family::Gnu, Language::Cxx)?;
        let program =
            "#include <oneapi/tbb/task_group.h>\nint main() { tbb::task_group g; g.wait(); }\n";
        if !builds(&cxx.command, "c++", program, &["-ltbb"]) {
            return None;
        }
        preprocessed(
            &cxx.command,
            "#include <oneapi/tbb/version.h>\nTBB_VERSION_MAJOR.TBB_VERSION_MINOR\n",
        )
    });
    found.as_deref()
}

/// The last line of a C++ text after preprocessing.
fn preprocessed(compiler: &str, text: &str) -> Option<String> {
    let mut child = Command::new(compiler)
        .args(["-x", "c++", "-E", "-P", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(last.split_whitespace().collect())
}

/// The toolchains that tests use here or that are missing, one per line.
pub fn describe() -> Vec<String> {
    let mut lines = Vec::new();
    for base in ["gcc", "g++", "gfortran", "clang", "clang++"] {
        lines.push(match named(base) {
            Some(found) => found.to_string(),
            None => format!("no {base}"),
        });
    }
    lines.push(match onetbb() {
        Some(version) => format!("oneTBB {version}"),
        None => "no oneTBB".into(),
    });
    lines
}

/// Prints what is left out and why. It bypasses the test harness, which hides the output of tests
/// that pass.
pub fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    // It is not an error if standard output is closed.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clang(version: &str) -> Compiler {
        Compiler {
            command: "clang".into(),
            family: Family::Llvm,
            version: version.into(),
            openmp: true,
        }
    }

    #[test]
    fn what_a_runtime_tells_goes_by_its_version() {
        assert!(!clang("14.0.6").tells_loop_chunks());
        assert!(clang("15.0.6").tells_loop_chunks());
        assert!(clang("19.1.7").tells_loop_chunks());
        let gcc = Compiler {
            family: Family::Gnu,
            ..clang("11.3.0")
        };
        assert!(gcc.tells_loop_chunks());
    }

    #[test]
    fn a_chosen_compiler_is_named_with_its_version() {
        assert_eq!(clang("14.0.6").to_string(), "clang 14.0.6 with libomp");
        for line in describe() {
            assert!(!line.is_empty() && !line.contains('\n'), "{line}");
        }
    }
}
