//! One line per number of workers, for spreadsheets and plots.

use std::fmt::Write;

use workspan_analysis::scale::Scale;

/// Times are in nanoseconds; fields without a measurement or prediction are empty.
pub fn scale_csv(scale: &Scale) -> String {
    let mut out = String::from(
        "workers,runs,elapsed_ns,least_ns,most_ns,speedup,best_speedup,lower,simulated,simulated_least,simulated_most,upper\r\n",
    );
    let shown = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.6}"));
    for point in &scale.points {
        let _ = write!(out, "{},", point.workers);
        match &point.measured {
            Some(m) => {
                let ends = (m.times.first().copied(), m.times.last().copied());
                let _ = write!(
                    out,
                    "{},{},{},{},{},{},",
                    m.times.len(),
                    m.median(),
                    ends.0.unwrap_or(0),
                    ends.1.unwrap_or(0),
                    shown(m.speedup),
                    shown(m.best)
                );
            }
            None => out.push_str(",,,,,,"),
        }
        let simulated = point.simulated;
        let _ = write!(
            out,
            "{},{},{},{},{}\r\n",
            shown(point.bounds.map(|b| b.0)),
            shown(simulated.map(|s| s.mean)),
            shown(simulated.map(|s| s.least)),
            shown(simulated.map(|s| s.most)),
            shown(point.bounds.map(|b| b.1))
        );
    }
    out
}
