//! Stands in for rayon-core: every public item of the real crate, which is compiled as `rayon_core_real`, with the task-parallel
//! primitives recorded through workspan's table of functions when somebody records, and called as they are when not.
//!
//! Compiled by the user's own rustc under rayon-core's own name, version and flags. Behaviour is the real crate's in
//! everything but time: results, panics, `migrated()`, thread counts and indices, `Debug` output, trait bounds.
//!
//! | file | what |
//! |---|---|
//! | `recording` | finding the recorder, this thread's handle, writing records |
//! | `worker` | workers and pools as the trace knows them |
//! | `task` | the tasks on this thread's stack: which is current, how one begins and ends |
//! | `hooks` | steals, failed attempts and sleep, where the real crate tells them |
//! | `site`, `stack` | where a call stands: a source position, or a call stack for parallel iterators |
//! | `unrecorded` | subtrees that are left out to stay inside the overhead budget |
//! | `handed_on` | the joins in them |
//! | `join` `scope` `spawn` `broadcast` `hop` `yielding` | a primitive each; `hop` is `install` and calls from outside a pool |
//! | `pool` `builder` `configuration` | thread pools |
//! | `wire` `front` `budget` | the recorder's contract, as it stands there |

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unknown_lints, unexpected_cfgs)]
#![warn(missing_debug_implementations)]

#[allow(dead_code)]
mod budget;
#[allow(dead_code)]
mod front;
#[allow(dead_code)]
mod wire;

mod broadcast;
mod builder;
mod configuration;
mod handed_on;
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
mod unrecorded;
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
