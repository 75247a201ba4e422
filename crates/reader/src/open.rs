//! Opens a trace of any kind, which is recognised by its contents.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use workspan_trace::{Tolerance, Trace};

use crate::formats::{FORMATS, Format};
use crate::mapped::FileBytes;
use crate::recorded::index::SidecarIndex;
use crate::recorded::preview::Preview;
use crate::{packed, piped, processes, recorded, short_names, text};
use workspan_dag::Dag;
use workspan_dag::Error;

/// Options of reading a trace.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Reads the intact part before the damage of a truncated or corrupted trace, instead of
    /// failing.
    pub allow_truncated: bool,
    /// Which subtrees of a recorded trace are folded (MODEL.md §7).
    pub grain: Grain,
    /// Whether folded records keep the probes' time in their weights, for measures that include it.
    pub raw: bool,
    /// Whether a large trace that is read with [`Grain::Auto`] uses an index beside it.
    pub index: Index,
}

/// The use of indexes. The index of a trace is the same trace with its short subtrees folded, in a
/// file beside it (`run.wspan.index`), so that they need not be folded again. A stale or damaged
/// index is rebuilt. If no index can be written, reading goes on without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Index {
    /// No index is read or written.
    #[default]
    None,
    /// An existing index is read, and one is written if folding took longer than a second.
    Slow,
    /// An existing index is read, otherwise one is written.
    Always,
}

/// Which subtrees become one strand each, with a folded record ([`workspan_dag::Folded`]), while a
/// recorded trace is read. These are subtrees that ran on one thread, in less time than the grain,
/// under the conditions of MODEL.md §7. All measures of §2 and §3 stay the same, to the tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grain {
    /// No folding: each task is read.
    #[default]
    None,
    /// For large traces, the grain that leaves about 10⁵ tasks, between 10 µs and 1 ms. Small
    /// traces are read task by task.
    Auto,
    /// Subtrees shorter than this are folded, in traces of any size.
    Nanoseconds(u64),
}

/// The kind of a file, recognised by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Recorded by workspan.
    Recorded,
    /// A text trace.
    Text,
    /// A file of another tool ([`crate::formats`]).
    Imported(&'static Format),
    /// A trace of any kind, packed by gzip ([`crate::packed`]).
    Packed,
    /// The recorded traces of several processes ([`workspan_trace::bundle`]).
    Bundle,
}

impl FileKind {
    /// The kind of a trace; `None` if it is unknown.
    pub fn from_bytes(bytes: &[u8]) -> Option<FileKind> {
        let magic = &workspan_trace::header::MAGIC;
        if !bytes.is_empty() && magic.starts_with(&bytes[..bytes.len().min(magic.len())]) {
            return Some(FileKind::Recorded);
        }
        if packed::is_packed(bytes) {
            return Some(FileKind::Packed);
        }
        if bytes.starts_with(&workspan_trace::bundle::MAGIC) {
            return Some(FileKind::Bundle);
        }
        if let Some(format) = Format::detect(bytes) {
            return Some(FileKind::Imported(format));
        }
        let bytes = bytes.strip_prefix(text::BYTE_ORDER_MARK).unwrap_or(bytes);
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        (first == Some(&b'{')).then_some(FileKind::Text)
    }
}

/// Reads the trace at `path`, whose kind is recognised by its first bytes.
///
/// # Errors
/// The file cannot be read, is empty, is of an unknown kind, or is damaged (see [`Error`]).
pub fn open(path: &Path, options: &OpenOptions) -> Result<Dag, Error> {
    with_file(path, |content| {
        let (bytes, about) = (content.bytes, content.about);
        let place = place_of_index(path);
        // A packed trace is too small to need an index.
        let uses_index = options.index != Index::None
            && options.grain == Grain::Auto
            && !options.raw
            && !packed::is_packed(bytes);
        let sidecar = about
            .filter(|_| uses_index)
            .zip(place.as_deref())
            .map(|(about, place)| SidecarIndex::for_trace(place, about, bytes));
        read_with_index(path, content, options, sidecar.as_ref())
    })
}

/// The contents of a trace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TraceBytes<'a> {
    /// The whole contents.
    pub bytes: &'a [u8],
    /// The file's metadata, if the contents come from a regular file.
    about: Option<&'a Metadata>,
    /// The file, if the bytes belong to one.
    file: Option<&'a FileBytes>,
}

impl<'a> TraceBytes<'a> {
    /// Bytes that do not belong to a file.
    pub(crate) fn from_slice(bytes: &'a [u8]) -> TraceBytes<'a> {
        TraceBytes {
            bytes,
            ..TraceBytes::default()
        }
    }

    /// The bytes of a file.
    pub(crate) fn of_file(file: &'a FileBytes) -> TraceBytes<'a> {
        TraceBytes {
            bytes: file,
            about: None,
            file: Some(file),
        }
    }

    /// Releases the pages of a mapped file, which then take no memory until they are read again.
    pub(crate) fn release_pages(&self) {
        if let Some(file) = self.file {
            file.release_pages();
        }
    }
}

/// A trace that stays open: a file's bytes, or the unpacked bytes.
#[derive(Debug)]
pub(crate) enum OwnedTrace {
    /// The bytes of the file.
    File(FileBytes),
    /// The unpacked bytes.
    Unpacked(Vec<u8>),
}

impl OwnedTrace {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or is packed and cannot be unpacked.
    pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<OwnedTrace, Error> {
        let unreadable = |e| fail(path, &format!("can't be read ({e}); expected a trace file"));
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let file = FileBytes::read(file, length).map_err(unreadable)?;
        Ok(match plain(&file, options.allow_truncated)? {
            Cow::Owned(trace) => OwnedTrace::Unpacked(trace),
            Cow::Borrowed(_) => OwnedTrace::File(file),
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            OwnedTrace::File(file) => file,
            OwnedTrace::Unpacked(trace) => trace,
        }
    }

    pub(crate) fn content(&self) -> TraceBytes<'_> {
        match self {
            OwnedTrace::File(file) => TraceBytes::of_file(file),
            OwnedTrace::Unpacked(trace) => TraceBytes::from_slice(trace),
        }
    }

    /// Whether the file has become shorter since, so that the data read from it may be wrong.
    pub(crate) fn shrunk(&self) -> bool {
        matches!(self, OwnedTrace::File(file) if file.shrunk())
    }
}

/// The note, key and value, that ties an index to the trace at `path`. For tests that write an
/// index themselves. `folded` is the grain in nanoseconds; the tasks, records and bytes of the
/// trace; and the number of folded records.
///
/// # Errors
/// The file cannot be read.
pub fn index_note(path: &Path, folded: [u64; 5]) -> Result<(&'static str, String), Error> {
    with_file(path, |content| {
        let (bytes, about) = (content.bytes, content.about);
        let about = about.ok_or_else(|| fail(path, "is not a file that can have an index"))?;
        let sidecar = SidecarIndex::for_trace(path, about, bytes);
        Ok((recorded::index::KEY, sidecar.note(folded)))
    })
}

/// A preview of the recorded trace at `path`, available long before [`open`] has finished; `None`
/// for a text trace.
///
/// # Errors
/// The same as for [`open`].
pub fn preview(path: &Path, options: &OpenOptions) -> Result<Option<Preview>, Error> {
    with_bytes(path, |bytes| {
        let bytes = plain(bytes, options.allow_truncated)?;
        match FileKind::from_bytes(&bytes) {
            Some(FileKind::Recorded) => recorded::preview::preview(&bytes, options).map(Some),
            _ => Ok(None),
        }
    })
}

/// Calls `f` with the contents of the file at `path`.
fn with_bytes<T>(path: &Path, f: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    with_file(path, |content| f(content.bytes))
}

/// Like `with_bytes`, but also passes the file's metadata.
fn with_file<T>(
    path: &Path,
    f: impl FnOnce(TraceBytes<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let fail = |what: String| fail(path, &what);
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => fail(
            "no such file; expected a trace, as `workspan record -o FILE -- COMMAND` writes it"
                .into(),
        ),
        std::io::ErrorKind::PermissionDenied => {
            fail("may not be read (permission denied); expected a readable trace file".into())
        }
        _ => fail(format!("can't be opened ({e}); expected a trace file")),
    })?;
    let unreadable =
        |e: std::io::Error| fail(format!("can't be read ({e}); expected a trace file"));
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(fail(
            "is a directory; expected a trace file, as those in target/workspan/runs/<time>/"
                .into(),
        ));
    }
    if !metadata.is_file() {
        // For example in `export … | workspan report -`.
        let bytes = piped::read(path, &file, piped::limit())?;
        return f(TraceBytes::from_slice(&bytes));
    }
    let bytes = FileBytes::read(file, metadata.len()).map_err(unreadable)?;
    let content = TraceBytes {
        about: Some(&metadata),
        ..TraceBytes::of_file(&bytes)
    };
    // Data that one pass found may be missing in the next.
    let read = catch_unwind(AssertUnwindSafe(|| f(content)));
    if bytes.shrunk() {
        return Err(fail(
            "became shorter while it was read; expected a complete trace: read a copy, or wait until it is written"
                .into(),
        ));
    }
    read.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The path of the trace beside which an index would be. `/dev/stdin` and similar files are links
/// to a file elsewhere, and `/dev` is no place for an index. `None` if the file no longer has a
/// name.
fn place_of_index(path: &Path) -> Option<PathBuf> {
    let systems = ["/dev", "/proc"]
        .iter()
        .any(|folder| path.starts_with(folder));
    if systems {
        path.canonicalize().ok()
    } else {
        Some(path.to_owned())
    }
}
/// Like [`open`], for a file's contents. `path` names the file in errors.
///
/// # Errors
/// The same as for [`open`].
pub fn read(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    read_with_index(path, TraceBytes::from_slice(bytes), options, None)
}

fn read_with_index(
    path: &Path,
    content: TraceBytes<'_>,
    options: &OpenOptions,
    sidecar: Option<&SidecarIndex>,
) -> Result<Dag, Error> {
    let bytes = content.bytes;
    let result = match kind(path, bytes)? {
        FileKind::Recorded => recorded::dag_with_index(content, options, sidecar),
        FileKind::Text => text::read_with(bytes, options),
        FileKind::Imported(format) => format.open(bytes, options),
        FileKind::Bundle => processes::dag(bytes, options),
        FileKind::Packed => packed::unpack(bytes, options.allow_truncated).and_then(|plain| {
            match FileKind::from_bytes(&plain) {
                Some(FileKind::Recorded) => recorded::dag(&plain, options),
                Some(FileKind::Imported(format)) => format.open(&plain, options),
                Some(FileKind::Bundle) => processes::dag(&plain, options),
                _ => text::read_with(&plain, options),
            }
        }),
    };
    let mut dag = result.map_err(|error| named(path, error))?;
    short_names::shorten(&mut dag);
    Ok(dag)
}

/// The bytes, unpacked if they are packed.
pub(crate) fn plain(bytes: &[u8], allow_truncated: bool) -> Result<Cow<'_, [u8]>, Error> {
    if packed::is_packed(bytes) {
        packed::unpack(bytes, allow_truncated).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(bytes))
    }
}

/// The error with the file's name.
pub(crate) fn named(path: &Path, error: Error) -> Error {
    match error {
        file @ Error::File { .. } => file,
        Error::Trace(what) => fail(path, &what),
        other => fail(path, &other.to_string()),
    }
}

/// The damage of the trace at `path`, as a sentence; `None` if its chunks show none, and for text
/// traces and pipes, which are checked when they are read. Takes a hundredth of the time of
/// reading.
///
/// # Errors
/// There is no such file, or [`open`] cannot read any part of it.
pub fn damage(path: &Path) -> Result<Option<String>, Error> {
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(None);
    }
    with_bytes(path, |bytes| {
        kind(path, bytes)?;
        if !packed::is_recorded(bytes) {
            return Ok(None);
        }
        let bytes = &plain(bytes, true).map_err(|error| named(path, error))?;
        let trace = Trace::open(bytes).map_err(|e| fail(path, &e.to_string()))?;
        let mut chunks = trace.chunks(Tolerance::Tolerant);
        let _ = chunks.by_ref().count();
        Ok(recorded::damage_warning(&chunks))
    })
}

pub(crate) fn kind(path: &Path, bytes: &[u8]) -> Result<FileKind, Error> {
    if bytes.is_empty() {
        return Err(fail(
            path,
            "is empty; expected a trace: did the recorded program start?",
        ));
    }
    FileKind::from_bytes(bytes).ok_or_else(|| {
        let foreign: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let what = format!(
            "is not a trace; expected a recorded trace (.wspan), a text trace, which starts with {{\"workspan_trace\":1, or {}",
            foreign.join(", ")
        );
        fail(path, &what)
    })
}

pub(crate) fn fail(path: &Path, what: &str) -> Error {
    Error::File {
        path: path.to_path_buf(),
        what: what.into(),
    }
}
