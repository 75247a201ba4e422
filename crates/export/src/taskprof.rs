//! Files of TaskProf and TaskProf2: a report's spawn sites as their analysis prints them, and a run
//! as it reads one, so that either can be held against the other.

mod input;
mod profile;

pub use input::{TaskprofError, TaskprofFile, taskprof_input};
pub use profile::taskprof_csv;
