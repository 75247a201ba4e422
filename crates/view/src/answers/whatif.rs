//! `whatif`: what if some code were faster.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;

pub(crate) fn answer(_run: &Run, _what: &str, _factors: &str) -> Result<Reply, Failure> {
    Err(Failure::absent("This version can't answer that yet."))
}
