//! Tests of the preloaded library on real programs.
//!
//! One binary for all of them, because linking takes longer than most of the tests. The programs'
//! sources are beside this folder.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod examples;
mod headers;
mod native;
mod openmp;
mod recorded;
mod runtimes;
#[cfg(target_arch = "x86_64")]
mod stacks;
mod tbb;
