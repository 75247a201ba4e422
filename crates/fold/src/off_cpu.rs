//! Time off the CPU in the records that are fed.
//!
//! A thread's CPU clock tells how long it did not run between two moments, but not when. Most
//! strands, and the gaps between them, are far shorter than a preemption, so the off-CPU time is
//! placed in the shortest time between two records that can hold it.

use crate::Fold;
use crate::section::Waits;
use workspan_trace::event::Events;

/// An interval in which the thread was off the CPU for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffCpuWindow {
    /// A time at which the thread was not yet off the CPU, in ticks.
    pub from: u64,
    /// A time at which it was back on the CPU, in ticks.
    pub to: u64,
    /// How long it was off the CPU in between, in ticks.
    pub ticks: u64,
}

/// The time between two records.
#[derive(Debug, Clone, Copy)]
struct Gap {
    from: u64,
    to: u64,
    /// Ticks in which the thread was off the CPU.
    off: u64,
}

impl Gap {
    /// How much of a window the gap can hold. A strand that took time keeps some of it.
    fn room(&self, window: &OffCpuWindow) -> u64 {
        let both = self.to.min(window.to);
        let length = both.saturating_sub(self.from.max(window.from));
        let left = (self.to - self.from).saturating_sub(self.off);
        length.min(left.saturating_sub(1))
    }
}

/// Where the thread was off the CPU in the current piece.
#[derive(Debug, Default)]
pub(crate) struct OffCpuGaps {
    /// Windows that have not been placed yet.
    windows: Vec<OffCpuWindow>,
    /// Gaps with off-CPU time: the time of the record that ends the gap, and the ticks off the CPU.
    /// The last gap comes first.
    gaps: Vec<(u64, u64)>,
}

impl OffCpuGaps {
    /// The time of the record that ends the next gap.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.gaps.last().map_or(u64::MAX, |gap| gap.0)
    }

    /// Places the windows in the gaps between these records. The first record's ticks count from
    /// `base`.
    pub(crate) fn find(&mut self, records: &[u8], base: u64) {
        self.gaps.clear();
        let Some(least) = self.windows.iter().map(|w| w.ticks).min() else {
            return;
        };
        // Much shorter gaps get no share of a window.
        let least = (least / WINDOW_PER_NEGLIGIBLE_REST).max(1);
        let mut gaps = Vec::new();
        let mut before = base;
        for (t, _) in Events::new(records, base) {
            if t.saturating_sub(before) >= least {
                gaps.push(Gap {
                    from: before,
                    to: t,
                    off: 0,
                });
            }
            before = t;
        }
        for window in self.windows.drain(..) {
            divide(&window, &mut gaps);
        }
        let some = gaps.iter().rev().filter(|gap| gap.off > 0);
        self.gaps.extend(some.map(|gap| (gap.to, gap.off)));
    }
}

/// Puts a window's time into the shortest gap that can hold all of it. If there is none, puts as
/// much as possible into the longest gap and goes on with the rest.
fn divide(window: &OffCpuWindow, gaps: &mut [Gap]) {
    let from = gaps.partition_point(|gap| gap.to <= window.from);
    let to = gaps.partition_point(|gap| gap.from < window.to).max(from);
    let near = gaps.get_mut(from..to).unwrap_or(&mut []);
    let mut rest = window.ticks;
    // A time that is too long for one gap was several off-CPU intervals.
    for _ in 0..near.len().min(MAX_INTERVALS_PER_WINDOW) {
        let rooms = near
            .iter()
            .enumerate()
            .map(|(i, gap)| (gap.room(window), i));
        let holds = rooms.clone().filter(|&(room, _)| room >= rest).min();
        let Some((room, at)) = holds.or_else(|| rooms.max()).filter(|&(room, _)| room > 0) else {
            return;
        };
        let part = room.min(rest);
        if let Some(gap) = near.get_mut(at) {
            gap.off += part;
        }
        rest -= part;
        if rest <= window.ticks / WINDOW_PER_NEGLIGIBLE_REST {
            return;
        }
    }
}

/// The largest number of gaps that a window is divided over.
const MAX_INTERVALS_PER_WINDOW: usize = 64;
/// A rest smaller than the window's ticks divided by this is dropped.
const WINDOW_PER_NEGLIGIBLE_REST: u64 = 256;

impl Fold {
    /// In the records fed next, the thread was off the CPU in this window. The time off the CPU is
    /// not work and does not lengthen sections; a folded record says how much of it is inside.
    /// Strands that are not folded keep it.
    pub fn off_cpu(&mut self, window: OffCpuWindow) {
        self.off_gaps.windows.push(window);
    }

    /// The next record, at `t`, ends a gap in which the thread was off the CPU.
    #[cold]
    pub(crate) fn take_off(&mut self, t: u64) {
        let mut off = 0u64;
        while let Some((_, ticks)) = self.off_gaps.gaps.pop_if(|gap| gap.0 <= t) {
            off = off.saturating_add(ticks);
        }
        for section in self.sections.since_mut(0) {
            section.paused = section.paused.saturating_add(off);
            section.off = section.off.saturating_add(off);
        }
        if let Some(top) = self.frames.last_mut().filter(|top| top.waits == Waits::No) {
            top.start = top.start.saturating_add(off);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(window: (u64, u64, u64), gaps: &[(u64, u64)]) -> Vec<u64> {
        let (from, to, ticks) = window;
        let mut gaps: Vec<Gap> = gaps
            .iter()
            .map(|&(from, to)| Gap { from, to, off: 0 })
            .collect();
        divide(&OffCpuWindow { from, to, ticks }, &mut gaps);
        gaps.iter().map(|gap| gap.off).collect()
    }

    #[test]
    fn the_shortest_gap_that_holds_an_interval_has_it() {
        let gaps = [(0, 5_000), (5_000, 5_010), (5_010, 6_020), (6_020, 6_030)];
        assert_eq!(divided((0, 7_000, 1_000), &gaps), [0, 0, 1_000, 0]);
        // Only a part of the first gap is in the window.
        assert_eq!(divided((4_500, 7_000, 400), &gaps), [400, 0, 0, 0]);
        // No gap holds all of it, so there were two.
        assert_eq!(divided((0, 7_000, 5_899), &gaps), [4_999, 0, 900, 0]);
        // Time that no gap can hold is dropped.
        assert_eq!(divided((6_020, 7_000, 900), &gaps), [0, 0, 0, 9]);
        assert_eq!(divided((7_000, 8_000, 900), &gaps), [0; 4]);
    }
}
