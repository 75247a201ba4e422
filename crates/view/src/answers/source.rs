//! `source`: lines of a source file with their heat.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;
use crate::session::Session;

pub(crate) fn answer(_session: &Session, _run: &Run, _file: &str) -> Result<Reply, Failure> {
    Err(Failure::absent("This version can't answer that yet."))
}
