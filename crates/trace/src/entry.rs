//! The entries in chunks of every kind except events.
//!
//! An entry is a varint with the length of its body, followed by the body. The body consists of
//! varints, and of texts and byte strings that are preceded by their length. A reader ignores bytes
//! behind the fields it knows, so a later version can append fields.

mod cpu_reading;
mod cpu_time;
mod fields;
mod off_cpu;
mod rank_call;
mod sample;
mod site;
mod wait;

pub use cpu_reading::CpuReading;
pub use cpu_time::CpuTime;
pub use fields::{Fields, entries, push_bytes, push_varint};
pub use off_cpu::OffCpu;
pub use rank_call::{CallRole, FUNCTIONS, RankCall, RankCallsEntry};
pub use sample::{FrameEntry, OTHER_THREADS, RECORDING, SamplesEntry, StackEntry, StopsEntry};
pub use site::{Site, SitePosition};
pub use wait::{LoggedWait, WaitEntry, WaitKind, WaitsEntry};

use fields::push_entry;

/// A text that records refer to by number: the name of a region, a part or a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The label's number.
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
    /// The note's key.
    pub key: String,
    /// The note's value.
    pub value: String,
}

impl Note {
    /// Creates a note.
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
    /// The address after the last one.
    pub end: u64,
    /// The difference between the loaded addresses and the file's own virtual addresses.
    pub bias: u64,
    /// Offset of the segment in the file.
    pub file_offset: u64,
    /// The file's path.
    pub path: String,
    /// The file's build id; empty if it has none.
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

/// Ticks and nanoseconds of `CLOCK_MONOTONIC_RAW` at the same moment.
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

/// A site resolved to a readable place, written after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceEntry {
    /// The site.
    pub site: u32,
    /// The text to show.
    pub label: String,
    /// Source file.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Function, demangled.
    pub function: Option<String>,
    /// The primitive called at the site.
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
    /// The thread's number in the trace.
    pub thread: u32,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// The time at which recording began on the thread.
    pub start_ticks: u64,
    /// The thread's name at that time ([`ThreadName`] has a later one).
    pub name: String,
    /// How long it had waited for a CPU by then, in nanoseconds; 0 if not known.
    pub waited_ns: u64,
}

impl ThreadEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.thread));
        push_varint(&mut body, u64::from(self.tid));
        push_varint(&mut body, self.start_ticks);
        push_bytes(&mut body, self.name.as_bytes());
        push_varint(&mut body, self.waited_ns);
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
            // Older recorders do not write this field.
            waited_ns: f.number().unwrap_or(0),
        })
    }
}

/// A thread's name, written when the thread gets it. If there are several, the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadName {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The name as the kernel has it: at most 15 bytes.
    pub name: String,
}

impl ThreadName {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.thread));
        push_bytes(&mut body, self.name.as_bytes());
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<ThreadName> {
        let mut f = Fields::new(body);
        Some(ThreadName {
            thread: f.number32()?,
            name: f.text()?,
        })
    }
}

/// The process's orderly end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Finished {
    /// The time of the end, in ticks.
    pub ticks: u64,
    /// The same moment on `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    pub ns: u64,
    /// Bytes of records lost before the end for lack of space.
    pub dropped: u64,
    /// The number of threads recorded.
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
