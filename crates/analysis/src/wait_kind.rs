//! The causes that blocked time is charged to, by what threads waited for.

use workspan_dag::{Dag, NONE, PlaceId, Stop, WaitKind, WaitKinds};

use crate::causes::Cause;
use crate::lock_across_join::{HeldLock, locks_across_joins};
use crate::runtime_samples::in_recorder;

impl From<WaitKind> for Cause {
    /// The cause that blocked time of this kind is charged to.
    fn from(kind: WaitKind) -> Cause {
        match kind {
            WaitKind::Sleep => Cause::Sleep,
            WaitKind::Lock | WaitKind::Bridge => Cause::Lock,
            WaitKind::Channel | WaitKind::Condition => Cause::Channel,
            WaitKind::Io => Cause::Io,
            WaitKind::Rank => Cause::LateRank,
            WaitKind::Barrier | WaitKind::Other => Cause::Blocked,
        }
    }
}

/// The causes that the stops of a run are charged to.
pub(crate) struct StopCauses<'a> {
    kinds: WaitKinds<'a>,
    across: Vec<HeldLock>,
    /// By stack: whether it is the recorder's.
    in_recorder: Vec<bool>,
}

impl<'a> StopCauses<'a> {
    /// Classifies the stops, O(m log m) for m stops.
    pub(crate) fn new(dag: &'a Dag) -> StopCauses<'a> {
        StopCauses {
            kinds: WaitKinds::new(&dag.samples),
            across: locks_across_joins(dag),
            in_recorder: in_recorder(&dag.samples),
        }
    }

    /// The cause of `stop`, whose index is `number`; [`Cause::None`] if the thread waited in the
    /// recorder, for which the program has no reason. Waits that the process logged are its own.
    pub(crate) fn of(&mut self, number: u32, stop: &Stop) -> Cause {
        let in_recorder = self.in_recorder.get(stop.stack as usize);
        match self.held(number) {
            Some(_) => Cause::LockAcrossJoin,
            None if stop.wait.is_none() && in_recorder.is_some_and(|&is| is) => Cause::None,
            None => Cause::from(self.kinds.of(stop)),
        }
    }

    /// The join in which the holder of the lock waited, for a stop of [`Cause::LockAcrossJoin`].
    pub(crate) fn join(&self, number: u32) -> Option<PlaceId> {
        let join = self.held(number)?.join;
        (join != NONE).then_some(join)
    }

    fn held(&self, number: u32) -> Option<&HeldLock> {
        let at = self.across.binary_search_by_key(&number, |held| held.stop);
        at.ok().map(|at| &self.across[at])
    }
}

/// The kind of wait of each stop.
pub fn wait_kinds(dag: &Dag) -> Vec<WaitKind> {
    let mut kinds = WaitKinds::new(&dag.samples);
    let stops = dag.samples.stops.iter();
    stops.map(|stop| kinds.of(stop)).collect()
}
