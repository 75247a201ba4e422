//! Writes a run as DAG Recorder's `.dag`, version 1.24, for `dag2any`, DAGViz and similar tools.
//!
//! The format is a tree: a section contains the creates that the wait at its end joins, and a task
//! contains sections. So a run can be written if it is series-parallel and has one root: each task
//! is waited for by its creator, and waits are nested. A folded strand becomes a section without
//! children, with the sums of its content.
//!
//! The file has no time off the CPU, probes, named counters, steals or samples: an interval's work
//! is its length.

mod layout;
pub(crate) mod tree;

use std::io::{self, Write};

use workspan_dag::Dag;

/// Writes `dag`.
///
/// # Errors
/// The run has something that the format can't express, or writing to `out` failed.
pub fn dag_recorder(dag: &Dag, out: &mut impl Write) -> io::Result<()> {
    let tree = tree::tree(dag).map_err(|why| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            format!("DAG Recorder's format has no place for this run: {why}"),
        )
    })?;
    layout::write(dag, &tree, out)
}
