//! Advice on what to change, as text and as JSON.

mod json;
mod text;

pub use json::advise_json;
pub use text::advise_text;

use workspan_analysis::advise::{Change, Stop};

/// A kind of change in a sentence.
fn change_words(change: Change) -> &'static str {
    match change {
        Change::Parallelise => "Make it parallel, or let it run beside something else.",
        Change::Split => "Split these tasks into smaller ones.",
        Change::SpreadSpawns => "Let tasks create tasks, so that creating them is parallel too.",
    }
}

/// Why no more is named, in a sentence.
fn stop_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Already => "The program has that parallelism already: look elsewhere.",
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
