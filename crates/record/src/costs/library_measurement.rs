//! Measurements in a runtime's own library: finds its file, measures in a separate process, which
//! may crash or hang, and stores the result by file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use workspan_runtimes::Runtime;

use crate::costs::calibration;

/// The longest time to wait. Measuring takes a second at most; a runtime that cannot be measured
/// may hang.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Plays a role: prints the result of `measure` for the library in the first argument, as JSON.
pub fn main<T: Serialize>(
    mut arguments: impl Iterator<Item = OsString>,
    measure: impl FnOnce(&Path) -> Result<T, String>,
) -> ExitCode {
    let measured = match arguments.nth(1) {
        Some(library) => measure(Path::new(&library)),
        None => Err("no library named".into()),
    };
    match serde_json::to_string(&measured) {
        Ok(text) => {
            if crate::message::print(&format!("{text}\n")).is_err() {
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs this program in that role for the library in this file. A bare file name is looked up by
/// the loader.
///
/// # Errors
/// The reason why nothing was measured.
pub fn played<T: DeserializeOwned>(role: &str, library: &Path) -> Result<T, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(here);
    command.arg0(role).arg(library);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_run_setting) {
            command.env_remove(name);
        }
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    // Its output fits in a pipe.
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if begun.elapsed() > TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it took too long".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        let _ = out.read_to_string(&mut text);
    }
    serde_json::from_str(&text).unwrap_or_else(|_| Err("the measurement failed".into()))
}

/// Whether a variable belongs to the recorded run and must not affect a measurement: a setting of a
/// runtime, or of a recording around this process.
fn is_run_setting(variable: &str) -> bool {
    variable == "LD_PRELOAD"
        || variable.starts_with("WORKSPAN_")
        || workspan_runtimes::is_setting(variable)
}

/// The file of a runtime's library among the loaded files. A runtime that was linked statically is
/// measured in the system's shared library.
pub fn file<'a>(runtime: &Runtime, mut loaded: impl Iterator<Item = &'a Path>) -> Option<PathBuf> {
    match loaded.find(|file| runtime.is_library(file)) {
        Some(file) => Some(file.to_owned()),
        None => runtime.library.as_ref()?.soname.map(PathBuf::from),
    }
}

/// Measurements by file, as named by [`name`].
type MeasurementCache<T> = BTreeMap<String, T>;

fn cached<T: DeserializeOwned>(folder: &Path, what: &str) -> MeasurementCache<T> {
    fs::read(calibration::file(folder, what))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

/// The stored measurement of this kind for the current version of the library.
pub fn find<T: DeserializeOwned>(folder: &Path, what: &str, library: &Path) -> Option<T> {
    cached(folder, what).remove(&name(library)?)
}

/// Stores a measurement of this kind for later traces. Returns whether that succeeded.
pub fn keep<T: Serialize + DeserializeOwned>(
    folder: &Path,
    what: &str,
    library: &Path,
    measured: T,
) -> bool {
    let Some(name) = name(library) else {
        return false;
    };
    let mut all = cached(folder, what);
    all.insert(name, measured);
    let text = serde_json::to_string(&all).unwrap_or_default();
    calibration::put(folder, &calibration::file(folder, what), &text)
}

/// The current version of a file, as the key of its measurement; `None` if the file does not exist.
fn name(library: &Path) -> Option<String> {
    let file = fs::canonicalize(library).ok()?;
    let about = fs::metadata(&file).ok()?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Some(format!(
        "{} {} {}.{:09} {cpus}",
        file.display(),
        about.len(),
        about.mtime(),
        about.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_of_the_file_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("libgomp.so.1.0.0");
        fs::write(&library, "as if").expect("a file");
        let found = |what: &str| find::<f64>(folder.path(), what, &library);
        assert!(keep(folder.path(), "cost", &library, 7.0));
        assert_eq!((found("cost"), found("other")), (Some(7.0), None));
        fs::write(&library, "another").expect("a file");
        assert_eq!(found("cost"), None);
        assert!(!keep(folder.path(), "cost", Path::new("/nowhere"), 7.0));
    }
}
