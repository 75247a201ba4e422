//! The CPU time that a thread used, as measured by the kernel.

use super::fields::push_entry;
use super::{Fields, push_bytes, push_varint};

/// The CPU time of a thread of the process, whether the trace has records of the thread or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// The thread's number in the trace; `None` for a thread that never called a runtime.
    pub thread: Option<u32>,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// Nanoseconds on a CPU between the recording's start and the process's end.
    pub ns: u64,
    /// The part of `ns` before the thread's first record in the trace; equal to `ns` if the trace
    /// has no record of the thread.
    pub outside_ns: u64,
    /// The function in which the thread spent most of `outside_ns`, by samples; empty if not known.
    pub function: String,
    /// The number of missing context switches of the thread. If it is not 0, the time is not exact.
    pub missing: u64,
    /// How often the thread came onto a CPU; 0 in traces that do not have the number.
    pub switches: u64,
}

impl CpuTime {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, self.thread.map_or(0, |t| u64::from(t) + 1));
        for v in [u64::from(self.tid), self.ns, self.outside_ns] {
            push_varint(&mut body, v);
        }
        push_bytes(&mut body, self.function.as_bytes());
        push_varint(&mut body, self.missing);
        push_varint(&mut body, self.switches);
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<CpuTime> {
        let mut f = Fields::new(body);
        let thread = f.number()?;
        Some(CpuTime {
            thread: thread.checked_sub(1).and_then(|t| u32::try_from(t).ok()),
            tid: f.number32()?,
            ns: f.number()?,
            outside_ns: f.number()?,
            function: f.text()?,
            missing: f.number()?,
            switches: f.number().unwrap_or(0),
        })
    }
}
