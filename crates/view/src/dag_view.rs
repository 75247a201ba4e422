//! The DAG, node by node.

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::{Picture, Run};

/// What nodes are made from.
#[derive(Debug)]
pub(crate) struct Index {}

impl Index {
    pub(crate) fn new(_picture: &Picture) -> Index {
        Index {}
    }
}

/// `dag`: the insides of the nodes called `ids`.
pub(crate) fn dag(run: &Run, _ids: &[&str]) -> Result<Reply, Failure> {
    run.tree()?;
    Err(Failure::absent("This version has no DAG yet."))
}
