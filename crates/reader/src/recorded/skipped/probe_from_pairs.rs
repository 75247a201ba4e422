//! The cost of a probe in the run itself, from sampled subtrees compared with skipped ones of their
//! classes. Calibration finds the minimum cost; if caches and processors are shared, it is nearly
//! twice as high.

use super::task_rate::Class;
use crate::recorded::probe::within;

/// The smallest number of sampled subtrees from which a cost is derived.
const MIN_SAMPLES: u64 = 16;

/// The cost of a record for the strand beside it, in ticks, but at least `calibrated`; `None` if
/// too few subtrees were sampled. Each class comes with the time that skipping a task took.
pub(super) fn probe<'a>(
    classes: impl Iterator<Item = (&'a Class, f64)>,
    calibrated: u64,
) -> Option<u64> {
    let (mut drawn, mut added, mut probes) = (0, 0.0, 0.0);
    for (class, left_out) in classes {
        let Some(compared) = class.compared(left_out) else {
            continue;
        };
        drawn += class.drawn;
        added += class.drawn as f64 * compared.added;
        probes += class.drawn as f64 * compared.probes;
    }
    (drawn >= MIN_SAMPLES && probes > 0.0).then(|| within(calibrated, added / probes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sampled subtrees took 10 ticks more for each of their 50 probes than the 1000 of the others,
    /// of which 100 are for skipping 100 tasks.
    #[test]
    fn probes_cost_what_drawn_subtrees_took_longer() {
        let mut class = Class::default();
        for _ in 0..20 {
            class.pass(1000.0, None);
            class.draw(3.0, 100.0, 500.0, 1400.0);
            class.took(3.0, 1400.0, 50.0);
        }
        let cost = |left_out, calibrated| probe([(&class, left_out)].into_iter(), calibrated);
        assert_eq!(cost(1.0, 6), Some(10));
        assert_eq!(cost(0.0, 6), Some(8));
        assert_eq!(cost(1.0, 2), Some(8));
        assert_eq!(cost(1.0, 12), Some(12));
        assert_eq!(cost(1.0, 0), Some(0));
        assert_eq!(probe([(&Class::default(), 0.0)].into_iter(), 6), None);
    }
}
