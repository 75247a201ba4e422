//! The data behind the pictures, compared with slow second implementations and with the numbers of
//! the analyses.

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
