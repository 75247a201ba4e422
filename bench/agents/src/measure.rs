//! Decides whether a changed program is faster, by workspan's own measures.

use std::path::Path;

use serde_json::Value;

use super::fault::{Fault, JudgedMeasure};
use super::program::{RecordedRun, WorkFolder};

/// Number of workers for which work and span are converted to a time.
const WORKERS: f64 = 8.0;
/// Maximum share of the original's time at which a changed program counts as faster.
pub const FASTER: f64 = 0.8;
/// Number of recordings of each program; the fastest counts.
const RECORDINGS: usize = 3;

/// Times of the original and the changed program, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Time of the program with the fault.
    pub before: f64,
    /// Time of the changed program.
    pub after: f64,
}

impl Times {
    /// Whether the changed program is faster.
    pub fn is_faster(self) -> bool {
        self.after <= FASTER * self.before
    }
}

/// The time of a recorded run, in seconds.
///
/// # Errors
/// The report lacks a number.
pub fn time(by: JudgedMeasure, report: &Value) -> Result<f64, String> {
    let number = |key: &str| {
        let value = report[key].as_f64();
        value.ok_or_else(|| format!("the report has no number `{key}`"))
    };
    let rate = number("ticks_per_second")?;
    let ticks = match by {
        JudgedMeasure::Span => {
            (number("work")? - number("span")?) / WORKERS + number("burdened_span")?
        }
        // A worker's time in the run, without the part lost to other programs.
        JudgedMeasure::Elapsed => {
            let lost = report["breakdown"]["descheduled"].as_f64().unwrap_or(0.0);
            number("elapsed")? - lost / number("workers")?.max(1.0)
        }
    };
    Ok(ticks / rate)
}

/// Records both programs and compares their times.
///
/// # Errors
/// One of them can't be built or recorded, or their outputs differ.
pub fn judge(workshop: &WorkFolder, fault: &Fault, changed: &Path) -> Result<Times, String> {
    let mut times = [f64::INFINITY; 2];
    let mut printed: [Vec<u8>; 2] = Default::default();
    // Each program is built once.
    let sources = [fault.source(), changed.to_owned()];
    for (i, source) in sources.iter().enumerate() {
        for _ in 0..RECORDINGS {
            let RecordedRun { stdout, report } = workshop.record(fault, source)?;
            times[i] = times[i].min(time(fault.by, &report)?);
            printed[i] = stdout;
        }
    }
    let [before, after] = times;
    let [original, new] = printed;
    if original != new {
        return Err(format!(
            "the changed program prints `{}` instead of `{}`",
            String::from_utf8_lossy(&new).trim(),
            String::from_utf8_lossy(&original).trim()
        ));
    }
    Ok(Times { before, after })
}
