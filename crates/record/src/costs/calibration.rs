//! What recording and stealing cost here (MODEL.md §2), measured once a machine and kept beside the
//! unpacked tool.

use std::fs;
use std::path::{Path, PathBuf};

use workspan_calibrate::{Calibration, calibrate};

/// This machine's calibration: the one kept in `folder`, or a new one, which takes about half a
/// second.
pub fn of_this_machine(folder: &Path) -> Calibration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let kept = fs::read(file(folder, "calibration"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Calibration>(&bytes).ok());
    // One of an older version does not say what a bare join costs.
    kept.filter(|kept| kept.cpus == cpus && kept.join_ns.is_some())
        .unwrap_or_else(|| measure(folder).0)
}

/// Measures anew and keeps the result; where it is kept, if it is.
pub fn measure(folder: &Path) -> (Calibration, Option<PathBuf>) {
    let calibration = calibrate();
    // A machine too busy for a single steal is no measurement to keep.
    if calibration.steals.is_empty() && calibration.cpus > 1 {
        return (calibration, None);
    }
    let file = file(folder, "calibration");
    let text = serde_json::to_string(&calibration).unwrap_or_default();
    let kept = put(folder, &file, &text);
    (calibration, kept.then_some(file))
}

/// Writes a file of the tool's folder at once, so that nobody reads half of it; whether that could
/// be done.
pub(crate) fn put(folder: &Path, file: &Path, text: &str) -> bool {
    let half = folder.join(format!(".calibration.{}", std::process::id()));
    fs::write(&half, text).is_ok() && fs::rename(&half, file).is_ok()
}

/// A home directory may be shared by machines.
pub(crate) fn file(folder: &Path, what: &str) -> PathBuf {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = host
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-')
        .collect();
    folder.join(format!("{what}-{name}.json"))
}
