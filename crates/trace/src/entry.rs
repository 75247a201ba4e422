//! The entries that chunks of every kind but events are made of.
//!
//! An entry is a varint with the length of its body, then the body: varints, and texts and byte strings with their
//! length before them. A reader ignores what follows the fields it knows, so a later version can append some.

use crate::wire::{get_varint, put_varint};

/// Appends a varint.
pub fn push_varint(out: &mut Vec<u8>, v: u64) {
    let mut room = [0u8; 16];
    // SAFETY: 16 bytes are more than the 9 a varint may touch.
    let end = unsafe { put_varint(room.as_mut_ptr(), v) };
    let length = end as usize - room.as_ptr() as usize;
    out.extend_from_slice(&room[..length]);
}

/// Appends a byte string with its length before it.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends an entry with this body.
fn push_entry(out: &mut Vec<u8>, body: &[u8]) {
    push_bytes(out, body);
}

/// The bodies of the entries in a payload; ends at the first that is cut off.
pub fn entries(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut fields = Fields::new(payload);
    std::iter::from_fn(move || fields.bytes())
}

/// Reads the fields of an entry.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Over this body.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0 }
    }
    /// The next varint.
    pub fn number(&mut self) -> Option<u64> {
        get_varint(self.bytes, &mut self.at)
    }
    /// The next varint, as 32 bits.
    pub fn number32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }
    /// The next byte string.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }
    /// The next text; what is no UTF-8 is replaced.
    pub fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
    /// Bytes not yet read.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }
}

/// Where a site is, as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SitePosition {
    /// A position in the source.
    Location {
        /// File, as the compiler was given it.
        file: String,
        /// 1-based line.
        line: u32,
        /// 1-based column; 0 when not known.
        column: u32,
    },
    /// Return addresses, innermost first, and the position of the library's own call.
    Stack {
        /// Return addresses.
        addresses: Vec<u64>,
        /// For when no frame is the user's.
        file: String,
        /// See `file`.
        line: u32,
    },
    /// An address in the code.
    Address {
        /// It.
        address: u64,
        /// True when it is where a call returns to; false when it is a function's own.
        is_return: bool,
    },
    /// A text given by the program.
    Label(String),
}

/// A site as recorded: a position and the primitive called there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The number that records name it by.
    pub id: u32,
    /// Code in [`crate::wire::primitive`].
    pub primitive: u8,
    /// Where.
    pub position: SitePosition,
}

impl Site {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.id));
        self.position.encode(self.primitive, &mut body);
        push_entry(out, &body);
    }

    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Site> {
        let mut f = Fields::new(body);
        let id = f.number32()?;
        let primitive = u8::try_from(f.number()?).ok()?;
        let position = match f.number()? {
            1 => SitePosition::Location {
                line: f.number32()?,
                column: f.number32()?,
                file: f.text()?,
            },
            2 => {
                let (line, file) = (f.number32()?, f.text()?);
                let count = f.number()?;
                if count > f.left() as u64 {
                    return None;
                }
                let addresses = (0..count)
                    .map(|_| f.number())
                    .collect::<Option<Vec<u64>>>()?;
                SitePosition::Stack {
                    addresses,
                    file,
                    line,
                }
            }
            3 => SitePosition::Address {
                address: f.number()?,
                is_return: f.number()? != 0,
            },
            4 => SitePosition::Label(f.text()?),
            _ => return None,
        };
        Some(Site {
            id,
            primitive,
            position,
        })
    }
}

impl SitePosition {
    /// Appends primitive and position: the part of a site's entry that does not depend on its number.
    pub fn encode(&self, primitive: u8, body: &mut Vec<u8>) {
        push_varint(body, u64::from(primitive));
        match self {
            SitePosition::Location { file, line, column } => {
                push_varint(body, 1);
                push_varint(body, u64::from(*line));
                push_varint(body, u64::from(*column));
                push_bytes(body, file.as_bytes());
            }
            SitePosition::Stack {
                addresses,
                file,
                line,
            } => {
                push_varint(body, 2);
                push_varint(body, u64::from(*line));
                push_bytes(body, file.as_bytes());
                push_varint(body, addresses.len() as u64);
                for &address in addresses {
                    push_varint(body, address);
                }
            }
            SitePosition::Address { address, is_return } => {
                push_varint(body, 3);
                push_varint(body, *address);
                push_varint(body, u64::from(*is_return));
            }
            SitePosition::Label(text) => {
                push_varint(body, 4);
                push_bytes(body, text.as_bytes());
            }
        }
    }
}

/// A text that records name by number: a region, a part, a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its number.
    pub id: u32,
    /// The text.
    pub text: String,
}

impl Label {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.id));
        push_bytes(&mut body, self.text.as_bytes());
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Label> {
        let mut f = Fields::new(body);
        Some(Label {
            id: f.number32()?,
            text: f.text()?,
        })
    }
}

/// A fact about the run. docs/format.md lists the keys that mean something to `workspan`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub key: String,
    /// What is so.
    pub value: String,
}

impl Note {
    /// A note.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Note {
        Note {
            key: key.into(),
            value: value.into(),
        }
    }
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_bytes(&mut body, self.key.as_bytes());
        push_bytes(&mut body, self.value.as_bytes());
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Note> {
        let mut f = Fields::new(body);
        Some(Note {
            key: f.text()?,
            value: f.text()?,
        })
    }
}

/// An executable segment of a loaded file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    /// First address in the recorded process.
    pub start: u64,
    /// Address after its last.
    pub end: u64,
    /// What was added to the file's own virtual addresses.
    pub bias: u64,
    /// Offset of the segment in the file.
    pub file_offset: u64,
    /// The file.
    pub path: String,
    /// Its build id; empty when it has none.
    pub build_id: Vec<u8>,
}

impl Mapping {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        for v in [self.start, self.end, self.bias, self.file_offset] {
            push_varint(&mut body, v);
        }
        push_bytes(&mut body, self.path.as_bytes());
        push_bytes(&mut body, &self.build_id);
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Mapping> {
        let mut f = Fields::new(body);
        Some(Mapping {
            start: f.number()?,
            end: f.number()?,
            bias: f.number()?,
            file_offset: f.number()?,
            path: f.text()?,
            build_id: f.bytes()?.to_vec(),
        })
    }
}

/// Ticks and nanoseconds of `CLOCK_MONOTONIC_RAW` at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPair {
    /// Ticks.
    pub ticks: u64,
    /// Nanoseconds.
    pub ns: u64,
}

impl ClockPair {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, self.ticks);
        push_varint(&mut body, self.ns);
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<ClockPair> {
        let mut f = Fields::new(body);
        Some(ClockPair {
            ticks: f.number()?,
            ns: f.number()?,
        })
    }
}

/// A site resolved to what people read, written after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceEntry {
    /// The site.
    pub site: u32,
    /// What people are shown.
    pub label: String,
    /// Source file.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Function, demangled.
    pub function: Option<String>,
    /// The primitive called there.
    pub primitive: Option<String>,
    /// Text of the source line, trimmed.
    pub source: Option<String>,
}

impl PlaceEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.site));
        push_bytes(&mut body, self.label.as_bytes());
        push_varint(&mut body, self.line.map_or(0, |l| u64::from(l) + 1));
        for text in [&self.file, &self.function, &self.primitive, &self.source] {
            match text {
                None => push_varint(&mut body, 0),
                Some(text) => {
                    push_varint(&mut body, 1);
                    push_bytes(&mut body, text.as_bytes());
                }
            }
        }
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<PlaceEntry> {
        let mut f = Fields::new(body);
        let (site, label) = (f.number32()?, f.text()?);
        let line = match f.number()? {
            0 => None,
            line => Some(u32::try_from(line - 1).ok()?),
        };
        let mut optional = || match f.number()? {
            0 => Some(None),
            _ => Some(Some(f.text()?)),
        };
        Some(PlaceEntry {
            site,
            label,
            line,
            file: optional()?,
            function: optional()?,
            primitive: optional()?,
            source: optional()?,
        })
    }
}

/// A thread of the recorded process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadEntry {
    /// Its number in the trace.
    pub thread: u32,
    /// The kernel's number.
    pub tid: u32,
    /// When recording began on it.
    pub start_ticks: u64,
    /// Its name then.
    pub name: String,
}

impl ThreadEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.thread));
        push_varint(&mut body, u64::from(self.tid));
        push_varint(&mut body, self.start_ticks);
        push_bytes(&mut body, self.name.as_bytes());
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<ThreadEntry> {
        let mut f = Fields::new(body);
        Some(ThreadEntry {
            thread: f.number32()?,
            tid: f.number32()?,
            start_ticks: f.number()?,
            name: f.text()?,
        })
    }
}

/// The process's orderly end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Finished {
    /// When.
    pub ticks: u64,
    /// The same moment of `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    pub ns: u64,
    /// Bytes of records lost for want of room, before this.
    pub dropped: u64,
    /// Threads recorded.
    pub threads: u64,
}

impl Finished {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        for v in [self.ticks, self.ns, self.dropped, self.threads] {
            push_varint(&mut body, v);
        }
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Finished> {
        let mut f = Fields::new(body);
        Some(Finished {
            ticks: f.number()?,
            ns: f.number()?,
            dropped: f.number()?,
            threads: f.number()?,
        })
    }
}
