//! The usual range of a quantity: the range into which the next run's value falls if nothing
//! changed.
//!
//! For `n` earlier values with mean m and deviation s, the mean of `k` new ones is outside m ± t ·
//! s · sqrt(1/k + 1/n) once in a thousand times on either side (the prediction interval of normal
//! values; t of n - 1 degrees of freedom). Only values after the last change point count.

use crate::history::Values;
use crate::history::change_points::change_points;

/// Minimum number of runs from which a usual range is computed.
pub const MIN_RUNS: usize = 5;

/// The usual range of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsualRange {
    /// Number of values that it was computed from.
    pub runs: usize,
    /// Number of earlier values that were excluded because of a change point.
    pub set_aside: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Standard deviation of the values.
    pub deviation: f64,
    /// Half of the width of the range.
    pub half: f64,
}

/// The range for the mean of `new` values after `earlier` ones, the oldest first. Half of its width
/// is at least `min_change`, a share of the mean. `None` if there are fewer than [`MIN_RUNS`]
/// values.
pub fn usual(earlier: &[f64], new: usize, min_change: f64) -> Option<UsualRange> {
    let borders = vec![true; earlier.len()];
    let last = change_points(earlier, &borders, min_change);
    let from = last.last().map_or(0, |change| change.at);
    // After a recent change there are too few values, so the older ones still count.
    let from = if earlier.len() - from < MIN_RUNS {
        0
    } else {
        from
    };
    let values = Values::from_runs(earlier[from..].iter().copied());
    if values.runs < MIN_RUNS {
        return None;
    }
    let deviation = values.deviation?;
    let spread = (1.0 / new.max(1) as f64 + 1.0 / values.runs as f64).sqrt();
    let half = student_999(values.runs - 1) * deviation * spread;
    Some(UsualRange {
        runs: values.runs,
        set_aside: from,
        mean: values.mean,
        deviation,
        half: half.max(min_change * values.mean.abs()),
    })
}

/// The one-sided 99.9 % quantile of Student's t. Degrees of freedom between two rows of the table
/// get the larger quantile.
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

    /// Five runs with mean 10 and deviation sqrt(10/4): 10 ± 7.173 · 1.5811 · sqrt(1 + 1/5).
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
