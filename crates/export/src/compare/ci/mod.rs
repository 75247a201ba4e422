//! Checked limits in formats for continuous integration: GitHub annotations, a comment for a pull
//! request, SARIF and JUnit XML.

mod comment;
mod github;
mod junit;
mod sarif;

pub use comment::check_markdown;
pub use github::check_github;
pub use junit::check_junit;
pub use sarif::check_sarif;

use workspan_analysis::compare::{LimitResult, Where};

use super::check::{bound_words, name, place_words};
use crate::page::Piece;
use crate::quantity::NBSP;

/// Pieces as one line of plain text.
fn plain_text(pieces: &[Piece]) -> String {
    let text: String = pieces.iter().map(|piece| piece.1.as_str()).collect();
    text.replace(NBSP, " ")
}

/// `parallelism 1.44 (limit: at least 8.00)`
fn limit_text(one: &LimitResult) -> String {
    format!("{}{}", name(one.limit), bound_words(one)).replace(NBSP, " ")
}

/// The limit, and the place to look at if it is broken.
fn message(one: &LimitResult) -> String {
    match &one.place {
        Some(place) => {
            let words = plain_text(&place_words(place));
            format!("{}. Where to look: {words}.", limit_text(one))
        }
        None => format!("{}.", limit_text(one)),
    }
}

/// File and line to look at.
fn file_line(place: &Where) -> Option<(&str, u32)> {
    let block = place.block.iter();
    let ids = block.flat_map(|b| [b.telling_place(), b.from, b.site, b.to]);
    ids.chain([place.site]).find_map(|id| {
        let at = place.places.get(id as usize)?;
        Some((at.file.as_deref()?, at.line?))
    })
}

/// `1 of 6 limits is broken`
fn headline(checked: &[LimitResult]) -> String {
    let broken = checked.iter().filter(|c| c.broken).count();
    match (broken, checked.len()) {
        (0, 1) => "the limit is kept".into(),
        (0, n) => format!("all {n} limits are kept"),
        (_, 1) => "the limit is broken".into(),
        (1, n) => format!("1 of {n} limits is broken"),
        (b, n) => format!("{b} of {n} limits are broken"),
    }
}
