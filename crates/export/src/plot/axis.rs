//! Round numbers for axes.

/// About `many` round values at most, from 0 to `top`.
pub(super) fn ticks(top: f64, many: usize) -> Vec<f64> {
    let raw = top / many.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= raw * 0.999)
        .unwrap_or(10.0 * power);
    let count = (top / step * 1.000_001).floor() as usize;
    (0..=count.min(100)).map(|i| i as f64 * step).collect()
}

/// The powers of two from `from` to `to`.
pub(super) fn powers(from: f64, to: f64) -> Vec<f64> {
    let (low, high) = (from.log2().floor() as i32, to.log2().ceil() as i32);
    let all = (low..=high.min(low + 40)).map(|k| 2f64.powi(k));
    all.filter(|&v| v >= from * 0.999 && v <= to * 1.001)
        .collect()
}

/// A value at an axis, with as few digits as possible.
pub(super) fn label(v: f64) -> String {
    if v == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&v.abs()) {
        return format!("{v:.0e}");
    }
    let text = format!("{v:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_top() {
        assert_eq!(ticks(1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(8.0, 4), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(33.0, 4), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(powers(1.0, 128.0).len(), 8);
        assert_eq!(label(0.6000000000000001), "0.6");
        assert_eq!(label(2.4e-9), "2e-9");
    }
}
