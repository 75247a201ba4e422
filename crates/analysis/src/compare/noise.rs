//! Statistics over several runs, and whether two sets of runs differ by more than the runs of one
//! set do.

/// A quantity over the runs of one side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Value {
    /// Number of runs.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Standard deviation of the sample; `None` if there are fewer than two runs.
    pub deviation: Option<f64>,
}

impl Value {
    /// The statistics of the runs' values.
    pub fn from_runs(values: impl IntoIterator<Item = f64>) -> Value {
        let values: Vec<f64> = values.into_iter().collect();
        let runs = values.len();
        if runs == 0 {
            return Value::default();
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Value {
            runs,
            mean,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            deviation: (runs > 1).then(|| (squares / (runs - 1) as f64).sqrt()),
        }
    }
}

/// Whether a difference is more than noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// A side has only one run.
    Unknown,
    /// The interval of the difference contains 0.
    Within,
    /// The interval of the difference does not contain 0.
    Beyond,
}

/// The difference of a side to the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Difference of the means.
    pub absolute: f64,
    /// The difference as a share of the base's mean; `None` if that is 0.
    pub relative: Option<f64>,
    /// 95 % interval of the difference of the means (Welch's t, which lets the sides vary
    /// differently); `None` if a side has only one run.
    pub interval: Option<(f64, f64)>,
    /// Whether the interval contains 0.
    pub noise: Noise,
}

impl Difference {
    /// The difference `value` − `base`.
    pub fn new(base: &Value, value: &Value) -> Difference {
        let absolute = value.mean - base.mean;
        let interval = half_width(base, value).map(|h| (absolute - h, absolute + h));
        Difference {
            absolute,
            relative: (base.mean != 0.0).then(|| absolute / base.mean),
            interval,
            noise: match interval {
                None => Noise::Unknown,
                Some((low, high)) if low <= 0.0 && high >= 0.0 => Noise::Within,
                Some(_) => Noise::Beyond,
            },
        }
    }
}

/// Half of the 95 % interval by Welch's t with the Welch–Satterthwaite degrees of freedom.
fn half_width(a: &Value, b: &Value) -> Option<f64> {
    let variance_of_mean = |v: &Value| v.deviation.map(|d| d.powi(2) / v.runs as f64);
    let (va, vb) = (variance_of_mean(a)?, variance_of_mean(b)?);
    let variance = va + vb;
    if variance == 0.0 {
        return Some(0.0);
    }
    let parts = va.powi(2) / (a.runs - 1) as f64 + vb.powi(2) / (b.runs - 1) as f64;
    Some(student_95(variance.powi(2) / parts) * variance.sqrt())
}

/// The two-sided 95 % quantile of Student's t. Degrees of freedom between two rows take the larger
/// quantile.
fn student_95(freedom: f64) -> f64 {
    const QUANTILES: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    // A number just below a whole one is a rounding error, not a degree less.
    match (freedom + 1e-9).floor() as usize {
        0 => QUANTILES[0],
        n if n <= 30 => QUANTILES[n - 1],
        n if n <= 60 => 2.042,
        n if n <= 120 => 2.000,
        _ => 1.980,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(base: &[f64], value: &[f64]) -> Difference {
        let of = |v: &[f64]| Value::from_runs(v.iter().copied());
        Difference::new(&of(base), &of(value))
    }

    #[test]
    fn one_run_a_side_knows_no_noise() {
        let d = difference(&[100.0], &[110.0]);
        assert_eq!((d.absolute, d.relative), (10.0, Some(0.1)));
        assert_eq!((d.noise, d.interval), (Noise::Unknown, None));
        assert_eq!(difference(&[1.0, 2.0], &[9.0]).noise, Noise::Unknown);
    }

    /// Means 102 and 110, deviations 2 and 2, three runs each: 8 ± 2.776 · sqrt(8/3).
    #[test]
    fn welch_by_hand() {
        let d = difference(&[100.0, 102.0, 104.0], &[108.0, 110.0, 112.0]);
        let (low, high) = d.interval.unwrap_or_default();
        let half = 2.776 * (8.0f64 / 3.0).sqrt();
        assert!((low - (8.0 - half)).abs() < 1e-9 && (high - (8.0 + half)).abs() < 1e-9);
        assert_eq!(d.noise, Noise::Beyond);
        assert_eq!(
            difference(&[100.0, 102.0, 104.0], &[102.0, 103.0, 107.0]).noise,
            Noise::Within
        );
    }

    #[test]
    fn what_never_varies_has_no_noise() {
        assert_eq!(difference(&[7.0, 7.0], &[7.0, 7.0]).noise, Noise::Within);
        assert_eq!(difference(&[7.0, 7.0], &[8.0, 8.0]).noise, Noise::Beyond);
        assert_eq!(difference(&[0.0, 0.0], &[8.0, 8.0]).relative, None);
    }
}
