//! Off-CPU times from a thread's kernel statistics.

use super::fields::push_entry;
use super::{Fields, push_varint};

/// How long a thread was off the CPU from one reading of its statistics to the next, if its context
/// switches were not traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OffCpu {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The previous reading, in ticks.
    pub from: u64,
    /// This reading.
    pub to: u64,
    /// Nanoseconds in which it waited in a run queue.
    pub preempted_ns: u64,
    /// Nanoseconds in which it neither ran nor waited in a run queue.
    pub blocked_ns: u64,
}

impl OffCpu {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.thread));
        for v in [self.from, self.to, self.preempted_ns, self.blocked_ns] {
            push_varint(&mut body, v);
        }
        push_entry(out, &body);
    }
    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<OffCpu> {
        let mut f = Fields::new(body);
        Some(OffCpu {
            thread: f.number32()?,
            from: f.number()?,
            to: f.number()?,
            preempted_ns: f.number()?,
            blocked_ns: f.number()?,
        })
    }
}
