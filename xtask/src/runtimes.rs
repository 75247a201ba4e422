//! `cargo xtask test runtimes`: runs the recorder's tests with versions of compilers, OpenMP
//! runtimes and oneTBB other than the machine's own.
//!
//! LLVM runtimes of two versions can't be installed side by side, and the tests must not replace a
//! developer's compilers. So Debian's packages are unpacked below `target/runtimes`, not installed,
//! and a folder of wrappers in front of `PATH` makes the tests use them (`tests/toolchains`).
//! oneTBB and Intel's runtime come from Python packages; whole releases of Debian are tried in
//! roots of their own.

mod covered;
mod intel;
mod releases;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::test::{Programs, Tally};
use crate::workspace::{output, target};

use covered::CoverageRow;

/// A compiler of another version.
struct Toolchain {
    name: &'static str,
    family: Family,
    /// Whether it is the oldest of its family in supported distributions, with which more tests
    /// run.
    oldest: bool,
    packages: &'static [&'static str],
}

enum Family {
    /// Clang with this version.
    Clang(u32),
    /// GCC with this version. libgomp stays the system's, as distributions have one for all their
    /// GCCs.
    Gcc(u32),
}

/// The oldest of supported distributions first: Debian 12 and Ubuntu 22.04 have Clang 14, Ubuntu
/// 22.04 has GCC 11.
const TOOLCHAINS: [Toolchain; 4] = [
    Toolchain {
        name: "clang-14",
        family: Family::Clang(14),
        oldest: true,
        packages: &[
            "clang-14",
            "libclang-cpp14",
            "libllvm14",
            "libclang-common-14-dev",
            "libomp-14-dev",
            "libomp5-14",
            "llvm-14-linker-tools",
            "libclang-rt-14-dev",
        ],
    },
    Toolchain {
        name: "clang-15",
        family: Family::Clang(15),
        oldest: false,
        packages: &[
            "clang-15",
            "libclang-cpp15",
            "libllvm15",
            "libclang-common-15-dev",
            "libomp-15-dev",
            "libomp5-15",
            "llvm-15-linker-tools",
        ],
    },
    Toolchain {
        name: "clang-16",
        family: Family::Clang(16),
        oldest: false,
        packages: &[
            "clang-16",
            "libclang-cpp16",
            "libllvm16",
            "libclang-common-16-dev",
            "libomp-16-dev",
            "libomp5-16",
            "llvm-16-linker-tools",
        ],
    },
    Toolchain {
        name: "gcc-11",
        family: Family::Gcc(11),
        oldest: true,
        packages: &[
            "gcc-11",
            "g++-11",
            "gfortran-11",
            "cpp-11",
            "libgcc-11-dev",
            "libstdc++-11-dev",
            "libgfortran-11-dev",
            // Without the shared libraries next to it, GCC links the static ones.
            "libgomp1",
            "libstdc++6",
            "libgfortran5",
            "libgcc-s1",
        ],
    },
];

/// A distribution's versions, and the tested ones that represent it. They are printed, so that
/// readers of the outcome need no table of versions.
const STANDS_FOR: [(&str, &str); 3] = [
    (
        "Ubuntu 22.04 (GCC 11, libgomp 12, Clang and libomp 14 and 15, oneTBB 2021.5)",
        "gcc-11 on this machine's libgomp, clang-14, clang-15, oneTBB 2021.5.1",
    ),
    (
        "Debian 12 (GCC 12, Clang and libomp 14 to 16 and 19, oneTBB 2021.8)",
        "a root of Debian 12, clang-14, clang-15, clang-16, oneTBB 2021.8.0",
    ),
    (
        "Debian 13 (GCC 14, Clang and libomp 19, oneTBB 2022.1)",
        "a root of Debian 13, oneTBB 2022.1.0",
    ),
];

/// The folders of the recorder's and the command's packages.
const PRELOAD: &str = "crates/adapters/preload";
const COMMAND: &str = "crates/cli";

/// Tests that build programs with these compilers: the package, and parts of the tests' names.
const CLANG_TESTS: [(&str, &[&str]); 2] = [
    (
        PRELOAD,
        &["openmp::", "runtimes::", "headers::", "examples::"],
    ),
    (COMMAND, OF_COMMAND),
];
const GCC_TESTS: [(&str, &[&str]); 2] = [
    (
        PRELOAD,
        &[
            "gnu",
            "openmp::gomp",
            "headers::",
            "examples::",
            "stacks::",
            "tbb::",
        ],
    ),
    (COMMAND, OF_COMMAND),
];

/// The command's own tests of whole recordings, which run with every compiler.
const OF_COMMAND: &[&str] = &["openmp::", "folding::"];

/// All of the command's tests that build C and C++ programs, which run with the oldest compilers.
const OF_COMMAND_OLDEST: &[&str] = &[
    "openmp::",
    "folding::",
    "accidents::",
    "instructions::",
    "pairs::",
    "plain_threads::",
    "readings::",
    "samples::",
    "sanitizers::",
    "scale::",
    "sections::",
    "seed_runtimes::",
    "suite::",
    "supervision::",
    "task_costs::",
    "tasks_by_reporter::",
    "trust::",
    "waits::",
    "windows::",
];

/// Versions of oneTBB: Ubuntu 22.04's, Debian 12's, Ubuntu 24.04's, Debian 13's. The ordinary tests
/// use the newest.
const ONETBB: [&str; 4] = ["2021.5.1", "2021.8.0", "2021.11.0", "2022.1.0"];

/// Runs the tests with each toolchain that has packages.
///
/// # Errors
/// A test run could not be started.
pub fn run(tally: &mut Tally) -> Result<()> {
    for (distribution, stands) in STANDS_FOR {
        println!("== for {distribution}: {stands}");
    }
    tally.skipped.push(
        "tests in a root of Ubuntu 22.04: Debian has no keyring to check one by; its versions are tried one by one"
            .into(),
    );
    // The same build as of all tests: a package of its own would be built with other features.
    let programs = Programs::build()?;
    let tests_of = |package: &str, names: &[&str]| -> Result<Command> {
        let mut tests = programs.it(package)?;
        tests.args(names);
        Ok(tests)
    };
    let mut covered = CoverageRow::default();
    for toolchain in &TOOLCHAINS {
        let folder = match toolchain.prepare() {
            Ok(folder) => folder,
            Err(why) => {
                let name = toolchain.name;
                tally.skipped.push(format!("tests with {name}: {why:#}"));
                continue;
            }
        };
        let tests = match toolchain.family {
            Family::Clang(_) => CLANG_TESTS,
            Family::Gcc(_) => GCC_TESTS,
        };
        for (package, mut names) in tests {
            if toolchain.oldest && package == COMMAND {
                names = OF_COMMAND_OLDEST;
            }
            let mut test = tests_of(package, names)?;
            test.env("PATH", in_front(&folder));
            let name = format!("tests of {package} with {}", toolchain.name);
            covered.count(tally, name, &mut test)?;
        }
    }
    let (package, names) = CLANG_TESTS[0];
    match intel::prepare() {
        Ok((folder, version)) => {
            let mut test = tests_of(package, names)?;
            test.env("PATH", in_front(&folder));
            let name = format!("tests of {package} with Intel's OpenMP runtime {version}");
            covered.count(tally, name, &mut test)?;
        }
        Err(why) => {
            let what = "tests with Intel's OpenMP runtime";
            tally.skipped.push(format!("{what}: {why:#}"));
        }
    }
    for version in ONETBB {
        let mut test = tests_of(PRELOAD, &["tbb::"])?;
        test.env("WORKSPAN_TEST_ONETBB", version);
        let name = format!("tests of {PRELOAD} with oneTBB {version}");
        covered.count(tally, name, &mut test)?;
    }
    let names = ["openmp::", "gnu", "headers::", "tbb::"];
    releases::run(tally, &mut covered, &programs, &names)?;
    covered.print();
    Ok(())
}

impl Toolchain {
    /// Unpacks the packages if that has not been done, and returns the folder of wrappers.
    fn prepare(&self) -> Result<PathBuf> {
        let folder = target().join("runtimes").join(self.name);
        let wrappers = folder.join("bin");
        let complete = folder.join("complete");
        if !complete.is_file() {
            let _ = fs::remove_dir_all(&folder);
            self.unpack(&folder)?;
            fs::create_dir_all(&wrappers)?;
            self.wrap(&folder, &wrappers)?;
            fs::write(complete, "")?;
        }
        // Without this check, tests would silently skip a compiler that can't build OpenMP
        // programs.
        self.probe(&wrappers)?;
        Ok(wrappers)
    }

    fn unpack(&self, folder: &Path) -> Result<()> {
        let packages = folder.join("packages");
        fs::create_dir_all(&packages)?;
        let mut download = Command::new("apt-get");
        download.args(["download", "-qq"]).args(self.packages);
        let fetched = download
            .current_dir(&packages)
            .stderr(Stdio::null())
            .status();
        if !fetched.is_ok_and(|status| status.success()) {
            bail!(
                "apt-get has no package for one of {}",
                self.packages.join(", ")
            );
        }
        for entry in fs::read_dir(&packages)? {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("-x").arg(entry?.path()).arg(folder);
            output(&mut unpack)?;
        }
        fs::remove_dir_all(&packages)?;
        Ok(())
    }

    /// Makes wrappers under the plain names, which tests prefer.
    fn wrap(&self, folder: &Path, wrappers: &Path) -> Result<()> {
        let library = folder.join("usr/lib");
        let scripts: Vec<(&str, String)> = match self.family {
            Family::Clang(version) => {
                let own = library.join(format!("llvm-{version}"));
                let script = |name: &str| {
                    format!(
                        "#!/bin/sh\nLD_LIBRARY_PATH={}:{} exec {} -Wno-unused-command-line-argument -Wl,-rpath,{} \"$@\"\n",
                        library
                            .join(format!("{}-linux-gnu", env::consts::ARCH))
                            .display(),
                        own.join("lib").display(),
                        own.join("bin").join(name).display(),
                        own.join("lib").display(),
                    )
                };
                ["clang", "clang++"].map(|name| (name, script(name))).into()
            }
            Family::Gcc(version) => {
                let script = |name: &str| {
                    let real = folder.join(format!("usr/bin/{name}-{version}"));
                    format!("#!/bin/sh\nexec {} \"$@\"\n", real.display())
                };
                let names = ["gcc", "g++", "gfortran"];
                names.map(|name| (name, script(name))).into()
            }
        };
        for (name, text) in scripts {
            let file = wrappers.join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// Fails unless the wrapper has this version and builds OpenMP programs.
    fn probe(&self, wrappers: &Path) -> Result<()> {
        let (name, version) = match self.family {
            Family::Clang(version) => ("clang", version),
            Family::Gcc(version) => ("gcc", version),
        };
        let compiler = wrappers.join(name);
        let said = output(Command::new(&compiler).arg("-dumpversion"))?;
        let major = said.trim().split('.').next().unwrap_or_default();
        if major != version.to_string() {
            bail!("{} is version {}", compiler.display(), said.trim());
        }
        let program = "#include <omp.h>\nint main(void) { return omp_get_level(); }\n";
        let path = compiler.to_str().context("a path that is not UTF-8")?;
        if !workspan_toolchains::builds(path, "c", program, &["-fopenmp"]) {
            bail!("{path} builds no OpenMP programs");
        }
        Ok(())
    }
}

/// `PATH` with a folder in front.
fn in_front(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(rest) = env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    /// A part of a name that no test has selects nothing, and nobody would notice.
    #[test]
    fn selected_tests_exist() {
        let selected = [CLANG_TESTS, GCC_TESTS, [(COMMAND, OF_COMMAND_OLDEST); 2]];
        for (package, names) in selected.iter().flatten() {
            let folder = root().join(package).join("tests/it");
            let program = fs::read_to_string(folder.join("main.rs")).unwrap();
            for name in names.iter().filter_map(|name| name.strip_suffix("::")) {
                let module = format!("mod {name};");
                assert!(program.contains(&module), "{package}: no `{module}`");
            }
        }
    }
}
