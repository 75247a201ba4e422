//! Notes that the parent of the recorded process adds to every trace of a run.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::machine;
use workspan_trace::entry::Note;
use workspan_trace::note_keys::THREADS_SET_BY;

/// The key of the note with the exit status of the recorded process.
pub const EXIT_STATUS: &str = "exit status";

/// Notes on how the process ended, who recorded it, and which variables set its number of threads.
pub fn facts(status: ExitStatus) -> Vec<Note> {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    };
    let mut facts = vec![
        Note::new(EXIT_STATUS, ended),
        Note::new("recorder", concat!("workspan ", env!("CARGO_PKG_VERSION"))),
    ];
    facts.extend(machine::notes());
    // The program inherits our environment.
    for name in workspan_runtimes::thread_count_variables() {
        if let Some(value) = std::env::var(name).ok().filter(|value| !value.is_empty()) {
            facts.push(Note::new(THREADS_SET_BY, format!("{name}={value}")));
        }
    }
    facts
}
