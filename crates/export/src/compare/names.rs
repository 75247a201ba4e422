//! Names of positions, and times, for data that belongs to no single trace.

use workspan_dag::{Dag, Meta, Place};

use crate::quantity::time;

/// A DAG that contains only positions, for the functions that name them.
pub(crate) fn names(places: &[Place]) -> Dag {
    Dag {
        places: places.to_vec(),
        ..Dag::default()
    }
}

/// A time in nanoseconds: `1.28 s`.
pub(crate) fn ns(v: f64) -> String {
    let meta = Meta {
        ticks_per_second: 1_000_000_000,
        ..Meta::default()
    };
    time(&meta, v)
}
