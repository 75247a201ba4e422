//! Reads the text that `otf2-print -A` prints of an OTF2 archive (Score-P and others write them).
//!
//! The archive's events of threads and OpenMP tasks become tasks and strands; definitions, where
//! they are printed too, give names, lines and the clock. `lines` reads the text, `definitions`
//! keeps the names, `tasks` follows each location's task and the regions that this task is in: a
//! region that creates a task ends a strand, a wait is one from where it is entered to where it is
//! left, a switch begins or resumes a task. Functions, messages, counters and input and output are
//! left out.

mod definitions;
mod lines;
mod tasks;

use workspan_dag::build::{Mode, build};
use workspan_dag::{Dag, Error};

use crate::formats::{Format, Reading};
use crate::open::OpenOptions;

/// The row of the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "otf2-print's text of an OTF2 archive",
    begins: lines::begins,
    reading: Reading::Trace(read),
    cannot_tell: &[
        "which tasks a taskgroup or a dependence waits for: waits are for all children",
        "time off the CPU, steals and attempts to steal",
        "what ran inside of functions, messages, counters and input and output: they are left out",
    ],
};

/// Reads the text.
///
/// # Errors
/// [`Error::Text`] with the line: what is no event, a time that goes back, a task that nobody
/// created or that runs twice. With [`OpenOptions::allow_truncated`] the lines before it are read.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let mut tasks = tasks::Tasks::default();
    let mut damage = None;
    for line in lines::Lines::new(bytes) {
        match line.and_then(|(number, line)| tasks.add(number, line)) {
            Ok(()) => {}
            Err(error) if options.allow_truncated => {
                damage = Some(format!(
                    "The text is damaged: {error}. What stands before was read."
                ));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let mut raw = tasks.finish()?;
    raw.meta.warnings.extend(damage);
    build(raw, Mode::Repair)
}
