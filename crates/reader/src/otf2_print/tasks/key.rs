//! How the text names tasks.

use workspan_dag::Error;

use crate::otf2_print::lines::{fail, reference, value};

/// A task's name: team, creating thread, generation.
pub(super) type Key = (u64, u64, u64);

/// The name as shown in messages.
pub(super) fn called(key: Key) -> String {
    format!("task {} of thread {}", key.2, key.1)
}

/// The name in the attributes of a line.
///
/// # Errors
/// A part of the name is missing.
pub(super) fn key(number: usize, attributes: &str) -> Result<Key, Error> {
    let team = reference(attributes, "Thread Team");
    let field = |name| value(attributes, name).and_then(|v| v.parse().ok());
    match (team, field("Creating Thread"), field("Generation Number")) {
        (Some(team), Some(thread), Some(generation)) => Ok((team, thread, generation)),
        _ => fail(
            number,
            "no `Thread Team`, `Creating Thread` and `Generation Number` of a task",
        ),
    }
}
