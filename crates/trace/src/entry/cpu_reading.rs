//! The CPU time of a thread between two readings of its CPU clock.

use super::fields::push_entry;
use super::{Fields, push_varint};

/// How far a thread's own CPU clock advanced from one reading to the next. Only spool files have
/// these entries. Where a thread ran for less time than its context switches say, the finished
/// trace has off-CPU times instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuReading {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The previous reading, in ticks.
    pub from: u64,
    /// This reading.
    pub to: u64,
    /// CPU time of the thread between them, in nanoseconds.
    pub ran_ns: u64,
}

impl CpuReading {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.thread));
        for v in [self.from, self.to, self.ran_ns] {
            push_varint(&mut body, v);
        }
        push_entry(out, &body);
    }

    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<CpuReading> {
        let mut f = Fields::new(body);
        Some(CpuReading {
            thread: f.number32()?,
            from: f.number()?,
            to: f.number()?,
            ran_ns: f.number()?,
        })
    }
}
