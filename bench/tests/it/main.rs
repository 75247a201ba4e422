//! Tests of the kernels: each checks its own result.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod kernels;
mod runtimes;
mod suite;
