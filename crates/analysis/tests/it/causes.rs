//! A run for each cause, with known cause, place and ticks, and a repaired variant, which must not
//! report it. Each run is checked again with every site renamed and every time multiplied: the
//! findings must be the same, with multiplied ticks.

use crate::scenario;
use crate::scenario::Run;
use workspan_analysis::causes::{Baseline, Cause, Causes, Finding};
use workspan_analysis::{Options, Report, report, report_against};
use workspan_dag::{Dag, NONE};

fn measured(run: &Run) -> (Dag, Report) {
    let dag = workspan_reader::text::read(run.text().as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let sum: u128 = report.causes.by_cause.iter().sum();
    assert_eq!(sum, report.causes.lost);
    assert_eq!(sum, report.breakdown.lost());
    (dag, report)
}

/// The tested parts of a finding: cause, label of the site, ticks.
fn first(dag: &Dag, causes: &Causes) -> Option<(Cause, String, u128)> {
    let found: &Finding = causes.findings().into_iter().next()?;
    let site = match found.block.site {
        NONE => String::new(),
        site => dag.places[site as usize].label.clone(),
    };
    Some((found.cause, site, found.lost))
}

/// `run` loses `lost` ticks to `cause` at `site` above all, also with other names and in other
/// units.
fn is_found(run: &Run, cause: Cause, site: &str, lost: u128) {
    let (dag, report) = measured(run);
    let found = first(&dag, &report.causes).unwrap_or_else(|| panic!("{cause:?}: nothing found"));
    assert_eq!(
        found,
        (cause, site.to_owned(), lost),
        "{:#?}",
        report.causes
    );
    assert_eq!(
        report.causes.by_cause[cause as usize], lost,
        "{:#?}",
        report.causes
    );
    for factor in [7, 1_000_003] {
        let (dag, report) = measured(&run.renamed().multiplied(factor));
        let (found, at, ticks) = first(&dag, &report.causes).unwrap();
        let renamed = match site {
            "" | "root" => site.to_owned(),
            site => scenario::other_name(site),
        };
        let expected = (cause, renamed, lost * u128::from(factor));
        assert_eq!((found, at, ticks), expected);
    }
}

/// No tick of `run` is lost to `cause`, and no finding names it.
fn is_not_found(run: &Run, cause: Cause) {
    for run in [run.clone(), run.renamed().multiplied(1_000_003)] {
        let (_, report) = measured(&run);
        assert_eq!(
            report.causes.by_cause[cause as usize], 0,
            "{:#?}",
            report.causes
        );
        assert!(report.causes.findings().iter().all(|f| f.cause != cause));
    }
}

/// Two equal halves, then a part of 60 for the root only; then also with that part in two halves.
#[test]
fn serial_strand() {
    let mut run = Run::new(2);
    let t = run.fork(0, 0, "half", &[(0, 100), (1, 100)]);
    run.end(0, 0, t + 60);
    is_found(&run, Cause::SerialStrand, "root", 60);
    let (dag, report) = measured(&run);
    let place = report.causes.findings()[0].block;
    assert_eq!(dag.places[place.from as usize].label, "wait half");
    assert_eq!(report.causes.findings()[0].evidence.alone, Some(60));

    let mut repaired = Run::new(2);
    let t = repaired.fork(0, 0, "half", &[(0, 100), (1, 100)]);
    let t = repaired.fork(0, t, "part", &[(0, 30), (1, 30)]);
    repaired.end(0, 0, t);
    is_not_found(&repaired, Cause::SerialStrand);
}

/// One task creates 40 tasks of 30 ticks, one every 20 ticks, for 3 workers: two would be enough.
/// Then each worker creates its own.
#[test]
fn spawn_loop() {
    let mut run = Run::new(4);
    let mut children = Vec::new();
    for i in 0..40 {
        let child = run.create(0, 0, 20 * (i + 1), "loop");
        children.push((child, 1 + i % 3, 20 * (i + 1)));
    }
    run.wait(0, 0, 820);
    for &(child, w, t) in &children {
        run.task(child, w, t, t + 30);
    }
    run.resume(0, 0, 830);
    run.end(0, 0, 830);
    // 39 turns from create to create. In the first, one child runs; in the others, two run for 10
    // ticks and one for 10.
    let lost = 2 * 20 + 38 * (10 + 2 * 10);
    is_found(&run, Cause::SpawnLoop, "loop", lost);
    let (_, report) = measured(&run);
    let evidence = report.causes.findings()[0].evidence;
    assert_eq!((evidence.tasks, evidence.task_ticks), (Some(40), Some(30)));

    let mut repaired = Run::new(4);
    let mut leaders = Vec::new();
    for w in 0..4 {
        leaders.push((repaired.create(0, 0, 0, "range"), w));
    }
    repaired.wait(0, 0, 0);
    for &(leader, w) in &leaders {
        repaired.begin(leader, w, 0);
        let t = (0..10).fold(0, |t, _| repaired.fork(leader, t, "loop", &[(w, 30)]));
        repaired.end(leader, w, t);
    }
    repaired.resume(0, 0, 300);
    repaired.end(0, 0, 300);
    is_not_found(&repaired, Cause::SpawnLoop);
}

/// 30 tasks of 40 ticks where a steal costs 100: no worker takes one. Then three of 400, which are
/// taken at once.
#[test]
fn grain_fine() {
    let mut run = Run::new(2).burden(100);
    let children: Vec<u64> = (0..30).map(|_| run.create(0, 0, 0, "tiny")).collect();
    run.wait(0, 0, 0);
    for (i, &child) in children.iter().enumerate() {
        run.task(child, 0, 40 * i as u64, 40 * (i as u64 + 1));
    }
    run.resume(0, 0, 1200);
    run.end(0, 0, 1200);
    // While the last ones run, none is left.
    let (dag, report) = measured(&run);
    assert_eq!(
        first(&dag, &report.causes).unwrap(),
        (Cause::GrainFine, "tiny".into(), 1160)
    );
    is_found(&run, Cause::GrainFine, "tiny", 1160);

    let mut repaired = Run::new(2).burden(100);
    let t = repaired.fork(0, 0, "less tiny", &[(0, 600), (1, 600)]);
    repaired.end(0, 0, t);
    is_not_found(&repaired, Cause::GrainFine);
}

/// Four workers with five tasks of 100; then with twenty of 25.
#[test]
fn grain_coarse() {
    let spread = |tasks: u64, length: u64| {
        let mut run = Run::new(4);
        let children: Vec<u64> = (0..tasks).map(|_| run.create(0, 0, 0, "part")).collect();
        run.wait(0, 0, 0);
        for (i, &child) in children.iter().enumerate() {
            let start = i as u64 / 4 * length;
            run.task(child, i as u64 % 4, start, start + length);
        }
        let end = tasks.div_ceil(4) * length;
        run.resume(0, 0, end);
        run.end(0, 0, end);
        run
    };
    is_found(&spread(5, 100), Cause::GrainCoarse, "part", 300);
    let (_, report) = measured(&spread(5, 100));
    let evidence = report.causes.findings()[0].evidence;
    assert_eq!((evidence.tasks, evidence.ticks), (Some(5), 100));
    is_not_found(&spread(20, 25), Cause::GrainCoarse);

    // A chain of dependent tasks is not a matter of their size.
    let mut chain = Run::new(4);
    let children: Vec<u64> = (0..5).map(|_| chain.create(0, 0, 0, "link")).collect();
    for pair in children.windows(2) {
        chain.depend(pair[1], pair[0]);
    }
    chain.wait(0, 0, 0);
    for (i, &child) in children.iter().enumerate() {
        chain.task(child, i as u64 % 4, 100 * i as u64, 100 * (i as u64 + 1));
    }
    chain.resume(0, 0, 500);
    chain.end(0, 0, 500);
    let (dag, report) = measured(&chain);
    let found = first(&dag, &report.causes).unwrap();
    assert_eq!(found, (Cause::SerialStrand, "link".into(), 3 * 400));
}

/// A task is ready for 200 ticks while a worker is free, and a steal costs 5; then for 10 ticks.
#[test]
fn slow_thief() {
    let late = |by: u64| {
        let mut run = Run::new(2).burden(5);
        let child = run.create(0, 0, 0, "late");
        run.wait(0, 0, 400);
        run.task(child, 1, by, 400);
        run.resume(0, 0, 400);
        run.end(0, 0, 400);
        run
    };
    is_found(&late(200), Cause::SlowThief, "late", 200);
    is_not_found(&late(10), Cause::SlowThief);
}

/// A large task is ready for 200 ticks while a worker is free, and the other one locks the queue
/// for small tasks of the same site.
#[test]
fn small_tasks_keep_thieves_from_a_shared_queue() {
    let run_with = |queue: &'static str, length: u64| {
        let mut run = Run::new(2).burden(5).fact("task queue", queue);
        let large = run.create(0, 0, 0, "task");
        let mut t = 0;
        while t < 200 {
            let small = run.create(0, 0, t, "task");
            run.wait_for(0, 0, t, small);
            run.task(small, 0, t, t + length);
            t += length;
            run.resume(0, 0, t);
        }
        run.wait(0, 0, t);
        run.task(large, 1, 200, 230);
        run.resume(0, 0, 230);
        run.end(0, 0, 230);
        run
    };
    is_found(&run_with("shared", 5), Cause::GrainFine, "task", 200);
    is_found(&run_with("by thread", 5), Cause::SlowThief, "task", 200);
    is_found(&run_with("shared", 19), Cause::SlowThief, "task", 200);
}

/// A thread waits in a task for a child that the other thread took, while a task that is not a
/// child of the waiting one is ready. Then it runs the child itself.
#[test]
fn restrained_stealing() {
    let run_with = |may: &'static str, stolen: bool, descends: bool| {
        let mut run = Run::new(2).burden(5).tasks_in_waits(may);
        let waits = run.create(0, 0, 0, "waits");
        run.begin(waits, 1, 0);
        let (parent, t) = if descends { (waits, 5) } else { (0, 5) };
        let kept = run.create(parent, if descends { 1 } else { 0 }, t, "kept");
        let inner = run.create(waits, 1, 10, "inner");
        run.wait_for(waits, 1, 10, inner);
        run.wait(0, 0, 10);
        if stolen {
            run.task(inner, 0, 10, 400);
            run.resume(waits, 1, 400);
            run.end(waits, 1, 410);
            run.task(kept, 1, 410, 500);
        } else {
            run.task(inner, 1, 10, 400);
            run.task(kept, 0, 10, 100);
            run.resume(waits, 1, 400);
            run.end(waits, 1, 500);
        }
        run.resume(0, 0, 500);
        run.end(0, 0, 500);
        run
    };
    // Thread 1 is free from 10 to 400, and thread 0 from 400 to 410, while `kept` is ready.
    let kept = run_with("descendants", true, false);
    is_found(&kept, Cause::RestrainedStealing, "kept", 400);
    let (_, report) = measured(&kept);
    let evidence = report.causes.findings()[0].evidence;
    assert_eq!(
        (evidence.strands, evidence.ticks, evidence.steal_ticks),
        (1, 400, Some(5))
    );
    let allowed = run_with("any", true, false);
    is_found(&allowed, Cause::SlowThief, "kept", 400);
    is_not_found(&allowed, Cause::RestrainedStealing);
    // The waiting thread could have run a child of its own.
    let own = run_with("descendants", true, true);
    is_not_found(&own, Cause::RestrainedStealing);
    is_not_found(
        &run_with("descendants", false, false),
        Cause::RestrainedStealing,
    );
}

/// One half of the work is a task, the other is its creator's own: the longer one ends the phase.
/// If the creator does little meanwhile, the task is a serial part.
#[test]
fn the_other_half_of_a_phase_may_be_its_creators() {
    let halves = |own: u64| {
        let mut run = Run::new(2);
        let half = run.create(0, 0, 0, "half");
        run.task(half, 1, 0, 300);
        run.wait(0, 0, own);
        run.resume(0, 0, 300);
        run.end(0, 0, 300);
        run
    };
    is_found(&halves(200), Cause::GrainCoarse, "half", 100);
    is_found(&halves(150), Cause::GrainCoarse, "half", 150);
    is_not_found(&halves(149), Cause::GrainCoarse);
    is_not_found(&halves(300), Cause::GrainCoarse);
}

/// While the root waits, its thread takes an unrelated long task; then nothing.
#[test]
fn buried_wait() {
    let run_with = |stolen: bool| {
        let mut run = Run::new(2).burden(5);
        let other = run.create(0, 0, 0, "other");
        let own = run.create(0, 0, 0, "own");
        run.wait_for(0, 0, 0, own);
        let inner = if stolen {
            run.begin(own, 1, 0);
            let inner = run.create(own, 1, 10, "inner");
            run.detach(inner);
            run.end(own, 1, 20);
            Some(inner)
        } else {
            run.task(own, 1, 0, 20);
            None
        };
        if let Some(inner) = inner {
            run.task(inner, 0, 10, 120);
            run.task(other, 1, 20, 60);
            run.resume(0, 0, 120);
            run.wait(0, 0, 120);
            run.resume(0, 0, 120);
            run.end(0, 0, 200);
        } else {
            run.resume(0, 0, 20);
            run.wait(0, 0, 100);
            run.task(other, 1, 20, 100);
            run.resume(0, 0, 100);
            run.end(0, 0, 100);
        }
        run
    };
    let (dag, report) = measured(&run_with(true));
    let buried: Vec<_> = report
        .causes
        .places
        .iter()
        .filter(|f| f.cause == Cause::BuriedWait)
        .collect();
    // Ready at 20, below the task until 120; the other worker is free from 60 on.
    assert_eq!(buried.len(), 1);
    assert_eq!(buried[0].lost, 60);
    let above = dag.strands.task[buried[0].evidence.above.unwrap() as usize];
    assert_eq!(
        dag.places[dag.tasks.site[above as usize] as usize].label,
        "inner"
    );
    let (dag, scaled) = measured(&run_with(true).renamed().multiplied(11));
    let again = scaled
        .causes
        .places
        .iter()
        .find(|f| f.cause == Cause::BuriedWait)
        .unwrap();
    assert_eq!(again.lost, 660);
    assert_eq!(dag.strands.task[again.strand as usize], 0);
    is_not_found(&run_with(false), Cause::BuriedWait);
}

/// The runtime's queue holds two tasks: the third create runs its task of 300 ticks at once, while
/// the two of 50 end and two workers are idle. In the second run the queue takes it too.
#[test]
fn bounded_queue() {
    let run_with = |room: bool, yields: bool| {
        let mut run = Run::new(3).burden(5);
        let a = run.create(0, 0, 10, "task");
        let b = run.create(0, 0, 20, "task");
        let after = if room { 30 } else { 330 };
        // A runtime may say that the creator yields to its child.
        let c = run.create_at_once(0, 0, 30, "task", if yields { 30 } else { after });
        if yields {
            run.yield_until(0, 0, 32, after);
        }
        let d = run.create(0, 0, after + 10, "task");
        let e = run.create(0, 0, after + 20, "task");
        run.task(a, 1, 10, 60);
        run.task(b, 2, 20, 70);
        if room {
            run.wait(0, 0, 50);
            run.task(c, 0, 50, 350);
            run.task(d, 1, 60, 350);
            run.task(e, 2, 70, 350);
            run.resume(0, 0, 350);
            run.end(0, 0, 350);
        } else {
            run.task(c, 0, if yields { 32 } else { 30 }, 330);
            run.wait(0, 0, 350);
            run.task(d, 1, 340, 630);
            run.task(e, 2, 350, 630);
            run.resume(0, 0, 630);
            run.end(0, 0, 630);
        }
        run
    };
    // The creator is ready from 30 to 330: one worker is free for it from 60 on, and one more from
    // 70 on.
    for yields in [false, true] {
        is_found(
            &run_with(false, yields),
            Cause::BoundedQueue,
            "task",
            270 + 260,
        );
    }
    is_not_found(&run_with(true, false), Cause::BoundedQueue);
}

/// The same four tasks took 100 ticks in the serial run and 150 here.
#[test]
fn stretch() {
    let run_of = |length: u64, workers: u64| {
        let mut run = Run::new(workers);
        let on: Vec<(u64, u64)> = (0..4).map(|i| (i % workers, length)).collect();
        let t = run.fork_in_turn(0, 0, "shared", &on);
        run.end(0, 0, t);
        run
    };
    let baseline = |length: u64| {
        let (dag, _) = measured(&run_of(length, 1));
        Baseline::measure(&dag, &Options::default()).unwrap()
    };
    let (dag, alone) = measured(&run_of(150, 4));
    assert_eq!(alone.causes.by_cause[Cause::Stretch as usize], 0);
    let against = |length: u64| {
        let serial = baseline(length);
        report_against(&dag, &Options::default(), Some(&serial)).unwrap()
    };
    let report = against(100);
    let found = first(&dag, &report.causes).unwrap();
    assert_eq!(found, (Cause::Stretch, "shared".into(), 4 * 50));
    assert_eq!(report.causes.lost, alone.causes.lost + 200);
    assert_eq!(
        report.causes.by_cause.iter().sum::<u128>(),
        report.causes.lost
    );
    assert_eq!(against(150).causes, alone.causes);
}

/// A task is preempted for 80 ticks; then not.
#[test]
fn descheduled() {
    let run_with = |off: bool| {
        let mut run = Run::new(2);
        let t = run.fork(0, 0, "half", &[(0, 100), (1, if off { 180 } else { 100 })]);
        if off {
            run.off(1, "preempted", 100, 180);
        }
        run.end(0, 0, t);
        run
    };
    // Its own time off the CPU, and the other worker's, which has nothing to do but wait for it.
    is_found(&run_with(true), Cause::Descheduled, "", 80 + 80);
    is_not_found(&run_with(false), Cause::Descheduled);
}

/// Another program holds a CPU for 500 ticks, so two workers lose 1000; then only the root works
/// for a while. That is less than a tenth of the loss, but it is named if it is a twentieth of the
/// workers' time that the other program left.
#[test]
fn a_busy_machine_hides_no_serial_strand() {
    let named = |alone: u64| {
        let mut run = Run::new(2);
        let t = run.fork(0, 0, "half", &[(0, 100), (1, 600)]);
        run.off(1, "preempted", 100, 600);
        run.end(0, 0, t + alone);
        let (_, report) = measured(&run);
        let found = report.causes.findings().into_iter();
        found.map(|f| (f.cause, f.lost)).collect::<Vec<_>>()
    };
    let first = (Cause::Descheduled, 1000);
    assert_eq!(named(90), [first, (Cause::SerialStrand, 90)]);
    assert_eq!(named(50), [first, (Cause::SerialStrand, 50)]);
    assert_eq!(named(8), [first]);
}

/// The root reads a file for 90 ticks before it creates two halves; then it is in memory.
#[test]
fn blocked() {
    let run_with = |off: u64| {
        let mut run = Run::new(2);
        run.off(0, "blocked", 5, 5 + off);
        let t = run.fork(0, 10 + off, "half", &[(0, 100), (1, 100)]);
        run.end(0, 0, t);
        run
    };
    is_found(&run_with(90), Cause::Blocked, "root", 90 + 90);
    is_not_found(&run_with(0), Cause::Blocked);
}

/// A balanced run has no finding, whatever it lost.
#[test]
fn nothing() {
    let mut run = Run::new(4);
    let t = run.fork(0, 2, "part", &[(0, 500), (1, 500), (2, 500), (3, 499)]);
    run.end(0, 0, t + 1);
    let (_, report) = measured(&run);
    assert!(report.causes.lost > 0);
    assert!(report.causes.findings().is_empty());
}

/// The small tasks are inside a folded strand, in which their thread is preempted for most of the
/// time. What they take without that is their size.
#[test]
fn preempted_time_does_not_make_folded_tasks_larger() {
    let run_with = |preempted: bool| {
        let off = if preempted {
            "{\"ev\":\"off\",\"t\":50,\"w\":0,\"why\":\"preempted\"}\n{\"ev\":\"on\",\"t\":350,\"w\":0}\n"
        } else {
            ""
        };
        let text = format!(
            r#"{{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","burden":5,"facts":[{{"key":"task queue","value":"shared"}}]}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"task"}}
{{"ev":"resume","t":0,"w":0,"task":0}}
{{"ev":"folded","t":1,"w":0,"task":0,"work":500,"span":500,"ready_integral":0,"tasks":40,"spawns":40,"syncs":40,"strands":120,"levels":1,"envelope":[[500,0]],"sites":[{{"site":"task","count":40,"work":500,"span":500,"critical_work":500,"lengths":[0,0,0,40]}}],"blocks":[["task",null,500]]}}
{off}{{"ev":"wait","t":500,"w":0,"task":0}}
{{"ev":"begin","t":450,"w":1,"task":1}}
{{"ev":"end","t":480,"w":1,"task":1}}
{{"ev":"resume","t":500,"w":0,"task":0}}
{{"ev":"end","t":500,"w":0,"task":0}}"#
        );
        let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
        let report = report(&dag, &Options::default()).unwrap();
        report.causes.by_cause[Cause::GrainFine as usize] > 0
    };
    // A task of 500 / 40 ticks is not small, one of 200 / 40 is.
    assert!(run_with(true));
    assert!(!run_with(false));
}
