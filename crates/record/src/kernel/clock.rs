//! Converts between a trace's ticks and the kernel's nanoseconds.

use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, ClockPair, Finished};
use workspan_trace::event::Events;
use workspan_trace::reader::Tolerance;
use workspan_trace::{ClockKind, Trace};

/// Converts `CLOCK_MONOTONIC_RAW` to ticks, from two moments that are as far apart as the trace
/// allows.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    first: ClockPair,
    last: ClockPair,
    /// The last known moment of the process, in nanoseconds.
    pub last_ns: u64,
    /// The process's end in ticks; the largest number if it is not known.
    pub end: u64,
}

impl Clock {
    /// Created from the header, the chunks' bases, the clock pairs and the end.
    pub fn from_trace(trace: &Trace<'_>) -> Self {
        let first = ClockPair {
            ticks: trace.header.start_ticks,
            ns: trace.header.start_ns,
        };
        let mut clock = Self {
            first,
            last: first,
            last_ns: first.ns,
            end: u64::MAX,
        };
        let mut last_ticks = first.ticks;
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            let bodies = || entry::entries(chunk.payload);
            match chunk.kind {
                ChunkKind::Events => {
                    clock.see(ClockPair {
                        ticks: chunk.base_ticks,
                        ns: chunk.base_ns,
                    });
                    // A process that was killed has left no later moment.
                    if !chunk.sealed {
                        let events = Events::new(chunk.payload, chunk.base_ticks);
                        last_ticks = events.map(|(t, _)| t).fold(last_ticks, u64::max);
                    }
                }
                ChunkKind::Clock => bodies()
                    .filter_map(ClockPair::decode)
                    .for_each(|pair| clock.see(pair)),
                ChunkKind::Finished => {
                    for finished in bodies().filter_map(Finished::decode) {
                        clock.see(ClockPair {
                            ticks: finished.ticks,
                            ns: finished.ns,
                        });
                        clock.end = finished.ticks;
                    }
                }
                _ => {}
            }
        }
        let seen = clock.last.ns;
        if trace.header.clock == ClockKind::Nanoseconds {
            clock.last = ClockPair {
                ticks: first.ticks.saturating_add(1),
                ns: first.ns.saturating_add(1),
            };
        }
        clock.last_ns = seen.max(clock.ns(last_ticks.min(clock.end)));
        clock
    }

    /// A clock that has seen two moments.
    #[cfg(test)]
    pub(crate) fn between(first: ClockPair, last: ClockPair) -> Clock {
        Clock {
            first,
            last,
            last_ns: last.ns,
            end: u64::MAX,
        }
    }

    /// The time of a tick, in nanoseconds.
    pub fn ns(&self, ticks: u64) -> u64 {
        let after = ticks.saturating_sub(self.first.ticks);
        let span = self.last.ticks.saturating_sub(self.first.ticks);
        let ns = self.last.ns.saturating_sub(self.first.ns);
        let ns = u128::from(after) * u128::from(ns) / u128::from(span.max(1));
        let ns = u64::try_from(ns).unwrap_or(u64::MAX);
        self.first.ns.saturating_add(ns)
    }

    fn see(&mut self, pair: ClockPair) {
        if pair.ns > self.last.ns {
            self.last = pair;
        }
    }

    /// The tick at a time.
    pub fn ticks(&self, ns: u64) -> u64 {
        match ns.checked_sub(self.first.ns) {
            Some(after) => self.first.ticks.saturating_add(self.length(after)),
            None => self
                .first
                .ticks
                .saturating_sub(self.length(self.first.ns - ns)),
        }
    }

    /// The number of ticks in a length of time; 0 if the trace has only one known moment.
    pub fn length(&self, ns: u64) -> u64 {
        let ticks = self.last.ticks.saturating_sub(self.first.ticks);
        match self.last.ns.saturating_sub(self.first.ns) {
            0 => 0,
            span => u64::try_from(u128::from(ns) * u128::from(ticks) / u128::from(span))
                .unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_moment() {
        let (first, last) = (
            ClockPair {
                ticks: 1000,
                ns: 100,
            },
            ClockPair {
                ticks: 4000,
                ns: 1100,
            },
        );
        let clock = Clock::between(first, last);
        assert_eq!(
            [0, 100, 101, 1100, 2100].map(|ns| clock.ticks(ns)),
            [700, 1000, 1003, 4000, 7000]
        );
        assert_eq!(clock.length(10), 30);
        let one = Clock {
            last: first,
            ..clock
        };
        assert_eq!((one.ticks(u64::MAX), one.length(u64::MAX)), (1000, 0));
    }
}
