//! Tests of the formats: texts, JSON and pictures. `damaged` counts what the whole process
//! allocates, and is a binary of its own.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ci;
mod compare;
mod dag_recorder;
mod golden;
mod otf2_print;
mod pictures;
mod profiles;
mod runtime_share;
mod scale;
mod screen;
mod short_strands;
mod statistics;
mod stretch;
mod taskprof;
mod unread;
mod viewers;
