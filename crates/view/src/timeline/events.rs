//! The number of tasks in each thread's queue, and the load of its CPU. They come from the thread's
//! events, or else are computed from the tasks and from the times off the CPU.

use workspan_dag::{Dag, ThreadEvent};

use super::load;
use super::queues;
use super::window::Grid;
use super::{TILE_BINS, Tile};
use crate::run::RunModel;
use crate::run::rows::NO_ROW;

/// Values from the events of each thread, by row and time.
#[derive(Debug)]
pub(super) struct Events {
    pub has_queue: bool,
    pub has_cpu: bool,
    /// For each row, the lengths of the queue, each with the time from which it holds.
    queue: Vec<Vec<(u64, f32)>>,
    /// For each row, the loads of the CPU, each with the time at which it ends. A load is the mean
    /// since the previous entry.
    cpu: Vec<Vec<(u64, f32)>>,
    pub has_attempts: bool,
    pub has_sleeps: bool,
    /// For each row, the times of failed steal attempts.
    failed: Vec<Vec<u64>>,
    /// For each row, the begin and end of each sleep that the runtime reported.
    asleep: Vec<Vec<(u64, u64)>>,
}

impl Events {
    pub(super) fn new(model: &RunModel) -> Events {
        let none = vec![Vec::new(); model.rows.len()];
        let mut events = Events {
            has_queue: false,
            has_cpu: false,
            queue: none.clone(),
            cpu: none,
            has_attempts: false,
            has_sleeps: false,
            failed: vec![Vec::new(); model.rows.len()],
            asleep: vec![Vec::new(); model.rows.len()],
        };
        for &(t, thread, what) in &model.dag.thread_events {
            let row = model.rows.of(thread);
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
                ThreadEvent::StealFailed(_) => events.failed[usize::from(row)].push(t),
                ThreadEvent::Sleep => {
                    let asleep = &mut events.asleep[usize::from(row)];
                    if asleep.last().is_none_or(|last| last.1 <= t) {
                        // A thread that never wakes sleeps to the end.
                        asleep.push((t, model.end.max(t)));
                    }
                }
                ThreadEvent::Wake => {
                    if let Some(last) = events.asleep[usize::from(row)].last_mut() {
                        last.1 = last.1.min(t.max(last.0));
                    }
                }
                _ => {}
            }
        }
        events.has_attempts = events.failed.iter().any(|row| !row.is_empty());
        events.has_sleeps = events.asleep.iter().any(|row| !row.is_empty());
        if !events.has_queue && queues::follow(&model.dag) {
            events.has_queue = true;
            events.queue = queues::of(model);
        }
        if !events.has_cpu && load::follows(&model.dag) {
            events.has_cpu = true;
            events.cpu = load::of(model);
        }
        events
    }

    /// Mean number of tasks in each row's queue, row by row.
    pub(super) fn queue(&self, model: &RunModel, tile: Tile) -> Vec<f32> {
        let grid = grid(model, tile);
        let mut means = Vec::with_capacity(self.queue.len() * grid.bins);
        for row in &self.queue {
            let mut sums = vec![0.0f64; grid.bins];
            let first = row.partition_point(|e| e.0 <= grid.begin()).max(1) - 1;
            for (i, &(t, n)) in row.iter().enumerate().skip(first) {
                if t >= grid.end() {
                    break;
                }
                let until = row.get(i + 1).map_or(model.end, |next| next.0);
                let until = until.min(model.end);
                grid.each(t, until, |bin, a, b| {
                    sums[bin] += f64::from(n) * (b - a) as f64
                });
            }
            means.extend(sums.iter().map(|sum| (sum / tile.bin() as f64) as f32));
        }
        means
    }

    /// Mean load of each row's CPU, row by row; 255 = all of the bin.
    pub(super) fn cpu(&self, model: &RunModel, tile: Tile) -> Vec<u8> {
        let grid = grid(model, tile);
        let mut means = Vec::with_capacity(self.cpu.len() * grid.bins);
        for row in &self.cpu {
            let mut sums = vec![0.0f64; grid.bins];
            let first = row.partition_point(|e| e.0 <= grid.begin());
            for (i, &(t, load)) in row.iter().enumerate().skip(first) {
                let since = match i.checked_sub(1) {
                    Some(before) => row[before].0,
                    None => model.begin,
                };
                if since >= grid.end() {
                    break;
                }
                grid.each(since, t.min(model.end), |bin, a, b| {
                    sums[bin] += f64::from(load) * (b - a) as f64;
                });
            }
            let share = |sum: &f64| (sum * 255.0 / tile.bin() as f64).round() as u8;
            means.extend(sums.iter().map(share));
        }
        means
    }
}

impl Events {
    /// Number of failed steal attempts in each bin, row by row.
    pub(super) fn failed(&self, model: &RunModel, tile: Tile) -> Vec<u16> {
        let grid = grid(model, tile);
        let mut counts = Vec::with_capacity(self.failed.len() * grid.bins);
        for row in &self.failed {
            let mut bins = vec![0u16; grid.bins];
            let first = row.partition_point(|&t| t < grid.begin());
            for &t in row[first..].iter().take_while(|&&t| t < grid.end()) {
                if let Some(count) = grid.bin(t).and_then(|bin| bins.get_mut(bin)) {
                    *count = count.saturating_add(1);
                }
            }
            counts.extend(bins);
        }
        counts
    }

    /// Share of each bin in which the thread slept, row by row; 255 = all of the bin.
    pub(super) fn asleep(&self, model: &RunModel, tile: Tile) -> Vec<u8> {
        let grid = grid(model, tile);
        let mut shares = Vec::with_capacity(self.asleep.len() * grid.bins);
        for row in &self.asleep {
            let mut sums = vec![0u64; grid.bins];
            let first = row.partition_point(|sleep| sleep.1 <= grid.begin());
            for &(from, to) in row[first..].iter().take_while(|s| s.0 < grid.end()) {
                grid.each(from, to, |bin, a, b| sums[bin] += b - a);
            }
            let share = |sum: &u64| (sum * 255 / tile.bin().max(1)).min(255) as u8;
            shares.extend(sums.iter().map(share));
        }
        shares
    }
}

/// Whether the runtime reported failed steal attempts, and whether it reported sleep.
pub(crate) fn told(dag: &Dag) -> (bool, bool) {
    let any = |is: fn(&ThreadEvent) -> bool| dag.thread_events.iter().any(|e| is(&e.2));
    (
        any(|event| matches!(event, ThreadEvent::StealFailed(_))),
        any(|event| matches!(event, ThreadEvent::Sleep)),
    )
}

/// Whether the load of the CPU is known, and whether the length of queues is known.
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

fn grid(model: &RunModel, tile: Tile) -> Grid {
    Grid {
        origin: model.begin,
        level: tile.level,
        first: tile.index * TILE_BINS,
        bins: TILE_BINS as usize,
    }
}
