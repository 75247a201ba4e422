//! What a sample costs on this machine: mostly the timer's interrupt, 1 to 2 µs where the kernel
//! owns the CPU and ten times as much in a virtual machine that has to leave for its host to set
//! the next one.

use std::time::{Duration, Instant};

use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;

use crate::event::open_own_samples;
use crate::ring::Ring;

/// Samples a second while measuring: many in a short time, and still far apart against what one
/// takes.
const HERTZ: u32 = 10_000;
/// How long is measured.
const MEASURED: Duration = Duration::from_millis(5);
/// Fewer samples than that say nothing.
const FEWEST: usize = 15;

/// How often code is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Samples a second of CPU time.
    pub hertz: u32,
    /// What one takes of its thread's time, where that was measured to choose the rate.
    pub cost: Option<Duration>,
}

/// Rates to choose from: primes, so that sampling keeps in step with nothing.
const RATES: [u32; 10] = [997, 797, 599, 499, 397, 293, 199, 149, 97, 47];
/// Most that samples may take of a thread's time, in thousandths. What they do to the caches, and
/// who writes them down, is not measured: it comes on top, up to half as much again, and together
/// they are to stay within a hundredth.
const MOST_THOUSANDTHS: u128 = 6;

impl Rate {
    /// So many samples a second, whatever they cost.
    pub fn of(hertz: u32) -> Rate {
        Rate { hertz, cost: None }
    }

    /// 997 a second, or fewer where those would take more than 0.6 % of the time. Takes 5 ms to
    /// find out, or three times as much on a disturbed machine.
    pub fn affordable() -> Rate {
        match (0..3).find_map(|_| sample_cost()) {
            Some(cost) => Rate {
                hertz: within(cost),
                cost: Some(cost),
            },
            None => Rate::of(RATES[0]),
        }
    }
}

/// The greatest rate that samples of this cost allow.
fn within(cost: Duration) -> u32 {
    let takes = |hertz: u32| u128::from(hertz) * cost.as_nanos();
    let most = MOST_THOUSANDTHS * 1_000_000;
    let slowest = RATES[RATES.len() - 1];
    RATES
        .into_iter()
        .find(|&hertz| takes(hertz) <= most)
        .unwrap_or(slowest)
}

/// What one sample of a thread's call chain takes of that thread's time: the median pause that
/// samples make in a loop which does nothing but read the clock, for five milliseconds. `None`
/// where the kernel takes no samples, or the time was too disturbed.
fn sample_cost() -> Option<Duration> {
    let event = open_own_samples(HERTZ).ok()?;
    let mut ring = Ring::map(event).ok()?;
    let mut pauses = pauses();
    let mut samples = 0;
    ring.drain(|kind, _, _| {
        samples += usize::from(kind == PERF_RECORD_SAMPLE);
    });
    // The longest are the samples, and some that other things made, before or behind them.
    pauses.sort_unstable_by(|a, b| b.cmp(a));
    pauses.truncate(samples);
    (pauses.len() >= FEWEST).then(|| pauses[pauses.len() / 2])
}

/// More readings than a clock that goes allows for in [`MEASURED`]: one that was stopped, by a
/// library that fakes it, ends here.
const MOST_READINGS: u32 = 4_000_000;

/// The pauses between two readings of the clock that stand out; none of a clock that goes back.
fn pauses() -> Vec<Duration> {
    const STANDS_OUT: Duration = Duration::from_nanos(300);
    let mut pauses = Vec::with_capacity(1 << 10);
    let begun = Instant::now();
    let mut last = begun;
    for _ in 0..MOST_READINGS {
        if last - begun >= MEASURED || pauses.len() == pauses.capacity() {
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
