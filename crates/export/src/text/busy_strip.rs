//! Busy workers over time, as one line of characters.

use super::View;
use super::breakdown::mean_of;
use crate::page::{Page, Tone, plain, strong};

/// Nine characters from empty to full, for a Unicode terminal.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Like [`BLOCKS`], in ASCII.
const ASCII: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '%', '#'];

pub(super) fn strip(view: &View, page: &mut Page) {
    let profile = &view.report.profile;
    if profile.busy.is_empty() {
        return;
    }
    let b = &view.report.breakdown;
    let workers = b.workers;
    let mean = format!("  mean {}", mean_of(b.mean_busy(), workers));
    let room = page.width().saturating_sub(18 + mean.len());
    let levels = levels(page);
    let strip: String = resample(&profile.busy, room)
        .into_iter()
        .map(|busy| level(busy / f64::from(workers.max(1)), levels))
        .collect();
    page.blank();
    page.line(&[
        strong("  Busy over time  "),
        (Tone::Bar, strip),
        plain(mean),
    ]);
}

/// The characters that the page may use.
pub(crate) fn levels(page: &Page) -> &'static [char; 9] {
    if page.unicode() { &BLOCKS } else { &ASCII }
}

/// A share of the workers as one of nine characters. Only 0 is blank.
pub(crate) fn level(share: f64, levels: &[char; 9]) -> char {
    if share <= 0.0 {
        return levels[0];
    }
    levels[((share * 8.0).round() as usize).clamp(1, 8)]
}

/// Merges equal `bins` into at most `room` equal ones, keeping the mean.
pub(crate) fn resample(bins: &[f64], room: usize) -> Vec<f64> {
    if bins.len() <= room {
        return bins.to_vec();
    }
    let step = bins.len() as f64 / room as f64;
    (0..room)
        .map(|i| {
            let (from, to) = (i as f64 * step, (i + 1) as f64 * step);
            let overlap = |b: usize| ((b + 1) as f64).min(to) - (b as f64).max(from);
            let range = from as usize..(to.ceil() as usize).min(bins.len());
            range.map(|b| bins[b] * overlap(b).max(0.0)).sum::<f64>() / step
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resampling_keeps_the_mean() {
        let bins: Vec<f64> = (0..97).map(|i| f64::from(i % 7)).collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let fewer = resample(&bins, 40);
        assert_eq!(fewer.len(), 40);
        assert!((mean(&fewer) - mean(&bins)).abs() < 1e-9);
    }

    #[test]
    fn little_is_not_nothing() {
        assert_eq!(level(0.001, &ASCII), '.');
        assert_eq!(level(0.0, &ASCII), ' ');
        assert_eq!(level(1.0, &ASCII), '#');
    }
}
