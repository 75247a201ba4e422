//! `raytrace WIDTH HEIGHT FRAMES TILE`: draws spheres with shadows and reflections. Frames in
//! sequence; each is split along its longer side, recursively, down to tiles of TILE x TILE pixels.
//! A kernel of the same structure: no hierarchy of volumes.

use std::ops::{Add, Mul, Sub};

use crate::program::{Arguments, Outcome, Program, outcome, unit};

#[derive(Clone, Copy, Default)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

fn vector(x: f64, y: f64, z: f64) -> Vector {
    Vector { x, y, z }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        vector(self.x + b.x, self.y + b.y, self.z + b.z)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        vector(self.x - b.x, self.y - b.y, self.z - b.z)
    }
}

impl Mul<Vector> for f64 {
    type Output = Vector;
    fn mul(self, a: Vector) -> Vector {
        vector(self * a.x, self * a.y, self * a.z)
    }
}

impl Vector {
    fn dot(self, b: Self) -> f64 {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    fn normal(self) -> Self {
        (1.0 / self.dot(self).sqrt()) * self
    }
}

struct Sphere {
    center: Vector,
    radius: f64,
    shine: f64,
}

struct Scene {
    spheres: Vec<Sphere>,
    width: usize,
    height: usize,
    tile: usize,
}

/// Pixels of a frame, as pieces of its rows.
struct Tile<'a> {
    left: usize,
    top: usize,
    width: usize,
    rows: Vec<&'a mut [u8]>,
}

impl<'a> Tile<'a> {
    /// Splits along the longer side.
    fn halves(mut self) -> (Self, Self) {
        if self.width >= self.rows.len() {
            let middle = self.width / 2;
            let rows = self.rows.into_iter().map(|row| row.split_at_mut(middle));
            let (left, right): (Vec<_>, Vec<_>) = rows.unzip();
            let half = |left, width, rows| Self {
                left,
                top: self.top,
                width,
                rows,
            };
            let rest = self.width - middle;
            return (
                half(self.left, middle, left),
                half(self.left + middle, rest, right),
            );
        }
        let middle = self.rows.len() / 2;
        let below = Self {
            rows: self.rows.split_off(middle),
            top: self.top + middle,
            left: self.left,
            width: self.width,
        };
        (self, below)
    }
}

fn spheres() -> Vec<Sphere> {
    (0..40)
        .map(|i| Sphere {
            center: vector(
                6.0 * unit(5 * i) - 3.0,
                4.0 * unit(5 * i + 1) - 2.0,
                4.0 + 6.0 * unit(5 * i + 2),
            ),
            radius: 0.2 + 0.4 * unit(5 * i + 3),
            shine: unit(5 * i + 4),
        })
        .collect()
}

impl Scene {
    /// The nearest sphere that a ray meets, and how far it is.
    fn hit(&self, from: Vector, to: Vector) -> Option<(f64, &Sphere)> {
        let (mut nearest, mut distance) = (None, 1e9);
        for sphere in &self.spheres {
            let away = from - sphere.center;
            let (half, rest) = (away.dot(to), away.dot(away) - sphere.radius * sphere.radius);
            let root = half * half - rest;
            if root <= 0.0 {
                continue;
            }
            let t = -half - root.sqrt();
            if t > 1e-6 && t < distance {
                (nearest, distance) = (Some(sphere), t);
            }
        }
        nearest.map(|sphere| (distance, sphere))
    }

    fn light(&self, from: Vector, to: Vector, bounces: usize) -> f64 {
        let Some((distance, sphere)) = self.hit(from, to) else {
            return 0.3 + 0.2 * to.y;
        };
        let point = from + distance * to;
        let out = (point - sphere.center).normal();
        let sun = vector(-1.0, 2.0, -1.5).normal();
        let above = point + 1e-4 * out;
        let mut value = 0.1;
        if self.hit(above, sun).is_none() {
            value += 0.7 * out.dot(sun).max(0.0);
        }
        if bounces > 0 {
            let mirrored = (to - (2.0 * to.dot(out)) * out).normal();
            value += 0.5 * sphere.shine * self.light(above, mirrored, bounces - 1);
        }
        value
    }

    fn draw(&self, tile: &mut Tile) {
        let (w, half_height) = (self.width as f64, self.height as f64 / 2.0);
        for (y, row) in (tile.top..).zip(&mut tile.rows) {
            for (x, pixel) in (tile.left..).zip(row.iter_mut()) {
                let across = (x as f64 - w / 2.0) / w;
                let to = vector(across, (half_height - y as f64) / w, 1.0).normal();
                let light = self.light(Vector::default(), to, 3);
                *pixel = (light.min(1.0) * 255.0) as u8;
            }
        }
    }

    fn split(&self, mut tile: Tile) {
        if tile.width.max(tile.rows.len()) <= self.tile {
            return self.draw(&mut tile);
        }
        let (first, second) = tile.halves();
        rayon::join(|| self.split(second), || self.split(first));
    }

    fn whole<'a>(&self, pixels: &'a mut [u8]) -> Tile<'a> {
        Tile {
            left: 0,
            top: 0,
            width: self.width,
            rows: pixels.chunks_mut(self.width.max(1)).collect(),
        }
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let (width, height) = (arguments.number(0), arguments.number(1));
    let scene = Scene {
        spheres: spheres(),
        width,
        height,
        tile: arguments.number(3).max(1),
    };
    let mut pixels = vec![0; width * height];
    arguments.timed(|| {
        for _ in 0..arguments.number(2) {
            scene.split(scene.whole(&mut pixels));
        }
    });
    let mut correct = true;
    if arguments.check() {
        let mut again = vec![0; width * height];
        scene.draw(&mut scene.whole(&mut again));
        correct = again == pixels;
    }
    let sum: u64 = pixels.iter().copied().map(u64::from).sum();
    outcome(
        correct,
        format!("drew {width} x {height} pixels, sum {sum}"),
    )
}

pub const PROGRAM: Program = Program {
    name: "raytrace",
    usage: "[WIDTH] [HEIGHT] [FRAMES] [TILE]",
    test: [64, 40, 2, 8, 0],
    small: [480, 270, 8, 8, 0],
    large: [1920, 1080, 200, 8, 0],
    run,
};
