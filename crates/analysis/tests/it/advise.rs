//! The advice of `advise` for runs with a known bottleneck.

use crate::random::dice::Dice;
use crate::random::simulate;
use crate::scenario::Run;
use workspan_analysis::advise::{Advice, Change, Goal, GrainChange, Stop, advise};
use workspan_analysis::causes::Cause;
use workspan_analysis::{Options, report};
use workspan_dag::Dag;

fn goal(parallelism: f64, cores: u32) -> Goal {
    Goal {
        parallelism,
        cores,
        spawn_cost: None,
    }
}

fn ask(dag: &Dag, goal: Goal) -> Advice {
    let report = report(dag, &Options::default()).unwrap();
    advise(dag, &Options::default(), &report, goal).unwrap()
}

fn read(run: &Run) -> Dag {
    workspan_reader::text::read(run.text().as_bytes()).unwrap()
}

/// Serial 10, two halves of 100 side by side, serial 60, a third phase of 20, serial 200.
fn phases() -> Dag {
    let mut run = Run::new(2);
    let t = run.fork(0, 10, "half", &[(0, 100), (1, 100)]);
    let t = run.fork(0, t + 60, "part", &[(0, 20), (1, 20)]);
    run.end(0, 0, t + 200);
    read(&run)
}

#[test]
fn the_longest_serial_stretch_is_enough() {
    let dag = phases();
    // Work 510, span 390.
    let advice = ask(&dag, goal(2.0, 2));
    assert_eq!((advice.now.work, advice.now.span_ticks()), (510, 390));
    assert_eq!((advice.stop, advice.steps.len()), (Stop::Reached, 1));
    let step = &advice.steps[0];
    assert_eq!(step.change, Change::Parallelise);
    assert_eq!(dag.places[step.block.from as usize].label, "wait part");
    assert_eq!((step.critical, step.strands, step.work), (200, 1, 200));
    // 16 parts for each of two cores.
    assert_eq!(step.factor, 32.0);
    assert_eq!(step.outcome.span, 190.0 + 200.0 / 32.0);
}

#[test]
fn more_needs_more_and_the_largest_gain_comes_first() {
    let dag = phases();
    let advice = ask(&dag, goal(6.0, 8));
    assert_eq!(advice.stop, Stop::Reached);
    let critical: Vec<u128> = advice.steps.iter().map(|s| s.critical).collect();
    assert_eq!(critical, [200, 100, 60]);
    assert_eq!(advice.steps[1].change, Change::Split);
    assert!(advice.steps.last().unwrap().outcome.parallelism() >= 6.0);
    assert!(advice.steps[1].outcome.parallelism() < 6.0);
}

#[test]
fn what_is_there_already_needs_nothing() {
    let advice = ask(&phases(), goal(1.2, 2));
    assert_eq!((advice.stop, advice.steps.len()), (Stop::Already, 0));
}

#[test]
fn what_is_too_fine_is_not_spread() {
    // A chain of twenty forks of tiny tasks, where a steal costs as much as ten of them.
    let mut run = Run::new(2).burden(100);
    let mut t = 0;
    for _ in 0..20 {
        t = run.fork_in_turn(0, t + 10, "tiny", &[(0, 10), (0, 10)]);
    }
    run.end(0, 0, t);
    let dag = read(&run);
    let advice = ask(&dag, goal(16.0, 16));
    assert_eq!((advice.stop, advice.steps.len()), (Stop::Overhead, 0));
    let tiny = &advice.grain[0];
    assert_eq!(dag.places[tiny.site as usize].label, "tiny");
    assert_eq!((tiny.now.work, tiny.strands.median), (10.0, 10));
    // Two steals are 200 ticks, which are twenty tasks. But 40 tasks leave fewer than eight for
    // each of 16 workers, unless the report calls them too fine.
    let report = report(&dag, &Options::default()).unwrap();
    let said = report
        .causes
        .findings()
        .iter()
        .any(|f| f.cause == Cause::GrainFine);
    assert_eq!(matches!(tiny.change, GrainChange::Coarsen(_)), said);
}

#[test]
fn a_grain_is_worth_two_steals() {
    let mut run = Run::new(2).burden(100);
    let t = run.fork_in_turn(0, 0, "tiny", &[(0, 40); 200]);
    run.end(0, 0, t);
    let advice = ask(&read(&run), goal(2.0, 2));
    let tiny = &advice.grain[0];
    // 200 ticks, which are five of today's tasks.
    assert_eq!(tiny.change, GrainChange::Coarsen(5.0));
    assert_eq!((tiny.then.tasks, tiny.then.work), (40.0, 200.0));
    assert_eq!(advice.stop, Stop::Already);
}

/// A runtime whose own time lies inside the tasks, such as Rayon: the known time of a join is not
/// work.
#[test]
fn the_runtimes_time_inside_of_tasks_is_lost() {
    let mut run = Run::new(2).burden(100);
    let t = run.fork_in_turn(0, 0, "tiny", &[(0, 40); 200]);
    run.end(0, 0, t);
    let mut dag = read(&run);
    let lost = |dag: &Dag| {
        let tiny = &ask(dag, goal(2.0, 2)).grain[0];
        let flags = (tiny.cost_is_inside, tiny.cost_is_least);
        (tiny.now.work, tiny.now.lost_percent(), flags)
    };
    assert_eq!(lost(&dag), (40.0, 0.0, (false, true)));
    dag.meta.join_cost = 30;
    assert_eq!(lost(&dag), (10.0, 300.0, (true, true)));
    // For longer tasks, that time is known.
    dag.meta.join_cost = 2;
    assert_eq!(lost(&dag).2, (true, false));
    // The remaining work can't be negative: the tasks are cheaper than the calibrated cost.
    dag.meta.join_cost = 50;
    assert_eq!(lost(&dag), (2.0, 1900.0, (true, true)));
}

/// OpenMP's own time lies between the strands, and is the cost of its tasks.
#[test]
fn the_time_between_strands_is_what_tasks_cost() {
    let text = (0..100).fold(
        String::from(
            "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"burden\":50}\n\
             {\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n",
        ),
        |text, i| {
            let (t, child) = (i * 100, i + 1);
            let [create, begin, end, resume] = [10, 20, 40, 50].map(|after| t + after);
            text + &format!(
                "{{\"ev\":\"create\",\"t\":{create},\"w\":0,\"task\":0,\"child\":{child},\"site\":\"s\"}}\n\
                 {{\"ev\":\"begin\",\"t\":{begin},\"w\":0,\"task\":{child}}}\n\
                 {{\"ev\":\"end\",\"t\":{end},\"w\":0,\"task\":{child}}}\n\
                 {{\"ev\":\"resume\",\"t\":{resume},\"w\":0,\"task\":0}}\n"
            )
        },
    );
    let text = text + "{\"ev\":\"end\",\"t\":10000,\"w\":0,\"task\":0}\n";
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let advice = ask(&dag, goal(2.0, 2));
    let site = &advice.grain[0];
    // Ten ticks before each task and ten after it, in addition to twenty of work.
    assert_eq!((site.now.work, site.now.spawning), (20.0, 2000.0));
    assert!(!site.cost_is_inside && !site.cost_is_least);
    let causes = report(&dag, &Options::default()).unwrap().causes;
    assert_eq!(causes.places[0].cause, Cause::GrainFine);
}

#[test]
fn random_runs() {
    let (mut reached, mut several) = (0, 0);
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let run = simulate::simulate(&mut dice);
        let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
        let speedup = dice.pick(&[1.5, 2.0, 3.0, 5.0]);
        let advice = ask(&dag, goal(speedup, 4));
        let mut span = advice.now.span;
        for step in &advice.steps {
            assert!(step.outcome.span <= span, "case {seed}: {advice:?}");
            assert!(
                step.factor >= 1.0 && step.factor <= 16.0 * 5.0,
                "case {seed}"
            );
            span = step.outcome.span;
        }
        let last = advice.steps.last().map_or(advice.now, |s| s.outcome);
        let is_enough = last.parallelism() >= speedup;
        let said = matches!(advice.stop, Stop::Reached | Stop::Already);
        assert_eq!(is_enough, said, "case {seed}: {advice:?}");
        if advice.stop == Stop::Reached {
            reached += 1;
            several += usize::from(advice.steps.len() > 1);
            // The last of them is needed.
            let before = advice.steps.iter().rev().nth(1);
            let before = before.map_or(advice.now, |s| s.outcome);
            assert!(before.parallelism() < speedup, "case {seed}: {advice:?}");
        }
    }
    assert!(reached > 50 && several > 10, "{reached} {several}");
}

/// The path goes through a folded record: its strands are not known, but its sites are.
#[test]
fn folded_parts_are_told_by_site() {
    let with_root = |serial: u64| {
        let lines = [
            "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}".to_owned(),
            "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}".to_owned(),
            "{\"ev\":\"create\",\"t\":10,\"w\":0,\"task\":0,\"child\":1,\"site\":\"all\"}".to_owned(),
            "{\"ev\":\"resume\",\"t\":10,\"w\":0,\"task\":0}".to_owned(),
            "{\"ev\":\"wait\",\"t\":10,\"w\":0,\"task\":0}".to_owned(),
            "{\"ev\":\"begin\",\"t\":10,\"w\":0,\"task\":1}".to_owned(),
            "{\"ev\":\"folded\",\"t\":10,\"w\":0,\"task\":1,\"work\":70,\"span\":50,\"ready_integral\":0,\"tasks\":3,\"spawns\":3,\
             \"syncs\":1,\"strands\":5,\"levels\":1,\"envelope\":[[50,0]],\"sites\":[{\"site\":\"few\",\"count\":1,\"work\":12,\
             \"span\":12,\"critical_work\":12,\"lengths\":[]},{\"site\":\"most\",\"count\":2,\"work\":50,\"span\":40,\
             \"critical_work\":30,\"lengths\":[]}],\"blocks\":[[\"few\",null,12],[\"most\",\"few\",50],[\"all\",\"most\",8]]}"
                .to_owned(),
            "{\"ev\":\"end\",\"t\":80,\"w\":0,\"task\":1}".to_owned(),
            "{\"ev\":\"resume\",\"t\":80,\"w\":0,\"task\":0}".to_owned(),
            format!("{{\"ev\":\"end\",\"t\":{},\"w\":0,\"task\":0}}", 80 + serial),
        ];
        workspan_reader::text::read(lines.join("\n").as_bytes()).unwrap()
    };
    let dag = with_root(40);
    let folded = ask(&dag, goal(8.0, 8)).folded.unwrap();
    assert_eq!(folded.critical, 50);
    let label = |place: u32| dag.places[place as usize].label.as_str();
    let sites: Vec<(&str, u64, u128, u128)> = folded
        .sites
        .iter()
        .map(|s| (label(s.site), s.tasks, s.work, s.critical))
        .collect();
    assert_eq!(sites, [("most", 2, 50, 30), ("few", 1, 12, 12)]);
    let (from, to, work) = folded.block.unwrap();
    assert_eq!((label(from), label(to), work), ("most", "few", 50));
    // If the rest of the path weighs ten times as much, another recording is not worthwhile.
    assert!(ask(&with_root(1000), goal(8.0, 8)).folded.is_none());
    assert!(ask(&phases(), goal(2.0, 2)).folded.is_none());
}
