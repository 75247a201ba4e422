//! Advice on what to change, as text and as JSON.

mod json;
mod text;

pub use json::advise_json;
pub use text::advise_text;

use workspan_analysis::Limits;
use workspan_analysis::advise::{Change, Stop};

/// A kind of change in a sentence.
fn change_words(change: Change) -> &'static str {
    match change {
        Change::Parallelise => "Make it parallel, or let it run beside something else.",
        Change::Split => "Split these tasks into smaller ones.",
        Change::MoreThreads => {
            "It is divided by the number of threads: record it with as many threads as that to see whether they share it evenly."
        }
        Change::SpreadSpawns => "Let tasks create tasks, so that creating them is parallel too.",
    }
}

/// Why no more is named, in a sentence.
fn stop_words(stop: Stop, limits: &Limits, fine: bool) -> &'static str {
    match stop {
        Stop::Already if limits.blocked.is_some() => {
            "The recorded tasks have that parallelism already, if nothing blocked: look at what they wait for."
        }
        Stop::Already if fine => {
            "The program has that parallelism already, but its tasks are too small: make them larger."
        }
        Stop::Already => "The program has that parallelism already: look elsewhere.",
        Stop::Divided => {
            "What is left on the critical path was divided by the number of threads; record it on more of them to see more."
        }
        Stop::Reached => "With all of these the target is reached.",
        Stop::Overhead => {
            "What is left on the critical path is too fine: spread further, tasks would cost more than they give."
        }
        Stop::Folded => {
            "What is left on the critical path is folded, so its code can't be told: read the trace with --full, or record it again with --fold off."
        }
        Stop::Nothing => "No further change would shorten the critical path much.",
    }
}
