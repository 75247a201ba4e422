//! Tests of the page's answers and of its server. `hostile` counts the allocations of the whole
//! process, so it is a separate binary.
//!
//! All others are one binary, because linking takes longer than most of the tests.

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
mod task_sizes;
mod two_workers;
mod written;
