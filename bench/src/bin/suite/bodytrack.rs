//! `bodytrack FRAMES PARTICLES SIDE GRAIN --overlap no|yes`: follows a body through images with a
//! particle filter. A frame: read (serial), process (five loops of tasks: edges, blur across, blur
//! along, weights, new particles), write (serial). With `--overlap yes` three tasks a step: process
//! frame t, write t-1, read t+1. A kernel of the same phases: the body is a spot.

use workspan_bench::numbers::mixed_float;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, unit};

type Image = Vec<f64>;

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

/// The place of the spot.
fn truth(frame: usize) -> Point {
    let t = 0.1 * frame as f64;
    Point {
        x: 0.5 + 0.3 * t.sin(),
        y: 0.5 + 0.3 * (1.5 * t).sin(),
    }
}

/// A pixel's place relative to a point.
fn away(i: usize, side: usize, from: Point) -> Point {
    let s = side as f64;
    Point {
        x: (i % side) as f64 / s - from.x,
        y: (i / side) as f64 / s - from.y,
    }
}

fn read(frame: usize, side: usize, image: &mut Image) {
    let spot = truth(frame);
    image.clear();
    image.extend((0..side * side).map(|i| {
        let Point { x, y } = away(i, side, spot);
        let bright = if x * x + y * y < 0.01 { 1.0 } else { 0.0 };
        bright + 0.2 * unit((frame * side * side + i) as u64)
    }));
}

/// Draws the pose into the image; the sum of the image represents the file.
fn written(image: &mut [f64], pose: Point, side: usize) -> f64 {
    let mut sum = 0.0;
    for (i, pixel) in image.iter_mut().enumerate() {
        let Point { x, y } = away(i, side, pose);
        if x.abs() < 0.01 || y.abs() < 0.01 {
            *pixel = 1.0;
        }
        sum += *pixel;
    }
    sum
}

/// A pixel with its neighbours `step` before and after; `place` is its place among them.
fn blurred(from: &[f64], i: usize, step: usize, place: usize, side: usize) -> f64 {
    let before = if place > 0 { i - step } else { i };
    let after = if place + 1 < side { i + step } else { i };
    (2.0 * from[i] + from[before] + from[after]) / 4.0
}

struct Tracker {
    side: usize,
    grain: usize,
    edges: Image,
    across: Image,
    blurred: Image,
    particles: Vec<Point>,
    next: Vec<Point>,
    weights: Vec<f64>,
}

impl Tracker {
    fn new(side: usize, grain: usize, count: usize) -> Self {
        let (image, particles) = (
            vec![0.0; side * side],
            vec![Point { x: 0.5, y: 0.5 }; count],
        );
        Self {
            side,
            grain,
            edges: image.clone(),
            across: image.clone(),
            blurred: image,
            next: particles.clone(),
            particles,
            weights: vec![0.0; count],
        }
    }

    /// One loop over the rows of an image.
    fn rows(&self, out: &mut [f64], pixel: impl Fn(usize) -> f64 + Sync) {
        let side = self.side;
        pfor_mut(out, side, 0, self.grain, &|first, out| {
            for (i, out) in (first * side..).zip(out) {
                *out = pixel(i);
            }
        });
    }

    /// The pose of a frame.
    fn process(&mut self, image: &[f64], frame: usize) -> Point {
        let (side, count) = (self.side, self.particles.len());
        let mut edges = std::mem::take(&mut self.edges);
        self.rows(&mut edges, |i| if image[i] > 0.6 { 1.0 } else { 0.0 });
        let mut across = std::mem::take(&mut self.across);
        self.rows(&mut across, |i| blurred(&edges, i, 1, i % side, side));
        let mut along = std::mem::take(&mut self.blurred);
        self.rows(&mut along, |i| blurred(&across, i, side, i / side, side));
        (self.edges, self.across, self.blurred) = (edges, across, along);
        let mut weights = std::mem::take(&mut self.weights);
        pfor_mut(&mut weights, 1, 0, self.grain, &|first, out| {
            for (out, &particle) in out.iter_mut().zip(&self.particles[first..]) {
                *out = self.weight(particle);
            }
        });
        let (mut all, mut pose) = (0.0, Point { x: 0.0, y: 0.0 });
        let mut sums = Vec::new();
        for (weight, particle) in weights.iter().zip(&self.particles) {
            all += weight;
            sums.push(all);
            pose.x += weight * particle.x;
            pose.y += weight * particle.y;
        }
        self.weights = weights;
        let particles = &self.particles;
        pfor_mut(&mut self.next, 1, 0, self.grain, &|first, out| {
            for (i, out) in (first..).zip(out) {
                let drawn = all * (i as f64 + 0.5) / count as f64;
                let k = sums.partition_point(|&sum| sum < drawn).min(count - 1);
                let seed = 2 * (frame * count + i) as u64;
                *out = Point {
                    x: particles[k].x + 0.1 * mixed_float(seed),
                    y: particles[k].y + 0.1 * mixed_float(seed + 1),
                };
            }
        });
        std::mem::swap(&mut self.particles, &mut self.next);
        Point {
            x: pose.x / all,
            y: pose.y / all,
        }
    }

    /// The part of the spot that lies around a point.
    fn weight(&self, p: Point) -> f64 {
        let (side, radius) = (self.side as i64, self.side as i64 / 12);
        let around = |place: f64| {
            let place = (place * side as f64) as i64;
            ((place - radius).max(0)..(place + radius).min(side)).step_by(2)
        };
        let mut sum = 1e-6;
        for i in around(p.y) {
            for j in around(p.x) {
                sum += self.blurred[(i * side + j) as usize];
            }
        }
        sum * sum
    }
}

/// The poses and the sums of the images written.
fn track(mut tracker: Tracker, frames: usize, overlap: bool) -> (Vec<Point>, Vec<f64>) {
    let side = tracker.side;
    let (mut poses, mut sums) = (Vec::new(), Vec::new());
    let (mut before, mut now, mut after) = (Image::new(), Image::new(), Image::new());
    if !overlap {
        for t in 0..frames {
            read(t, side, &mut now);
            let pose = tracker.process(&now, t);
            sums.push(written(&mut now, pose, side));
            poses.push(pose);
        }
        return (poses, sums);
    }
    if frames > 0 {
        read(0, side, &mut now);
    }
    for t in 0..=frames {
        let (mut sum, mut pose) = (None, None);
        rayon::scope(|scope| {
            if let Some(&pose) = poses.last() {
                let (sum, before) = (&mut sum, &mut before);
                scope.spawn(move |_| *sum = Some(written(before, pose, side)));
            }
            if t + 1 < frames {
                let after = &mut after;
                scope.spawn(move |_| read(t + 1, side, after));
            }
            if t < frames {
                pose = Some(tracker.process(&now, t));
            }
        });
        sums.extend(sum);
        poses.extend(pose);
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut after);
    }
    (poses, sums)
}

fn run(arguments: &Arguments) -> Outcome {
    let (frames, side) = (arguments.number(0), arguments.number(2).max(12));
    let overlap = arguments.option("overlap", "no") == "yes";
    let tracker = Tracker::new(side, arguments.number(3), arguments.number(1).max(1));
    let (poses, sums) = arguments.timed(|| track(tracker, frames, overlap));
    let correct = poses.iter().enumerate().skip(6).all(|(t, pose)| {
        let truth = truth(t);
        (pose.x - truth.x).abs() < 0.2 && (pose.y - truth.y).abs() < 0.2
    });
    let mean = poses.iter().map(|pose| pose.x).sum::<f64>() / frames.max(1) as f64;
    outcome(
        correct,
        format!(
            "tracked {frames} frames, mean {mean:.4}, sum {:.1}",
            sums.iter().sum::<f64>()
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "bodytrack",
    usage: "[FRAMES] [PARTICLES] [SIDE] [GRAIN] [--overlap no|yes]",
    test: [10, 200, 48, 16, 0],
    small: [200, 2000, 240, 16, 0],
    large: [261, 4000, 640, 16, 0],
    run,
};
