//! Tests of the page's answers and of its server. `hostile` counts what the whole process
//! allocates, and is a binary of its own.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod folding;
mod http;
mod inside;
mod inside_dag;
mod inside_twice;
mod overview;
mod pictures;
mod served;
mod stopping;
mod stretch;
mod two_workers;
mod written;
