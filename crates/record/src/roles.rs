//! The roles that the `workspan` executable plays for its own engine, chosen by the name under
//! which it was started.

use std::path::Path;
use std::process::ExitCode;

use crate::costs::{library_measurement, steals};
use crate::embedded::{RUNNER_ROLE, RUSTC_ROLE};
use crate::launch::runner;

/// Plays the role that `argv[0]` names and returns its exit code. The roles are the rustc wrapper,
/// cargo's target runner, and the measurement of a runtime's library. `None` if this process is the
/// tool itself. Must be called first in `main`.
pub fn dispatch_role() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    let name = Path::new(&name).file_name()?;
    // If the path has a space, the role is started through a link whose name only ends with the
    // role.
    let is = |role: &str| {
        name == role
            || name
                .to_str()
                .is_some_and(|n| n.ends_with(&format!("-{role}")))
    };
    if is(RUSTC_ROLE) {
        let code = workspan_rayon::wrapper_main(std::env::args_os());
        return Some(ExitCode::from(u8::try_from(code).unwrap_or(101)));
    }
    if is(steals::ROLE) {
        return Some(library_measurement::main(
            std::env::args_os(),
            workspan_calibrate::steals_of,
        ));
    }
    is(RUNNER_ROLE).then(|| runner::main(std::env::args_os()))
}
