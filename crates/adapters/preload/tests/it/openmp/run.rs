//! Builds the programs, runs them with and without the preloaded library, and reads the recordings.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_symbols::{Mapping, Site, Workspace, resolve};
use workspan_toolchains::{Compiler, Language, openmp};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, PlaceEntry, SitePosition};
use workspan_trace::reader::Tolerance;
use workspan_trace::wire::primitive;
use workspan_trace::{Trace, TraceWriter, sealed_copy};

pub use crate::native::{library, skipped};
pub use workspan_toolchains::Family as Runtime;

/// The compiler of OpenMP programs for a source file by its extension, or why there is none.
pub fn compiler(runtime: Runtime, extension: &str) -> Result<&'static Compiler, String> {
    openmp(runtime, Language::of(extension))
}

/// The folder of the programs' sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openmp/programs")
}

/// A program that was built.
pub struct Program {
    folder: tempfile::TempDir,
    path: PathBuf,
    /// The program's source text.
    pub source: String,
    /// The compiler that built it.
    pub compiler: &'static Compiler,
}

/// Compiles a program of the folder. The error is the reason if the compiler or its OpenMP is
/// missing.
pub fn build(runtime: Runtime, file: &str) -> Result<Program, String> {
    let source = sources().join(file);
    let (_, extension) = file.rsplit_once('.').unwrap();
    let compiler = compiler(runtime, extension)?;
    // A program is built if it runs on some number of threads.
    if let Some(why) = compiler.lacks(file, usize::MAX) {
        return Err(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    let output = Command::new(&compiler.command)
        .args(["-O1", "-g", "-fopenmp", "-o"])
        .arg(&path)
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{file} by {compiler}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let source = std::fs::read_to_string(source).unwrap();
    Ok(Program {
        folder,
        path,
        source,
        compiler,
    })
}

impl Program {
    fn command(&self, threads: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(arguments)
            .env("OMP_NUM_THREADS", threads.to_string())
            .env("OMP_DYNAMIC", "false")
            .env("OMP_MAX_ACTIVE_LEVELS", "4")
            .env("OMP_SCHEDULE", "dynamic,2")
            .env("OMP_CANCELLATION", "true")
            // Threads that spin for each other take long on a few cores.
            .env("OMP_WAIT_POLICY", "passive")
            .env_remove("LD_PRELOAD");
        command
    }

    /// Runs it unrecorded.
    pub fn bare(&self, threads: usize, arguments: &[&str]) -> Output {
        self.command(threads, arguments).output().unwrap()
    }

    /// Runs it with the library. Returns also the traces of it and its children.
    pub fn recorded(&self, threads: usize, arguments: &[&str]) -> (Output, Vec<Vec<u8>>) {
        self.recorded_with(threads, arguments, |_| {})
    }

    /// Like [`Program::recorded`], with a command modified by `change`.
    pub fn recorded_with(
        &self,
        threads: usize,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> (Output, Vec<Vec<u8>>) {
        let spool = self.folder.path().join("spool");
        // It may be left from the run before.
        let _ = std::fs::remove_dir_all(&spool);
        std::fs::create_dir(&spool).unwrap();
        let mut command = self.command(threads, arguments);
        command
            .env("LD_PRELOAD", library())
            .env("WORKSPAN_SPOOL_DIR", &spool);
        change(&mut command);
        let output = command.output().unwrap();
        let files = std::fs::read_dir(&spool).unwrap();
        let mut files: Vec<PathBuf> = files.map(|e| e.unwrap().path()).collect();
        files.sort();
        let traces = files
            .iter()
            .map(|file| resolved(&std::fs::read(file).unwrap()));
        (output, traces.collect())
    }
}

/// A trace with its sites resolved, as it is after `workspan record`.
fn resolved(spool: &[u8]) -> Vec<u8> {
    let trace = Trace::open(spool).unwrap();
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
    sealed_copy::copy_sealed(&trace, &[ChunkKind::Places], &mut writer).unwrap();
    let (mut sites, mut mappings) = (Vec::new(), Vec::new());
    for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
        let bodies = || entry::entries(chunk.payload);
        match chunk.kind {
            ChunkKind::Sites => sites.extend(bodies().filter_map(entry::Site::decode)),
            ChunkKind::Maps => mappings.extend(bodies().filter_map(entry::Mapping::decode).map(
                |map| Mapping {
                    start: map.start,
                    end: map.end,
                    offset: map.file_offset,
                    path: map.path.into(),
                    build_id: map.build_id,
                },
            )),
            _ => {}
        }
    }
    let raw: Vec<Site> = sites
        .iter()
        .map(|site| match &site.position {
            SitePosition::Address { address, is_return } => Site::Address {
                address: *address,
                returns: *is_return,
            },
            SitePosition::Label(label) => Site::Label(label.clone()),
            other => Site::Label(format!("{other:?}")),
        })
        .collect();
    let resolution = resolve(&raw, &mappings, &Workspace::default());
    let places = sites.iter().zip(resolution.positions).map(|(site, at)| {
        let named = primitive::NAMES.get(usize::from(site.primitive));
        PlaceEntry {
            site: site.id,
            label: at.label,
            file: at.file,
            line: at.line,
            function: at.function,
            primitive: named.map(|&name| name.to_owned()),
            source: at.source,
        }
    });
    writer
        .all_entries(ChunkKind::Places, places, PlaceEntry::encode)
        .unwrap();
    writer.finish().unwrap().into_inner()
}

/// The DAG of a trace.
pub fn dag(trace: &[u8]) -> Dag {
    workspan_reader::open::read(Path::new("run"), trace, &OpenOptions::default()).unwrap()
}
