//! The causes that blocked time is charged to, by what threads waited for.

use workspan_dag::{Dag, WaitKind, WaitKinds};

use crate::causes::Cause;

impl From<WaitKind> for Cause {
    /// The cause that blocked time of this kind is charged to.
    fn from(kind: WaitKind) -> Cause {
        match kind {
            WaitKind::Sleep => Cause::Sleep,
            WaitKind::Lock | WaitKind::Bridge => Cause::Lock,
            WaitKind::Channel | WaitKind::Condition => Cause::Channel,
            WaitKind::Io => Cause::Io,
            WaitKind::Barrier | WaitKind::Other => Cause::Blocked,
        }
    }
}

/// What each of the stops waited for.
pub fn wait_kinds(dag: &Dag) -> Vec<WaitKind> {
    let mut kinds = WaitKinds::new(&dag.samples);
    let stops = dag.samples.stops.iter();
    stops.map(|stop| kinds.of(stop)).collect()
}
