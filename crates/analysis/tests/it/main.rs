//! Tests of the analyses: worked examples, properties of random runs, recorded programs.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod advise;
mod blame;
mod budget;
mod causes;
#[path = "../../../reader/tests/it/dag_file.rs"]
#[allow(dead_code, reason = "some of it is for the tests of the reader")]
mod dag_file;
mod dag_recorder;
mod edge_cases;
mod examples;
mod folded;
mod folding;
mod handoffs;
mod limits;
mod merge_sort;
mod only;
mod quiet_machine;
mod random;
mod recorded;
mod recorded_tasks;
mod regions;
mod samples;
mod scale;
mod scenario;
mod simulate;
mod statistics;
mod stretch;
mod ten_million;
mod waits;
mod warnings;
mod what_if;
mod what_if_folded;
mod workers;
