//! The options of measuring, and the ways in which it can fail.

/// The weight of a strand (MODEL.md §2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Metric {
    /// Time on the CPU.
    #[default]
    Time,
    /// A counter of the trace, by name.
    Counter(String),
}

/// The options of measuring.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The weight.
    pub metric: Metric,
    /// Burden per stolen edge, in units of the metric; `None` = the trace's own for time, 15,000
    /// for instructions and 0 for any other counter.
    pub burden: Option<u64>,
    /// Leave the probes' own cost in the weights.
    pub raw: bool,
    /// Count blocked time as work.
    pub count_blocked: bool,
}

/// Why an analysis can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The metric is not a counter of this trace. Also has the counters of the trace.
    #[error("the trace has no counter `{0}`; {hint}", hint = offered(.1))]
    NoSuchCounter(String, Vec<String>),
    /// The what-if factor is not valid.
    #[error("`{0}` is not a factor; expected a positive number, such as 2 for twice as fast")]
    BadFactor(String),
}

fn offered(counters: &[String]) -> String {
    if counters.is_empty() {
        "it has none at all: leave --metric out to measure time".to_owned()
    } else {
        format!("--metric can be time or {}", counters.join(", "))
    }
}
