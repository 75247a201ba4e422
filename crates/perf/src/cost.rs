//! Measures the cost of a sample on this machine. It is mostly the timer's interrupt: 1 to 2 µs if
//! the kernel owns the CPU, and ten times as much in a virtual machine that has to exit to its host
//! to set the next one.

use std::time::{Duration, Instant};

use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;

use crate::event::open_own_samples;
use crate::ring::Ring;

/// Samples per second in the measurement: many in a short time, but far apart compared with the
/// time of one.
const HERTZ: u32 = 10_000;
/// Length of the measurement.
const MEASURING_TIME: Duration = Duration::from_millis(5);
/// Minimum number of samples for a result.
const MIN_SAMPLES: usize = 15;

/// The sampling rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Samples per second of CPU time.
    pub hertz: u32,
    /// Time that a sample takes from its thread, if it was measured to choose the rate.
    pub cost: Option<Duration>,
}

/// Rates to choose from: primes, so that sampling does not run in step with the program.
const RATES: [u32; 10] = [997, 797, 599, 499, 397, 293, 199, 149, 97, 47];
/// Maximum share of a thread's time for samples, in thousandths. Their effect on caches, and the
/// time for writing them, is not measured. It adds up to half as much, and together they must stay
/// within a hundredth.
const MAX_THOUSANDTHS: u128 = 6;

impl Rate {
    /// A rate of `hertz` samples per second, whatever they cost.
    pub fn from_hertz(hertz: u32) -> Rate {
        Rate { hertz, cost: None }
    }

    /// 997 samples per second, or fewer if those would take more than 0.6 % of the time. Takes 5 ms
    /// to measure, or three times as much on a disturbed machine.
    pub fn affordable() -> Rate {
        match (0..3).find_map(|_| sample_cost()) {
            Some(cost) => Rate {
                hertz: within(cost),
                cost: Some(cost),
            },
            None => Rate::from_hertz(RATES[0]),
        }
    }
}

/// The highest rate for samples of this cost.
fn within(cost: Duration) -> u32 {
    let takes = |hertz: u32| u128::from(hertz) * cost.as_nanos();
    let most = MAX_THOUSANDTHS * 1_000_000;
    let slowest = RATES[RATES.len() - 1];
    RATES
        .into_iter()
        .find(|&hertz| takes(hertz) <= most)
        .unwrap_or(slowest)
}

/// The time that a sample of a thread's call chain takes from that thread: the median of the pauses
/// in a loop that only reads the clock, for five milliseconds. `None` if the kernel takes no
/// samples, or if the time was too disturbed.
fn sample_cost() -> Option<Duration> {
    let event = open_own_samples(HERTZ).ok()?;
    let mut ring = Ring::map((-1, event)).ok()?;
    let mut pauses = pauses();
    let mut samples = 0;
    ring.drain(|kind, _, _| {
        samples += usize::from(kind == PERF_RECORD_SAMPLE);
    });
    // The longest pauses are samples, with some that have other reasons before or after them.
    pauses.sort_unstable_by(|a, b| b.cmp(a));
    pauses.truncate(samples);
    (pauses.len() >= MIN_SAMPLES).then(|| pauses[pauses.len() / 2])
}

/// Maximum number of readings, more than a working clock allows in the measuring time. It ends the
/// loop if a library that fakes the clock has stopped it.
const MAX_READINGS: u32 = 4_000_000;

/// The pauses between two readings of the clock that stand out; none if the clock goes back.
fn pauses() -> Vec<Duration> {
    const STANDS_OUT: Duration = Duration::from_nanos(300);
    let mut pauses = Vec::with_capacity(1 << 10);
    let begun = Instant::now();
    let mut last = begun;
    for _ in 0..MAX_READINGS {
        if last - begun >= MEASURING_TIME || pauses.len() == pauses.capacity() {
            break;
        }
        let now = Instant::now();
        if now < last {
            return Vec::new();
        }
        if now - last > STANDS_OUT {
            pauses.push(now - last);
        }
        last = now;
    }
    pauses
}

#[cfg(test)]
mod tests {
    use super::{Rate, within};
    use std::time::Duration;

    #[test]
    fn dear_samples_are_taken_less_often() {
        let rate = |ns| within(Duration::from_nanos(ns));
        assert_eq!(rate(0), 997);
        assert_eq!(rate(2_000), 997);
        assert_eq!(rate(6_018), 997);
        assert_eq!(rate(6_019), 797);
        assert_eq!(rate(27_000), 199);
        assert_eq!(rate(10_000_000), 47);
    }

    #[test]
    fn the_rate_keeps_within_its_cost() {
        let Rate { hertz, cost } = Rate::affordable();
        match cost {
            Some(cost) => assert!(hertz == 47 || cost.as_secs_f64() * f64::from(hertz) <= 0.006),
            None => assert_eq!(hertz, 997),
        }
    }
}
