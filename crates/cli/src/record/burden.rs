//! What a steal costs here (MODEL.md §2), measured once and kept beside the unpacked tool.

use std::fs;
use std::path::Path;

use workspan_calibrate::{Calibration, calibrate};

/// Nanoseconds a steal costs on this machine; `None` where it can't be measured (one CPU, or a
/// machine too busy). Measured on the first call for
/// a machine, which takes about a third of a second.
pub fn steal_ns(folder: &Path) -> Option<f64> {
    // A home directory may be shared by machines.
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = host
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-')
        .collect();
    let file = folder.join(format!("calibration-{name}.json"));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let kept = fs::read(&file)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Calibration>(&bytes).ok());
    let calibration = kept.filter(|kept| kept.cpus == cpus).unwrap_or_else(|| {
        let calibration = calibrate();
        // A machine too busy for a single steal is no measurement.
        if calibration.steal_ns.is_none() && cpus > 1 {
            return calibration;
        }
        let half = folder.join(format!(".calibration.{}", std::process::id()));
        if let Ok(text) = serde_json::to_string(&calibration)
            && fs::write(&half, text).is_ok()
        {
            // Where it can't be kept it is measured again.
            let _ = fs::rename(&half, &file);
        }
        calibration
    });
    calibration
        .steal_ns
        .filter(|ns| ns.is_finite() && *ns > 0.0)
}
