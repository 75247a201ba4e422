//! How many workers are enough, and tasks that take longer while others run.

use std::fmt::Write as _;

use workspan_analysis::{Options, idle_times, report, right_size};
use workspan_dag::{CpuTimes, Dag};

const HEADER: &str =
    "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\"}\n";

/// A root that creates a task for each (worker, start, end), and waits for all.
fn tasks_of_root(tasks: &[(u32, u64, u64)], end: u64) -> Dag {
    let mut text = format!("{HEADER}{{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}}\n");
    for task in 1..=tasks.len() {
        writeln!(
            text,
            "{{\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":{task},\"site\":\"part\"}}\n\
             {{\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}}"
        )
        .unwrap();
    }
    text += "{\"ev\":\"wait\",\"t\":0,\"w\":0,\"task\":0}\n";
    for (task, (w, start, end)) in (1..).zip(tasks) {
        writeln!(
            text,
            "{{\"ev\":\"begin\",\"t\":{start},\"w\":{w},\"task\":{task}}}\n\
             {{\"ev\":\"end\",\"t\":{end},\"w\":{w},\"task\":{task}}}"
        )
        .unwrap();
    }
    write!(
        text,
        "{{\"ev\":\"resume\",\"t\":{end},\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"end\",\"t\":{end},\"w\":0,\"task\":0}}\n"
    )
    .unwrap();
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

#[test]
fn as_many_workers_are_enough_as_there_are_equal_tasks() {
    let tasks: Vec<(u32, u64, u64)> = (0..4).map(|i| (0, 1000 * i, 1000 * (i + 1))).collect();
    let dag = tasks_of_root(&tasks, 4000);
    let right = right_size(&dag, &Options::default(), None, 8)
        .unwrap()
        .unwrap();
    assert_eq!(right.workers, 4);
    let elapsed: Vec<Option<u64>> = [1, 2, 3, 4, 8].map(|p| right.elapsed(p)).to_vec();
    assert_eq!(elapsed, [4000, 2000, 2000, 1000, 1000].map(Some));
    // With two, two thirds of the third one's time would be idle.
    let right = right_size(&dag, &Options::default(), None, 3)
        .unwrap()
        .unwrap();
    assert_eq!(right.workers, 2);
}

#[test]
fn a_program_without_tasks_to_take_has_no_right_size() {
    let dag = tasks_of_root(&[], 100);
    assert_eq!(
        right_size(&dag, &Options::default(), None, 8).unwrap(),
        None
    );
}

/// Ten tasks alone, then ten pairs, in which a task takes `concurrent_ticks` ticks.
fn alone_then_in_pairs(concurrent_ticks: u64) -> Dag {
    let mut tasks: Vec<(u32, u64, u64)> = Vec::new();
    let mut t = 0;
    for i in 0..10 {
        tasks.push((0, t, t + 10_000 + i));
        t += 10_000 + i;
    }
    for i in 0..10 {
        tasks.push((0, t, t + concurrent_ticks + i));
        tasks.push((1, t, t + concurrent_ticks + i));
        t += concurrent_ticks + i;
    }
    tasks_of_root(&tasks, t)
}

#[test]
fn tasks_that_take_longer_beside_others_are_told() {
    let of = |dag: &Dag| {
        report(dag, &Options::default())
            .unwrap()
            .concurrency_slowdown
    };
    let dag = alone_then_in_pairs(25_000);
    let slower = of(&dag).unwrap();
    assert_eq!(dag.places[slower.site as usize].label, "part");
    assert_eq!(
        (slower.alone, slower.concurrent),
        ((10, 10_005), (20, 25_005))
    );
    // As long as alone, and a little longer.
    assert_eq!(of(&alone_then_in_pairs(10_000)), None);
    assert_eq!(of(&alone_then_in_pairs(13_000)), None);
}

#[test]
fn a_thread_that_ended_is_not_idle() {
    // Two threads with the same number, one after the other.
    let run = |kind: &str| {
        let mut text = format!("{HEADER}{{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}}\n");
        for (task, begin) in [(1, 10), (2, 70)] {
            writeln!(
                text,
                "{{\"ev\":\"create\",\"t\":{begin},\"w\":0,\"task\":0,\"child\":{task},\"{kind}\":true,\"site\":\"a.c:1\"}}\n\
                 {{\"ev\":\"resume\",\"t\":{begin},\"w\":0,\"task\":0}}\n\
                 {{\"ev\":\"begin\",\"t\":{begin},\"w\":1,\"task\":{task}}}\n\
                 {{\"ev\":\"end\",\"t\":{},\"w\":1,\"task\":{task}}}",
                begin + 10
            )
            .unwrap();
        }
        text += "{\"ev\":\"end\",\"t\":100,\"w\":0,\"task\":0}\n";
        let mut dag = workspan_reader::text::read(text.as_bytes()).unwrap();
        dag.meta.cpu = Some(CpuTimes {
            threads: vec![(0, 100), (1, 20)],
            ..CpuTimes::default()
        });
        idle_times(&dag)[1].total()
    };
    assert_eq!(run("thread"), 0);
    // A worker is there between its tasks: from 20 to 70, and from 80 on.
    assert_eq!(run("detached"), 70);
}
