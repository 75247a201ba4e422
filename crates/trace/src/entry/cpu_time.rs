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
    /// Each CPU on which the thread ran, and the nanoseconds there; empty if not known, as in older
    /// traces.
    pub cpus: Vec<(u32, u64)>,
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
        push_varint(&mut body, self.cpus.len() as u64);
        for &(cpu, ns) in &self.cpus {
            push_varint(&mut body, u64::from(cpu));
            push_varint(&mut body, ns);
        }
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
            cpus: f
                .list(|f| Some((f.number32()?, f.number()?)))
                .unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::entries;

    #[test]
    fn entries_of_all_ages_are_read() {
        let time = CpuTime {
            thread: Some(2),
            tid: 4711,
            ns: 90,
            outside_ns: 7,
            function: "main".into(),
            missing: 1,
            switches: 3,
            cpus: vec![(0, 50), (64, 40)],
        };
        let mut bytes = Vec::new();
        time.encode(&mut bytes);
        let body = entries(&bytes).next().unwrap();
        assert_eq!(CpuTime::decode(body), Some(time.clone()));
        // One without the CPUs, and others whose end is lost.
        let cpus = 1 + 2 * 2;
        for left in body.len() - cpus..body.len() {
            let entry = CpuTime::decode(&body[..left]).unwrap();
            assert_eq!((entry.switches, entry.cpus.len()), (3, 0), "{left}");
        }
    }
}
