//! What a probe adds to a strand: what was calibrated, or more where tasks of the run's runtimes
//! were measured.
//!
//! Calibration runs the code that writes a record, alone. A runtime becomes slower itself once a
//! tool listens, and shares its caches with the records: that is in what tasks recorded in full
//! were measured to cost in its library.

use workspan_trace::entry::Note;

use workspan_dag::note_keys::{PROBE_COST, RECORDED_TASK};

/// A probe is not thought to cost more times what calibration says: that would be interrupts.
pub(super) const MOST: u64 = 4;

/// Probes of a task that is created and waited for: it creates and waits in its turn, so it has
/// three strands.
const OF_A_TASK: f64 = 6.0;

/// The cost that was calibrated, in ticks; 0 where the trace does not say.
pub(super) fn calibrated(notes: &[Note]) -> u64 {
    number(notes, PROBE_COST).unwrap_or(0)
}

/// The cost in this run before its drawn subtrees are asked, in ticks: by what tasks were measured
/// to cost, where the trace says so, but not less than was calibrated and not more than [`MOST`]
/// times that.
pub(super) fn cost(notes: &[Note]) -> u64 {
    let least = calibrated(notes);
    let task = number::<f64>(notes, RECORDED_TASK).filter(|ticks| ticks.is_finite());
    task.map_or(least, |ticks| within(least, ticks / OF_A_TASK))
}

/// A cost that was found, held to what is thought possible beside the `calibrated` one.
pub(super) fn within(calibrated: u64, found: f64) -> u64 {
    let most = calibrated.saturating_mul(MOST);
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
