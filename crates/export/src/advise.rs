//! Formats advice on which code to change, as text and as JSON.

mod json;
mod text;

pub use json::advise_json;
pub use text::advise_text;

use workspan_analysis::Limits;
use workspan_analysis::advise::{Change, Stop};

/// A sentence for a kind of change.
fn change_words(change: Change) -> &'static str {
    match change {
        Change::Parallelise => "Make it parallel, or overlap it with other work.",
        Change::Split => "Split these tasks into smaller ones.",
        Change::MoreThreads => {
            "It is divided by the number of threads: record it with that many threads to see whether they share it evenly."
        }
        Change::SpreadSpawns => "Let tasks create tasks, so that creating them is parallel too.",
    }
}

/// A sentence for why the advice names no further change.
fn stop_words(stop: Stop, limits: &Limits, fine: bool) -> &'static str {
    match stop {
        Stop::Already if limits.blocked.is_some() => {
            "The recorded tasks already have that parallelism if nothing blocks: look at what they wait for."
        }
        Stop::Already if fine => {
            "The program already has that parallelism, but its tasks are too small: make them larger."
        }
        Stop::Already => "The program already has that parallelism: look elsewhere.",
        Stop::Divided => {
            "The rest of the critical path was divided by the number of threads: record the program on more threads to see more."
        }
        Stop::Reached => "All of these together reach the target.",
        Stop::Overhead => {
            "The rest of the critical path is too fine-grained: smaller tasks would cost more than they gain."
        }
        Stop::Folded => {
            "The rest of the critical path is folded, so its code is unknown: read the trace with --full, or record the program again with --fold off."
        }
        Stop::Nothing => "No further change would shorten the critical path much.",
    }
}
