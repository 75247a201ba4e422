//! The upper envelope of (path weight, burdened edges) over the paths through a part of the DAG.
//!
//! At burden b a path of weight w with e burdened edges costs w + e·b, so the corners of an upper
//! hull give the heaviest path for every b ≥ 0. Parts in series add up (Minkowski sum); of parts in
//! parallel, the larger counts at each b. Both are exact. An envelope with more corners than a
//! record may hold is given up, never rounded.

/// The largest number of corners of an envelope.
pub(crate) const MAX_CORNERS: usize = 8;

/// Corners by falling weight, and therefore rising number of edges; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Envelope {
    length: u8,
    corners: [(u64, u32); MAX_CORNERS],
}

impl Envelope {
    /// The envelope of a single path.
    pub(crate) const fn path(weight: u64, edges: u32) -> Envelope {
        let mut corners = [(0, 0); MAX_CORNERS];
        corners[0] = (weight, edges);
        Envelope { length: 1, corners }
    }

    /// The envelope of all these paths; `None` if there are no paths or too many corners.
    pub(crate) fn from_paths(paths: &[(u64, u32)]) -> Option<Envelope> {
        let (&(weight, edges), rest) = paths.split_first()?;
        let mut envelope = Envelope::path(weight, edges);
        for &(weight, edges) in rest {
            envelope.or(&Envelope::path(weight, edges))?;
        }
        Some(envelope)
    }

    /// The corners.
    pub(crate) fn corners(&self) -> &[(u64, u32)] {
        self.corners.get(..usize::from(self.length)).unwrap_or(&[])
    }

    /// Makes all paths heavier by this weight and this number of edges.
    #[inline]
    pub(crate) fn add(&mut self, weight: u64, edges: u32) {
        let add = |corner: &mut (u64, u32)| {
            corner.0 = corner.0.saturating_add(weight);
            corner.1 = corner.1.saturating_add(edges);
        };
        add(&mut self.corners[0]);
        if self.length > 1 {
            let more = self.corners.get_mut(1..usize::from(self.length));
            more.into_iter().flatten().for_each(add);
        }
    }

    /// Replaces the envelope by that of a single path.
    pub(crate) fn set(&mut self, weight: u64, edges: u32) {
        self.length = 1;
        self.corners[0] = (weight, edges);
    }

    /// Copies another envelope; only the corners in use are copied.
    #[inline]
    pub(crate) fn copy(&mut self, other: &Envelope) {
        self.length = other.length;
        self.corners[0] = other.corners[0];
        if other.length > 1 {
            self.corners = other.corners;
        }
    }

    /// Appends a part in series; `None` if that makes too many corners.
    #[inline]
    pub(crate) fn then(&mut self, next: &Envelope) -> Option<()> {
        if next.length == 1 {
            self.add(next.corners[0].0, next.corners[0].1);
            return Some(());
        }
        if self.length == 1 {
            let (weight, edges) = self.corners[0];
            self.copy(next);
            self.add(weight, edges);
            return Some(());
        }
        self.then_many(next)
    }

    fn then_many(&mut self, next: &Envelope) -> Option<()> {
        let (a, b) = (self.corners(), next.corners());
        let (mut i, mut j) = (0, 0);
        let mut sum = Corners::default();
        sum.push((a[0].0.saturating_add(b[0].0), a[0].1.saturating_add(b[0].1)))?;
        while i + 1 < a.len() || j + 1 < b.len() {
            // Advance the side whose next corner takes over at the smaller burden, or both if they
            // tie.
            let order = match (a.get(i + 1), b.get(j + 1)) {
                (Some(&x), Some(&y)) => {
                    let (dx, dy) = (step(a[i], x), step(b[j], y));
                    (dx.0 * dy.1).cmp(&(dy.0 * dx.1))
                }
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
            sum.push((a[i].0.saturating_add(b[j].0), a[i].1.saturating_add(b[j].1)))?;
        }
        *self = sum.envelope();
        Some(())
    }

    /// Adds a part in parallel, of which the heavier path counts at each burden; `None` if that
    /// makes too many corners.
    #[inline]
    pub(crate) fn or(&mut self, other: &Envelope) -> Option<()> {
        if (self.length, other.length) == (1, 1) {
            let ((w, e), (v, f)) = (self.corners[0], other.corners[0]);
            if w >= v && e >= f {
                return Some(());
            }
            if v >= w && f >= e {
                self.corners[0] = (v, f);
                return Some(());
            }
            // Each of the two is heavier at some burden.
            self.length = 2;
            if w > v {
                self.corners[1] = (v, f);
            } else {
                (self.corners[0], self.corners[1]) = ((v, f), (w, e));
            }
            return Some(());
        }
        // Usually one side already covers the other.
        if self.covers(other) {
            return Some(());
        }
        if other.covers(self) {
            self.copy(other);
            return Some(());
        }
        self.or_many(other)
    }

    /// Whether no path of `other`, at any burden, is heavier than all of these.
    #[inline]
    fn covers(&self, other: &Envelope) -> bool {
        let holds = |path: &(u64, u32)| {
            let mut mine = self.corners().iter();
            mine.any(|corner| corner.0 >= path.0 && corner.1 >= path.1)
        };
        other.corners().iter().all(holds)
    }

    fn or_many(&mut self, other: &Envelope) -> Option<()> {
        let (mut a, mut b) = (self.corners(), other.corners());
        let mut all = [(0, 0); 2 * MAX_CORNERS];
        let mut length = 0;
        loop {
            let corner = match (a.first(), b.first()) {
                (Some(&x), Some(&y)) if x >= y => take(&mut a, x),
                (_, Some(&y)) => take(&mut b, y),
                (Some(&x), None) => take(&mut a, x),
                (None, None) => break,
            };
            // Drop a lighter corner that does not have more edges.
            if length > 0 && corner.1 <= all[length - 1].1 {
                continue;
            }
            while length > 1 && !bends(all[length - 2], all[length - 1], corner) {
                length -= 1;
            }
            all[length] = corner;
            length += 1;
        }
        let found = all
            .get(..length)
            .filter(|found| found.len() <= MAX_CORNERS)?;
        self.corners.get_mut(..length)?.copy_from_slice(found);
        self.length = length as u8;
        Some(())
    }
}

/// Removes the first corner from the list.
fn take(list: &mut &[(u64, u32)], first: (u64, u32)) -> (u64, u32) {
    *list = list.get(1..).unwrap_or(&[]);
    first
}

/// The weight lost and the edges gained from one corner to the next.
fn step(from: (u64, u32), to: (u64, u32)) -> (u128, u128) {
    (u128::from(from.0 - to.0), u128::from(to.1 - from.1))
}

/// Whether the middle corner is above the line between the others.
fn bends(a: (u64, u32), b: (u64, u32), c: (u64, u32)) -> bool {
    let (first, second) = (step(a, b), step(b, c));
    first.0 * second.1 < second.0 * first.1
}

#[derive(Default)]
struct Corners {
    length: usize,
    corners: [(u64, u32); MAX_CORNERS],
}

impl Corners {
    fn push(&mut self, corner: (u64, u32)) -> Option<()> {
        *self.corners.get_mut(self.length)? = corner;
        self.length += 1;
        Some(())
    }

    fn envelope(self) -> Envelope {
        Envelope {
            length: self.length as u8,
            corners: self.corners,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(envelope: &Envelope, burden: u64) -> u64 {
        let cost = |&(w, e): &(u64, u32)| w + u64::from(e) * burden;
        envelope.corners().iter().map(cost).max().unwrap_or(0)
    }

    /// Pseudo-random numbers below `below`.
    fn dice(seed: &mut u64, below: u64) -> u64 {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % below
    }

    #[test]
    #[cfg_attr(miri, ignore = "very many sums, without any unsafe code")]
    fn sums_and_maxima_are_exact_at_every_burden() {
        let mut seed = 7;
        let (mut sums, mut given_up) = (0, 0);
        for _ in 0..20_000 {
            let mut some = |most| {
                let mut all = Envelope::path(dice(&mut seed, 60), dice(&mut seed, 9) as u32);
                for _ in 0..dice(&mut seed, most) {
                    let one = Envelope::path(dice(&mut seed, 60), dice(&mut seed, 9) as u32);
                    let mut more = all;
                    all = more.or(&one).map_or(all, |()| more);
                }
                all
            };
            let (a, b) = (some(9), some(9));
            for sum in [true, false] {
                let mut result = a;
                let exact = if sum { result.then(&b) } else { result.or(&b) };
                if exact.is_none() {
                    given_up += 1;
                    continue;
                };
                sums += 1;
                for burden in [0, 1, 2, 3, 5, 8, 13, 40, 1000] {
                    let (x, y) = (at(&a, burden), at(&b, burden));
                    let expected = if sum { x + y } else { x.max(y) };
                    assert_eq!(at(&result, burden), expected, "{a:?} {b:?} {sum} {burden}");
                }
                let corners = result.corners();
                assert!(
                    corners
                        .windows(2)
                        .all(|w| w[0].0 > w[1].0 && w[0].1 < w[1].1)
                );
                assert!(
                    corners.windows(3).all(|w| bends(w[0], w[1], w[2])),
                    "{result:?}"
                );
            }
        }
        assert!(sums > 10_000, "{sums} {given_up}");
    }

    #[test]
    fn a_ninth_corner_is_not_rounded_away() {
        let line = |n: u32| {
            let mut all = Envelope::path(1_000_000, 0);
            for i in 1..n {
                let corner = Envelope::path(1_000_000 - u64::from(i * i), i);
                all.or(&corner)?;
            }
            Some(all)
        };
        assert_eq!(line(8).map(|e| e.corners().len()), Some(8));
        assert_eq!(line(9), None);
    }
}
