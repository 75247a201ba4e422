//! The number of strands that ran at any time, and the number of free workers for each of them.

use workspan_dag::Dag;

/// Maximum number of strands for which the sums are made: they take 64 bytes per strand.
const MAX_STRANDS: usize = 2_000_000;

/// Sums over time, from the beginning of the run. Once records are missing ([`Dag::unread_from`]),
/// it is not known which workers were free, and none counts.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeTime {
    /// The times, ascending, in absolute ticks.
    times: Vec<u64>,
    /// From each time to the next: the number of strands that ran, and the number of free workers
    /// per running strand.
    steps: Vec<(f64, f64)>,
    /// Integrals of the steps up to each time.
    sums: Vec<(f64, f64)>,
    /// The time from which on records are missing.
    unread_from: u64,
}

impl FreeTime {
    /// Makes the sums, O(n log n). `None` if the run has too many strands.
    pub fn new(dag: &Dag) -> Option<FreeTime> {
        let strands = &dag.strands;
        if strands.len() > MAX_STRANDS {
            return None;
        }
        let ran = |&s: &usize| strands.end[s] > strands.start[s];
        let changes = |s: usize| [(strands.start[s], 1i64), (strands.end[s], -1)];
        let mut events: Vec<(u64, i64)> =
            (0..strands.len()).filter(ran).flat_map(changes).collect();
        events.sort_unstable();
        let workers = f64::from(dag.meta.workers);
        let unread_from = dag.unread_from().unwrap_or(u64::MAX);
        let mut free = FreeTime {
            times: Vec::new(),
            steps: Vec::new(),
            sums: Vec::new(),
            unread_from,
        };
        let (mut running, mut sum) = (0i64, (0.0, 0.0));
        for (i, &(at, change)) in events.iter().enumerate() {
            running += change;
            let next = events.get(i + 1).map_or(at, |e| e.0);
            if next == at && i + 1 < events.len() {
                continue;
            }
            let running = running.max(0) as f64;
            let free_workers = match at < unread_from {
                true => (workers - running).max(0.0),
                false => 0.0,
            };
            let step = (running, free_workers / running.max(1.0));
            free.times.push(at);
            free.steps.push(step);
            free.sums.push(sum);
            let length = (next - at) as f64;
            sum = (sum.0 + step.0 * length, sum.1 + step.1 * length);
        }
        Some(free)
    }

    /// Sums over `[from, to)`, absolute ticks, while something runs: ticks of running strands, and
    /// ticks of free workers, of which each running strand has an equal share.
    pub fn sums(&self, from: u64, to: u64) -> (f64, f64) {
        let (a, b) = (self.until(from), self.until(to));
        (b.0 - a.0, b.1 - a.1)
    }

    /// Whether records are missing before `time`.
    pub fn is_unread(&self, time: u64) -> bool {
        time > self.unread_from
    }

    fn until(&self, time: u64) -> (f64, f64) {
        let after = self.times.partition_point(|&t| t <= time);
        let Some(i) = after.checked_sub(1) else {
            return (0.0, 0.0);
        };
        let length = (time - self.times[i]) as f64;
        let (sum, step) = (self.sums[i], self.steps[i]);
        (sum.0 + step.0 * length, sum.1 + step.1 * length)
    }
}
