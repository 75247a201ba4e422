//! Progress of the runs, and an estimate of the remaining time.

use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// A bar on a terminal, in expected milliseconds: a run with one worker moves it further than one
/// with eight.
pub struct Progress {
    bar: ProgressBar,
    /// For each number of workers: the number of remaining runs, and the time of one.
    left: Vec<(u32, u32, Duration)>,
    done: Duration,
}

impl Progress {
    /// A bar for `repeat` runs with each number in `workers`, before any of them ran.
    pub fn new(workers: &[u32], repeat: u32) -> Progress {
        let bar = ProgressBar::new(1);
        // The template is fixed; if it could not be parsed, the bar would be plain.
        if let Ok(style) = ProgressStyle::with_template("  {bar:30} {msg}") {
            bar.set_style(style);
        }
        Progress {
            bar,
            left: workers
                .iter()
                .map(|&w| (w, repeat, Duration::ZERO))
                .collect(),
            done: Duration::ZERO,
        }
    }

    /// Shows an activity other than these runs.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// A run with `workers` workers on `cpus` CPUs took `took`. The times of others are estimated
    /// from the division of the work, until they have run.
    pub fn expect(&mut self, workers: u32, cpus: u32, took: Duration) {
        let share = |workers: u32| workers.min(cpus).max(1);
        for left in &mut self.left {
            if left.2.is_zero() {
                left.2 = took * share(workers) / share(left.0);
            }
        }
    }

    /// The next run begins.
    pub fn begin(&self, workers: u32, round: u32, rounds: u32) {
        let on = if workers == 1 { "worker" } else { "workers" };
        let mut message = format!("{workers} {on}, round {round} of {rounds}");
        let left = self.time_left();
        if !left.is_zero() {
            message.push_str(&format!(", {} left", HumanDuration(left)));
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.bar.set_length(millis(self.done + left).max(1));
        self.bar.set_position(millis(self.done));
        self.say(&message);
    }

    /// The run ended and took `took`.
    pub fn end(&mut self, workers: u32, took: Duration) {
        self.done += took;
        if let Some(left) = self.left.iter_mut().find(|left| left.0 == workers) {
            left.1 = left.1.saturating_sub(1);
            left.2 = took;
        }
    }

    fn time_left(&self) -> Duration {
        self.left.iter().map(|left| left.2 * left.1).sum()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_what_was_seen() {
        let second = Duration::from_secs(1);
        let mut progress = Progress::new(&[1, 2, 8], 2);
        assert_eq!(progress.time_left(), Duration::ZERO);
        // On 4 CPUs 8 workers are no faster than 4.
        progress.expect(8, 4, second);
        assert_eq!(progress.time_left(), 2 * (4 + 2 + 1) * second);
        progress.end(1, 3 * second);
        assert_eq!(progress.time_left(), (3 + 4 + 2) * second);
        progress.end(1, 3 * second);
        progress.end(1, 3 * second);
        assert_eq!(progress.time_left(), (4 + 2) * second);
    }
}
