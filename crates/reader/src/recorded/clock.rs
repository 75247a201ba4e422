//! The number of ticks per second.

use std::ops::RangeInclusive;

use workspan_trace::ClockKind;
use workspan_trace::entry::ClockPair;

use super::chunks_by_thread::TraceChunks;

/// Possible ticks per second: from 1 kHz to 1 THz. Any other rate is damage.
pub(crate) const POSSIBLE_RATES: RangeInclusive<u64> = 1_000..=1_000_000_000_000;

/// Ticks per second, from the two pairs of ticks and nanoseconds that are furthest apart; `None` if
/// there are fewer than two.
pub(super) fn ticks_per_second(chunks: &TraceChunks<'_>) -> Option<u64> {
    if chunks.header.clock == ClockKind::Nanoseconds {
        return Some(1_000_000_000);
    }
    let first = pairs(chunks).min_by_key(|p| p.ns)?;
    let last = pairs(chunks).max_by_key(|p| p.ns)?;
    let ns = last.ns.checked_sub(first.ns).filter(|&ns| ns >= 1_000)?;
    let ticks = last.ticks.checked_sub(first.ticks)?;
    let rate = u128::from(ticks) * 1_000_000_000 / u128::from(ns);
    u64::try_from(rate)
        .ok()
        .filter(|rate| POSSIBLE_RATES.contains(rate))
}

/// All pairs of ticks and nanoseconds: from the start, from clock entries, and from the end.
pub(super) fn pairs(chunks: &TraceChunks<'_>) -> impl Iterator<Item = ClockPair> {
    let start = ClockPair {
        ticks: chunks.header.start_ticks,
        ns: chunks.header.start_ns,
    };
    let end = chunks.finished.map(|f| ClockPair {
        ticks: f.ticks,
        ns: f.ns,
    });
    chunks.pairs.iter().copied().chain([start]).chain(end)
}
