//! `meta`: the runs and their tables of names.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::session::Session;

pub(crate) fn answer(_session: &Session) -> Result<Reply, Failure> {
    Err(Failure::absent("This version can't answer that yet."))
}
