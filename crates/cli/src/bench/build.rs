//! Builds the C++ kernels, once for each compiler, and keeps the programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::folder::{put, sibling};
use super::kernels::{HEADERS, Kernel};
use super::runtime::{Runtime, Toolchain};
use workspan_record::embedded;

/// The flags for all compilers.
pub const FLAGS: [&str; 4] = ["-std=c++11", "-O3", "-g", "-I"];

/// A program to build.
struct Job {
    source: PathBuf,
    program: PathBuf,
    compiler: String,
    flags: &'static [&'static str],
}

/// The sources of the chosen kernels, and the folder of their programs.
pub struct Builder {
    include: PathBuf,
    folder: PathBuf,
    jobs: Vec<Job>,
}

impl Builder {
    /// Builds below `folder`, which keeps the programs for other runs.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        let include = folder.join("include");
        for (name, text) in HEADERS {
            put(&include.join(name), text)?;
        }
        Ok(Self {
            include,
            folder: folder.to_owned(),
            jobs: Vec::new(),
        })
    }

    /// Adds a kernel to be built for a runtime. Returns the path of its program.
    ///
    /// # Errors
    /// Its source can't be written.
    pub fn add(
        &mut self,
        kernel: &Kernel,
        runtime: Runtime,
        toolchain: &Toolchain,
        flags: &'static [&'static str],
    ) -> anyhow::Result<PathBuf> {
        // The folder's name contains everything that determines the program.
        let mut what = format!(
            "{} {} {FLAGS:?} {flags:?}",
            toolchain.compiler, toolchain.version
        );
        for (name, text) in kernel.cpp {
            put(&self.include.join(name), text)?;
            what.push_str(text);
        }
        let source = self
            .include
            .join(kernel.cpp.first().map_or("", |file| file.0));
        HEADERS.iter().for_each(|(_, text)| what.push_str(text));
        let hash = embedded::hash(what.as_ref());
        let folder = self.folder.join(format!("{}-{hash:016x}", runtime.name()));
        let program = folder.join(kernel.name);
        if !program.exists() {
            self.jobs.push(Job {
                source,
                program: program.clone(),
                compiler: toolchain.compiler.clone(),
                flags,
            });
        }
        Ok(program)
    }

    /// Number of programs that are yet to be built.
    pub fn missing(&self) -> usize {
        self.jobs.len()
    }

    /// Builds them, one on each CPU at a time, and calls `report_progress` for each finished one.
    /// Returns the failures, as sentences.
    pub fn build(
        &self,
        report_progress: impl Fn(usize) + Sync,
        stop: impl Fn() -> bool + Sync,
    ) -> Vec<String> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let failures = Mutex::new(Vec::new());
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers.min(self.jobs.len()) {
                scope.spawn(|| {
                    while let Some(job) = self.jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if stop() {
                            break;
                        }
                        if let Err(why) = self.compile(job) {
                            failures.lock().unwrap_or_else(|e| e.into_inner()).push(why);
                        }
                        report_progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                    }
                });
            }
        });
        let mut failures = failures.into_inner().unwrap_or_else(|e| e.into_inner());
        failures.sort();
        failures
    }

    fn compile(&self, job: &Job) -> Result<(), String> {
        let fail = |why: String| {
            format!(
                "{} could not build {}: {why}",
                job.compiler,
                job.program.display()
            )
        };
        if let Some(folder) = job.program.parent() {
            std::fs::create_dir_all(folder).map_err(|e| fail(e.to_string()))?;
        }
        let half = sibling(&job.program);
        let mut compile = Command::new(&job.compiler);
        compile
            .args(FLAGS)
            .arg(&self.include)
            .arg(&job.source)
            .args(job.flags);
        compile.arg("-o").arg(&half).stdin(Stdio::null());
        let output = compile.output().map_err(|e| fail(e.to_string()))?;
        if output.status.success() {
            return std::fs::rename(&half, &job.program).map_err(|e| fail(e.to_string()));
        }
        // After most failures, the file does not exist.
        let _ = std::fs::remove_file(&half);
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said
            .lines()
            .find(|l| l.contains("error"))
            .or(said.lines().next());
        Err(fail(line.unwrap_or("it says nothing").trim().to_string()))
    }
}
