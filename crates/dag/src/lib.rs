//! The computation DAG of one recorded run, in columns.
//!
//! A reader fills a [`raw::RawTrace`]: tasks, strands in program order, scopes, and waits that are
//! not yet resolved. [`build`] turns it into a [`Dag`]: strands in a topological order, waits
//! resolved to the tasks they join. Everything downstream takes
//! `&Dag`.

pub mod build;
pub mod cancel;
pub mod cpu_time;
pub mod dag;
pub mod error;
pub mod events;
pub mod facts;
pub mod folded;
pub mod handoffs;
pub mod kinds;
pub mod memory;
pub mod meta;
mod only;
pub mod place;
pub mod pools;
pub mod processes;
pub mod ragged_array;
pub mod raw;
pub mod samples;
pub mod section;
pub mod skipped;
pub mod task_sizes;
pub mod topology;
mod unread;
pub mod wait_kinds;

pub use cpu_time::CpuTimes;
pub use dag::*;
pub use error::Error;
pub use facts::{MachineFacts, RunFacts, StealingDuringWaits};
pub use folded::{FoldCursor, Folded, Folds};
pub use handoffs::{Handoff, Handoffs};
pub use meta::{Meta, Steals, TimeUnit};
pub use only::Stretch;
pub use pools::{Member, Pool, Pools};
pub use processes::{Process, Processes};
pub use samples::{Frame, Samples, Stop, WaitCause};
pub use section::{Section, SectionClock, SectionKind};
pub use skipped::SkippedBounds;
pub use task_sizes::TaskSizes;
pub use topology::Topology;
pub use wait_kinds::{WaitKind, WaitKinds};
pub use workspan_trace::note_keys;
