//! The data behind the pictures against slow second implementations and the analyses' own numbers.

#[allow(dead_code, reason = "made for other dice throwers too")]
#[path = "../../../analysis/tests/it/random/dice.rs"]
mod dice;

mod attempts;
mod bench;
mod dag;
mod look;
mod runs;
mod slow;
mod timeline;
mod unread;
