//! From spool files to finished traces, and the names they get.

pub mod destination;
pub mod finalize;
pub mod newest;
pub mod process_facts;
pub mod run_folder;
