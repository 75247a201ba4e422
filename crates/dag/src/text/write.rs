//! The exporter.

use std::io::{self, Write};

use crate::dag::Dag;

/// TODO
pub fn write(dag: &Dag, out: &mut impl Write) -> io::Result<()> {
    let _ = (dag, out);
    Ok(())
}
