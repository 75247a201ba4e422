//! The data behind the pictures against slow second implementations and the analyses' own numbers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "made for other dice throwers too")]
#[path = "../../../analysis/tests/random/dice.rs"]
mod dice;

mod bench;
mod dag;
mod look;
mod runs;
mod slow;
mod timeline;
