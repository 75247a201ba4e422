//! The offsets of a clock that bounds leave possible.
//!
//! An offset changes with time at a constant rate, the drift. So it is a line, given by its values
//! at two moments: where the host's part of the run begins and where it ends. A bound at some
//! moment is a half-plane of such pairs, and all bounds together leave a convex polygon of them.

/// An offset at the begin and at the end of the part, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OffsetLine {
    pub(super) begin: f64,
    pub(super) end: f64,
}

impl OffsetLine {
    /// The offset at a moment, from 0 at the begin to 1 at the end.
    pub(super) fn at(self, moment: f64) -> f64 {
        self.begin + (self.end - self.begin) * moment
    }

    fn change(self) -> f64 {
        self.end - self.begin
    }

    fn between(self, other: OffsetLine, part: f64) -> OffsetLine {
        OffsetLine {
            begin: self.begin + (other.begin - self.begin) * part,
            end: self.end + (other.end - self.end) * part,
        }
    }
}

/// Which side of a bound is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    AtLeast,
    AtMost,
}

/// A bound of the offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    /// From 0 at the begin to 1 at the end.
    pub(super) moment: f64,
    /// The smallest or largest possible offset then.
    pub(super) offset: f64,
    pub(super) side: Side,
    pub(super) is_certain: bool,
}

impl Bound {
    /// How far the line is on the possible side; negative if it is on the other one.
    pub(super) fn distance(&self, line: OffsetLine) -> f64 {
        match self.side {
            Side::AtLeast => line.at(self.moment) - self.offset,
            Side::AtMost => self.offset - line.at(self.moment),
        }
    }
}

/// Offsets beyond it count as not bounded: almost three hours. A larger number would make the
/// corners inexact.
const WIDTH_NS: f64 = 1e13;

/// The possible offsets: a convex polygon, which is never empty.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OffsetRegion {
    corners: Vec<OffsetLine>,
}

impl OffsetRegion {
    /// All offsets that change by at most that much from the begin to the end.
    pub(super) fn new(max_change: f64) -> OffsetRegion {
        let corner = |begin, change| OffsetLine {
            begin,
            end: begin + change,
        };
        OffsetRegion {
            corners: vec![
                corner(-WIDTH_NS, -max_change),
                corner(WIDTH_NS, -max_change),
                corner(WIDTH_NS, max_change),
                corner(-WIDTH_NS, max_change),
            ],
        }
    }

    /// Removes what the bound excludes, with an allowance in nanoseconds. If nothing would be left,
    /// changes nothing and returns false.
    pub(super) fn cut(&mut self, bound: &Bound, allowance: f64) -> bool {
        let distance = |line: OffsetLine| bound.distance(line) + allowance;
        if self.corners.iter().all(|&line| distance(line) >= 0.0) {
            return true;
        }
        let mut left = Vec::with_capacity(self.corners.len() + 1);
        for (i, &line) in self.corners.iter().enumerate() {
            let next = self.corners[(i + 1) % self.corners.len()];
            let (own, other) = (distance(line), distance(next));
            if own >= 0.0 {
                left.push(line);
            }
            if (own >= 0.0) != (other >= 0.0) {
                left.push(line.between(next, own / (own - other)));
            }
        }
        left.dedup();
        if left.is_empty() {
            return false;
        }
        self.corners = left;
        true
    }

    /// The smallest and largest value of `of`.
    fn range(&self, of: impl Fn(OffsetLine) -> f64) -> (f64, f64) {
        let all = self.corners.iter().map(|&line| of(line));
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    }

    /// Whether the offset is bounded from both sides.
    pub(super) fn is_bounded(&self) -> bool {
        let (low, high) = self.range(|line| line.begin);
        low > -WIDTH_NS / 2.0 && high < WIDTH_NS / 2.0
    }

    /// Whether the bounds show that the offset changes.
    pub(super) fn shows_drift(&self) -> bool {
        let (low, high) = self.range(OffsetLine::change);
        low > 0.0 || high < 0.0
    }

    /// The middle of what is possible: without change if the bounds allow that.
    pub(super) fn middle(&self) -> OffsetLine {
        let all: Vec<OffsetLine> = match self.shows_drift() {
            true => self.extremes(),
            false => self.without_change(),
        };
        let part = 1.0 / all.len() as f64;
        OffsetLine {
            begin: all.iter().map(|line| line.begin * part).sum(),
            end: all.iter().map(|line| line.end * part).sum(),
        }
    }

    /// The lines that are lowest and highest at the begin and at the end.
    fn extremes(&self) -> Vec<OffsetLine> {
        let by = |of: fn(&OffsetLine) -> f64| {
            let order = move |a: &&OffsetLine, b: &&OffsetLine| of(a).total_cmp(&of(b));
            let low = self.corners.iter().min_by(order);
            low.into_iter().chain(self.corners.iter().max_by(order))
        };
        by(|l| l.begin).chain(by(|l| l.end)).copied().collect()
    }

    /// The lowest and the highest line without change.
    fn without_change(&self) -> Vec<OffsetLine> {
        let mut flat: Vec<f64> = Vec::new();
        for (i, &line) in self.corners.iter().enumerate() {
            let next = self.corners[(i + 1) % self.corners.len()];
            let (own, other) = (line.change(), next.change());
            if own == 0.0 {
                flat.push(line.begin);
            } else if own * other < 0.0 {
                flat.push(line.between(next, own / (own - other)).begin);
            }
        }
        let (low, high) = flat
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| {
                (l.min(v), h.max(v))
            });
        match low <= high {
            true => [low, high]
                .map(|at| OffsetLine { begin: at, end: at })
                .to_vec(),
            false => self.extremes(),
        }
    }

    /// The greatest distance of a possible offset from the line, at any moment.
    pub(super) fn greatest_distance(&self, line: OffsetLine) -> f64 {
        let far = |of: fn(OffsetLine) -> f64| {
            let (low, high) = self.range(of);
            (of(line) - low).max(high - of(line))
        };
        // The width of a convex region is greatest at one of both ends.
        far(|line| line.begin).max(far(|line| line.end))
    }

    /// The corner closest to a constant offset.
    pub(super) fn closest_to(&self, offset: f64) -> OffsetLine {
        let far = |line: &&OffsetLine| (line.begin - offset).abs().max((line.end - offset).abs());
        let order = |a: &&OffsetLine, b: &&OffsetLine| far(a).total_cmp(&far(b));
        self.corners
            .iter()
            .min_by(order)
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(moment: f64, offset: f64, side: Side) -> Bound {
        Bound {
            moment,
            offset,
            side,
            is_certain: true,
        }
    }

    #[test]
    fn bounds_from_both_sides_leave_an_interval() {
        let mut region = OffsetRegion::new(0.0);
        assert!(!region.is_bounded());
        assert!(region.cut(&bound(0.0, -40.0, Side::AtLeast), 0.0));
        assert!(!region.is_bounded());
        assert!(region.cut(&bound(1.0, -20.0, Side::AtMost), 0.0));
        assert!(region.is_bounded());
        let middle = region.middle();
        assert!((middle.at(0.5) + 30.0).abs() < 0.5, "{middle:?}");
        assert!((region.greatest_distance(middle) - 10.0).abs() < 0.5);
        // The contradiction changes nothing.
        let before = region.clone();
        assert!(!region.cut(&bound(0.5, 0.0, Side::AtLeast), 0.0));
        assert_eq!(region, before);
        assert!(region.cut(&bound(0.5, 0.0, Side::AtLeast), 25.0));
    }

    #[test]
    fn a_drift_is_shown_where_no_constant_offset_is_possible() {
        let mut region = OffsetRegion::new(1e6);
        for (moment, offset) in [(0.0, 0.0), (0.5, 500.0), (1.0, 1000.0)] {
            region.cut(&bound(moment, offset - 10.0, Side::AtLeast), 0.0);
            region.cut(&bound(moment, offset + 10.0, Side::AtMost), 0.0);
        }
        assert!(region.shows_drift());
        let middle = region.middle();
        assert!(middle.begin.abs() < 10.0, "{middle:?}");
        assert!((middle.end - 1000.0).abs() < 10.0, "{middle:?}");
    }

    #[test]
    fn of_half_bounded_offsets_the_closest_one_is_found() {
        let mut region = OffsetRegion::new(10.0);
        region.cut(&bound(0.5, 70.0, Side::AtLeast), 0.0);
        assert!(!region.is_bounded());
        let line = region.closest_to(-1000.0);
        assert!((64.0..=76.0).contains(&line.at(0.5)), "{line:?}");
    }
}
