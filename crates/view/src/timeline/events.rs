//! Tasks in each thread's queue and load of its CPU: as the thread told, else as follows from the
//! tasks and from the times off the CPU.

use workspan_dag::{Dag, ThreadEvent};

use super::load;
use super::queues;
use super::window::Grid;
use super::{TILE_BINS, Tile};
use crate::run::Picture;
use crate::run::rows::NO_ROW;

/// Samples by row and time.
#[derive(Debug)]
pub(super) struct Events {
    pub has_queue: bool,
    pub has_cpu: bool,
    /// From when on, how many.
    queue: Vec<Vec<(u64, f32)>>,
    /// Until when, how much since the one before.
    cpu: Vec<Vec<(u64, f32)>>,
}

impl Events {
    pub(super) fn new(picture: &Picture) -> Events {
        let none = vec![Vec::new(); picture.rows.len()];
        let mut events = Events {
            has_queue: false,
            has_cpu: false,
            queue: none.clone(),
            cpu: none,
        };
        for &(t, thread, what) in &picture.dag.thread_events {
            let row = picture.rows.of(thread);
            if row == NO_ROW {
                continue;
            }
            match what {
                ThreadEvent::Queue(n) => {
                    events.has_queue = true;
                    events.queue[usize::from(row)].push((t, n as f32));
                }
                ThreadEvent::Cpu(load) if load.is_finite() => {
                    events.has_cpu = true;
                    events.cpu[usize::from(row)].push((t, load.clamp(0.0, 1.0) as f32));
                }
                _ => {}
            }
        }
        if !events.has_queue && queues::follow(&picture.dag) {
            events.has_queue = true;
            events.queue = queues::of(picture);
        }
        if !events.has_cpu && load::follows(&picture.dag) {
            events.has_cpu = true;
            events.cpu = load::of(picture);
        }
        events
    }

    /// Mean number of tasks in each row's queue, row by row.
    pub(super) fn queue(&self, picture: &Picture, tile: Tile) -> Vec<f32> {
        let grid = grid(picture, tile);
        let mut means = Vec::with_capacity(self.queue.len() * grid.bins);
        for row in &self.queue {
            let mut sums = vec![0.0f64; grid.bins];
            let first = row.partition_point(|e| e.0 <= grid.begin()).max(1) - 1;
            for (i, &(t, n)) in row.iter().enumerate().skip(first) {
                if t >= grid.end() {
                    break;
                }
                let until = row.get(i + 1).map_or(picture.end, |next| next.0);
                let until = until.min(picture.end);
                grid.each(t, until, |bin, a, b| {
                    sums[bin] += f64::from(n) * (b - a) as f64
                });
            }
            means.extend(sums.iter().map(|sum| (sum / tile.bin() as f64) as f32));
        }
        means
    }

    /// Mean load of each row's CPU, row by row; 255 = all of the bin.
    pub(super) fn cpu(&self, picture: &Picture, tile: Tile) -> Vec<u8> {
        let grid = grid(picture, tile);
        let mut means = Vec::with_capacity(self.cpu.len() * grid.bins);
        for row in &self.cpu {
            let mut sums = vec![0.0f64; grid.bins];
            let first = row.partition_point(|e| e.0 <= grid.begin());
            for (i, &(t, load)) in row.iter().enumerate().skip(first) {
                let since = match i.checked_sub(1) {
                    Some(before) => row[before].0,
                    None => picture.begin,
                };
                if since >= grid.end() {
                    break;
                }
                grid.each(since, t.min(picture.end), |bin, a, b| {
                    sums[bin] += f64::from(load) * (b - a) as f64;
                });
            }
            let share = |sum: &f64| (sum * 255.0 / tile.bin() as f64).round() as u8;
            means.extend(sums.iter().map(share));
        }
        means
    }
}

/// Whether there is something to say of CPU load, and of queues.
pub(crate) fn known(dag: &Dag) -> (bool, bool) {
    let mut known = (load::follows(dag), queues::follow(dag));
    for (_, _, event) in &dag.thread_events {
        if known == (true, true) {
            break;
        }
        known.0 |= matches!(event, ThreadEvent::Cpu(load) if load.is_finite());
        known.1 |= matches!(event, ThreadEvent::Queue(_));
    }
    known
}

fn grid(picture: &Picture, tile: Tile) -> Grid {
    Grid {
        origin: picture.begin,
        level: tile.level,
        first: tile.index * TILE_BINS,
        bins: TILE_BINS as usize,
    }
}
