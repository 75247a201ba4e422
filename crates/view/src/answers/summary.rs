//! `summary`: the words of `workspan report`.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;

pub(crate) fn answer(_run: &Run) -> Result<Reply, Failure> {
    Err(Failure::absent("This version can't answer that yet."))
}
