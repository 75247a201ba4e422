//! `fluidanimate STEPS PARTICLES BLOCKS GRAIN`: smoothed particles in a box, BLOCKS x BLOCKS
//! blocks. A step: six loops over the blocks, halved into tasks: keep, gather the block's
//! particles, densities, forces, walls, move. A block reads its neighbours and writes itself, so no
//! lock is needed where the original has one for each cell.

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, unit};

/// A simulated second's share that a step takes.
const STEP: f64 = 0.002;

#[derive(Clone, Copy, Default)]
struct Vector {
    x: f64,
    y: f64,
}

/// The particles of a block; what is of one particle has the same index in each list.
#[derive(Clone, Default)]
struct Block {
    velocities: Vec<Vector>,
    densities: Vec<f64>,
    forces: Vec<Vector>,
}

/// Places are separate from the rest, as neighbours read them while the rest is written.
type Places = Vec<Vector>;

struct Fluid {
    blocks: usize,
    grain: usize,
    places: Vec<Places>,
    now: Vec<Block>,
    /// Places and velocities before they were gathered anew.
    before: Vec<(Places, Vec<Vector>)>,
}

fn home(p: Vector, blocks: usize) -> usize {
    let index = |x: f64| ((x * blocks as f64) as usize).min(blocks - 1);
    index(p.y) * blocks + index(p.x)
}

/// The block and those around it, in order.
fn neighbours(block: usize, blocks: usize) -> impl Iterator<Item = usize> {
    let around = move |i: usize| i.saturating_sub(1)..=(i + 1).min(blocks - 1);
    around(block / blocks).flat_map(move |i| around(block % blocks).map(move |j| i * blocks + j))
}

impl Fluid {
    fn new(count: usize, blocks: usize, grain: usize) -> Self {
        let mut fluid = Self {
            blocks,
            grain,
            places: vec![Places::new(); blocks * blocks],
            now: vec![Block::default(); blocks * blocks],
            before: vec![(Places::new(), Vec::new()); blocks * blocks],
        };
        for i in 0..count as u64 {
            // The lower left quarter is full: a breaking dam.
            let place = Vector {
                x: 0.5 * unit(2 * i),
                y: 0.5 * unit(2 * i + 1),
            };
            let home = home(place, blocks);
            fluid.places[home].push(place);
            fluid.now[home].velocities.push(Vector::default());
        }
        fluid
    }

    fn step(&mut self) {
        self.keep();
        self.gather();
        self.densities();
        self.forces();
        self.walls();
        self.advance();
    }

    fn keep(&mut self) {
        let (places, now) = (&self.places, &self.now);
        pfor_mut(&mut self.before, 1, 0, self.grain, &|first, before| {
            for (i, before) in (first..).zip(before) {
                before.0.clone_from(&places[i]);
                before.1.clone_from(&now[i].velocities);
            }
        });
    }

    fn gather(&mut self) {
        let (blocks, before) = (self.blocks, &self.before);
        let mut all: Vec<_> = self.places.iter_mut().zip(&mut self.now).collect();
        pfor_mut(&mut all, 1, 0, self.grain, &|first, all| {
            for (block, (places, now)) in (first..).zip(all) {
                places.clear();
                now.velocities.clear();
                for other in neighbours(block, blocks) {
                    let (other_places, velocities) = &before[other];
                    for (&place, &velocity) in other_places.iter().zip(velocities) {
                        if home(place, blocks) == block {
                            places.push(place);
                            now.velocities.push(velocity);
                        }
                    }
                }
            }
        });
    }

    fn densities(&mut self) {
        let (blocks, places) = (self.blocks, &self.places);
        let reach = 1.0 / blocks as f64;
        let density = |block: usize, p: Vector| {
            let mut sum = 0.0;
            for q in neighbours(block, blocks).flat_map(|other| &places[other]) {
                let (x, y) = (p.x - q.x, p.y - q.y);
                let near = reach * reach - x * x - y * y;
                if near > 0.0 {
                    sum += near * near * near;
                }
            }
            sum / reach.powf(6.0)
        };
        pfor_mut(&mut self.now, 1, 0, self.grain, &|first, now| {
            for (block, now) in (first..).zip(now) {
                now.densities.clear();
                let own = places[block].iter().map(|&p| density(block, p));
                now.densities.extend(own);
            }
        });
    }

    fn forces(&mut self) {
        let (blocks, places) = (self.blocks, &self.places);
        let reach = 1.0 / blocks as f64;
        let force = |block: usize, p: Vector| {
            let mut force = Vector { x: 0.0, y: -1.0 };
            for q in neighbours(block, blocks).flat_map(|other| &places[other]) {
                let (x, y) = (p.x - q.x, p.y - q.y);
                let r = (x * x + y * y).sqrt();
                if r > 1e-9 && r < reach {
                    let push = 0.5 * (1.0 - r / reach) * (1.0 - r / reach) / r;
                    force.x += push * x;
                    force.y += push * y;
                }
            }
            force
        };
        pfor_mut(&mut self.now, 1, 0, self.grain, &|first, now| {
            for (block, now) in (first..).zip(now) {
                now.forces.clear();
                now.forces
                    .extend(places[block].iter().map(|&p| force(block, p)));
            }
        });
    }

    fn walls(&mut self) {
        let places = &self.places;
        let bounced = |place: f64, v: f64| {
            let out = (place < 0.01 && v < 0.0) || (place > 0.99 && v > 0.0);
            if out { -0.5 * v } else { v }
        };
        pfor_mut(&mut self.now, 1, 0, self.grain, &|first, now| {
            for (places, now) in places[first..].iter().zip(now) {
                for (p, v) in places.iter().zip(&mut now.velocities) {
                    v.x = bounced(p.x, v.x);
                    v.y = bounced(p.y, v.y);
                }
            }
        });
    }

    fn advance(&mut self) {
        // At most half a block, so that gathering from neighbours finds every particle.
        let most = 0.5 / self.blocks as f64 / STEP;
        let mut all: Vec<_> = self.places.iter_mut().zip(&mut self.now).collect();
        pfor_mut(&mut all, 1, 0, self.grain, &|_, all| {
            for (places, now) in all {
                let moving = places.iter_mut().zip(&mut now.velocities);
                for ((p, v), force) in moving.zip(&now.forces) {
                    v.x = (v.x + STEP * force.x).clamp(-most, most);
                    v.y = (v.y + STEP * force.y).clamp(-most, most);
                    p.x = (p.x + STEP * v.x).clamp(0.0, 0.999_999);
                    p.y = (p.y + STEP * v.y).clamp(0.0, 0.999_999);
                }
            }
        });
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let count = arguments.number(1);
    let mut fluid = Fluid::new(count, arguments.number(2).max(1), arguments.number(3));
    arguments.timed(|| (0..arguments.number(0)).for_each(|_| fluid.step()));
    let found: usize = fluid.places.iter().map(Vec::len).sum();
    let all = found.max(1) as f64;
    let height = fluid.places.iter().flatten().map(|p| p.y).sum::<f64>() / all;
    let densities = fluid.now.iter().flat_map(|block| &block.densities);
    let density = densities.sum::<f64>() / all;
    outcome(
        found == count && height < 0.6,
        format!("moved {found} particles, mean height {height:.5}, density {density:.4}"),
    )
}

pub const PROGRAM: Program = Program {
    name: "fluidanimate",
    usage: "[STEPS] [PARTICLES] [BLOCKS] [GRAIN]",
    test: [3, 600, 8, 1, 0],
    small: [15, 10_000, 32, 1, 0],
    large: [500, 500_000, 128, 1, 0],
    run,
};
