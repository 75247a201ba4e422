//! `facesim FRAMES SIDE PARTS STEPS`: deforms a cube of masses and springs. A frame: two Newton
//! steps, in each the forces, then STEPS steps of conjugate gradient. Every loop creates one task
//! for each of PARTS parts of the mesh and waits; between the loops the root adds up the parts. A
//! kernel of the same structure: springs instead of tetrahedra.

use crate::program::{Arguments, Outcome, Program, outcome, unit};

/// Share of the squared residual at which a step ends.
const SMALL: f64 = 1e-20;

struct Mesh {
    side: usize,
    parts: usize,
    place: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    residual: Vec<f64>,
}

/// One task for each part of the mesh, which changes its part of each vector; the sum of what the
/// tasks return.
fn each_part<const N: usize>(
    vectors: [&mut [f64]; N],
    parts: usize,
    body: impl Fn(usize, [&mut [f64]; N]) -> f64 + Sync,
) -> f64 {
    let n = vectors[0].len();
    let mut partial = vec![0.0; parts];
    let mut rest = vectors;
    rayon::scope(|scope| {
        for (part, out) in partial.iter_mut().enumerate() {
            let (first, last) = (n * part / parts, n * (part + 1) / parts);
            let halves = rest.map(|vector| vector.split_at_mut(last - first));
            let mut pieces = halves.map(Some);
            rest = std::array::from_fn(|i| match &mut pieces[i] {
                Some((_, after)) => std::mem::take(after),
                None => &mut [],
            });
            let own = pieces.map(|piece| piece.map_or(&mut [][..], |(own, _)| own));
            let body = &body;
            scope.spawn(move |_| *out = body(first, own));
        }
    });
    partial.iter().sum()
}

/// Row `i` of the stiffness matrix times `x`.
fn row(x: &[f64], i: usize, side: usize) -> f64 {
    let plane = side * side;
    let (a, b, c) = (i / plane, i / side % side, i % side);
    let neighbour = |there: bool, j: usize| if there { x[j] } else { 0.0 };
    let mut all = 6.5 * x[i];
    all -= neighbour(a > 0, i.wrapping_sub(plane));
    all -= neighbour(a + 1 < side, i + plane);
    all -= neighbour(b > 0, i.wrapping_sub(side));
    all -= neighbour(b + 1 < side, i + side);
    all -= neighbour(c > 0, i.wrapping_sub(1));
    all -= neighbour(c + 1 < side, i + 1);
    all
}

impl Mesh {
    fn new(side: usize, parts: usize) -> Self {
        let numbers = vec![0.0; side * side * side];
        Self {
            side,
            parts,
            place: numbers.clone(),
            direction: numbers.clone(),
            product: numbers.clone(),
            residual: numbers,
        }
    }

    /// One Newton step towards the frame's load; the squared residual after it.
    fn newton(&mut self, frame: usize, steps: usize) -> f64 {
        let (side, parts, n) = (self.side, self.parts, self.place.len());
        let place = &self.place;
        let changed = [&mut self.residual[..], &mut self.direction[..]];
        let mut before = each_part(changed, parts, |first, [residual, direction]| {
            let mut all = 0.0;
            for (i, (r, d)) in (first..).zip(residual.iter_mut().zip(direction)) {
                *r = unit((frame * n + i) as u64) - row(place, i, side);
                *d = *r;
                all += *r * *r;
            }
            all
        });
        for _ in 0..steps {
            if before <= SMALL {
                break;
            }
            let direction = &self.direction;
            let curvature = each_part([&mut self.product[..]], parts, |first, [product]| {
                let mut all = 0.0;
                for (i, p) in (first..).zip(product) {
                    *p = row(direction, i, side);
                    all += *p * direction[i];
                }
                all
            });
            let length = before / curvature;
            let (direction, product) = (&self.direction, &self.product);
            let changed = [&mut self.place[..], &mut self.residual[..]];
            let after = each_part(changed, parts, |first, [place, residual]| {
                let mut all = 0.0;
                for (i, (x, r)) in (first..).zip(place.iter_mut().zip(residual)) {
                    *x += length * direction[i];
                    *r -= length * product[i];
                    all += *r * *r;
                }
                all
            });
            let turn = after / before;
            before = after;
            let residual = &self.residual;
            each_part([&mut self.direction[..]], parts, |first, [direction]| {
                for (d, r) in direction.iter_mut().zip(&residual[first..]) {
                    *d = r + turn * *d;
                }
                0.0
            });
        }
        before
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let mut mesh = Mesh::new(arguments.number(1).max(2), arguments.number(2).max(1));
    let (frames, steps) = (arguments.number(0), arguments.number(3));
    let left = arguments.timed(|| {
        let mut left = 0.0;
        for frame in 0..frames {
            for _ in 0..2 {
                left = mesh.newton(frame, steps);
            }
        }
        left
    });
    let n = mesh.place.len();
    let mean = mesh.place.iter().sum::<f64>() / n as f64;
    outcome(
        left < 1e-3 * n as f64,
        format!("deformed {n} masses, mean {mean:.5}"),
    )
}

pub const PROGRAM: Program = Program {
    name: "facesim",
    usage: "[FRAMES] [SIDE] [PARTS] [STEPS]",
    test: [2, 10, 4, 6, 0],
    small: [10, 40, 8, 30, 0],
    large: [100, 90, 8, 100, 0],
    run,
};
