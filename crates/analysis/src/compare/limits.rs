//! Limits that a run must keep, alone or against a baseline, and the place to look at when it does
//! not.

use workspan_dag::{NONE, Place, PlaceId};

use crate::blocks::CodeBlock;
use crate::compare::{Comparison, Difference, Noise, Quantity, RunMeasures, Side};
use crate::work_span::speedup_bounds;

/// An amount of worker time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A share of W · elapsed.
    Share(f64),
    /// A time in worker-nanoseconds.
    Time(f64),
}

/// A condition. Shares and growths are fractions: 0.05 is 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Minimum of T1/T∞.
    MinParallelism(f64),
    /// Minimum of T1 / burdened span.
    MinBurdenedParallelism(f64),
    /// Minimum of the lower bound of the speedup (MODEL.md §2) on the given number of workers (the
    /// run's own if `None`).
    MinSpeedupBound(Option<u32>, f64),
    /// Maximum elapsed time, in ns.
    MaxElapsed(f64),
    /// Maximum delay.
    MaxDelay(Amount),
    /// Maximum of both kinds of no-work together.
    MaxNoWork(Amount),
    /// Maximum growth of the elapsed time over the baseline's, as a share.
    MaxRegression(f64),
    /// Maximum growth of the work over the baseline's.
    MaxWorkGrowth(f64),
    /// Maximum growth of the span over the baseline's.
    MaxSpanGrowth(f64),
}

/// What a limit bounds, without the bound itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// The quantity must not be below the bound.
    AtLeast,
    /// The quantity must not be above the bound.
    AtMost,
    /// The quantity's growth over the baseline must not be above the bound.
    Growth(Quantity),
}

impl Limit {
    /// What this limit bounds.
    pub fn kind(self) -> LimitKind {
        match self {
            Limit::MinParallelism(_)
            | Limit::MinBurdenedParallelism(_)
            | Limit::MinSpeedupBound(..) => LimitKind::AtLeast,
            Limit::MaxElapsed(_) | Limit::MaxDelay(_) | Limit::MaxNoWork(_) => LimitKind::AtMost,
            Limit::MaxRegression(_) => LimitKind::Growth(Quantity::Elapsed),
            Limit::MaxWorkGrowth(_) => LimitKind::Growth(Quantity::Work),
            Limit::MaxSpanGrowth(_) => LimitKind::Growth(Quantity::Span),
        }
    }

    /// A stable name: the flag without its dashes.
    pub fn name(self) -> &'static str {
        match self {
            Limit::MinParallelism(_) => "min-parallelism",
            Limit::MinBurdenedParallelism(_) => "min-burdened-parallelism",
            Limit::MinSpeedupBound(..) => "min-speedup-bound",
            Limit::MaxElapsed(_) => "max-elapsed",
            Limit::MaxDelay(_) => "max-delay",
            Limit::MaxNoWork(_) => "max-no-work",
            Limit::MaxRegression(_) => "max-regression",
            Limit::MaxWorkGrowth(_) => "max-work-growth",
            Limit::MaxSpanGrowth(_) => "max-span-growth",
        }
    }

    /// The bound as a number: a ratio, ns, or a fraction.
    pub fn bound(self) -> f64 {
        match self {
            Limit::MinParallelism(v)
            | Limit::MinBurdenedParallelism(v)
            | Limit::MinSpeedupBound(_, v)
            | Limit::MaxElapsed(v)
            | Limit::MaxDelay(Amount::Share(v) | Amount::Time(v))
            | Limit::MaxNoWork(Amount::Share(v) | Amount::Time(v))
            | Limit::MaxRegression(v)
            | Limit::MaxWorkGrowth(v)
            | Limit::MaxSpanGrowth(v) => v,
        }
    }
}

/// The reason why a place is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Most of the critical path is there.
    Critical,
    /// It ran alone for the longest time.
    Alone,
    /// Its tasks were ready for the longest time.
    Ready,
    /// Its critical work grew most.
    CriticalGrowth,
    /// Its work grew most.
    WorkGrowth,
}

/// The place to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Where {
    /// The positions named below.
    pub places: Vec<Place>,
    /// Spawn site of the tasks, an index into `places`.
    pub site: PlaceId,
    /// The code block, if the place is one; its places are indices into `places`.
    pub block: Option<CodeBlock>,
    /// Why it is named.
    pub reason: Reason,
    /// The amount, in ns.
    pub amount: f64,
    /// The total that `amount` is a share of, in ns: the span, the elapsed time, or the base's
    /// value; 0 if there is no such total.
    pub whole: f64,
}

/// A limit and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitResult {
    /// The limit.
    pub limit: Limit,
    /// The measured value, in the limit's unit; the mean over the runs.
    pub measured: f64,
    /// True if the value is beyond the bound; a growth within the noise does not break a limit.
    pub broken: bool,
    /// For a growth beyond the bound: whether it may be noise.
    pub noise: Option<Noise>,
    /// The place to look at, if the limit is broken.
    pub place: Option<Where>,
}

/// Checks the limits of `side`; limits on growth are checked against `base`, and left out without
/// one.
pub fn check(base: Option<&Side>, side: &Side, limits: &[Limit]) -> Vec<LimitResult> {
    let comparison = base.map(|base| super::compare(&[base.clone(), side.clone()]));
    let checked = |&limit: &Limit| match limit.kind() {
        LimitKind::Growth(quantity) => comparison.as_ref().map(|c| growth(c, limit, quantity)),
        kind => Some(own(side, limit, kind)),
    };
    limits.iter().filter_map(checked).collect()
}

fn growth(comparison: &Comparison, limit: Limit, quantity: Quantity) -> LimitResult {
    let difference = comparison
        .quantity(quantity)
        .and_then(|row| row.differences.first().copied());
    let (measured, noise) = match difference {
        None => (0.0, Noise::Unknown),
        // A growth from zero is beyond every bound.
        Some(d) if d.relative.is_none() && d.absolute > 0.0 => (f64::INFINITY, d.noise),
        Some(d) => (d.relative.unwrap_or(0.0), d.noise),
    };
    let beyond = measured > limit.bound();
    let broken = beyond && noise != Noise::Within;
    LimitResult {
        limit,
        measured,
        broken,
        noise: beyond.then_some(noise),
        place: if broken {
            grown(comparison, quantity)
        } else {
            None
        },
    }
}

/// The block whose weight grew most: on the critical path for elapsed and span, anywhere for work.
/// If elapsed time grew but the path did not, the block is searched for in the work.
fn grown(comparison: &Comparison, quantity: Quantity) -> Option<Where> {
    let most = |reason: Reason| {
        let change = |b: &super::RowDifference<CodeBlock>| -> (f64, f64) {
            let (d, values): (Option<&Difference>, _) = match reason {
                Reason::WorkGrowth => (b.work_differences.first(), &b.work),
                _ => (b.critical_differences.first(), &b.critical_work),
            };
            (
                d.map_or(0.0, |d| d.absolute),
                values.first().map_or(0.0, |v| v.mean),
            )
        };
        let rows = comparison.blocks.iter().map(|b| (b, change(b)));
        let (row, (amount, whole)) = rows
            .filter(|(_, (amount, _))| *amount > 0.0)
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        Some(place(
            &comparison.places,
            row.key.site,
            Some(row.key),
            (reason, amount, whole),
        ))
    };
    match quantity {
        Quantity::Work => most(Reason::WorkGrowth),
        Quantity::Span => most(Reason::CriticalGrowth),
        _ => most(Reason::CriticalGrowth).or_else(|| most(Reason::WorkGrowth)),
    }
}

fn own(side: &Side, limit: Limit, kind: LimitKind) -> LimitResult {
    let values = side.runs.iter().map(|run| value(run, limit));
    let measured = values.sum::<f64>() / side.runs.len().max(1) as f64;
    let broken = match kind {
        LimitKind::AtLeast => measured < limit.bound(),
        _ => measured > limit.bound(),
    };
    // The worst run is the one to look into.
    let worst = side.runs.iter().max_by(|a, b| {
        let badness = |r: &RunMeasures| match kind {
            LimitKind::AtLeast => -value(r, limit),
            _ => value(r, limit),
        };
        badness(a).total_cmp(&badness(b))
    });
    LimitResult {
        limit,
        measured,
        broken,
        noise: None,
        place: worst.filter(|_| broken).and_then(|run| look(run, limit)),
    }
}

fn value(run: &RunMeasures, limit: Limit) -> f64 {
    let amount = |worker_ns: f64, amount: Amount| match amount {
        Amount::Time(_) => worker_ns,
        Amount::Share(_) if run.total() > 0.0 => worker_ns / run.total(),
        Amount::Share(_) => 0.0,
    };
    match limit {
        Limit::MinParallelism(_) => run.get(Quantity::Parallelism),
        Limit::MinBurdenedParallelism(_) => run.get(Quantity::BurdenedParallelism),
        Limit::MinSpeedupBound(workers, _) => {
            let (work, span, burdened) = run.work_span;
            let whole = |ns: f64| ns.round() as u128;
            let workers = workers.unwrap_or(run.workers);
            speedup_bounds(whole(work), whole(span), whole(burdened), workers).0
        }
        Limit::MaxElapsed(_) => run.get(Quantity::Elapsed),
        Limit::MaxDelay(limit) => amount(run.get(Quantity::Delay), limit),
        Limit::MaxNoWork(limit) => {
            let both = run.get(Quantity::NoWorkScheduler) + run.get(Quantity::NoWorkProgram);
            amount(both, limit)
        }
        Limit::MaxRegression(_) | Limit::MaxWorkGrowth(_) | Limit::MaxSpanGrowth(_) => 0.0,
    }
}

fn look(run: &RunMeasures, limit: Limit) -> Option<Where> {
    let critical = || {
        let most = run.blocks.iter().filter(|b| b.critical_work > 0.0);
        let block = most.max_by(|a, b| a.critical_work.total_cmp(&b.critical_work))?;
        let why = (Reason::Critical, block.critical_work, run.work_span.1);
        Some(place(&run.places, block.block.site, Some(block.block), why))
    };
    match limit {
        Limit::MaxDelay(_) => {
            let most = run.sites.iter().filter(|s| s.ready > 0.0);
            let site = most.max_by(|a, b| a.ready.total_cmp(&b.ready))?;
            let all: f64 = run.sites.iter().map(|s| s.ready).sum();
            Some(place(
                &run.places,
                site.site,
                None,
                (Reason::Ready, site.ready, all),
            ))
        }
        Limit::MaxNoWork(_) => {
            let Some(&(block, ns)) = run.solo_blocks.first() else {
                return critical();
            };
            let why = (Reason::Alone, ns, run.get(Quantity::Elapsed));
            Some(place(&run.places, block.site, Some(block), why))
        }
        _ => critical(),
    }
}

/// Copies the named positions from those of the run.
fn place(
    places: &[Place],
    site: PlaceId,
    block: Option<CodeBlock>,
    (reason, amount, whole): (Reason, f64, f64),
) -> Where {
    let mut named = Vec::new();
    let mut take = |id: PlaceId| match places.get(id as usize) {
        Some(place) => {
            named.push(place.clone());
            named.len() as PlaceId - 1
        }
        None => NONE,
    };
    // Position 0 is shown as the root, so it must be the root's.
    take(0);
    let mut at = |id: PlaceId| if id == 0 { 0 } else { take(id) };
    let site = at(site);
    let block = block.map(|b| CodeBlock {
        site,
        from: at(b.from),
        to: at(b.to),
        ..b
    });
    Where {
        places: named,
        site,
        block,
        reason,
        amount,
        whole,
    }
}
