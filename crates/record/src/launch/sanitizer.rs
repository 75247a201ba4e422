//! Programs built with `-fsanitize=address`: their runtime refuses to start behind anything that is
//! preloaded.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use workspan_symbols::linked;

/// How the shared runtimes of GCC and Clang are called.
const RUNTIMES: [&str; 2] = ["libasan.so", "libclang_rt.asan"];
const OPTIONS: &str = "ASAN_OPTIONS";
/// What is checked is only that nothing stands before the runtime. Our library takes none of the
/// functions that it watches.
const ANYWHERE: &str = "verify_asan_link_order=0";

/// The address sanitizer's runtime that the program at `path` needs, as it names it; it has to be
/// preloaded before all else. Programs that carry the runtime inside need nothing.
pub fn runtime(path: &Path) -> Option<String> {
    let needed = linked(path, &[]).libraries.into_iter();
    let is_runtime = |name: &String| RUNTIMES.iter().any(|runtime| name.starts_with(runtime));
    needed
        .filter(is_runtime)
        .find(|name| !name.contains([':', ' ', '/']))
}

/// Has every program that `command` starts take us where we stand, since with `--follow` nobody
/// knows which ones will be built so.
pub fn allow_anywhere(command: &mut Command) {
    let user = std::env::var_os(OPTIONS);
    command.env(OPTIONS, with(user.as_deref(), ANYWHERE));
}

/// The user's options, and another one behind them.
fn with(user: Option<&OsStr>, option: &str) -> OsString {
    let mut options = user.unwrap_or_default().to_owned();
    if !options.is_empty() {
        options.push(":");
    }
    options.push(option);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_options_stay() {
        assert_eq!(with(None, "a=0"), "a=0");
        assert_eq!(with(Some(OsStr::new("b=1:c=2")), "a=0"), "b=1:c=2:a=0");
        assert_eq!(runtime(Path::new("/proc/self/exe")), None);
    }
}
