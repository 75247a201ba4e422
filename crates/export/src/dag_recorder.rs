//! Writes a run as DAG Recorder's `.dag`, version 1.24, for `dag2any`, DAGViz and their kin.
//!
//! The format is a tree: a section holds the creates that the wait at its end joins, a task holds
//! sections. So a run can be written that is series-parallel and has one root: each task is waited
//! for by the one that created it, and waits are nested. A folded strand becomes a section without
//! children, with the sums of what is inside.
//!
//! The file knows nothing of time off the CPU, probes, counters by name, steals and samples: an
//! interval's work is its length.

mod layout;
pub(crate) mod tree;

use std::io::{self, Write};

use workspan_dag::Dag;

/// Writes `dag`.
///
/// # Errors
/// What of the run the format has no place for, or what `out` returns.
pub fn dag_recorder(dag: &Dag, out: &mut impl Write) -> io::Result<()> {
    let tree = tree::tree(dag).map_err(|why| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            format!("DAG Recorder's format has no place for this run: {why}"),
        )
    })?;
    layout::write(dag, &tree, out)
}
