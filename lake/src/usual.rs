//! What a quantity usually is: the range that the next run's value falls into if nothing changed.
//!
//! Of `n` earlier values with mean m and deviation s, the mean of `k` new ones is beyond
//! m ± t · s · sqrt(1/k + 1/n) once in a thousand times on either side (the prediction interval
//! of normal values; t of n - 1 degrees of freedom). Only values after the last change point count.

use crate::history::Values;
use crate::history::change_points::change_points;

/// Fewer runs than this do not say what is usual.
pub const MIN_RUNS: usize = 5;

/// What is usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// The number of values that say so.
    pub runs: usize,
    /// Earlier values that a change point set aside.
    pub set_aside: usize,
    /// Their mean.
    pub mean: f64,
    /// Their deviation.
    pub deviation: f64,
    /// Half of the range.
    pub half: f64,
}

/// The range for the mean of `new` values after `earlier` ones, the oldest first. It is never
/// narrower than `min_change`, a share of the mean. `None` for fewer than [`MIN_RUNS`].
pub fn usual(earlier: &[f64], new: usize, min_change: f64) -> Option<Usual> {
    let borders = vec![true; earlier.len()];
    let last = change_points(earlier, &borders, min_change);
    let from = last.last().map_or(0, |change| change.at);
    // After a change of late there is not enough to go by yet, and the older values still count.
    let from = if earlier.len() - from < MIN_RUNS {
        0
    } else {
        from
    };
    let values = Values::of(earlier[from..].iter().copied());
    if values.runs < MIN_RUNS {
        return None;
    }
    let deviation = values.deviation?;
    let spread = (1.0 / new.max(1) as f64 + 1.0 / values.runs as f64).sqrt();
    let half = student_999(values.runs - 1) * deviation * spread;
    Some(Usual {
        runs: values.runs,
        set_aside: from,
        mean: values.mean,
        deviation,
        half: half.max(min_change * values.mean.abs()),
    })
}

/// The one-sided 99.9 % quantile of Student's t. Degrees of freedom between two rows take the
/// larger quantile.
fn student_999(freedom: usize) -> f64 {
    const QUANTILES: [f64; 30] = [
        318.309, 22.327, 10.215, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144, 4.025, 3.930,
        3.852, 3.787, 3.733, 3.686, 3.646, 3.610, 3.579, 3.552, 3.527, 3.505, 3.485, 3.467, 3.450,
        3.435, 3.421, 3.408, 3.396, 3.385,
    ];
    match freedom {
        0 => QUANTILES[0],
        n if n <= 30 => QUANTILES[n - 1],
        n if n < 60 => 3.385,
        n if n < 120 => 3.232,
        _ => 3.160,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 10, deviation sqrt(10/4), five runs: 10 ± 7.173 · 1.5811 · sqrt(1 + 1/5).
    #[test]
    fn the_interval_by_hand() {
        let usual =
            usual(&[8.0, 9.0, 10.0, 11.0, 12.0], 1, 0.0).unwrap_or_else(|| panic!("five runs"));
        assert_eq!((usual.runs, usual.mean), (5, 10.0));
        let half = 7.173 * 2.5f64.sqrt() * 1.2f64.sqrt();
        assert!((usual.half - half).abs() < 1e-9, "{usual:?}");
    }

    #[test]
    fn few_runs_say_nothing_and_what_never_varies_has_a_margin() {
        assert_eq!(usual(&[1.0; 4], 1, 0.02), None);
        let same = usual(&[100.0; 20], 1, 0.02).map(|usual| usual.half);
        assert_eq!(same, Some(2.0));
    }

    #[test]
    fn values_before_a_change_do_not_count() {
        let mut values = vec![
            100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2, 99.8, 100.1, 99.9,
        ];
        values.extend([50.0, 50.5, 49.5, 50.2, 49.8, 50.1, 49.9, 50.3, 49.7, 50.0]);
        let usual = usual(&values, 1, 0.02).unwrap_or_else(|| panic!("twenty runs"));
        assert_eq!((usual.runs, usual.set_aside), (10, 10));
        assert!(
            (usual.mean - 50.0).abs() < 0.1 && usual.half < 2.0,
            "{usual:?}"
        );
    }
}
