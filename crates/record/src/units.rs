//! Times on the command line.

fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(v) if v.is_finite() && v >= 0.0 => Ok(v),
        _ => Err(format!("`{text}` is not a number of 0 or more")),
    }
}

/// A time as people write it: `2s`, `20ms`, `373ns`, in nanoseconds.
///
/// # Errors
/// The text is not a number with a unit.
pub fn time(text: &str) -> Result<f64, String> {
    let units = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    for (unit, ns) in units {
        if let Some(value) = text.trim().strip_suffix(unit) {
            return Ok(number(value)? * ns);
        }
    }
    Err(format!(
        "`{text}` is not a time; expected a number with a unit, as 2s, 20ms, 15us or 373ns"
    ))
}
