//! Measures the cost of a join that is skipped to stay within the overhead budget: Fibonacci
//! numbers with joins that are handed on as in recorded programs, compared with bare joins.

// The code of the stand-in, which is compiled into recorded programs.
#[allow(
    clippy::manual_dangling_ptr,
    reason = "it is compiled by compilers that have no other way"
)]
mod handed_on;

use std::cell::Cell;
use std::hint::black_box;
use std::panic::Location;
use std::ptr;
use std::time::Instant;

use self::handed_on::{LeftOut, handed_on};

/// A Fibonacci number that takes some 20 µs, and its number of joins.
const SIZE: u32 = 15;
const JOINS: f64 = 986.0;
/// Number of batches of either kind, which alternate.
const BATCHES: u32 = 400;

/// The recorder state of the skipped joins, which is empty here.
struct Nothing;

static NOTHING: Nothing = Nothing;

impl LeftOut for Nothing {
    unsafe fn part<R>(
        _: *const Nothing,
        _: &'static Location<'static>,
        run: impl FnOnce() -> R,
    ) -> R {
        run()
    }
}

thread_local! {
    /// The value that a join reads before it is handed on.
    static SKIPPED: Cell<*const Nothing> = const { Cell::new(ptr::null()) };
}

/// Costs of joins that are not stolen, in nanoseconds, each from the fastest batch of its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joins {
    /// Cost of a bare join.
    pub bare_ns: f64,
    /// Additional cost of a skipped join; `None` if it can't be distinguished from zero.
    pub left_out_ns: Option<f64>,
}

/// `None` without a pool.
pub(crate) fn joins_of_rayon() -> Option<Joins> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .ok()?;
    let (bare, left_out) = pool.install(|| {
        SKIPPED.set(&raw const NOTHING);
        let least = (0..BATCHES).fold((f64::MAX, f64::MAX), |least, _| {
            (least.0.min(ns_of(bare)), least.1.min(ns_of(left_out)))
        });
        SKIPPED.set(ptr::null());
        least
    });
    let more = (left_out - bare) / JOINS;
    Some(Joins {
        bare_ns: bare / JOINS,
        left_out_ns: (more > 0.0).then_some(more),
    })
}

fn ns_of(fib: fn(u32) -> u32) -> f64 {
    let begun = Instant::now();
    black_box(fib(black_box(SIZE)));
    begun.elapsed().as_nanos() as f64
}

fn bare(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| bare(n - 1), || bare(n - 2));
    a + b
}

fn left_out(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let skipped = SKIPPED.try_with(Cell::get).unwrap_or(ptr::null());
    let (a, b) = if skipped.is_null() {
        recorded(n)
    } else {
        let here = Location::caller();
        handed_on(skipped, here, |_| left_out(n - 1), |_| left_out(n - 2))
    };
    a + b
}

/// Takes the place of the stand-in's recorded variant, and is never called.
#[inline(never)]
fn recorded(n: u32) -> (u32, u32) {
    rayon::join(|| left_out(n - 1), || left_out(n - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_count_alike() {
        assert_eq!((bare(SIZE), recorded(SIZE)), (610, (377, 233)));
        SKIPPED.set(&raw const NOTHING);
        assert_eq!(left_out(SIZE), 610);
        SKIPPED.set(ptr::null());
        fn joins(n: u32) -> u32 {
            if n < 2 {
                0
            } else {
                1 + joins(n - 1) + joins(n - 2)
            }
        }
        assert_eq!(f64::from(joins(SIZE)), JOINS);
    }
}
