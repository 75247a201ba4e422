//! Where threads were in their code: samples, the stacks that samples refer to, and the frames of
//! these stacks.

use super::fields::{
    Fields, push_bytes, push_entry, push_timed_list, push_varint, read_timed_list,
};

/// The function of the one frame that stands for all of the recorder's code, which says nothing
/// about the program.
pub const RECORDING: &str = "recording (workspan)";

/// The thread number of samples of threads that have no records at that time: threads that never
/// call the runtime, or have not called it yet.
pub const OTHER_THREADS: u32 = u32::MAX;

/// A function that was on a stack, resolved after the run. Functions inlined into others have
/// frames of their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameEntry {
    /// The frame's number.
    pub id: u32,
    /// The readable name; module and offset if the module has no symbols.
    pub function: String,
    /// Source file.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Whether it belongs to the runtime instead of the program.
    pub runtime: bool,
}

impl FrameEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.id));
        push_bytes(&mut body, self.function.as_bytes());
        push_varint(&mut body, self.line.map_or(0, |l| u64::from(l) + 1));
        push_varint(&mut body, u64::from(self.runtime));
        match &self.file {
            None => push_varint(&mut body, 0),
            Some(file) => {
                push_varint(&mut body, 1);
                push_bytes(&mut body, file.as_bytes());
            }
        }
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<FrameEntry> {
        let mut f = Fields::new(body);
        Some(FrameEntry {
            id: f.number32()?,
            function: f.text()?,
            line: match f.number()? {
                0 => None,
                line => Some(u32::try_from(line - 1).ok()?),
            },
            runtime: f.number()? != 0,
            file: match f.number()? {
                0 => None,
                _ => Some(f.text()?),
            },
        })
    }
}

/// A stack, as frames from the innermost outwards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackEntry {
    /// The stack's number.
    pub id: u32,
    /// Numbers of the stack's frames, innermost first.
    pub frames: Vec<u32>,
}

impl StackEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.id));
        push_varint(&mut body, self.frames.len() as u64);
        for &frame in &self.frames {
            push_varint(&mut body, u64::from(frame));
        }
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<StackEntry> {
        let mut f = Fields::new(body);
        Some(StackEntry {
            id: f.number32()?,
            frames: f.list(Fields::number32)?,
        })
    }
}

/// Samples of one thread, by time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SamplesEntry {
    /// The thread's number in the trace, or [`OTHER_THREADS`].
    pub thread: u32,
    /// The time in ticks and the number of the stack.
    pub samples: Vec<(u64, u32)>,
}

impl SamplesEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        push_timed_list(out, self.thread, &self.samples, |&(ticks, stack), body| {
            push_varint(body, u64::from(stack));
            ticks
        });
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<SamplesEntry> {
        let (thread, samples) = read_timed_list(body, |ticks, f| Some((ticks, f.number32()?)))?;
        Some(SamplesEntry { thread, samples })
    }
}

/// Where one thread gave up the CPU, by time. If it did so often, only some of the times are
/// included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopsEntry {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The ticks at which it left the CPU, the number of the stack, and the ticks until it came
    /// back.
    pub stops: Vec<(u64, u32, u64)>,
}

impl StopsEntry {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        push_timed_list(
            out,
            self.thread,
            &self.stops,
            |&(begin, stack, ticks), body| {
                push_varint(body, u64::from(stack));
                push_varint(body, ticks);
                begin
            },
        );
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<StopsEntry> {
        let (thread, stops) =
            read_timed_list(body, |begin, f| Some((begin, f.number32()?, f.number()?)))?;
        Some(StopsEntry { thread, stops })
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries;
    use super::*;

    #[test]
    fn entries_read_back() {
        let frame = FrameEntry {
            id: 7,
            function: "merge".into(),
            file: Some("src/sort.rs".into()),
            line: Some(43),
            runtime: false,
        };
        let bare = FrameEntry {
            runtime: true,
            ..FrameEntry::default()
        };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        bare.encode(&mut bytes);
        let back: Vec<_> = entries(&bytes).filter_map(FrameEntry::decode).collect();
        assert_eq!(back, [frame, bare]);

        let stack = StackEntry {
            id: 3,
            frames: vec![7, 0, 7],
        };
        let samples = SamplesEntry {
            thread: 2,
            samples: vec![(1 << 40, 3), ((1 << 40) + 5, 0)],
        };
        let mut bytes = Vec::new();
        stack.encode(&mut bytes);
        assert_eq!(entries(&bytes).find_map(StackEntry::decode), Some(stack));
        let mut bytes = Vec::new();
        samples.encode(&mut bytes);
        assert_eq!(
            entries(&bytes).find_map(SamplesEntry::decode),
            Some(samples)
        );
        let stops = StopsEntry {
            thread: 1,
            stops: vec![(1 << 40, 3, 77), ((1 << 40) + 90, 0, 1 << 33)],
        };
        let mut bytes = Vec::new();
        stops.encode(&mut bytes);
        assert_eq!(entries(&bytes).find_map(StopsEntry::decode), Some(stops));
    }

    #[test]
    fn counts_beyond_the_bytes_are_refused() {
        assert_eq!(StackEntry::decode(&[3, 255, 255]), None);
        let mut body = Vec::new();
        push_varint(&mut body, 0);
        push_varint(&mut body, 1 << 50);
        assert_eq!(SamplesEntry::decode(&body), None);
        assert_eq!(StackEntry::decode(&body), None);
    }
}
