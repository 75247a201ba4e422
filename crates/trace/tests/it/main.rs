//! Tests of the format and of the hand-over of chunks.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod damage;
mod format;
mod hand_off;
mod sample;
mod turns;
