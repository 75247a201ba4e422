//! Tests of the readers: recorded, damaged and text traces.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_traces;
mod dag_file;
mod dag_recorder;
#[path = "../../../dag/tests/dice/mod.rs"]
mod dice;
mod example_a;
mod open_file;
mod otf2_print;
mod packed;
mod preview;
mod process_end;
mod processes;
mod random;
mod random_runs;
mod recorded;
mod recorded_damage;
mod recorded_hops;
mod recorded_joins;
mod recorded_late;
mod recorded_skipped_tasks;
mod recorded_waits;
mod recorded_window;
mod regions;
mod repair;
mod samples;
mod start_waits;
mod strands;
mod tables;
mod woolplot;
mod writer;
