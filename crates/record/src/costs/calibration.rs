//! The costs of recording and stealing on this machine (MODEL.md §2), measured once and stored
//! beside the unpacked tool.

use std::fs;
use std::path::{Path, PathBuf};

use workspan_calibrate::{Calibration, calibrate};

/// This machine's calibration: the one stored in `folder`, or a new one, which takes about half a
/// second.
pub fn of_this_machine(folder: &Path) -> Calibration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let stored = fs::read(file(folder, "calibration"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Calibration>(&bytes).ok());
    // Files of older versions do not have the cost of a bare join.
    stored
        .filter(|stored| stored.cpus == cpus && stored.join_ns.is_some())
        .unwrap_or_else(|| measure(folder).0)
}

/// Measures again and stores the result. Returns the file too, if it could be stored.
pub fn measure(folder: &Path) -> (Calibration, Option<PathBuf>) {
    let calibration = calibrate();
    // If the machine was too busy for a single steal, the result is not worth storing.
    if calibration.steals.is_empty() && calibration.cpus > 1 {
        return (calibration, None);
    }
    let file = file(folder, "calibration");
    let text = serde_json::to_string(&calibration).unwrap_or_default();
    let is_stored = put(folder, &file, &text);
    (calibration, is_stored.then_some(file))
}

/// Writes a file of the tool's folder atomically. Returns whether that succeeded.
pub(crate) fn put(folder: &Path, file: &Path, text: &str) -> bool {
    let half = folder.join(format!(".calibration.{}", std::process::id()));
    fs::write(&half, text).is_ok() && fs::rename(&half, file).is_ok()
}

/// The name includes the machine, because machines may share a home directory.
pub(crate) fn file(folder: &Path, what: &str) -> PathBuf {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = host
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-')
        .collect();
    folder.join(format!("{what}-{name}.json"))
}
