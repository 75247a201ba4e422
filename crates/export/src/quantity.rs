//! Numbers with units in a readable form: three digits, and a unit that fits.

pub(crate) use workspan_analysis::percent as percent_of;
use workspan_dag::Meta;

/// Ticks as seconds, by the clock of the trace.
pub(crate) fn seconds(meta: &Meta, ticks: f64) -> f64 {
    ticks / meta.tick_rate() as f64
}

/// The character between a number and its unit: a line is not broken there, and a page shows it as
/// a space.
pub(crate) const NBSP: char = '\u{a0}';

/// A unit of time and its length in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeScale {
    pub(crate) unit: &'static str,
    pub(crate) name: &'static str,
    seconds: f64,
}

const SCALES: [TimeScale; 4] = [
    TimeScale {
        unit: "s",
        name: "seconds",
        seconds: 1.0,
    },
    TimeScale {
        unit: "ms",
        name: "milliseconds",
        seconds: 1e-3,
    },
    TimeScale {
        unit: "us",
        name: "microseconds",
        seconds: 1e-6,
    },
    TimeScale {
        unit: "ns",
        name: "nanoseconds",
        seconds: 1e-9,
    },
];

impl TimeScale {
    /// The largest unit in which `seconds` is at least 1 after rounding to three digits;
    /// nanoseconds below that.
    pub(crate) fn for_seconds(seconds: f64) -> Self {
        *SCALES
            .iter()
            .find(|s| seconds / s.seconds >= 0.9995)
            .unwrap_or(&SCALES[3])
    }

    /// The number of this unit in `seconds`.
    pub(crate) fn of_seconds(self, seconds: f64) -> f64 {
        seconds / self.seconds
    }

    /// The value in this unit, with the number of decimals that gives `largest` three digits.
    pub(crate) fn value(self, seconds: f64, largest: f64) -> String {
        let decimals = match largest / self.seconds {
            v if v < 9.995 => 2,
            v if v < 99.95 => 1,
            v if v < 1e6 => 0,
            _ if seconds / self.seconds < 1e6 => 0,
            _ => return format!("{:.2e}", seconds / self.seconds),
        };
        decimal(seconds / self.seconds, decimals)
    }
}

/// A time in ticks in a readable form: `1.28 s`, `963 us`, `0 ns`, with a no-break space before the
/// unit.
pub fn time(meta: &Meta, ticks: f64) -> String {
    let s = seconds(meta, ticks);
    let scale = TimeScale::for_seconds(s);
    let exact = s / scale.seconds;
    // Whole nanoseconds are exact: `5 ns`, not `5.00 ns`.
    if scale.unit == "ns" && (exact - exact.round()).abs() < 1e-9 {
        return format!("{}{NBSP}ns", decimal(exact, 0));
    }
    format!("{}{NBSP}{}", scale.value(s, s), scale.unit)
}

/// An amount of the metric: a time, or a count of `name`.
pub(crate) fn amount(meta: &Meta, counter: Option<&str>, v: f64) -> String {
    match counter {
        None => time(meta, v),
        Some(_) => count(v),
    }
}

fn count(v: f64) -> String {
    if v >= 1e15 {
        return format!("{v:.3e}");
    }
    decimal(v, if v.fract() != 0.0 && v < 100.0 { 1 } else { 0 })
}

/// A plain ratio with three digits: `1.21`, `21.3`, `213`, `4,213`.
pub(crate) fn ratio(v: f64) -> String {
    if !v.is_finite() {
        return "-".into();
    }
    if v >= 1e9 {
        return format!("{v:.2e}");
    }
    decimal(
        v,
        if v < 9.995 {
            2
        } else if v < 99.95 {
            1
        } else {
            0
        },
    )
}

/// A percentage for a table: `48.0 %`, `<0.1 %`.
pub(crate) fn percent(v: f64) -> String {
    if v > 0.0 && v < 0.05 {
        format!("<0.1{NBSP}%")
    } else {
        format!("{}{NBSP}%", rounded(v, 1))
    }
}

/// A percentage for a sentence: `55 %`, `3.2 %`.
pub(crate) fn share(v: f64) -> String {
    if v >= 9.95 {
        format!("{}{NBSP}%", rounded(v, 0))
    } else {
        percent(v)
    }
}

/// A whole number with separators: `7,649`.
pub fn thousands(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `v` with this number of decimals. Halfway between two numbers it is the larger one, as in the
/// page: 1.625 is 1.63. Rust's formatting has the even one.
fn rounded(v: f64, decimals: usize) -> String {
    let scale = 10f64.powi(decimals as i32);
    let scaled = v * scale;
    // The fused operation is 0 only if the product is exact.
    let is_halfway = scaled.fract() == 0.5 && v.mul_add(scale, -scaled) == 0.0;
    let v = if is_halfway { v.next_up() } else { v };
    format!("{v:.decimals$}")
}

fn decimal(v: f64, decimals: usize) -> String {
    let text = rounded(v.max(0.0), decimals);
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), ""), |(w, r)| (w, r));
    let whole = whole
        .parse::<u128>()
        .map_or_else(|_| whole.to_string(), thousands);
    if rest.is_empty() {
        whole
    } else {
        format!("{whole}.{rest}")
    }
}

/// A size of a file: `412 KB`, `1.9 MB` (powers of 1000).
pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        1000..1_000_000 => format!("{} KB", ratio(n as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", ratio(n as f64 / 1e6)),
        _ => format!("{} GB", ratio(n as f64 / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use workspan_dag::TimeUnit;

    use super::*;

    fn cycles(hertz: u64) -> Meta {
        Meta {
            ticks_per_second: hertz,
            time_unit: TimeUnit::Cycles,
            ..Meta::default()
        }
    }

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let ns = cycles(1_000_000_000);
        for (ticks, text) in [
            (0.0, "0 ns"),
            (5.0, "5 ns"),
            (43.78, "43.8 ns"),
            (999.0, "999 ns"),
            (999.96, "1.00 us"),
            (1_280_000_000.0, "1.28 s"),
            (963_000.0, "963 us"),
            (12_345_678.0, "12.3 ms"),
            (9_223_372_036_854_775_807.0, "9.22e9 s"),
        ] {
            assert_eq!(time(&ns, ticks).replace(NBSP, " "), text);
        }
        assert_eq!(time(&cycles(2_000_000_000), 2_560_000_000.0), "1.28\u{a0}s");
        assert_eq!(time(&cycles(1_000), 3.0), "3.00\u{a0}ms");
    }

    #[test]
    fn ratios_and_counts() {
        assert_eq!(ratio(1.2069), "1.21");
        assert_eq!(ratio(21.31), "21.3");
        assert_eq!((ratio(1.625), ratio(1.615)), ("1.63".into(), "1.61".into()));
        assert_eq!((ratio(0.0), ratio(2.0)), ("0.00".into(), "2.00".into()));
        assert_eq!(ratio(4213.4), "4,213");
        assert_eq!(thousands(8_518_398), "8,518,398");
        assert_eq!(percent(0.01), "<0.1\u{a0}%");
        assert_eq!(share(55.2), "55\u{a0}%");
        assert_eq!(
            (share(12.5), percent(6.25)),
            ("13\u{a0}%".into(), "6.3\u{a0}%".into())
        );
        assert_eq!(bytes(412_345), "412 KB");
    }
}
