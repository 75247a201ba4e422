//! The cost of a steal: the burden.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WANTED: u32 = 2000;
const PATIENCE: Duration = Duration::from_millis(300);
const ONE_STEAL: Duration = Duration::from_millis(2);

pub(crate) struct Steals {
    pub(crate) median_ns: f64,
    pub(crate) quartiles_ns: (f64, f64),
    pub(crate) count: u32,
}

/// Forces steals on a pool of two: the first half of a join waits until the second has begun, which only the other
/// worker can do. That one has just finished such a half, so it is looking for work, not asleep. `None` when hardly
/// any steal came about (one CPU, a machine under load).
pub(crate) fn measure() -> Option<Steals> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .ok()?;
    let mut costs = pool.install(forced_steals);
    if costs.len() < 20 {
        return None;
    }
    costs.sort_unstable();
    let at = |part: usize| costs[costs.len() * part / 4] as f64;
    Some(Steals {
        median_ns: at(2),
        quartiles_ns: (at(1), at(3)),
        count: costs.len() as u32,
    })
}

fn forced_steals() -> Vec<u64> {
    let started = Instant::now();
    let mut costs = Vec::with_capacity(WANTED as usize);
    for round in 0..WANTED {
        if started.elapsed() > PATIENCE {
            break;
        }
        let begun_at = AtomicU64::new(0);
        let entry = Instant::now();
        let (gave_up, ()) = rayon::join(
            || {
                while begun_at.load(Ordering::Acquire) == 0 {
                    // The thief's CPU was taken away: b then runs here, and is no steal.
                    if entry.elapsed() > ONE_STEAL {
                        return true;
                    }
                    std::hint::spin_loop();
                }
                false
            },
            || begun_at.store(entry.elapsed().as_nanos() as u64 | 1, Ordering::Release),
        );
        // The first ones wake the other worker.
        if round >= 20 && !gave_up {
            costs.push(begun_at.load(Ordering::Acquire));
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_calibration_is_of_plausible_size() {
        let c = crate::calibrate();
        assert!(c.clock_ns > 0.1 && c.clock_ns < 1e5, "{c:?}");
        assert!(
            c.records.iter().all(|r| r.ns.is_finite() && r.ns > 0.0),
            "{c:?}"
        );
        assert!(c.probe_ns > 0.0 && c.probe_ns < 1e5, "{c:?}");
        if let Some(steal) = c.steal_ns {
            assert!(steal > 1.0 && steal < 1e9, "{c:?}");
        }
    }
}
