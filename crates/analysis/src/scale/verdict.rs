//! Remarks on a measured curve and its band.

use super::{Point, RecordedRun, Scale};

/// Minimum elapsed time in ns at which a run is not mostly the process's start.
const MIN_RUN_NS: u64 = 100_000_000;
/// Allowed excess of a speedup over a bound, as a share: clocks, timers and the start of the
/// process are not in the model.
const BOUND_SLACK: f64 = 0.05;
/// Minimum share of the workers' time that is a sufficient reason.
const MIN_REASON_SHARE: f64 = 0.05;

/// The reason why a program is slower than its DAG allows, as far as the recorded runs show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The same work took this many times as long on more workers: memory bandwidth, caches, clock
    /// rate, contention inside strands.
    Stretch(f64),
    /// The system ran something else for this share of the workers' time.
    Descheduled(f64),
    /// Workers gave up the CPU themselves (I/O, locks) for this share of their time.
    Blocked(f64),
    /// Strands were ready while workers were free, for this share of the workers' time.
    Delay(f64),
    /// No such reason was recorded.
    Unknown,
}

/// A remark on a measured curve.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// The program has the same number of workers whatever is requested.
    Ignores {
        /// The numbers requested.
        asked: Vec<u32>,
        /// The number that it had.
        workers: u32,
    },
    /// The program has another number of workers than requested, though not always the same.
    Differs {
        /// The number requested.
        asked: u32,
        /// The number that it had.
        workers: u32,
    },
    /// The runs on these numbers of workers differ too much to be judged.
    Noisy(Vec<u32>),
    /// Slower than the lower bound.
    Below {
        /// The numbers of workers.
        workers: Vec<u32>,
        /// The reason, as far as it is known.
        reason: Reason,
    },
    /// Faster than the upper bound.
    Above(Vec<u32>),
    /// Everything that could be judged lies between the bounds.
    Inside,
    /// There is nothing to judge: no recorded run, or nothing measured on more than one worker with
    /// as many CPUs.
    Unjudged,
    /// Numbers of workers beyond the CPUs, which the bounds do not cover.
    Crowded(Vec<u32>),
    /// This smaller number of workers is within a hundredth of the best elapsed time, by the
    /// medians.
    Enough(u32),
    /// The fastest run took less than a tenth of a second, in ns.
    Short(u64),
}

/// The position of a point relative to its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Inside,
    Above,
}

fn side(speedup: f64, (lower, upper): (f64, f64)) -> Side {
    if speedup < lower * (1.0 - BOUND_SLACK) {
        Side::Below
    } else if speedup > upper * (1.0 + BOUND_SLACK) {
        Side::Above
    } else {
        Side::Inside
    }
}

/// Median and fastest runs must agree. Disturbances only make a run slower, so the fastest runs
/// show what the program can do; a median on another side shows that they were lucky.
fn judged(point: &Point) -> Option<Result<Side, ()>> {
    let measured = point.measured.as_ref()?;
    let bounds = point.bounds?;
    if point.workers < 2 || point.crowded {
        return None;
    }
    let median = side(measured.speedup?, bounds);
    let best = side(measured.best?, bounds);
    Some(if median == best { Ok(best) } else { Err(()) })
}

pub(super) fn remarks(scale: &Scale) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let ignores = thread_counts(&scale.recorded, &mut remarks);
    let (mut below, mut above, mut noisy) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all, mut inside) = (0, 0);
    for point in &scale.points {
        let Some(side) = judged(point) else {
            continue;
        };
        all += 1;
        match side {
            Ok(Side::Below) => below.push(point.workers),
            Ok(Side::Above) => above.push(point.workers),
            Ok(Side::Inside) => inside += 1,
            Err(()) => noisy.push(point.workers),
        }
    }
    if !below.is_empty() {
        remarks.push(Remark::Below {
            workers: below,
            reason: reason(&scale.recorded),
        });
    }
    if !above.is_empty() {
        remarks.push(Remark::Above(above));
    }
    if !noisy.is_empty() {
        remarks.push(Remark::Noisy(noisy));
    }
    if all == 0 {
        remarks.push(Remark::Unjudged);
    } else if inside == all && !ignores {
        remarks.push(Remark::Inside);
    }
    let measured = || scale.points.iter().filter(|p| p.measured.is_some());
    let crowded: Vec<u32> = measured()
        .filter(|p| p.crowded)
        .map(|p| p.workers)
        .collect();
    if !crowded.is_empty() {
        remarks.push(Remark::Crowded(crowded));
    }
    remarks.extend(enough(scale).map(Remark::Enough));
    let fastest = measured()
        .filter_map(|p| p.measured.as_ref()?.times.first().copied())
        .min();
    remarks.extend(fastest.filter(|&ns| ns < MIN_RUN_NS).map(Remark::Short));
    remarks
}

/// Maximum ratio of a median to the best one that counts as equally good.
const SAME_TIME: f64 = 1.01;

/// The smallest number of workers that is as fast as the best, if larger numbers with a CPU each
/// were measured.
fn enough(scale: &Scale) -> Option<u32> {
    let own_cpus = scale.points.iter().filter(|point| !point.crowded);
    let measured =
        own_cpus.filter_map(|point| Some((point.workers, point.measured.as_ref()?.median())));
    let measured: Vec<(u32, u64)> = measured.collect();
    let best = measured.iter().map(|point| point.1).min()?;
    let enough = measured
        .iter()
        .find(|point| point.1 as f64 <= SAME_TIME * best as f64)?;
    let most = measured.iter().map(|point| point.0).max()?;
    (enough.0 < most).then_some(enough.0)
}

/// Adds remarks if the workers differ from those requested. True if their number is the same
/// whatever was requested.
fn thread_counts(recorded: &[RecordedRun], remarks: &mut Vec<Remark>) -> bool {
    let Some(first) = recorded.first() else {
        return false;
    };
    let same = recorded.iter().all(|r| r.workers == first.workers);
    let asked_for_others = recorded.iter().any(|r| r.asked != first.asked);
    if same && asked_for_others {
        remarks.push(Remark::Ignores {
            asked: recorded.iter().rev().map(|r| r.asked).collect(),
            workers: first.workers,
        });
        return true;
    }
    let other = recorded.iter().find(|r| r.asked != r.workers);
    remarks.extend(other.map(|r| Remark::Differs {
        asked: r.asked,
        workers: r.workers,
    }));
    false
}

/// The reason that takes most of the workers' time. If the same work takes `s` times as long, 1 −
/// 1/s of it is stretch.
fn reason(recorded: &[RecordedRun]) -> Reason {
    let Some(most) = recorded.first() else {
        return Reason::Unknown;
    };
    let least = recorded.last().filter(|r| r.asked < most.asked);
    let stretch = least.map_or(1.0, |l| most.work / l.work.max(1.0));
    let parts = [
        (1.0 - 1.0 / stretch.max(1.0), Reason::Stretch(stretch)),
        (most.descheduled, Reason::Descheduled(most.descheduled)),
        (most.blocked, Reason::Blocked(most.blocked)),
        (most.delay, Reason::Delay(most.delay)),
    ];
    let largest = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    match largest {
        Some((share, reason)) if share > MIN_REASON_SHARE => reason,
        _ => Reason::Unknown,
    }
}
