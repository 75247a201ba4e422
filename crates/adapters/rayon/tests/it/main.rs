//! Tests of the stand-in and of the wrapper, on programs that are built here.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budget;
mod fixture;
mod project;
mod recording;
mod replay;
mod which_rayon_core;
mod wrapper;
