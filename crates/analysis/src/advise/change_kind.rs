//! The kind of change that some code needs, according to the causes.

use workspan_dag::{Dag, EndKind, ROOT_PLACE, StartKind};

use crate::blocks::CodeBlock;
use crate::causes::{Cause, Causes, Finding};

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A serial stretch: make it parallel, or overlap it with something else.
    Parallelise,
    /// A long task: split it.
    Split,
    /// A share of a parallel region that was divided by the number of threads: more threads make
    /// the shares smaller.
    MoreThreads,
    /// A loop that creates tasks one after the other: let tasks create tasks.
    SpreadSpawns,
}

/// Whether a cause is one that more parallelism does not cure.
pub(super) fn is_elsewhere(cause: Cause) -> bool {
    match cause {
        Cause::SerialStrand | Cause::SpawnLoop | Cause::GrainCoarse | Cause::GrainFine => false,
        Cause::SlowThief
        | Cause::BuriedWait
        | Cause::BoundedQueue
        | Cause::RestrainedStealing
        | Cause::Stretch
        | Cause::Descheduled
        | Cause::Oversubscribed
        | Cause::Lock
        | Cause::LockAcrossJoin
        | Cause::Channel
        | Cause::Io
        | Cause::Sleep
        | Cause::LateRank
        | Cause::Blocked
        | Cause::OtherThreads
        | Cause::OtherPool
        | Cause::ThreadStart
        | Cause::None => true,
    }
}

/// The change that `block` needs: the one for the cause found at it, else the one for its kind of
/// code.
pub(super) fn change(dag: &Dag, causes: &Causes, block: &CodeBlock) -> Change {
    let said = |finding: &Finding| {
        let at = &finding.block;
        match finding.cause {
            Cause::SerialStrand if at == block => Some(Change::Parallelise),
            Cause::GrainCoarse if at.site == block.site => Some(Change::Split),
            Cause::SpawnLoop if is_turn(block) && creates(dag, block, at.site) => {
                Some(Change::SpreadSpawns)
            }
            _ => None,
        }
    };
    if let Some(change) = causes.places.iter().find_map(said) {
        return change;
    }
    if block.is_whole_task() && block.site != ROOT_PLACE {
        Change::Split
    } else {
        Change::Parallelise
    }
}

fn is_turn(block: &CodeBlock) -> bool {
    (block.from_kind, block.to_kind) == (StartKind::AfterCreate, EndKind::Create)
}

/// Whether a strand of the block creates tasks of `site`, that is, ends where they are created.
fn creates(dag: &Dag, block: &CodeBlock, site: u32) -> bool {
    let label = |p: u32| dag.places.get(p as usize).map(|p| &p.label);
    block.to == site || (block.to != workspan_dag::NONE && label(block.to) == label(site))
}
