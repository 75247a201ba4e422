//! Stands in for rayon-core. It has every public item of the real crate, which is compiled as
//! `rayon_core_real`. If the process is recorded, the task-parallel primitives are recorded through
//! workspan's table of functions; if not, calls go directly to the real crate. `README.md` beside
//! this file describes the protocol, with an example.
//!
//! The user's own rustc compiles it, under rayon-core's name, version and flags. It behaves like
//! the real crate in everything except time: results, panics, `migrated()`, thread counts and
//! indices, `Debug` output, trait bounds.
//!
//! | file | contents |
//! |---|---|
//! | `recording` | the recorder, this thread's handle, and writing records |
//! | `worker` | workers and pools |
//! | `task` | the tasks on this thread's stack |
//! | `scheduler_hooks` | steals, failed attempts and sleep, as the real crate reports them |
//! | `call_site`, `stack_walk` | sites: a source position, or a call stack for parallel iterators |
//! | `skipped_subtree` | subtrees that are skipped to stay inside the overhead budget |
//! | `passthrough_join` | the joins in them |
//! | `join` `scope` `spawn` `broadcast` `install` `yield_now` | one primitive each |
//! | `pool` `builder` `configuration` | thread pools |
//! | `wire` `abi` `budget` | the recorder's contract, from its own sources |

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unknown_lints, unexpected_cfgs)]
#![warn(missing_debug_implementations)]

#[allow(dead_code)]
mod budget;
#[allow(dead_code)]
mod abi;
#[allow(dead_code)]
mod wire;

mod broadcast;
mod builder;
mod configuration;
mod passthrough_join;
#[cfg(workspan_hooks)]
mod scheduler_hooks;

mod install;
mod join;
mod pool;
mod recording;
mod scope;
mod call_site;
mod spawn;
mod stack_walk;
mod task;
mod skipped_subtree;
mod worker;
mod yield_now;

pub use rayon_core_real::{
    current_thread_has_pending_tasks, current_thread_index, max_num_threads,
};
pub use rayon_core_real::{
    BroadcastContext, FnContext, ThreadBuilder, ThreadPoolBuildError, Yield,
};

pub use crate::broadcast::{broadcast, spawn_broadcast};
pub use crate::builder::ThreadPoolBuilder;
#[allow(deprecated)]
pub use crate::configuration::{initialize, Configuration};
pub use crate::join::{join, join_context};
pub use crate::pool::{current_num_threads, ThreadPool};
pub use crate::scope::{in_place_scope, in_place_scope_fifo, scope, scope_fifo, Scope, ScopeFifo};
pub use crate::spawn::{spawn, spawn_fifo};
pub use crate::yield_now::{yield_local, yield_now};
