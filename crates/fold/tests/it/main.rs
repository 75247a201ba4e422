//! Tests of folding by itself; against the analyses it is tested with them.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod pause;
mod pieces;
