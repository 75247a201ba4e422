//! Makes runs available as SQL tables. One list of columns ([`schema::TABLES`]) generates the
//! `CREATE TABLE` statements, the loading code and the documentation, so they cannot disagree.
//!
//! A query runs on a database in memory that holds only the columns it reads. It may only read, and
//! can't touch any file. This is a crate of its own because it compiles SQLite.

mod cell;
mod database;
mod error;
mod file;
mod print;
pub mod queries;
mod run;
pub mod schema;
mod tables;

pub use cell::Cell;
pub use database::{Database, ReadColumns};
pub use error::Error;
pub use file::{append, is_database};
pub use print::{Format, Limits};
pub use run::Run;
