//! Facts about a run that analyses read: the keys of notes in a trace, and of facts in a text trace.

use crate::meta::{Meta, TimeUnit};

/// CPU time of the process while it was recorded, as `0.270123 s`.
pub const CPU_TIME: &str = "CPU time";
/// What of it is of threads while the trace has no records of them, as `0.130000 s, 2 threads`: of so many threads it never has any.
pub const CPU_TIME_OF_OTHERS: &str = "CPU time of other threads";
/// The variable of the recorded program's environment that says how many threads there are, as `RAYON_NUM_THREADS=16`.
pub const THREADS_SET_BY: &str = "number of threads from";
/// Whether stacks were taken where threads gave up the CPU.
pub const STOPS: &str = "stacks where threads blocked";

impl Meta {
    /// Ticks of a second. If the trace does not say, the unit decides; cycles then count as nanoseconds.
    pub fn tick_rate(&self) -> u64 {
        match (self.ticks_per_second, self.time_unit) {
            (0, TimeUnit::Us) => 1_000_000,
            (0, TimeUnit::Ms) => 1_000,
            (0, _) => 1_000_000_000,
            (rate, _) => rate,
        }
    }

    /// The value of a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|fact| fact.0 == key);
        fact.map(|fact| fact.1.as_str())
    }

    /// The ticks of a fact that is a number of seconds.
    pub fn ticks_of(&self, key: &str) -> Option<u64> {
        let (seconds, _) = self.fact(key)?.split_once(" s")?;
        let seconds: f64 = seconds.parse().ok()?;
        let ticks = seconds * self.ticks_per_second as f64;
        (ticks.is_finite() && ticks >= 0.0).then_some(ticks as u64)
    }
}
