//! The index beside a large trace: the trace with its short subtrees folded ([`super::fold`]), kept
//! so that the next reader need not fold it again.
//!
//! An index is itself a trace and is read like any other. A note in it identifies its trace by
//! size, modification time and a hash of the first and last bytes. A stale or damaged index, or one
//! of another version, is not read but rebuilt. Only complete, undamaged traces get an index.

use std::fs::{File, Metadata, OpenOptions as Opening};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use workspan_trace::entry::Note;
use workspan_trace::fnv::fnv1a;
use workspan_trace::{ChunkKind, Tolerance, Trace, TraceWriter};

use super::chunks_by_thread::{self, TraceChunks};
use super::fold::FoldedRun;
use super::places;
use crate::mapped::FileBytes;
use crate::open::OpenOptions;
use workspan_dag::Dag;
use workspan_dag::build::{Mode, build};
use workspan_dag::meta::ReadFolding;

/// The key of the note that identifies an index's trace.
pub(crate) const KEY: &str = "index_of";
/// The version of the note and of the way of folding.
const VERSION: u64 = 8;
/// The number of bytes hashed at the trace's start and at its end.
const HASHED_BYTES: usize = 64 << 10;

/// The index of a trace, whether it exists or not.
#[derive(Debug)]
pub(crate) struct SidecarIndex {
    path: PathBuf,
    /// The trace it must belong to: size, modification time in seconds and nanoseconds, hash.
    of: [u64; 4],
}

impl SidecarIndex {
    /// The index of the trace at `path` with these bytes.
    pub(crate) fn for_trace(path: &Path, about: &Metadata, bytes: &[u8]) -> SidecarIndex {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".index");
        let first = bytes.get(..HASHED_BYTES).unwrap_or(bytes);
        let last = bytes.get(bytes.len().saturating_sub(HASHED_BYTES)..);
        let hashed = first.iter().chain(last.unwrap_or(&[]));
        let hash = fnv1a(hashed.copied());
        let changed = [about.mtime() as u64, about.mtime_nsec() as u64];
        SidecarIndex {
            path: path.with_file_name(name),
            of: [bytes.len() as u64, changed[0], changed[1], hash],
        }
    }
}

impl SidecarIndex {
    /// The value of the index's note ([`KEY`]), with these numbers about the folding.
    pub(crate) fn note(&self, folded: [u64; 5]) -> String {
        let all = [VERSION].into_iter().chain(self.of).chain(folded);
        let all: Vec<String> = all.map(|n| n.to_string()).collect();
        all.join(" ")
    }
}

/// Whether a trace may have an index. It must be complete: a later reader of an incomplete one may
/// find more.
pub(super) fn may_have(chunks: &TraceChunks<'_>) -> bool {
    chunks.finished.is_some() && chunks.warnings.is_empty() && chunks.pairs.len() > 1
}

/// Reads the run from the index; `None` if there is no usable one.
pub(super) fn read(sidecar: &SidecarIndex) -> Option<Dag> {
    let file = File::open(&sidecar.path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() == 0 {
        return None;
    }
    let map = FileBytes::read(file, about.len()).ok()?;
    let mut chunks = chunks_by_thread::read(&map, &OpenOptions::default()).ok()?;
    chunks.read_folding = Some(read_result(&chunks, sidecar)?);
    let places = places::places(&chunks);
    let (raw, _) = super::replay_run(chunks, places, map.len()).ok()?;
    // Indexes are replaced as a whole; one that became shorter is invalid.
    build(raw, Mode::Repair).ok().filter(|_| !map.shrunk())
}

/// The folding described by the index's note, if the index belongs to this trace.
fn read_result(chunks: &TraceChunks<'_>, sidecar: &SidecarIndex) -> Option<ReadFolding> {
    let note = chunks.notes.iter().find(|note| note.key == KEY)?;
    let numbers: Option<Vec<u64>> = note.value.split(' ').map(|n| n.parse().ok()).collect();
    let numbers = numbers?;
    let [
        version,
        size,
        seconds,
        nanos,
        hash,
        grain,
        tasks,
        events,
        bytes,
        records,
    ] = numbers[..]
    else {
        return None;
    };
    if version != VERSION || [size, seconds, nanos, hash] != sidecar.of {
        return None;
    }
    Some(ReadFolding {
        grain,
        tasks,
        events,
        bytes,
        size,
        records,
        ..ReadFolding::default()
    })
}

/// Writes the index of `trace`, which was folded to `short`: atomically, and readable for its owner
/// only.
///
/// # Errors
/// The file system's errors.
pub(super) fn write(sidecar: &SidecarIndex, trace: &[u8], short: &FoldedRun) -> io::Result<()> {
    let path = &sidecar.path;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let half = path.with_file_name(name);
    let mut opening = Opening::new();
    let opening = opening.write(true).create_new(true).mode(0o600);
    let file = opening.open(&half)?;
    let written = write_to(file, sidecar, trace, short);
    let written = written.and_then(|()| std::fs::rename(&half, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&half);
    }
    written
}

fn write_to(file: File, sidecar: &SidecarIndex, bytes: &[u8], short: &FoldedRun) -> io::Result<()> {
    let damaged = |e| io::Error::new(io::ErrorKind::InvalidData, format!("{e:?}"));
    let trace = Trace::open(bytes).map_err(damaged)?;
    let mut writer = TraceWriter::new(BufWriter::new(file), trace.header)?;
    for chunk in trace.chunks(Tolerance::Strict) {
        let chunk = chunk.map_err(damaged)?;
        if chunk.kind != ChunkKind::Events {
            writer.entries(chunk.kind, chunk.payload)?;
        }
    }
    let chunks = chunks_by_thread::read(bytes, &OpenOptions::default());
    let chunks = chunks.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
    let run = short.instead(chunks);
    for thread in &run.threads {
        for (seq, chunk) in (0..).zip(&thread.chunks) {
            writer.events(thread.number, seq, (chunk.base, 0), chunk.bytes)?;
        }
    }
    let about = &short.about;
    let folded = [
        about.grain,
        about.tasks,
        about.events,
        about.bytes,
        about.records,
    ];
    let note = Note::new(KEY, sidecar.note(folded));
    writer.all_entries(ChunkKind::Notes, [note], Note::encode)?;
    writer.finish()?.flush()
}
