//! What was folded while a trace was read, as a line.

use workspan_dag::Meta;

use crate::quantity::{amount, bytes, thousands};

/// What reading a task takes, in nanoseconds of the clock and in bytes of memory: a report of 11.4 million tasks in full took 4 to 6 s and
/// 1.6 GB (docs/large-traces.md).
const NANOS_A_TASK: f64 = 440.0;
/// See [`NANOS_A_TASK`].
const BYTES_A_TASK: f64 = 145.0;

/// `read with subtrees under 20 µs as one; --full reads each of 11,405,774 tasks: about 5 s, 1.7 GB`; `None` where each task was read.
pub fn shortened(meta: &Meta) -> Option<String> {
    let short = meta.shortened.as_ref()?;
    let tasks = short.tasks as f64;
    Some(format!(
        "read with subtrees under {} as one; --full reads each of {} tasks: about {:.0} s, {}",
        amount(meta, None, short.grain as f64),
        thousands(u128::from(short.tasks)),
        (tasks * NANOS_A_TASK / 1e9).max(1.0),
        bytes((tasks * BYTES_A_TASK) as u64),
    ))
}
