//! The oneTBB versions of this machine and of the Python packages, and programs compiled and run
//! with them, with and without recording.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workspan_dag::Dag;
use workspan_reader::OpenOptions;

use crate::native::{library, skipped};

/// A oneTBB to compile with and to run on.
pub struct Machine {
    pub name: String,
    /// The headers for compiling; `None`: the system's.
    headers: Option<PathBuf>,
    /// The library for running; `None`: the system's.
    library: Option<PathBuf>,
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the system has a compiler and a oneTBB.
fn system() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("probe.cpp");
        fs::write(
            &source,
            "#include <oneapi/tbb/task_group.h>\nint main() { tbb::task_group g; g.wait(); }\n",
        )
        .unwrap();
        succeeds(
            Command::new("g++")
                .arg(&source)
                .arg("-o")
                .arg(folder.path().join("probe"))
                .arg("-ltbb"),
        )
    })
}

/// A oneTBB's headers and its library's folder.
type Unpacked = Option<(PathBuf, PathBuf)>;

/// The version of the Python packages' oneTBB that `cargo xtask test runtimes` requests.
fn asked_version() -> Option<String> {
    std::env::var("WORKSPAN_TEST_ONETBB").ok()
}

/// The oneTBB of the Python packages, in that version or the newest.
fn of_packages() -> Option<&'static (PathBuf, PathBuf)> {
    static FOUND: OnceLock<Unpacked> = OnceLock::new();
    let found = FOUND.get_or_init(|| match asked_version() {
        Some(version) => unpacked(&format!("onetbb-{version}"), &format!("=={version}")),
        None => unpacked("onetbb", ""),
    });
    found.as_ref()
}

/// A oneTBB of the Python packages, unpacked once for all tests; `version` is in pip's format.
fn unpacked(name: &str, version: &str) -> Unpacked {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (headers, libraries) = (folder.join("include"), folder.join("lib"));
    if !folder.join("complete").exists() {
        fs::create_dir_all(&folder).ok()?;
        let fetched = succeeds(
            Command::new("python3")
                .args(["-m", "pip", "download", "--no-deps", "--quiet", "--dest"])
                .arg(&folder)
                .args(["tbb", "tbb-devel"].map(|package| format!("{package}{version}"))),
        );
        if !fetched {
            return None;
        }
        let wheels: Vec<PathBuf> = fs::read_dir(&folder)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "whl"))
            .collect();
        for wheel in wheels {
            let unpacked = succeeds(
                Command::new("python3")
                    .args(["-m", "zipfile", "-e"])
                    .arg(&wheel)
                    .arg(&folder),
            );
            if !unpacked {
                return None;
            }
        }
        // A package's `*.data/data/lib` and `include`.
        for entry in fs::read_dir(&folder).ok()? {
            let data = entry.ok()?.path().join("data");
            for (from, to) in [("include", &headers), ("lib", &libraries)] {
                let from = data.join(from);
                if from.join("libtbb.so.12").exists() || from.join("oneapi").exists() {
                    let _ = fs::rename(from, to);
                }
            }
        }
        if !libraries.join("libtbb.so.12").exists() || !headers.join("oneapi").exists() {
            return None;
        }
        fs::write(folder.join("complete"), "").ok()?;
    }
    Some((headers, libraries))
}

impl Machine {
    /// Whether headers and library are the system's.
    pub fn is_system(&self) -> bool {
        self.library.is_none()
    }

    /// All versions; prints those that are skipped.
    pub fn all(test: &str) -> Vec<Machine> {
        let mut all = Vec::new();
        if !system() {
            skipped(test, "no g++ with a oneTBB (libtbb-dev)");
            return all;
        }
        let asked = asked_version();
        let name = asked.clone().unwrap_or_else(|| "newest".to_owned());
        let Some((headers, library)) = of_packages() else {
            if asked.is_none() {
                all.push(Machine::system());
            }
            skipped(
                &format!("{test} ({name})"),
                "pip has no packages tbb and tbb-devel",
            );
            return all;
        };
        // Headers may be older than the library, not newer.
        if asked.is_none() {
            all.push(Machine::system());
            all.push(Machine {
                name: format!("{name} library"),
                headers: None,
                library: Some(library.clone()),
            });
        }
        all.push(Machine {
            name: format!("{name} library and headers"),
            headers: Some(headers.clone()),
            library: Some(library.clone()),
        });
        all
    }

    fn system() -> Machine {
        Machine {
            name: "system".to_owned(),
            headers: None,
            library: None,
        }
    }

    /// Whether this is Ubuntu 22.04's version.
    fn is_oldest(&self) -> bool {
        self.name.starts_with("2021.5")
    }

    /// Whether this is a version of the Python packages whose library calls `execute_and_wait`
    /// directly, without the dynamic linker. Debian's 2021.8 uses the dynamic linker.
    fn calls_itself_directly(&self) -> bool {
        let versions = ["2021.5", "2021.8", "2021.11", "2022.1"];
        versions.iter().any(|v| self.name.starts_with(v))
    }

    /// Whether the wait for a construct's tasks is recorded; prints a line if not.
    pub fn waits_for(&self, what: &str) -> bool {
        let unknown = what == "pipeline" && self.calls_itself_directly();
        if unknown {
            let why = "this version waits for pipelines by no function that is recorded";
            skipped(&format!("{what} ({})", self.name), why);
        }
        !unknown
    }

    /// Compiles `tests/tbb/<source>.cpp` with these flags, once for all tests.
    pub fn compile(&self, source: &str, flags: &[&str]) -> Program {
        /// Tests of one file run at the same time and need the same programs.
        static COMPILING: Mutex<()> = Mutex::new(());
        let _one = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        let headers = match self.headers {
            Some(_) => self.name.split(' ').next().unwrap_or_default(),
            None => "system",
        };
        let mut name = format!("tbb-{source}");
        for part in flags.iter().chain([&headers]) {
            let plain: String = part.chars().filter(|c| c.is_alphanumeric()).collect();
            let _ = write!(name, "-{plain}");
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tbb/{source}.cpp"));
        let path = folder.join(&name);
        let newer = |p: &Path| fs::metadata(p).and_then(|m| m.modified()).ok();
        if newer(&path).is_none_or(|made| Some(made) < newer(&source)) {
            // Only a complete file gets the name.
            let building = tempfile::Builder::new()
                .prefix(&name)
                .tempfile_in(folder)
                .unwrap()
                .into_temp_path();
            let mut compiler = Command::new("g++");
            compiler.args(["-std=c++17", "-Wall", "-Wextra", "-pthread"]);
            if self.is_oldest() {
                // `task_group::defer` and `this_task_arena::enqueue` were preview features.
                compiler.arg("-DTBB_PREVIEW_TASK_GROUP_EXTENSIONS=1");
            }
            compiler.args(flags);
            if let Some(headers) = &self.headers {
                compiler.arg("-isystem").arg(headers);
            }
            compiler.arg(&source).arg("-o").arg(&building);
            match (&self.headers, &self.library) {
                (Some(_), Some(library)) => compiler.arg(library.join("libtbb.so.12")),
                _ => compiler.arg("-ltbb"),
            };
            let output = compiler.output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            building.persist(&path).unwrap();
        }
        Program {
            path,
            library: self.library.clone(),
        }
    }
}

/// A compiled program.
pub struct Program {
    path: PathBuf,
    library: Option<PathBuf>,
}

/// A recorded run.
pub struct Run {
    folder: TempDir,
    /// Its output and its errors.
    pub printed: String,
}

impl Program {
    fn output(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(&self.path);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(library) = &self.library {
            command.env("LD_LIBRARY_PATH", library);
        }
        command.envs(variables.iter().copied());
        let mut child = command.spawn().unwrap();
        // If a task were lost, the program would wait for it forever.
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(120) {
                child.kill().unwrap();
                panic!("{:?} {arguments:?} does not end", self.path);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.wait_with_output().unwrap()
    }

    /// Its output without recording.
    pub fn bare(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments, &[]);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        printed(&output)
    }

    /// Runs it recorded.
    pub fn record(&self, arguments: &[&str]) -> Run {
        self.record_with(arguments, &[])
    }

    /// Like [`Program::record`], with additional variables.
    pub fn record_with(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let library = library();
        let ours = [
            ("LD_PRELOAD", library.as_path()),
            ("WORKSPAN_SPOOL_DIR", folder.path()),
        ];
        let output = self.output(arguments, &[&ours, variables].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        Run {
            folder,
            printed: printed(&output),
        }
    }
}

fn printed(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

impl Run {
    /// The recording.
    pub fn file(&self) -> PathBuf {
        let files: Vec<PathBuf> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    pub fn dag(&self) -> Dag {
        workspan_reader::open(&self.file(), &OpenOptions::default()).unwrap()
    }
}
