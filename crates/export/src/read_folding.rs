//! Says that short subtrees were folded while a trace was read, and what reading everything would
//! cost.

use workspan_dag::Meta;

use crate::quantity::{amount, bytes, thousands};

/// Elapsed time for reading one task, in ns: a full report of 11.4 million tasks took 4 to 6 s and
/// 1.6 GB (docs/large-traces.md).
const NANOS_PER_TASK: f64 = 440.0;
/// Memory for one task in bytes, from the same measurement.
const BYTES_PER_TASK: f64 = 145.0;

/// `read with subtrees shorter than 20 µs folded; --full reads all 11,405,774 tasks (about 5 s,
/// 1.7 GB)`. `None` if every task was read.
pub fn read_folding(meta: &Meta) -> Option<String> {
    let short = meta.read_folding.as_ref()?;
    let tasks = short.tasks as f64;
    Some(format!(
        "read with subtrees shorter than {} folded; --full reads all {} tasks (about {:.0} s, {})",
        amount(meta, None, short.grain as f64),
        thousands(u128::from(short.tasks)),
        (tasks * NANOS_PER_TASK / 1e9).max(1.0),
        bytes((tasks * BYTES_PER_TASK) as u64),
    ))
}
