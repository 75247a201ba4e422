//! The computation DAG of one recorded run, in columns, and the readers that build it.
//!
//! Data flows one way: a text trace ([`text`]) or a recorded trace ([`recorded`]) is read into a [`raw::RawTrace`]
//! (tasks, strands in program order, scopes, waits not yet resolved), and [`build`] turns that into a [`Dag`]:
//! strands in a topological order, waits resolved to the tasks they join. Everything downstream takes `&Dag`.

pub mod build;
pub mod cpu_time;
pub mod dag;
pub mod error;
pub mod facts;
pub mod folded;
mod mapped;
pub mod memory;
pub mod meta;
pub mod open;
pub mod packed;
mod passing;
mod piped;
pub mod pools;
pub mod raw;
pub mod recorded;
pub mod samples;
pub mod text;
pub mod unrecorded;
pub mod wanted;

pub use cpu_time::CpuTimes;
pub use dag::*;
pub use error::Error;
pub use folded::{Along, Folded, Folds};
pub use meta::{
    BURDEN_SOURCE, LEFT_OUT_JOIN, LEFT_OUT_TASK, Meta, RECORDED_TASK, Steals, TimeUnit,
};
pub use open::{OpenOptions, open, sketch};
pub use pools::{Member, Pool, Pools};
pub use recorded::sketch::Sketch;
pub use samples::{Frame, Samples, Stop};
pub use unrecorded::Bounds;
