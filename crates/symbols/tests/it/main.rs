//! Tests of symbols and lines, on files that compilers made.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod native;
mod resolve;
