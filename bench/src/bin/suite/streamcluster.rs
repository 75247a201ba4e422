//! `streamcluster POINTS BLOCK CENTERS GRAIN PARTS`: clusters a stream of points, BLOCK by BLOCK,
//! around CENTERS centers a block at most. A block: distances to a first center (loop), then local
//! search: candidates one after the other; what opening each would gain is summed in PARTS tasks;
//! when it pays, points move to it (loop). Loops are halved down to GRAIN points.

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, pfor_reduce, unit};

const DIMENSIONS: usize = 16;
type Point = [f64; DIMENSIONS];

/// Points around one of eight places.
fn generated(i: u64) -> Point {
    let place = mixed(i) % 8;
    std::array::from_fn(|k| {
        let k = k as u64;
        unit(place * 100 + k) + 0.1 * unit(i * DIMENSIONS as u64 + k + 100_000)
    })
}

fn distance(a: &Point, b: &Point) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.fold(0.0, |sum, square| sum + square)
}

fn sum(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |sum, number| sum + number)
}

struct Clustering {
    grain: usize,
    parts: usize,
    points: Vec<Point>,
    /// Distance to each point's center.
    costs: Vec<f64>,
    opened: usize,
}

impl Clustering {
    fn total(&self) -> f64 {
        let piece = |a: usize, b: usize| sum(&self.costs[a..b]);
        let n = self.costs.len();
        pfor_reduce(0, n, self.grain, &piece, &|a, b| a + b).unwrap_or(0.0)
    }

    fn assign(&mut self, center: usize, all: bool) {
        let points = &self.points;
        pfor_mut(&mut self.costs, 1, 0, self.grain, &|first, costs| {
            for (cost, point) in costs.iter_mut().zip(&points[first..]) {
                let far = distance(point, &points[center]);
                if all || far < *cost {
                    *cost = far;
                }
            }
        });
    }

    /// The amount by which a candidate would lower the sum of the costs.
    fn gain(&self, candidate: usize) -> f64 {
        let (n, parts) = (self.points.len(), self.parts);
        let mut gains = vec![0.0; parts];
        rayon::scope(|scope| {
            for (part, out) in gains.iter_mut().enumerate() {
                let piece = n * part / parts..n * (part + 1) / parts;
                scope.spawn(move |_| {
                    let center = &self.points[candidate];
                    let own = self.costs[piece.clone()].iter().zip(&self.points[piece]);
                    *out = own.fold(0.0, |sum, (cost, point)| {
                        sum + (cost - distance(point, center)).max(0.0)
                    });
                });
            }
        });
        sum(&gains)
    }

    /// Clusters `points`; the sum of their costs.
    fn block(&mut self, centers: usize) -> f64 {
        let n = self.points.len();
        self.costs.resize(n, 0.0);
        self.assign(0, true);
        self.opened += 1;
        let opening = self.total() / (2 * centers) as f64;
        let mut open = 1;
        for k in 0..3 * centers as u64 {
            if open == centers {
                break;
            }
            let candidate = (mixed(k) % n as u64) as usize;
            if self.gain(candidate) > opening {
                self.assign(candidate, false);
                open += 1;
                self.opened += 1;
            }
        }
        self.total()
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, block) = (arguments.number(0), arguments.number(1).max(1));
    let centers = arguments.number(2).max(1);
    let mut clustering = Clustering {
        grain: arguments.number(3),
        parts: arguments.number(4).max(1),
        points: Vec::new(),
        costs: Vec::new(),
        opened: 0,
    };
    let stream: Vec<Point> = (0..n as u64).map(generated).collect();
    let cost = arguments.timed(|| {
        let mut cost = 0.0;
        for block in stream.chunks(block) {
            // Reading a block of the stream.
            clustering.points.clear();
            clustering.points.extend_from_slice(block);
            cost += clustering.block(centers);
        }
        cost
    });
    let mean = cost / n.max(1) as f64;
    // Points lie within 0.1 of their places in each dimension.
    outcome(
        mean < 2.0,
        format!(
            "clustered {n} points, {} centers, mean cost {mean:.5}",
            clustering.opened
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "streamcluster",
    usage: "[POINTS] [BLOCK] [CENTERS] [GRAIN] [PARTS]",
    test: [1000, 500, 6, 50, 4],
    small: [200_000, 50_000, 40, 50, 8],
    large: [1_000_000, 200_000, 20, 50, 8],
    run,
};
