//! The environment variables that `workspan record` sets for the runner and the preloaded library,
//! and how the recorded program gets the user's own environment back.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

/// Directory for the preloaded library's spool files.
pub const SPOOL_DIR: &str = "WORKSPAN_SPOOL_DIR";
/// The user's own `LD_PRELOAD`; unset if there was none.
pub const USER_LD_PRELOAD: &str = "WORKSPAN_USER_LD_PRELOAD";
/// The one program (as named by `/proc/self/exe`) that the preloaded library records. In other
/// programs on the way there, such as a user's runner, it changes nothing.
pub const PROGRAM: &str = "WORKSPAN_PROGRAM";
/// For the runner: the preloaded library.
pub const LIBRARY: &str = "WORKSPAN_LIBRARY";
/// For the runner, also set by users: if not empty, the kernel is not asked to watch the program.
pub const NO_PERF: &str = "WORKSPAN_NO_PERF";
/// For the runner, also set by users: samples per second of CPU time, or `off`.
pub const SAMPLE: &str = "WORKSPAN_SAMPLE";
/// For the runner and the preloaded library: if not empty, processes that the program starts are
/// recorded too. The library gets the id of the program's process.
pub const FOLLOW: &str = "WORKSPAN_FOLLOW";
/// For the runner: an OpenMP runtime to preload before ours and in place of the program's own.
pub const SWAP: &str = "WORKSPAN_SWAP";
/// For the preloaded library: performance counters, in its format.
pub const COUNTERS: &str = "WORKSPAN_COUNTERS";
/// For the runner: the folder of the tool that counts instructions.
pub const COUNT: &str = "WORKSPAN_COUNT";
/// For the preloaded library: the share of the program's time that recording may add, in millionths
/// (0: no limit), and the number of tasks that a thread records before the limit applies, as
/// `50000:8192`.
pub const MAX_OVERHEAD: &str = "WORKSPAN_MAX_OVERHEAD";
/// For the preloaded library: `off`, `auto`, `steals`, or the number of nanoseconds below which
/// subtrees are folded.
pub const FOLD: &str = "WORKSPAN_FOLD";
/// For the preloaded library: the intended number of strands in the trace, as `thread N` for each
/// thread, `all N`, or `off`.
pub const FOLD_STRANDS: &str = "WORKSPAN_FOLD_STRANDS";
/// For the preloaded library: the largest number of tasks in a folded subtree.
pub const FOLD_TASKS: &str = "WORKSPAN_FOLD_TASKS";
/// For the preloaded library: the number of bytes that the trace should not exceed.
pub const MAX_SIZE: &str = "WORKSPAN_MAX_SIZE";
/// For the preloaded library: memory per thread for records that may still be folded, in bytes.
pub const MAX_MEMORY: &str = "WORKSPAN_MAX_MEMORY";
/// For the preloaded library: sites that are not folded ([`join`]).
pub const KEEP: &str = "WORKSPAN_KEEP";
/// For the preloaded library: which processes the kernel's watch reaches
/// ([`workspan_recorder::watch_scope`]).
pub const WATCH_SCOPE: &str = "WORKSPAN_WATCH_SCOPE";
/// For the preloaded library: if not empty, it reads the threads' scheduling statistics.
pub const SCHEDSTAT: &str = "WORKSPAN_SCHEDSTAT";
/// For the runner: if not empty, each test or benchmark runs in a process of its own.
pub const EACH: &str = "WORKSPAN_EACH";
/// For the runner: a file to which the program is added instead of being started.
pub const LIST: &str = "WORKSPAN_LIST";
/// For the preloaded library: the parts of the run that are kept.
pub const PARTS: &str = "WORKSPAN_PARTS";
/// For the runner: the user's own runner with its arguments ([`join`]).
pub const USER_RUNNER: &str = "WORKSPAN_USER_RUNNER";
/// For the runner: the variables that were changed for cargo, with the user's values
/// ([`EnvironmentChanges`]).
pub const RESTORE: &str = "WORKSPAN_RESTORE";

/// Separates the parts of a list in one variable.
const SEPARATOR: u8 = 0x1f;

/// Encodes a list as one variable's value.
pub fn join(parts: &[OsString]) -> OsString {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    OsString::from_vec(parts.join(&SEPARATOR))
}

/// Decodes the list in a variable's value.
pub fn split(value: &OsStr) -> Vec<OsString> {
    value
        .as_bytes()
        .split(|&byte| byte == SEPARATOR)
        .map(|part| OsStr::from_bytes(part).to_owned())
        .collect()
}

/// Variables changed for a command, with their previous values.
#[derive(Debug, Default)]
pub struct EnvironmentChanges {
    before: BTreeMap<String, Option<OsString>>,
}

impl EnvironmentChanges {
    /// Sets a variable for `command` and remembers its previous value.
    pub fn set(&mut self, command: &mut Command, name: &str, value: impl AsRef<OsStr>) {
        self.before
            .entry(name.to_owned())
            .or_insert_with(|| std::env::var_os(name));
        command.env(name, value);
    }

    /// Passes the data for [`restore`] to the runner below `command`.
    pub fn finish(self, command: &mut Command) {
        let parts: Vec<OsString> = self
            .before
            .into_iter()
            .map(|(name, value)| {
                let mut part = OsString::from(name);
                if let Some(value) = value {
                    part.push("=");
                    part.push(value);
                }
                part
            })
            .collect();
        command.env(RESTORE, join(&parts));
    }
}

/// Removes all variables from `command`'s environment that [`EnvironmentChanges`] and the runner's
/// settings put into ours.
pub fn restore(command: &mut Command) {
    for part in std::env::var_os(RESTORE)
        .iter()
        .flat_map(|value| split(value))
    {
        let bytes = part.as_bytes();
        match bytes.iter().position(|&byte| byte == b'=') {
            Some(at) => command.env(
                OsStr::from_bytes(&bytes[..at]),
                OsStr::from_bytes(&bytes[at + 1..]),
            ),
            None => command.env_remove(&part),
        };
    }
    for name in [
        SPOOL_DIR,
        LIBRARY,
        NO_PERF,
        SAMPLE,
        FOLLOW,
        SWAP,
        COUNTERS,
        COUNT,
        EACH,
        LIST,
        PARTS,
        MAX_OVERHEAD,
        FOLD,
        MAX_SIZE,
        MAX_MEMORY,
        KEEP,
        USER_RUNNER,
        RESTORE,
    ] {
        command.env_remove(name);
    }
}

/// Whether this process was started by a program that is recorded with all processes it starts
/// (`--follow`).
pub fn is_followed() -> bool {
    std::env::var_os(SPOOL_DIR).is_some()
}

/// Removes the variables from `command`'s environment that a recording around this process set for
/// all processes below it (`--follow`). Processes that an inner recording starts belong to that
/// recording.
pub fn leave_outer(command: &mut Command) {
    if !is_followed() {
        return;
    }
    match std::env::var_os(USER_LD_PRELOAD) {
        Some(own) => command.env("LD_PRELOAD", own),
        None => command.env_remove("LD_PRELOAD"),
    };
    for name in [
        USER_LD_PRELOAD,
        FOLLOW,
        WATCH_SCOPE,
        SWAP,
        COUNTERS,
        PARTS,
        KEEP,
        SCHEDSTAT,
        PROGRAM,
        SPOOL_DIR,
    ] {
        command.env_remove(name);
    }
}

/// Whether processes that the program starts are recorded too.
pub fn follows() -> bool {
    std::env::var_os(FOLLOW).is_some_and(|value| !value.is_empty())
}

/// Makes `command` start with the library preloaded, before the user's own preloaded libraries and
/// after the runtime of a `sanitizer` that would not start otherwise.
pub fn preload(command: &mut Command, library: &OsStr, spool: &OsStr, sanitizer: Option<&str>) {
    let mut value = OsString::new();
    if let Some(sanitizer) = sanitizer {
        value.push(sanitizer);
        value.push(":");
    }
    // First, so that its functions are found before our library's for the runtime it replaces.
    if let Some(runtime) = std::env::var_os(SWAP).filter(|path| !path.is_empty()) {
        value.push(runtime);
        value.push(":");
    }
    value.push(library);
    if follows() {
        // The command replaces this process.
        command
            .env(FOLLOW, std::process::id().to_string())
            .env(WATCH_SCOPE, workspan_recorder::watch_scope());
    }
    if let Some(user) = std::env::var_os("LD_PRELOAD") {
        command.env(USER_LD_PRELOAD, &user);
        if !user.is_empty() {
            value.push(":");
            value.push(user);
        }
    } else {
        command.env_remove(USER_LD_PRELOAD);
    }
    for variable in [COUNTERS, MAX_OVERHEAD, FOLD, MAX_SIZE, MAX_MEMORY, KEEP] {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        }
    }
    if let Some(parts) = std::env::var_os(PARTS) {
        command.env(PARTS, parts);
    }
    command.env("LD_PRELOAD", value).env(SPOOL_DIR, spool);
}
