//! Programs built with `-fsanitize=address`. Their runtime refuses to start if another library is
//! preloaded before it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use workspan_symbols::linked;

/// The names of the shared runtimes of GCC and Clang.
const RUNTIMES: [&str; 2] = ["libasan.so", "libclang_rt.asan"];
const OPTIONS: &str = "ASAN_OPTIONS";
/// The option that turns off the check of the runtime's position. Our library replaces none of the
/// functions that the sanitizer watches.
const NO_ORDER_CHECK: &str = "verify_asan_link_order=0";

/// The address sanitizer's runtime that the program at `path` needs, under the name that it uses.
/// The runtime must be preloaded before all other libraries. Programs that contain the runtime need
/// nothing.
pub fn runtime(path: &Path) -> Option<String> {
    let needed = linked(path, &[]).libraries.into_iter();
    let is_runtime = |name: &String| RUNTIMES.iter().any(|runtime| name.starts_with(runtime));
    needed
        .filter(is_runtime)
        .find(|name| !name.contains([':', ' ', '/']))
}

/// Makes every program that `command` starts accept our library in any position, because with
/// `--follow` it is not known which ones are built with the sanitizer.
pub fn allow_anywhere(command: &mut Command) {
    let user = std::env::var_os(OPTIONS);
    command.env(OPTIONS, with(user.as_deref(), NO_ORDER_CHECK));
}

/// Appends an option to the user's options.
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
