//! `canneal ELEMENTS STEPS SWAPS GRAIN`: simulated annealing of the wire length of a net list on a
//! grid. STEPS temperatures in sequence, in each a loop that creates leaf tasks of GRAIN swaps.
//! Elements are swapped under a lock of each and read without one, so the result depends on the
//! schedule; that every place is still taken once does not.

use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome, unit};

/// A bit of an element's place: it is being swapped.
const LOCKED: usize = 1 << 40;
const WIRES: usize = 4;

struct Netlist {
    side: usize,
    /// By element: its place on the grid.
    places: Vec<AtomicUsize>,
    wires: Vec<[usize; WIRES]>,
}

impl Netlist {
    fn generated(n: usize) -> Self {
        let wire = |i: usize, k: usize| (mixed((WIRES * i + k) as u64) % n as u64) as usize;
        Self {
            side: ((n as f64).sqrt() as usize).max(1),
            places: (0..n).map(AtomicUsize::new).collect(),
            wires: (0..n)
                .map(|i| std::array::from_fn(|k| wire(i, k)))
                .collect(),
        }
    }

    fn place(&self, element: usize) -> usize {
        self.places[element].load(Ordering::Relaxed) & !LOCKED
    }

    fn distance(&self, a: usize, b: usize) -> usize {
        (a % self.side).abs_diff(b % self.side) + (a / self.side).abs_diff(b / self.side)
    }

    /// The length of an element's wires if it were at a place.
    fn length(&self, element: usize, place: usize) -> usize {
        let wires = self.wires[element].iter();
        wires
            .map(|&other| self.distance(place, self.place(other)))
            .sum()
    }

    fn lock(&self, element: usize) -> usize {
        loop {
            let now = self.place(element);
            let locked = self.places[element].compare_exchange_weak(
                now,
                now | LOCKED,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if locked.is_ok() {
                return now;
            }
        }
    }

    fn swap(&self, a: usize, b: usize) {
        let (low, high) = (a.min(b), a.max(b));
        let (of_low, of_high) = (self.lock(low), self.lock(high));
        self.places[low].store(of_high, Ordering::Release);
        self.places[high].store(of_low, Ordering::Release);
    }

    fn total(&self) -> usize {
        (0..self.places.len())
            .map(|i| self.length(i, self.place(i)))
            .sum()
    }

    /// Tries swaps that depend only on step and task. Returns the number made.
    fn anneal(&self, seed: u64, swaps: usize, temperature: f64) -> usize {
        let (n, mut made) = (self.places.len() as u64, 0);
        for i in 0..swaps as u64 {
            let draw = mixed(seed.wrapping_mul(1000).wrapping_add(i));
            let (a, b) = (
                ((draw >> 32) % n) as usize,
                ((draw & 0xffff_ffff) % n) as usize,
            );
            if a == b {
                continue;
            }
            let (place_a, place_b) = (self.place(a), self.place(b));
            let after = self.length(a, place_b) + self.length(b, place_a);
            let before = self.length(a, place_a) + self.length(b, place_b);
            let change = after as f64 - before as f64;
            if change < 0.0 || unit(draw) < (-change / temperature).exp() {
                self.swap(a, b);
                made += 1;
            }
        }
        made
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let (steps, swaps) = (arguments.number(1), arguments.number(2));
    let grain = arguments.number(3).max(1);
    let tasks = swaps.div_ceil(grain);
    let net = Netlist::generated(arguments.number(0).max(4));
    let before = net.total();
    let mut made = vec![0; tasks];
    arguments.timed(|| {
        let mut temperature = net.side as f64;
        for step in 0..steps {
            rayon::scope(|scope| {
                for (i, out) in made.iter_mut().enumerate() {
                    let (seed, count) = ((step * tasks + i) as u64, grain.min(swaps - i * grain));
                    let net = &net;
                    scope.spawn(move |_| *out += net.anneal(seed, count, temperature));
                }
            });
            temperature *= 0.8;
        }
    });
    let n = net.places.len();
    let mut taken = vec![false; n];
    (0..n).for_each(|i| taken[net.place(i)] = true);
    let (permutation, shorter) = (taken.iter().all(|&t| t), net.total() < before);
    outcome(
        permutation && shorter,
        format!("annealed {n} elements, shorter {}", i32::from(shorter)),
    )
}

pub const PROGRAM: Program = Program {
    name: "canneal",
    usage: "[ELEMENTS] [STEPS] [SWAPS] [GRAIN]",
    test: [900, 8, 2000, 100, 0],
    small: [100_000, 150, 15_000, 100, 0],
    large: [2_500_000, 6000, 15_000, 100, 0],
    run,
};
