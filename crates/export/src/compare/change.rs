//! Changes with their sign, and whether they are within the noise.

use workspan_analysis::compare::{Difference, Noise, Quantity, Value};

use super::names::ns;
use crate::quantity::{NBSP, ratio, thousands};

/// A time with its sign: `+12.0 ms`, `-3.40 s`, `0 ns`.
pub(crate) fn signed_time(v: f64) -> String {
    let sign = if v > 0.0 {
        "+"
    } else if v < 0.0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{}", ns(v.abs()))
}

/// A value in its quantity's unit.
pub(super) fn value(quantity: Quantity, v: f64) -> String {
    match quantity {
        q if q.is_time() => ns(v),
        Quantity::Tasks | Quantity::Steals => thousands(v.round().max(0.0) as u128),
        _ => ratio(v),
    }
}

/// The spread of a side's runs: `±1.2 %`; empty for one run.
pub(super) fn spread(v: &Value, unicode: bool) -> String {
    let Some(deviation) = v.deviation else {
        return String::new();
    };
    if v.mean == 0.0 || deviation == 0.0 {
        return String::new();
    }
    let sign = if unicode { "±" } else { "+-" };
    let percent = deviation / v.mean.abs() * 100.0;
    format!("{sign}{percent:.1}{NBSP}%")
}

/// A change as a share of the base: `-12.1 %`; if the base is 0, the absolute change.
pub(super) fn relative(d: &Difference, absolute: impl Fn(f64) -> String) -> String {
    match d.relative {
        _ if d.absolute == 0.0 => "=".into(),
        Some(r) if r.abs() < 0.0005 => "=".into(),
        Some(r) if r >= 9.995 => format!("x{NBSP}{}", ratio(r + 1.0)),
        Some(r) => format!("{:+.1}{NBSP}%", r * 100.0),
        None => absolute(d.absolute),
    }
}

/// ` ~` after a change that is within the noise.
pub(super) fn mark(d: &Difference) -> &'static str {
    match d.noise {
        Noise::Within if d.absolute != 0.0 => " ~",
        _ => "",
    }
}

/// A change of a quantity with its mark.
pub(super) fn change(quantity: Quantity, d: &Difference) -> String {
    let absolute = |v: f64| {
        if quantity.is_time() {
            signed_time(v)
        } else {
            format!("{v:+.0}")
        }
    };
    format!("{}{}", relative(d, absolute), mark(d))
}

/// The key of a noise value for programs.
pub(super) fn noise_key(noise: Noise) -> &'static str {
    match noise {
        Noise::Unknown => "unknown",
        Noise::Within => "within",
        Noise::Beyond => "beyond",
    }
}
