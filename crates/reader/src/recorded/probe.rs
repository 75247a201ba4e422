//! The time that a probe adds to a strand: the calibrated cost, or more if tasks of the run's
//! runtimes were measured.
//!
//! Calibration runs only the code that writes a record. A runtime itself becomes slower when a tool
//! listens, and shares its caches with the records. The measured costs of fully recorded tasks in
//! its library include that.

use workspan_trace::entry::Note;

use workspan_dag::note_keys::{PROBE_COST, RECORDED_TASK};

/// The largest factor between a probe's cost and the calibrated one. A larger one would come from
/// interrupts.
pub(super) const MAX_FACTOR: u64 = 4;

/// The number of probes of a task that is created and waited for: it also creates and waits, so it
/// has three strands.
const PROBES_PER_TASK: f64 = 6.0;

/// The calibrated cost, in ticks; 0 if the trace does not have it.
pub(super) fn calibrated(notes: &[Note]) -> u64 {
    number(notes, PROBE_COST).unwrap_or(0)
}

/// The cost in this run before its sampled subtrees are used, in ticks: from the measured costs of
/// tasks if the trace has them, but at least the calibrated cost and at most [`MAX_FACTOR`] times
/// that.
pub(super) fn cost(notes: &[Note]) -> u64 {
    let least = calibrated(notes);
    let task = number::<f64>(notes, RECORDED_TASK).filter(|ticks| ticks.is_finite());
    task.map_or(least, |ticks| within(least, ticks / PROBES_PER_TASK))
}

/// Limits a measured cost to the range that is plausible for the `calibrated` one.
pub(super) fn within(calibrated: u64, found: f64) -> u64 {
    let most = calibrated.saturating_mul(MAX_FACTOR);
    (found.round() as u64).clamp(calibrated, most)
}

fn number<T: std::str::FromStr>(notes: &[Note], key: &str) -> Option<T> {
    let note = notes.iter().find(|n| n.key == key);
    note.and_then(|n| n.value.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_tasks_say_what_a_probe_costs_within_reason() {
        let of = |calibrated: &str, task: &str| {
            cost(&[
                Note::new(PROBE_COST, calibrated),
                Note::new(RECORDED_TASK, task),
            ])
        };
        assert_eq!(of("10", "150.00"), 25);
        assert_eq!(of("10", "153.00"), 26);
        assert_eq!(of("10", "59"), 10);
        assert_eq!(of("10", "1e9"), 40);
        for odd in ["", "-300", "nan", "inf", "many"] {
            assert_eq!(of("10", odd), 10, "{odd}");
        }
        assert_eq!(of("0", "150"), 0);
        assert_eq!(cost(&[Note::new(RECORDED_TASK, "150")]), 0);
        assert_eq!(cost(&[Note::new(PROBE_COST, "7")]), 7);
        assert_eq!(cost(&[]), 0);
        assert_eq!(within(u64::MAX, 1e30), u64::MAX);
    }
}
