//! Strands and tasks one by one, the critical path, the regions.

use workspan_dag::{StrandId, TaskId};

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;

fn later<T>() -> Result<T, Failure> {
    Err(Failure::absent("This version has no details yet."))
}

/// `strand`.
pub(crate) fn strand(_run: &Run, _id: StrandId) -> Result<Reply, Failure> {
    later()
}

/// `task`.
pub(crate) fn task(_run: &Run, _id: TaskId) -> Result<Reply, Failure> {
    later()
}

/// `ancestors`.
pub(crate) fn ancestors(_run: &Run, _task: TaskId) -> Result<Reply, Failure> {
    later()
}

/// `critical`.
pub(crate) fn critical(_run: &Run) -> Result<Reply, Failure> {
    later()
}

/// `regions`.
pub(crate) fn regions(_run: &Run) -> Result<Reply, Failure> {
    later()
}
