//! Runs as SQL tables: one table of columns ([`schema::TABLES`]) makes the `CREATE TABLE` statements, what is loaded and the
//! documentation, so they can't differ.
//!
//! A query runs on a database in memory that holds only the columns it reads (SQLite's authorizer tells which), and may do
//! nothing but read: whatever the query says, no file is touched. A crate of its own because SQLite is compiled with it.

mod cell;
mod database;
mod error;
mod file;
mod print;
pub mod queries;
mod run;
pub mod schema;
mod tables;

pub use database::{Database, Wanted};
pub use error::Error;
pub use file::{append, is_database};
pub use print::{Format, Limits};
pub use run::Run;
