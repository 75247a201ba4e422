//! Tests of the command: what it prints and writes, on real programs.
//!
//! One binary for all of them, because linking takes longer than most of the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accidents;
mod action;
mod agents_page;
mod asked;
mod bench_runtimes;
mod cargo_calls;
mod cargo_install;
mod cargo_workspan;
mod cli;
mod each;
mod faults;
mod flight_recorder;
mod folding;
mod hangs;
mod help;
mod hosts;
mod instructions;
mod kernels_on_workers;
mod launchers;
mod lsp;
mod mcp;
mod mpi;
mod native;
mod openmp;
mod pairs;
mod plain_threads;
mod project;
mod rayon_places;
mod readings;
mod record;
mod reference;
mod report_msort;
mod runs;
mod same_tasks;
mod samples;
mod sanitizers;
mod scale;
mod sections;
mod seed_runtimes;
mod sharing;
mod simulate;
mod stdio_client;
mod steals;
mod suite;
mod supervision;
mod task_costs;
mod tasks_by_reporter;
mod trust;
mod tutorial;
mod waits;
mod whatif;
mod windows;
