//! Measures the cost of a join that is skipped to stay within the overhead budget: Fibonacci
//! numbers with joins that are handed on as in recorded programs, compared with bare joins.

// The code of the stand-in, which is compiled into recorded programs.
#[allow(
    clippy::manual_dangling_ptr,
    reason = "it is compiled by compilers that have no other way"
)]
mod passthrough_join;

use std::cell::Cell;
use std::hint::black_box;
use std::panic::Location;
use std::ptr;
use std::time::Instant;

use self::passthrough_join::{SkippedIn, passthrough_join};

/// A Fibonacci number that takes some 20 µs, and its number of joins.
const SIZE: u32 = 15;
const JOINS: f64 = 986.0;
/// Number of batches of either kind, which alternate.
const BATCHES: u32 = 400;

/// The recorder state of the skipped joins, which is empty here.
struct NoSubtree;

static NOTHING: NoSubtree = NoSubtree;

impl SkippedIn for NoSubtree {
    unsafe fn part<R>(
        _: *const NoSubtree,
        _: &'static Location<'static>,
        run: impl FnOnce() -> R,
    ) -> R {
        run()
    }
}

thread_local! {
    /// The value that a join reads before it is handed on.
    static SKIPPED: Cell<*const NoSubtree> = const { Cell::new(ptr::null()) };
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
    let (bare, skipped_fib) = pool.install(|| {
        SKIPPED.set(&raw const NOTHING);
        let least = (0..BATCHES).fold((f64::MAX, f64::MAX), |least, _| {
            (least.0.min(ns_of(bare)), least.1.min(ns_of(skipped_fib)))
        });
        SKIPPED.set(ptr::null());
        least
    });
    let more = (skipped_fib - bare) / JOINS;
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

fn skipped_fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let skipped = SKIPPED.try_with(Cell::get).unwrap_or(ptr::null());
    let (a, b) = if skipped.is_null() {
        recorded(n)
    } else {
        let here = Location::caller();
        passthrough_join(
            skipped,
            here,
            |_| skipped_fib(n - 1),
            |_| skipped_fib(n - 2),
        )
    };
    a + b
}

/// Takes the place of the stand-in's recorded variant, and is never called.
#[inline(never)]
fn recorded(n: u32) -> (u32, u32) {
    rayon::join(|| skipped_fib(n - 1), || skipped_fib(n - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_count_alike() {
        assert_eq!((bare(SIZE), recorded(SIZE)), (610, (377, 233)));
        SKIPPED.set(&raw const NOTHING);
        assert_eq!(skipped_fib(SIZE), 610);
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
