//! Turns spool files into finished traces, and names them.

pub mod destination;
pub mod finalize;
pub mod newest;
pub mod process_facts;
pub mod run_folder;
