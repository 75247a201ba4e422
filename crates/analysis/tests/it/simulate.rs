//! The scheduling simulation: exact results where they are required, within bounds otherwise, and
//! the four findings of Huynh's thesis.

use crate::random::dice::Dice;
use crate::random::simulate;
use crate::scenario::Run;
use workspan_analysis::causes::Cause;
use workspan_analysis::simulate::{Fix, Policy, Setup, Simulation};
use workspan_analysis::{Options, Report, Target, report};
use workspan_dag::Dag;

const POLICIES: [Policy; 7] = [
    Policy::WorkFirst,
    Policy::HelpFirst,
    Policy::DelayedChildren,
    Policy::BoundedQueue(1),
    Policy::BoundedQueue(4),
    Policy::RestrainedStealing,
    Policy::BreadthFirst,
];

fn setup(workers: u32, policy: Policy, steal_cost: u64) -> Setup {
    Setup {
        workers,
        policy,
        steal_cost,
        attempt_cost: steal_cost / 32,
        seed: 7,
    }
}

fn measured(dag: &Dag) -> Report {
    report(dag, &Options::default()).unwrap()
}

/// Checks that all of §5 adds up, and that the simulated work is the recorded work.
fn closes(dag: &Dag, workers: u32, elapsed: u64, work: u128) -> Report {
    let report = measured(dag);
    let b = &report.breakdown;
    assert_eq!(u128::from(b.elapsed()), u128::from(elapsed));
    assert_eq!(b.workers, workers);
    let parts = b.work + b.descheduled + b.blocked + b.recording + b.delay;
    let all = parts + b.no_work_sched + b.no_work_app;
    assert_eq!(all, u128::from(workers) * u128::from(elapsed));
    assert_eq!((b.work, report.work_span.work), (work, work));
    assert_eq!(b.oversubscribed, 0);
    report
}

#[test]
fn random_runs_under_every_policy() {
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let run = simulate::simulate(&mut dice);
        let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
        let was = measured(&dag);
        let spawn_cost = dice.pick(&[0, 0, 3]);
        let simulation = Simulation::new(&dag, &Options::default(), spawn_cost, &[]).unwrap();
        let spawns = u128::from(was.work_span.spawns) * u128::from(spawn_cost);
        assert_eq!(simulation.work(), was.work_span.work + spawns);
        for policy in POLICIES {
            for workers in [1, 2, 5] {
                let setup = setup(workers, policy, dice.pick(&[0, 1, 40]));
                let context = || format!("case {seed}, {setup:?}");
                let simulated = simulation.run(&setup);
                let elapsed = u128::from(simulated.elapsed);
                if workers == 1 {
                    assert_eq!(elapsed, simulation.work(), "{}", context());
                    assert_eq!(simulated.steals, 0);
                }
                assert!(elapsed >= was.work_span.span, "{}", context());
                assert!(
                    elapsed * u128::from(workers) >= simulation.work(),
                    "{}",
                    context()
                );
                if seed % 4 != 0 {
                    continue;
                }
                let (again, trace) = simulation.trace(&setup).unwrap();
                assert_eq!(again, simulated, "{}", context());
                assert_eq!(trace.meta.warnings, Vec::<String>::new(), "{}", context());
                let report = closes(&trace, workers, simulated.elapsed, simulation.work());
                let (old, new) = (&was.work_span, &report.work_span);
                assert_eq!(
                    (old.tasks, old.spawns),
                    (new.tasks, new.spawns),
                    "{}",
                    context()
                );
                if spawn_cost == 0 {
                    assert_eq!(old.span, new.span, "{}", context());
                }
                // The schedule is an ordinary trace: after writing and reading it is the same.
                let mut text = Vec::new();
                workspan_reader::text::write(&trace, &mut text).unwrap();
                let read = workspan_reader::text::read(&text).unwrap();
                assert_eq!(read.strands, trace.strands, "{}", context());
            }
        }
    }
}

/// The first finding's cause.
fn verdict(dag: &Dag) -> Option<Cause> {
    measured(dag).causes.findings().first().map(|f| f.cause)
}

fn simulated(run: &Run, spawn_cost: u64, setup: &Setup) -> (u64, Dag) {
    let dag = workspan_reader::text::read(run.text().as_bytes()).unwrap();
    let simulation = Simulation::new(&dag, &Options::default(), spawn_cost, &[]).unwrap();
    let (simulated, trace) = simulation.trace(setup).unwrap();
    (simulated.elapsed, trace)
}

/// One task that creates `count` tasks of `length`, `turn` ticks from one to the next, run on one
/// worker.
fn holder(count: u64, turn: u64, length: impl Fn(u64) -> u64) -> Run {
    let mut run = Run::new(1);
    let children: Vec<u64> = (0..count)
        .map(|i| run.create(0, 0, turn * (i + 1), "held"))
        .collect();
    let mut t = turn * count;
    run.wait(0, 0, t);
    for (i, &child) in children.iter().enumerate() {
        run.task(child, 0, t, t + length(i as u64));
        t += length(i as u64);
    }
    run.resume(0, 0, t);
    run.end(0, 0, t);
    run
}

#[test]
fn one_worker_that_holds_all_tasks() {
    let run = holder(400, 20, |_| 100);
    let (elapsed, trace) = simulated(&run, 0, &setup(8, Policy::HelpFirst, 5));
    // It can't be faster than the loop that creates; and no more than about five of eight workers
    // can be busy.
    assert!((8000..9000).contains(&elapsed), "{elapsed}");
    assert_eq!(verdict(&trace), Some(Cause::SpawnLoop));
    // With a grain ten times as coarse the same work is spread in a tenth of the turns.
    let (coarse, trace) = simulated(
        &holder(40, 20, |_| 1000),
        0,
        &setup(8, Policy::HelpFirst, 5),
    );
    assert!(
        coarse < elapsed && verdict(&trace) != Some(Cause::SpawnLoop),
        "{coarse}"
    );
}

#[test]
fn a_bounded_queue_with_a_long_child() {
    let with_long = |long: u64| holder(200, 2, move |i| if i == long { 4000 } else { 100 });
    let bounded = |long: u64| simulated(&with_long(long), 0, &setup(4, Policy::BoundedQueue(4), 5));
    // The creator runs some of them itself; while it runs the long one, the others run dry, and the
    // report names that first.
    let (worst, (elapsed, trace)) = (10..40)
        .map(|long| (long, bounded(long)))
        .max_by_key(|(_, found)| found.0)
        .unwrap();
    assert_eq!(verdict(&trace), Some(Cause::BoundedQueue));
    // With an unbounded queue, the long child runs in parallel with the others.
    let (free, trace) = simulated(&with_long(worst), 0, &setup(4, Policy::HelpFirst, 5));
    assert_eq!(
        measured(&trace).causes.by_cause[Cause::BoundedQueue as usize],
        0
    );
    assert!(5 * elapsed > 7 * free, "{elapsed} {free}");
}

#[test]
fn waiting_without_stealing() {
    // The root waits for a child that another worker takes and that creates all the work.
    let mut run = Run::new(1);
    let only = run.create(0, 0, 10, "only");
    run.wait(0, 0, 60);
    run.begin(only, 0, 60);
    let t = run.fork_in_turn(only, 70, "leaf", &[(0, 100); 40]);
    run.end(only, 0, t);
    run.resume(0, 0, t);
    run.end(0, 0, t);
    let (free, _) = simulated(&run, 0, &setup(2, Policy::HelpFirst, 5));
    let (restrained, trace) = simulated(&run, 0, &setup(2, Policy::RestrainedStealing, 5));
    assert!(free < 2300 && restrained > 4000, "{free} {restrained}");
    // Tasks are ready while a worker that may not take them is idle.
    assert_eq!(verdict(&trace), Some(Cause::RestrainedStealing));
    let found = measured(&trace);
    let place = found.causes.findings()[0].block;
    assert_eq!(trace.places[place.site as usize].label, "leaf");
}

#[test]
fn children_delayed_until_the_wait() {
    // Twenty times: a child of 100, then 150 of the task's own, then the wait.
    let mut run = Run::new(1);
    let mut t = 0;
    for _ in 0..20 {
        let child = run.create(0, 0, t, "late");
        run.wait(0, 0, t + 150);
        run.task(child, 0, t + 150, t + 250);
        run.resume(0, 0, t + 250);
        t += 250;
    }
    run.end(0, 0, t);
    let (delayed, _) = simulated(&run, 0, &setup(2, Policy::HelpFirst, 5));
    let (late, trace) = simulated(&run, 0, &setup(2, Policy::DelayedChildren, 5));
    assert_eq!((delayed, late), (3000, 5000));
    assert_eq!(verdict(&trace), Some(Cause::SlowThief));
    let found = measured(&trace);
    let place = found.causes.findings()[0].block;
    assert_eq!(trace.places[place.site as usize].label, "late");
}

#[test]
fn a_fix_spreads_a_strand_and_keeps_the_work() {
    let mut run = Run::new(2);
    let t = run.fork(0, 0, "half", &[(0, 100), (1, 100)]);
    run.end(0, 0, t + 60);
    let dag = workspan_reader::text::read(run.text().as_bytes()).unwrap();
    let last = dag.tasks.last[0];
    let fixed = |factor: f64, workers: u32| {
        let target = Target::Strands(vec![last]);
        let fixes = [Fix::Spread { target, factor }];
        let simulation = Simulation::new(&dag, &Options::default(), 0, &fixes).unwrap();
        assert_eq!(simulation.work(), if factor < 1.0 { 320 } else { 260 });
        let (simulated, trace) = simulation
            .trace(&setup(workers, Policy::HelpFirst, 0))
            .unwrap();
        closes(&trace, workers, simulated.elapsed, simulation.work());
        simulated.elapsed
    };
    assert_eq!(fixed(2.0, 1), 260);
    assert_eq!(fixed(2.0, 2), 130);
    assert_eq!(fixed(6.0, 2), 130);
    assert_eq!(fixed(6.0, 6), 110);
    // 60 in pieces of 24, 24 and 12.
    assert_eq!(fixed(2.5, 3), 124);
    assert_eq!(fixed(0.5, 2), 220);
}

#[test]
fn a_grain_divides_long_strands_more_than_short_ones() {
    let mut run = Run::new(2);
    let t = run.fork(0, 0, "half", &[(0, 100), (1, 40)]);
    run.end(0, 0, t);
    let dag = workspan_reader::text::read(run.text().as_bytes()).unwrap();
    let all: Vec<u32> = (0..dag.strands.len() as u32).collect();
    let elapsed = |ticks: u64, workers: u32| {
        let target = Target::Strands(all.clone());
        let fixes = [Fix::Pieces { target, ticks }];
        let simulation = Simulation::new(&dag, &Options::default(), 0, &fixes).unwrap();
        assert_eq!(simulation.work(), 140);
        simulation
            .run(&setup(workers, Policy::HelpFirst, 0))
            .elapsed
    };
    // 100 as four of 25, 40 as two of 20; nothing where the grain is larger.
    assert_eq!((elapsed(30, 1), elapsed(30, 8)), (140, 25));
    assert_eq!(elapsed(1000, 8), 100);
    assert_eq!(elapsed(0, 1000), 1);
}

#[test]
fn below_a_cutoff_tasks_run_where_they_are_created() {
    // Two tasks at one site, each of which creates two more there after 10 that take 100 each.
    let mut run = Run::new(1);
    let outer = [run.create(0, 0, 0, "half"), run.create(0, 0, 0, "half")];
    run.wait(0, 0, 0);
    let mut t = 0;
    for task in outer {
        run.begin(task, 0, t);
        t += 10;
        let inner = [
            run.create(task, 0, t, "half"),
            run.create(task, 0, t, "half"),
        ];
        run.wait(task, 0, t);
        for task in inner {
            run.task(task, 0, t, t + 100);
            t += 100;
        }
        run.resume(task, 0, t);
        run.end(task, 0, t);
    }
    run.resume(0, 0, t);
    run.end(0, 0, t);
    let dag = workspan_reader::text::read(run.text().as_bytes()).unwrap();
    let places = vec![dag.tasks.site[1]];
    // Two inner tasks are waited for together, and the outer ones with all six.
    for (tasks, span, spawns) in [(1, 110, 6), (2, 210, 2), (5, 210, 2), (6, 420, 0)] {
        let fixes = [Fix::Cutoff {
            places: places.clone(),
            tasks,
        }];
        let simulation = Simulation::new(&dag, &Options::default(), 7, &fixes).unwrap();
        assert_eq!(simulation.work(), 420 + 7 * spawns);
        for policy in POLICIES {
            for workers in [1, 8] {
                let (simulated, trace) = simulation.trace(&setup(workers, policy, 0)).unwrap();
                closes(&trace, workers, simulated.elapsed, simulation.work());
                let found = measured(&trace).work_span;
                assert_eq!(u128::from(found.spawns), spawns, "{policy} {tasks}");
                assert!(
                    found.span >= span && found.span <= span + 7 * spawns,
                    "{policy} {tasks}: {found:?}"
                );
                if workers == 1 {
                    assert_eq!(u128::from(simulated.elapsed), simulation.work(), "{policy}");
                }
            }
        }
    }
}

/// 10⁶ tasks on 64 workers. Prints its time, without an assertion.
#[test]
#[ignore = "takes some seconds and a gigabyte"]
fn a_million_tasks_on_64_workers() {
    let mut text = String::from(
        "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n",
    );
    // A thousand tasks that create a thousand each.
    let mut next = 1;
    let mut line = |ev: &str, t: u64, task: u64, more: &str| {
        text.push_str(&format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":0,\"task\":{task}{more}}}\n"
        ));
    };
    let mut t = 0;
    for _ in 0..1000 {
        let outer = next;
        next += 1;
        line(
            "create",
            t,
            0,
            &format!(",\"child\":{outer},\"site\":\"outer\""),
        );
        line("begin", t, outer, "");
        let from = next;
        for _ in 0..999 {
            t += 20;
            line(
                "create",
                t,
                outer,
                &format!(",\"child\":{next},\"site\":\"inner\""),
            );
            line("resume", t, outer, "");
            next += 1;
        }
        line("wait", t, outer, "");
        for inner in from..next {
            line("begin", t, inner, "");
            t += 1000 + inner % 700;
            line("end", t, inner, "");
        }
        line("resume", t, outer, "");
        line("end", t, outer, "");
        line("resume", t, 0, "");
    }
    line("wait", t, 0, "");
    line("resume", t, 0, "");
    line("end", t, 0, "");
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    for policy in POLICIES {
        let start = std::time::Instant::now();
        let simulation = Simulation::new(&dag, &Options::default(), 20, &[]).unwrap();
        let simulated = simulation.run(&setup(64, policy, 1000));
        let took = start.elapsed();
        println!(
            "{policy}: {} tasks on 64 workers in {took:.2?}: {simulated:?}",
            dag.tasks.len()
        );
    }
}

/// `join(a, b)` with nothing else: an inline child runs on top of a creator that waits already. It
/// is recorded and simulated in this way.
#[test]
fn a_simulated_join_loses_nothing_to_the_scheduler() {
    let text = r#"{"workspan_trace":1,"workers":2,"time_unit":"us","steals":"child","name":"join"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"scope","task":0,"scope":0,"kind":"group"}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"join","scope":0}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":2,"inline":true,"site":"join","scope":0}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":10,"w":0,"task":0,"scope":0}
{"ev":"begin","t":10,"w":0,"task":2}
{"ev":"end","t":110,"w":0,"task":2}
{"ev":"begin","t":10,"w":1,"task":1}
{"ev":"end","t":40,"w":1,"task":1}
{"ev":"resume","t":110,"w":0,"task":0}
{"ev":"end","t":120,"w":0,"task":0}
"#;
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let recorded = measured(&dag).breakdown;
    assert_eq!(recorded.delay, 0);
    let simulation = Simulation::new(&dag, &Options::default(), 0, &[]).unwrap();
    for policy in [
        Policy::HelpFirst,
        Policy::RestrainedStealing,
        Policy::BreadthFirst,
    ] {
        let (_, trace) = simulation.trace(&setup(2, policy, 0)).unwrap();
        let b = measured(&trace).breakdown;
        let losses = (b.elapsed(), b.work, b.delay, b.no_work_sched);
        assert_eq!(losses, (120, 150, 0, 0), "{policy:?}");
        assert_eq!(b.no_work_app, recorded.no_work_app, "{policy:?}");
    }
}
