//! Files of TaskProf and TaskProf2: a report's spawn sites in the format that their analysis
//! prints, and a run in the format that it reads, so that the two can be compared.

mod input;
mod profile;

pub use input::{TaskprofError, TaskprofFile, taskprof_input};
pub use profile::taskprof_csv;
