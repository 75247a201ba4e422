//! Opens a trace of any kind, by content.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use workspan_trace::{Tolerance, Trace};

use crate::formats::{FORMATS, Format};
use crate::mapped::FileBytes;
use crate::recorded::index::SidecarIndex;
use crate::recorded::preview::Preview;
use crate::{packed, piped, processes, recorded, text};
use workspan_dag::Dag;
use workspan_dag::Error;

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Read what is intact before the damage of a truncated or corrupted trace, instead of failing.
    pub allow_truncated: bool,
    /// Which subtrees of a recorded trace are read as one (MODEL.md §7).
    pub grain: Grain,
    /// What is read as one keeps the probes' time in its weights, for measures that leave it in.
    pub raw: bool,
    /// Whether a large trace that is read with [`Grain::Auto`] has an index beside it.
    pub index: Index,
}

/// The index of a trace is the same trace with its short subtrees folded, in a file beside it
/// (`run.wspan.index`), so that they need not be folded again. One that is stale or damaged is made
/// anew; where none can be written, nothing is said and nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Index {
    /// None is read or written.
    #[default]
    None,
    /// One that is there is read, and one is written after folding took longer than a second.
    Slow,
    /// One that is there is read, and else one is written.
    Always,
}

/// Which subtrees become one strand each with a folded record ([`workspan_dag::Folded`]) while a
/// recorded trace is read: those that ran on one thread, under the conditions of MODEL.md §7, in
/// less time than this. All measures of §2 and §3 stay as they are, to the tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grain {
    /// None: each task is read.
    #[default]
    None,
    /// Of large traces those that leave some 10⁵ tasks, 10 µs to 1 ms; small traces are read task
    /// by task.
    Auto,
    /// Those shorter than this, of traces of any size.
    Nanoseconds(u64),
}

/// What a file's first bytes say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

impl Kind {
    /// Recognises a trace; `None` for no kind.
    pub fn of(bytes: &[u8]) -> Option<Kind> {
        let magic = &workspan_trace::header::MAGIC;
        if !bytes.is_empty() && magic.starts_with(&bytes[..bytes.len().min(magic.len())]) {
            return Some(Kind::Recorded);
        }
        if packed::is_packed(bytes) {
            return Some(Kind::Packed);
        }
        if bytes.starts_with(&workspan_trace::bundle::MAGIC) {
            return Some(Kind::Bundle);
        }
        if let Some(format) = Format::of(bytes) {
            return Some(Kind::Imported(format));
        }
        let bytes = bytes.strip_prefix(text::BYTE_ORDER_MARK).unwrap_or(bytes);
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        (first == Some(&b'{')).then_some(Kind::Text)
    }
}

/// Reads the trace at `path`, of whichever kind its first bytes say it is.
///
/// # Errors
/// The file can't be read, is empty, is of no kind, or is damaged (see [`Error`]).
pub fn open(path: &Path, options: &OpenOptions) -> Result<Dag, Error> {
    with_file(path, |content| {
        let (bytes, about) = (content.bytes, content.about);
        let place = place_of_index(path);
        // A packed one is too small to need an index.
        let wanted = options.index != Index::None
            && options.grain == Grain::Auto
            && !options.raw
            && !packed::is_packed(bytes);
        let beside = about
            .filter(|_| wanted)
            .zip(place.as_deref())
            .map(|(about, place)| SidecarIndex::of(place, about, bytes));
        read_with_index(path, content, options, beside.as_ref())
    })
}

/// What is in a file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TraceBytes<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// What is known of a file that is none of a pipe's kind.
    about: Option<&'a Metadata>,
    /// Where the bytes are a file's.
    file: Option<&'a FileBytes>,
}

impl<'a> TraceBytes<'a> {
    /// Bytes that are no file's pages.
    pub(crate) fn of(bytes: &'a [u8]) -> TraceBytes<'a> {
        TraceBytes {
            bytes,
            ..TraceBytes::default()
        }
    }

    /// Those of a file.
    pub(crate) fn of_file(file: &'a FileBytes) -> TraceBytes<'a> {
        TraceBytes {
            bytes: file,
            about: None,
            file: Some(file),
        }
    }

    /// The bytes are hardly needed any more: they take no memory until they are read again.
    pub(crate) fn release_pages(&self) {
        if let Some(file) = self.file {
            file.release_pages();
        }
    }
}

/// A trace that stays open: a file's bytes, or what was unpacked of them.
#[derive(Debug)]
pub(crate) enum OwnedTrace {
    /// The file's.
    File(FileBytes),
    /// The trace that was packed.
    Unpacked(Vec<u8>),
}

impl OwnedTrace {
    /// Of the file at `path`.
    ///
    /// # Errors
    /// It can't be read, or is packed and can't be unpacked.
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
            OwnedTrace::Unpacked(trace) => TraceBytes::of(trace),
        }
    }

    /// True when the file became shorter since: what was read of it may be nothing.
    pub(crate) fn shrunk(&self) -> bool {
        matches!(self, OwnedTrace::File(file) if file.shrunk())
    }
}

/// The note, key and value, by which an index says that it is of the trace at `path`: for who makes
/// an index by other means, as the tests of what reads it do. `folded` is the grain in nanoseconds,
/// and the tasks, records and bytes of the trace, and the folded records.
///
/// # Errors
/// The file can't be read.
pub fn index_note(path: &Path, folded: [u64; 5]) -> Result<(&'static str, String), Error> {
    with_file(path, |content| {
        let (bytes, about) = (content.bytes, content.about);
        let about = about.ok_or_else(|| fail(path, "is no file that could have an index"))?;
        let beside = SidecarIndex::of(path, about, bytes);
        Ok((recorded::index::KEY, beside.note(folded)))
    })
}

/// What ran when in the recorded trace at `path`, long before [`open`] is through with it; `None`
/// for a text trace.
///
/// # Errors
/// As [`open`].
pub fn preview(path: &Path, options: &OpenOptions) -> Result<Option<Preview>, Error> {
    with_bytes(path, |bytes| {
        let bytes = plain(bytes, options.allow_truncated)?;
        match Kind::of(&bytes) {
            Some(Kind::Recorded) => recorded::preview::preview(&bytes, options).map(Some),
            _ => Ok(None),
        }
    })
}

/// Calls `f` with the content of the file at `path`.
fn with_bytes<T>(path: &Path, f: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    with_file(path, |content| f(content.bytes))
}

/// Likewise, and with what it is.
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
        // As of `export … | workspan report -`.
        let bytes = piped::read(path, &file, piped::limit())?;
        return f(TraceBytes::of(&bytes));
    }
    let bytes = FileBytes::read(file, metadata.len()).map_err(unreadable)?;
    let content = TraceBytes {
        about: Some(&metadata),
        ..TraceBytes::of_file(&bytes)
    };
    // What was found in one pass may be gone in the next.
    let read = catch_unwind(AssertUnwindSafe(|| f(content)));
    if bytes.shrunk() {
        return Err(fail(
            "became shorter while it was read; expected a trace that stays as it is: read a copy, or wait until it is written"
                .into(),
        ));
    }
    read.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Where a trace is whose index would lie beside it. `/dev/stdin` and its kin are links to a file
/// elsewhere, and `/dev` is no place for an index; `None` where the file has no name any more.
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
/// [`open`] for a file's content; `path` is what errors call it.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    read_with_index(path, TraceBytes::of(bytes), options, None)
}

fn read_with_index(
    path: &Path,
    content: TraceBytes<'_>,
    options: &OpenOptions,
    beside: Option<&SidecarIndex>,
) -> Result<Dag, Error> {
    let bytes = content.bytes;
    let result = match kind(path, bytes)? {
        Kind::Recorded => recorded::dag_with_index(content, options, beside),
        Kind::Text => text::read_with(bytes, options),
        Kind::Imported(format) => format.open(bytes, options),
        Kind::Bundle => processes::dag(bytes, options),
        Kind::Packed => packed::unpack(bytes, options.allow_truncated).and_then(|plain| {
            match Kind::of(&plain) {
                Some(Kind::Recorded) => recorded::dag(&plain, options),
                Some(Kind::Imported(format)) => format.open(&plain, options),
                Some(Kind::Bundle) => processes::dag(&plain, options),
                _ => text::read_with(&plain, options),
            }
        }),
    };
    result.map_err(|error| named(path, error))
}

/// The bytes, unpacked where they are packed.
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

/// What is damaged of the trace at `path`, as a sentence; `None` when nothing is, as far as its
/// chunks tell, and for text traces and pipes, which are looked at when they are read. Takes a
/// hundredth of the time of reading.
///
/// # Errors
/// There is no such file, or it is none that [`open`] could read anything of.
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
        Ok(recorded::damage_told(&chunks))
    })
}

pub(crate) fn kind(path: &Path, bytes: &[u8]) -> Result<Kind, Error> {
    if bytes.is_empty() {
        return Err(fail(
            path,
            "is empty; expected a trace: did the recorded program start?",
        ));
    }
    Kind::of(bytes).ok_or_else(|| {
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
