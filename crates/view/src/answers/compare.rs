//! `compare`: two runs side by side.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;

pub(crate) fn answer(_a: &Run, _b: &Run) -> Result<Reply, Failure> {
    Err(Failure::absent("This version can't answer that yet."))
}
