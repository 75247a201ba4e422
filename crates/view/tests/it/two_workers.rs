//! A recorded trace of two workers, of any length.

use workspan_trace::wire::Kind;

use crate::written::{self, Thread};

/// A run of two workers. The owner joins again and again; at every other join, the thief takes the
/// remaining half.
pub fn trace(joins: u64) -> Vec<u8> {
    let mut threads = <[Thread; 2]>::default();
    let [owner, thief] = &mut threads;
    let mut first = |t, kind, operands: &[u64]| owner.put(t, kind, operands);
    let mut second = |t, kind, operands: &[u64]| thief.put(t, kind, operands);
    first(0, Kind::Worker, &[0, 0]);
    second(0, Kind::Worker, &[0, 1]);
    first(0, Kind::Root, &[]);
    for i in 0..joins {
        let t = 1000 * i;
        first(t + 100, Kind::Join, &[i % 2]);
        if i % 2 == 0 {
            second(t + 150, Kind::Begin, &[0, 1 + 2 * i]);
            second(t + 800, Kind::End, &[]);
            first(t + 400, Kind::End, &[]);
            first(t + 900, Kind::Resume, &[]);
        } else {
            first(t + 400, Kind::End, &[]);
            first(t + 400, Kind::Next, &[]);
            first(t + 900, Kind::EndResume, &[]);
        }
    }
    let end = 1000 * joins;
    first(end, Kind::End, &[]);
    written::trace(&threads, end)
}
