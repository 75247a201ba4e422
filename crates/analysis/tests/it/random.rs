//! Thousands of random programs under random schedules, measured by the analyses and by a slow,
//! obvious second implementation. `WORKSPAN_CASES` sets their number.

mod busy;
mod causes;
mod clock;
mod compare;
pub mod dice;
mod faster;
mod loops;
pub mod run;
mod running;
pub mod simulate;
mod slow;
mod statistics;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use compare::{check, properties};
use dice::Dice;
use run::Run;
use simulate::simulate;
use slow::{Measure, Slow};
use workspan_analysis::causes::Cause;

fn cases(default: u64) -> u64 {
    std::env::var("WORKSPAN_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

fn each_case(default: u64, mut f: impl FnMut(u64, &mut Dice)) {
    for seed in 0..cases(default) {
        let mut dice = Dice::new(seed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(seed, &mut dice))) {
            eprintln!("in case {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn same_as_the_slow_implementation() {
    each_case(6000, |_, dice| {
        let run = simulate(dice);
        check(&run, dice);
    });
}

#[test]
fn properties_hold() {
    each_case(2000, |seed, _| {
        let mut dice = Dice::new(seed + 1_000_000);
        let run = simulate(&mut dice);
        properties(&run, &mut dice);
    });
}

/// Threads that run without pauses: their time is swept in a few long intervals, which the slow
/// implementation does not have.
#[test]
fn stretches_without_a_free_worker() {
    let mut long = 0;
    each_case(40, |seed, _| {
        let mut dice = Dice::new(seed + 2_000_000);
        let run = busy::busy(&mut dice);
        check(&run, &mut dice);
        let (pauses, strands) = pauses(&run);
        long += usize::from(32 * pauses < strands);
    });
    assert!(long > 10, "only {long} runs have few pauses");
}

/// Number of times at which a thread stops running strands for a while, and number of strands.
fn pauses(run: &Run) -> (usize, usize) {
    let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
    let strands = &dag.strands;
    let takes_time = |s: &usize| strands.start[*s] < strands.end[*s];
    let mut pauses = run.threads;
    for thread in 0..run.threads as u32 {
        let of_thread = (0..strands.len()).filter(|&s| strands.thread[s] == thread);
        let times: Vec<_> = of_thread
            .filter(takes_time)
            .map(|s| (strands.start[s], strands.end[s]))
            .collect();
        pauses += times
            .windows(2)
            .filter(|pair| pair[0].1 < pair[1].0)
            .count();
    }
    (pauses, strands.len())
}

#[test]
fn loops_of_creates() {
    let mut seen = BTreeSet::new();
    each_case(1000, |_, dice| {
        let text = loops::loop_of_creates(dice);
        let causes = loops::check_loop(&text);
        let lost = Cause::ALL
            .iter()
            .filter(|&&c| causes.by_cause[c as usize] > 0);
        seen.extend(lost.map(|c| c.id()));
    });
    for cause in [
        Cause::SpawnLoop,
        Cause::GrainFine,
        Cause::GrainCoarse,
        Cause::SlowThief,
    ] {
        assert!(seen.contains(cause.id()), "{} never occurs", cause.id());
    }
}

/// Checks the generator: everything in the model occurs in some case.
#[test]
fn everything_occurs() {
    let mut seen = BTreeSet::new();
    for seed in 0..500 {
        let run = simulate(&mut Dice::new(seed));
        seen.insert(format!("workers {}", run.workers));
        for task in &run.tasks {
            seen.insert(format!("{:?}", task.kind));
            for line in &task.lines {
                let debug = format!("{:?}", line.event);
                let plain = |c: &char| c.is_alphanumeric() || *c == '(';
                seen.insert(debug.chars().take_while(plain).collect());
            }
        }
        outcomes(&run, &mut seen);
        if statistics::leapfrogs(&run) > 0 {
            seen.insert("leapfrogs".into());
        }
        lost_to(&run, &mut seen);
    }
    for cause in Cause::ALL {
        // Causes that need loops, a serial run, or data of recordings have tests of their own.
        let elsewhere = matches!(
            cause,
            Cause::SpawnLoop
                | Cause::Stretch
                | Cause::RestrainedStealing
                | Cause::Oversubscribed
                | Cause::OtherThreads
                | Cause::OtherPool
                | Cause::Lock
                | Cause::LockAcrossJoin
                | Cause::LateRank
                | Cause::Channel
                | Cause::Io
                | Cause::Sleep
                | Cause::ThreadStart
        );
        let occurs = seen.contains(&format!("cause {}", cause.id()));
        assert!(elsewhere || occurs, "{} never occurs", cause.id());
    }
    let words = "Root Deferred Inline Detached Begin Create Resume Scope Wait(Children Wait(Scope( Wait(Tasks( \
        Wait(Signals( Yield End Depend Signal( RegionBegin RegionEnd oversubscribed recording blocked descheduled \
        no_work_sched busy_delay steals buried delay_buried entered leapfrogs";
    for word in words.split_whitespace() {
        assert!(
            seen.iter().any(|s| s.starts_with(word)),
            "{word} never occurs: {seen:?}"
        );
    }
    for kind in 0..7 {
        assert!(
            seen.contains(&format!("delay {kind}")),
            "no delay by edge {kind}"
        );
    }
    for workers in 1..=8 {
        assert!(seen.contains(&format!("workers {workers}")));
    }
}

/// The causes of a run's loss.
fn lost_to(run: &Run, seen: &mut BTreeSet<String>) {
    let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
    let report = workspan_analysis::report(&dag, &workspan_analysis::Options::default()).unwrap();
    let causes = Cause::ALL.iter().zip(report.causes.by_cause);
    let lost = causes.filter(|c| c.1 > 0);
    seen.extend(lost.map(|c| format!("cause {}", c.0.id())));
}

/// The outcomes that the measures of a run show.
fn outcomes(run: &Run, seen: &mut BTreeSet<String>) {
    let slow = Slow::new(run);
    let times = slow.times(Measure {
        raw: false,
        count_blocked: false,
        counter: false,
        burden: 0,
    });
    for (name, value) in [
        ("oversubscribed", times.oversubscribed),
        ("recording", times.recording),
        ("blocked", times.blocked),
        ("descheduled", times.descheduled),
        ("no_work_sched", times.no_work_sched),
        ("busy_delay", u128::from(times.busy_delay)),
        ("steals", u128::from(times.steals)),
        ("buried", u128::from(times.buried)),
        ("delay_buried", times.delay_buried),
        ("entered", u128::from(slow.is_entered())),
    ] {
        if value > 0 {
            seen.insert(name.to_owned());
        }
    }
    for (kind, &delay) in times.delay_by_edge.iter().enumerate() {
        if delay > 0 {
            seen.insert(format!("delay {kind}"));
        }
    }
}
