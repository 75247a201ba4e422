//! Estimates the offsets of hosts' clocks from the order of moments on them (MODEL.md §1).
//!
//! The first host's clock is that of the run. Hosts are put on it one after the other, the one with
//! most bounds to those that are on it already first. If the bounds contradict each other, the line
//! is taken that violates the certain ones least, and of the others those are used that agree.

use std::collections::{BTreeMap, BTreeSet};

use super::call_order::MomentOrder;
use super::offset_region::{Bound, OffsetLine, OffsetRegion, Side};

/// The greatest drift between two clocks, in nanoseconds a nanosecond.
const MAX_DRIFT: f64 = 200e-6;
/// The error of a time on a host's clock, in nanoseconds.
const READING_NS: f64 = 100.0;
/// The bounds of a host, on each side, of which the strictest one is used.
const SLOTS: usize = 1024;
/// Bisections to find the least violation.
const BISECTIONS: u32 = 40;

/// What is known of a host's clock before any call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostSpan {
    /// Begin and end of its part of the run, on its own clock in nanoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
    /// What has to be added to its clock if the wall clocks of both hosts agree.
    pub(super) by_wall_clock: i64,
}

/// What is added to a host's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClockOffset {
    span: HostSpan,
    /// The offset is this and the line's.
    base: i64,
    line: OffsetLine,
    /// How far off it may be, in nanoseconds; `None` if the calls do not bound it.
    pub(super) uncertainty: Option<f64>,
    /// Whether the bounds show a drift.
    pub(super) drifts: bool,
    /// The number of bounds.
    pub(super) bounds: u64,
    /// The number of bounds that it violates, and by how much at most, in nanoseconds.
    pub(super) contradictions: (u64, f64),
}

impl ClockOffset {
    fn of_first(span: HostSpan) -> ClockOffset {
        ClockOffset {
            span,
            base: 0,
            line: OffsetLine::default(),
            uncertainty: Some(0.0),
            drifts: false,
            bounds: 0,
            contradictions: (0, 0.0),
        }
    }

    /// The offset at the begin of the host's part, in nanoseconds.
    pub(super) fn at_begin(&self) -> i64 {
        let own = self.line.begin.round() as i64;
        self.base.saturating_add(own)
    }

    /// Nanoseconds by which the offset grows in a nanosecond.
    pub(super) fn slope(&self) -> f64 {
        (self.line.end - self.line.begin) / self.span.length()
    }

    /// The time on the run's clock of a time on the host's. Never falls from one to the next.
    pub(super) fn to_run(self, ns: u64) -> i128 {
        let offset = self.line.at(self.span.moment(ns)).floor();
        i128::from(ns) + i128::from(self.base) + offset as i128
    }
}

impl HostSpan {
    /// The length of the part; never 0.
    fn length(&self) -> f64 {
        self.to.saturating_sub(self.from).max(1) as f64
    }

    /// From 0 at the begin to 1 at the end.
    fn moment(&self, ns: u64) -> f64 {
        (i128::from(ns) - i128::from(self.from)) as f64 / self.length()
    }
}

/// The orders between two hosts: times on the first one's and on the second one's clock.
type Pairs = BTreeMap<(usize, usize), Vec<(u64, u64, bool)>>;

/// The offset of each host's clock to that of the first one.
pub(super) fn estimate(hosts: &[HostSpan], orders: &[MomentOrder]) -> Vec<ClockOffset> {
    let mut pairs = Pairs::new();
    for order in orders {
        let of_pair = pairs.entry((order.before.0, order.after.0)).or_default();
        of_pair.push((order.before.1, order.after.1, order.is_certain));
    }
    let mut known: BTreeMap<usize, ClockOffset> = BTreeMap::new();
    let mut left: BTreeSet<usize> = (0..hosts.len()).collect();
    if let Some(first) = left.pop_first() {
        known.insert(first, ClockOffset::of_first(hosts[first]));
    }
    // The number of bounds on either side of each host that is left.
    let mut counts = vec![(0, 0); hosts.len()];
    let mut newest = 0;
    while !left.is_empty() {
        for &host in &left {
            let of = |key| pairs.get(&key).map_or(0, Vec::len);
            counts[host].0 += of((newest, host));
            counts[host].1 += of((host, newest));
        }
        let rank = |host: &usize| {
            let (low, high) = counts[*host];
            (low.min(high), low + high, std::cmp::Reverse(*host))
        };
        let Some(next) = left.iter().copied().max_by_key(rank) else {
            break;
        };
        left.remove(&next);
        let bounds = bounds(next, hosts[next], &known, &pairs);
        known.insert(next, offset(hosts[next], &bounds));
        newest = next;
    }
    known.into_values().collect()
}

/// The bounds of a host's offset by hosts whose own is known.
struct HostBounds {
    /// The bounds' offsets are relative to this, so that they are small.
    base: i64,
    list: Vec<Bound>,
    /// Whether all hosts that give bounds are bounded themselves.
    is_anchored: bool,
}

fn bounds(
    host: usize,
    span: HostSpan,
    known: &BTreeMap<usize, ClockOffset>,
    pairs: &Pairs,
) -> HostBounds {
    let mut all: Vec<(u64, i128, Side, f64, bool)> = Vec::new();
    let mut is_anchored = true;
    for (&other, clock) in known {
        // What is not bounded itself would bound nothing; its middle is the best there is.
        let error = clock.uncertainty.unwrap_or(0.0) + READING_NS;
        let before = pairs.get(&(other, host)).into_iter().flatten();
        let after = pairs.get(&(host, other)).into_iter().flatten();
        let count = all.len();
        all.extend(before.map(|&(theirs, own, is_certain)| {
            let offset = clock.to_run(theirs) - i128::from(own);
            (own, offset, Side::AtLeast, error, is_certain)
        }));
        all.extend(after.map(|&(own, theirs, is_certain)| {
            let offset = clock.to_run(theirs) - i128::from(own);
            (own, offset, Side::AtMost, error, is_certain)
        }));
        is_anchored &= all.len() == count || clock.uncertainty.is_some();
    }
    let lowest = |is_certain: bool| {
        let of = all
            .iter()
            .filter(|b| b.2 == Side::AtLeast && b.4 == is_certain);
        of.map(|bound| bound.1).max()
    };
    let base = lowest(true).or_else(|| lowest(false));
    let base = base.or_else(|| all.iter().map(|bound| bound.1).min());
    let base = base.and_then(|base| i64::try_from(base).ok());
    let base = base.unwrap_or(span.by_wall_clock);
    let list = all
        .into_iter()
        .map(|(own, offset, side, error, is_certain)| {
            let offset = (offset - i128::from(base)) as f64;
            Bound {
                moment: span.moment(own),
                offset: match side {
                    Side::AtLeast => offset - error,
                    Side::AtMost => offset + error,
                },
                side,
                is_certain,
            }
        });
    HostBounds {
        base,
        list: list.collect(),
        is_anchored,
    }
}

fn offset(span: HostSpan, bounds: &HostBounds) -> ClockOffset {
    let (region, allowance) = possible(span, &bounds.list);
    let is_bounded = region.is_bounded() && bounds.is_anchored;
    let (mut base, mut line) = (bounds.base, OffsetLine::default());
    if region.is_bounded() {
        line = region.middle();
    } else {
        let wall = span.by_wall_clock.saturating_sub(base) as f64;
        let same = OffsetLine {
            begin: wall,
            end: wall,
        };
        match bounds.list.iter().all(|bound| bound.distance(same) >= 0.0) {
            true => base = span.by_wall_clock,
            false => line = region.closest_to(wall),
        }
    }
    let moved = (base - bounds.base) as f64;
    let violation = |bound: &Bound| {
        let begin = line.begin + moved;
        let end = line.end + moved;
        -bound.distance(OffsetLine { begin, end })
    };
    // What is left of rounding is no contradiction.
    let violations = bounds.list.iter().map(violation).filter(|&by| by > 1.0);
    let contradictions = violations.fold((0, 0.0f64), |(n, most), by| (n + 1, most.max(by)));
    ClockOffset {
        span,
        base,
        line,
        uncertainty: is_bounded.then(|| region.greatest_distance(line) + allowance),
        drifts: is_bounded && region.shows_drift(),
        bounds: bounds.list.len() as u64,
        contradictions,
    }
}

/// The possible offsets, and by how much certain bounds had to be widened for that.
fn possible(span: HostSpan, bounds: &[Bound]) -> (OffsetRegion, f64) {
    let used = strictest(bounds);
    let (certain, others): (Vec<&Bound>, Vec<&Bound>) =
        used.iter().partition(|bound| bound.is_certain);
    let max_change = MAX_DRIFT * span.length();
    let region = |allowance: f64| {
        let mut region = OffsetRegion::new(max_change);
        let fits = certain.iter().all(|bound| region.cut(bound, allowance));
        fits.then_some(region)
    };
    let mut allowance = 0.0;
    let mut found = region(allowance);
    if found.is_none() {
        allowance = least_allowance(|allowance| region(allowance).is_some());
        found = region(allowance);
    }
    let mut region = found.unwrap_or_else(|| OffsetRegion::new(max_change));
    for bound in others {
        region.cut(bound, allowance);
    }
    (region, allowance)
}

/// The strictest bound of each kind and side in each slot of the run. The others add little, and
/// there may be millions.
fn strictest(bounds: &[Bound]) -> Vec<Bound> {
    let mut kept: BTreeMap<(bool, Side, usize), Bound> = BTreeMap::new();
    for bound in bounds {
        let slot = (bound.moment.clamp(0.0, 1.0) * SLOTS as f64) as usize;
        let kept = kept
            .entry((bound.is_certain, bound.side, slot))
            .or_insert(*bound);
        let is_stricter = match bound.side {
            Side::AtLeast => bound.offset > kept.offset,
            Side::AtMost => bound.offset < kept.offset,
        };
        if is_stricter {
            *kept = *bound;
        }
    }
    kept.into_values().collect()
}

/// About the smallest allowance that fits.
fn least_allowance(fits: impl Fn(f64) -> bool) -> f64 {
    let mut high = 1.0;
    while !fits(high) && high < 1e18 {
        high *= 2.0;
    }
    let mut low = high / 2.0;
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        match fits(middle) {
            true => high = middle,
            false => low = middle,
        }
        if high - low < 1.0 {
            break;
        }
    }
    high
}

#[cfg(test)]
mod tests;
