//! Measures the load by other programs.

use std::time::Duration;

/// Length of a measurement: long enough for the kernel's hundredths of a second to give a share.
const MEASURING_TIME: Duration = Duration::from_millis(500);

/// The share of all CPUs' time that others use now, while we do nothing; `None` if the kernel does
/// not provide it.
pub fn busy() -> Option<f64> {
    let before = times(&std::fs::read_to_string("/proc/stat").ok()?)?;
    std::thread::sleep(MEASURING_TIME);
    let after = times(&std::fs::read_to_string("/proc/stat").ok()?)?;
    let (idle, all) = (
        after.0.checked_sub(before.0)?,
        after.1.checked_sub(before.1)?,
    );
    (all > 0).then(|| 1.0 - idle as f64 / all as f64)
}

/// Ticks of all CPUs: idle and total (proc(5), stat: user, nice, system, idle, iowait, …).
fn times(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    // The time of guests is part of the user time.
    let all = ticks.iter().take(8).sum();
    Some((ticks.get(3)? + ticks.get(4)?, all))
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn idle_time_is_told_from_the_rest() {
        let stat = "cpu  10 1 5 70 4 1 2 3 9 9\ncpu0 5 1 2 3 4 5 6 7\n";
        assert_eq!(times(stat), Some((74, 96)));
        assert_eq!(times("intr 5"), None);
        assert_eq!(times("cpu  1 2 3"), None);
    }
}
