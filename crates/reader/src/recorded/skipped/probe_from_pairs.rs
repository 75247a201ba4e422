//! What a probe cost in the run itself: drawn subtrees beside those of their classes that were left
//! out. Calibration finds the least of it; with caches and processors to share it is nearly twice
//! that.

use super::task_rate::Class;
use crate::recorded::probe::within;

/// Drawn subtrees without which nothing follows.
const ENOUGH: u64 = 16;

/// What a record cost a strand beside it, in ticks, or what was `calibrated` where it cost less;
/// `None` where too few were drawn. Of each class comes what leaving a task out took.
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
    (drawn >= ENOUGH && probes > 0.0).then(|| within(calibrated, added / probes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drawn ones took 10 ticks more for each of their 50 probes than the 1000 of the others, of
    /// which 100 are for leaving 100 tasks out.
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
