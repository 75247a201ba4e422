//! Reads the text that `otf2-print -A` prints of an OTF2 archive (Score-P and others write them).
//!
//! The archive's events of threads and OpenMP tasks become tasks and strands. If definitions are
//! printed too, they give names, lines and the clock. `lines` reads the text, `definitions` keeps
//! the names, `tasks` tracks each location's task and the regions that this task is in. A region
//! that creates a task ends a strand; a wait lasts from its region's enter to its leave; a switch
//! begins or resumes a task. Functions, messages, counters, and input and output are ignored.

mod definitions;
mod lines;
mod tasks;

use workspan_dag::build::{Mode, build};
use workspan_dag::{Dag, Error};

use crate::formats::{Format, Reading};
use crate::open::OpenOptions;

/// The format's entry in the table of formats.
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
/// [`Error::Text`] with the line of an invalid event, a time that goes back, or a task that was not
/// created or that runs twice. With [`OpenOptions::allow_truncated`], the lines before it are read.
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
