//! Statistics of runs that are small enough for manual counting.

use workspan_analysis::statistics::{
    Distribution, MAX_WORKERS, ReadyTimes, SiteOverhead, SiteStatistics, Statistics, WorkerSteals,
    statistics,
};
use workspan_analysis::{Metric, Options};
use workspan_dag::{Dag, EdgeKind};
use workspan_reader::text;

const TWO_STEALS: &str = include_str!("../statistics/two_steals.jsonl");

fn read(text: &str) -> Dag {
    text::read(text.as_bytes()).unwrap()
}

fn measure(dag: &Dag) -> Statistics {
    statistics(dag, &Options::default()).unwrap()
}

/// (count, sum, minimum, median, p90, p99, maximum).
fn spread(d: &Distribution) -> (u64, u128, [u64; 5]) {
    assert_eq!(d.estimated, 0);
    let values = [d.minimum, d.median, d.p90, d.p99, d.maximum];
    (d.count, d.sum, values)
}

fn labels(dag: &Dag, all: &Statistics) -> Vec<(String, u64)> {
    let rows = all.sites.iter();
    rows.map(|r| (dag.places[r.site as usize].label.clone(), r.tasks))
        .collect()
}

#[test]
fn lengths_by_site() {
    let dag = read(TWO_STEALS);
    let all = measure(&dag);
    // Own work: the root's 10 + 4 + 7, then 8 + 2 and 8, then 12.
    let expected = [("root", 1), ("sum.rs:7", 2), ("sum.rs:9", 1)];
    let expected = expected.map(|(label, n)| (label.to_owned(), n));
    assert_eq!(labels(&dag, &all), expected);
    let [root, seven, nine]: &[SiteStatistics; 3] = all.sites[..].try_into().unwrap();
    assert_eq!(spread(&root.strand_lengths), (3, 21, [4, 7, 10, 10, 10]));
    assert_eq!(root.strand_lengths.histogram, [0, 0, 2, 1]);
    assert_eq!(root.strand_lengths.mean(), 7.0);
    assert_eq!(spread(&root.task_lengths), (1, 21, [21; 5]));
    assert_eq!(spread(&seven.strand_lengths), (3, 18, [2, 8, 8, 8, 8]));
    assert_eq!(seven.strand_lengths.histogram, [0, 1, 0, 2]);
    assert_eq!(spread(&seven.task_lengths), (2, 18, [8, 8, 10, 10, 10]));
    assert_eq!(spread(&nine.task_lengths), (1, 12, [12; 5]));
    assert_eq!((all.more_sites, all.folded_strands), (0, 0));
}

#[test]
fn ready_times_by_site_and_edge() {
    let all = measure(&read(TWO_STEALS));
    let [root, seven, nine]: &[SiteStatistics; 3] = all.sites[..].try_into().unwrap();
    // Ready at 10, 14, 24 and 42; started at 16, 15, 28 and 43.
    assert_eq!((root.ready.starts, root.ready.steals), (2, 0));
    assert_eq!(spread(&root.ready.times), (1, 1, [1; 5]));
    assert_eq!((seven.ready.starts, seven.ready.steals), (3, 1));
    assert_eq!(spread(&seven.ready.times), (2, 7, [1, 1, 6, 6, 6]));
    assert_eq!((nine.ready.starts, nine.ready.steals), (1, 1));
    assert_eq!(spread(&nine.ready.times), (1, 4, [4; 5]));
    let of = |rows: &[ReadyTimes; 7], kind: EdgeKind| rows[kind as usize].clone();
    let create = of(&all.ready_by_edge, EdgeKind::Create);
    assert_eq!((create.starts, create.steals), (3, 2));
    assert_eq!(spread(&create.times), (3, 11, [1, 4, 6, 6, 6]));
    let next = of(&all.ready_by_edge, EdgeKind::CreateContinuation);
    assert_eq!((next.starts, next.steals, next.times.count), (1, 0, 0));
    let end = of(&all.ready_by_edge, EdgeKind::End);
    assert_eq!((end.starts, end.steals), (2, 0));
    assert_eq!(spread(&end.times), (1, 1, [1; 5]));
    let of_seven = of(&seven.ready_by_edge, EdgeKind::End);
    assert_eq!((of_seven.starts, of_seven.times.count), (1, 0));
    let of_seven = of(&seven.ready_by_edge, EdgeKind::Create);
    assert_eq!((of_seven.starts, of_seven.steals), (2, 1));
    assert_eq!(spread(&of_seven.times), (2, 7, [1, 1, 6, 6, 6]));
}

#[test]
fn depth_over_time() {
    let all = measure(&read(TWO_STEALS));
    // 50 ticks, one per bin.
    let mut ready = [0u64; 50];
    ready[10..16].fill(1);
    ready[14] = 2;
    ready[24..28].fill(1);
    ready[42] = 1;
    assert_eq!(all.ready.maximum, ready);
    assert_eq!(all.ready.mean, ready.map(|n| n as f64));
    assert_eq!((all.ready.mean_all, all.ready.maximum_all), (0.24, 2));
    let mut expected = [0u64; 50];
    expected[10..24].fill(1);
    expected[14..16].fill(2);
    expected[24..30].fill(2);
    let queues = all.queues.unwrap();
    assert_eq!(queues.maximum, expected);
    assert_eq!((queues.mean_all, queues.maximum_all), (0.56, 2));
}

#[test]
fn a_longer_run_has_bins_of_several_ticks() {
    // Seven times as long: 350 ticks in 120 bins. What is ready is the same share of the run.
    let longer: String = TWO_STEALS.lines().map(seven_times).collect();
    let all = measure(&read(&longer));
    assert_eq!(all.ready.mean.len(), 120);
    assert_eq!((all.ready.mean_all, all.ready.maximum_all), (0.24, 2));
    let width = |i: u64| (350 * (i + 1) / 120 - 350 * i / 120) as f64;
    let means = (0..).zip(&all.ready.mean);
    let sum: f64 = means.map(|(i, mean)| mean * width(i)).sum();
    assert!((sum - 84.0).abs() < 1e-9, "{sum}");
}

fn seven_times(line: &str) -> String {
    let Some((before, rest)) = line.split_once("\"t\":") else {
        return format!("{line}\n");
    };
    let (t, after) = rest.split_once(',').unwrap();
    format!("{before}\"t\":{},{after}\n", 7 * t.parse::<u64>().unwrap())
}

fn workers_as_counted() -> [WorkerSteals; 2] {
    let first = WorkerSteals {
        thread: 0,
        steals: 1,
        unknown_victim: 0,
        // The root waits on worker 0 from 14 to 43.
        leapfrogs: 1,
        stolen: 1,
        first: Some(28 - 10),
        failed: 1,
        sleeps: 1,
        asleep: 2,
        // Tasks 1 and 2; no worker took the second.
        spawns: 2,
        inlined: 1,
        // The steal and the failed attempt, both while the root waits.
        leap_tries: 2,
        spinning: None,
    };
    let second = WorkerSteals {
        thread: 1,
        steals: 1,
        unknown_victim: 0,
        leapfrogs: 0,
        stolen: 1,
        first: Some(16 - 10),
        failed: 0,
        sleeps: 2,
        // 0 to 12, and from 45 to the run's end.
        asleep: 17,
        spawns: 1,
        inlined: 0,
        leap_tries: 0,
        spinning: None,
    };
    [first, second]
}

#[test]
fn steals_as_told() {
    let steals = measure(&read(TWO_STEALS)).steals;
    assert_eq!((steals.reported, steals.count), (true, 2));
    assert_eq!(steals.per_second, 4e7);
    assert_eq!(steals.first_spawn, 10);
    assert_eq!(spread(&steals.first), (2, 24, [6, 6, 18, 18, 18]));
    assert_eq!(steals.workers, workers_as_counted());
    assert_eq!(steals.matrix, [[0, 1], [1, 0]]);
    assert_eq!((steals.leapfrogs, steals.never), (1, 0));
    assert_eq!((steals.failed, steals.sleeps, steals.asleep), (1, 3, 19));
    assert_eq!((steals.more_workers, steals.beyond), (0, 0));
    // Task 1 was ready at 10 and the thief free; the thief of task 3 was free from 23 on, before it
    // was ready at 24.
    assert_eq!(spread(&steals.to_child), (2, 10, [4, 4, 6, 6, 6]));
    assert_eq!(spread(&steals.to_continuation).0, 0);
}

/// Worker 0 runs the child until 50; worker 1 takes the continuation after 4. After the wait the
/// task continues where it was, which is not a steal.
#[test]
fn steals_of_continuations_have_times_of_their_own() {
    let run = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"continuation"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"begin","t":10,"w":0,"task":1}
{"ev":"resume","t":14,"w":1,"task":0}
{"ev":"wait","t":40,"w":1,"task":0}
{"ev":"end","t":50,"w":0,"task":1}
{"ev":"resume","t":52,"w":1,"task":0}
{"ev":"end","t":60,"w":1,"task":0}
"#;
    let steals = measure(&read(run)).steals;
    assert_eq!(spread(&steals.to_continuation), (1, 4, [4; 5]));
    assert_eq!(steals.to_child.count, 0);
}

#[test]
fn steals_are_inferred_where_nobody_told() {
    let silent: Vec<&str> = TWO_STEALS
        .lines()
        .filter(|l| !l.contains("\"steal\""))
        .collect();
    let steals = measure(&read(&silent.join("\n"))).steals;
    assert_eq!((steals.reported, steals.count), (false, 2));
    assert_eq!(steals.workers, workers_as_counted());
    assert_eq!(steals.matrix, [[0, 1], [1, 0]]);
}

#[test]
fn the_runtimes_own_word_counts() {
    let unknown = TWO_STEALS.replace(
        "\"victim\":0,\"task\":1",
        "\"victim\":null,\"task\":null,\"leap\":true",
    );
    let steals = measure(&read(&unknown)).steals;
    assert_eq!(steals.matrix, [[0, 1], [0, 0]]);
    let thief = &steals.workers[1];
    assert_eq!(
        (thief.steals, thief.unknown_victim, thief.leapfrogs),
        (1, 1, 1)
    );
    assert_eq!(steals.beyond, 0);
}

/// 256 workers have a row each; the sums include the others.
#[test]
fn many_workers_are_bounded() {
    let mut text = String::from(
        "{\"workspan_trace\":1,\"workers\":300,\"time_unit\":\"ns\",\"steals\":\"child\"}\n\
         {\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n",
    );
    for i in 1..300 {
        let create = format!(
            "{{\"ev\":\"create\",\"t\":{i},\"w\":0,\"task\":0,\"child\":{i},\"site\":\"s{i}\"}}\n\
             {{\"ev\":\"resume\",\"t\":{i},\"w\":0,\"task\":0}}\n"
        );
        text.push_str(&create);
    }
    text.push_str("{\"ev\":\"wait\",\"t\":300,\"w\":0,\"task\":0}\n");
    for i in 1..300 {
        let run = format!(
            "{{\"ev\":\"begin\",\"t\":300,\"w\":{i},\"task\":{i}}}\n\
             {{\"ev\":\"end\",\"t\":400,\"w\":{i},\"task\":{i}}}\n"
        );
        text.push_str(&run);
    }
    text.push_str("{\"ev\":\"resume\",\"t\":400,\"w\":0,\"task\":0}\n");
    text.push_str("{\"ev\":\"end\",\"t\":401,\"w\":0,\"task\":0}\n");
    let all = measure(&read(&text));
    assert_eq!((all.sites.len(), all.more_sites), (100, 200));
    let steals = all.steals;
    assert_eq!(steals.count, 299);
    assert_eq!(
        (steals.workers.len(), steals.more_workers),
        (MAX_WORKERS, 44)
    );
    let shown: u64 = steals.matrix.iter().flatten().sum();
    assert_eq!((shown, steals.beyond), (255, 44));
    assert_eq!((steals.first.count, steals.never), (299, 1));
    // Edges have the same rows.
    let edges = &all.dag.edges;
    assert_eq!(edges.threads as usize, MAX_WORKERS);
    let last = MAX_WORKERS as u32 - 1;
    assert_eq!(edges.of(EdgeKind::Create, 0, last), 1);
    assert_eq!(edges.beyond[EdgeKind::Create as usize], 44);
}

/// docs/text-folded.md's record: two tasks, known by powers of two.
#[test]
fn folded_subtrees_count_by_their_histograms() {
    let dag = read(
        r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":10,"w":0,"task":0}
{"ev":"folded","t":10,"w":0,"task":0,"work":70,"span":50,"ready_integral":60,"tasks":2,"spawns":1,"syncs":1,"strands":4,"levels":1,"envelope":[[50,0],[30,2]],"sites":[{"site":"fib.rs:9","count":2,"work":30,"span":30,"critical_work":20,"lengths":[0,0,0,1,1]}],"blocks":[["fib.rs:9",null,30],[0,"fib.rs:9",40]]}
{"ev":"end","t":80,"w":0,"task":0}
"#,
    );
    let all = measure(&dag);
    assert_eq!(all.folded_strands, 4);
    let expected = [("root", 1), ("fib.rs:9", 2)];
    let expected = expected.map(|(label, n)| (label.to_owned(), n));
    assert_eq!(labels(&dag, &all), expected);
    // The root's own part of the 70 ticks.
    assert_eq!(spread(&all.sites[0].task_lengths), (1, 40, [40; 5]));
    assert_eq!(all.sites[0].strand_lengths.count, 0);
    let inside = &all.sites[1].task_lengths;
    assert_eq!((inside.count, inside.estimated, inside.sum), (2, 2, 36));
    assert_eq!(
        (inside.minimum, inside.median, inside.maximum),
        (12, 12, 24)
    );
    assert_eq!(inside.histogram, [0, 0, 0, 1, 1]);
}

#[test]
fn lengths_are_in_the_metric() {
    let counted = TWO_STEALS.replace(
        "\"t\":40,\"w\":0,\"task\":3}",
        "\"t\":40,\"w\":0,\"task\":3,\"counters\":{\"instructions\":900}}",
    );
    let dag = read(&counted);
    let options = Options {
        metric: Metric::Counter("instructions".into()),
        ..Options::default()
    };
    let all = statistics(&dag, &options).unwrap();
    let first = &all.sites[0];
    assert_eq!(dag.places[first.site as usize].label, "sum.rs:9");
    assert_eq!(spread(&first.task_lengths), (1, 900, [900; 5]));
    // Times stay times.
    assert_eq!(spread(&first.ready.times), (1, 4, [4; 5]));
    let missing = Options {
        metric: Metric::Counter("cats".into()),
        ..Options::default()
    };
    assert!(statistics(&dag, &missing).is_err());
}

#[test]
fn no_time_and_no_steals() {
    let all = measure(&read(
        "{\"workspan_trace\":1,\"workers\":3,\"time_unit\":\"ns\",\"steals\":\"child\"}\n\
         {\"ev\":\"begin\",\"t\":9,\"w\":0,\"task\":0}\n{\"ev\":\"end\",\"t\":9,\"w\":0,\"task\":0}\n",
    ));
    assert!(all.ready.mean.is_empty() && all.queues.is_none());
    assert_eq!((all.steals.count, all.steals.per_second), (0, 0.0));
    assert_eq!((all.steals.workers.len(), all.steals.never), (3, 3));
    assert_eq!(all.sites[0].strand_lengths.histogram, [1]);
}

/// One worker: three ticks for the first create, one for the second, four from the wait to the
/// younger task, two from its end to the other one, five from there to the root.
#[test]
fn overhead_is_measured_by_site_and_for_the_root() {
    let run = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":13,"w":0,"task":0}
{"ev":"create","t":20,"w":0,"task":0,"child":2,"site":"b.rs:2"}
{"ev":"resume","t":21,"w":0,"task":0}
{"ev":"wait","t":30,"w":0,"task":0}
{"ev":"begin","t":34,"w":0,"task":2}
{"ev":"end","t":40,"w":0,"task":2}
{"ev":"begin","t":42,"w":0,"task":1}
{"ev":"end","t":50,"w":0,"task":1}
{"ev":"resume","t":55,"w":0,"task":0}
{"ev":"end","t":60,"w":0,"task":0}
"#;
    let rows = |text: &str| {
        let dag = read(text);
        let all = measure(&dag).overhead;
        let row = |row: &SiteOverhead| {
            let label = dag.places[row.site as usize].label.clone();
            (
                label,
                [row.create, row.wait, row.end, row.folded],
                row.steps,
            )
        };
        all.iter().map(row).collect::<Vec<_>>()
    };
    let expected = [
        ("a.rs:1", [3, 0, 5, 0], 2),
        ("root", [0, 4, 0, 0], 1),
        ("b.rs:2", [1, 0, 2, 0], 2),
    ];
    assert_eq!(rows(run), expected.map(|(l, t, n)| (l.to_owned(), t, n)));
    // Off the CPU in the middle of the first create.
    let off = "{\"ev\":\"off\",\"t\":11,\"w\":0,\"why\":\"preempted\"}\n{\"ev\":\"on\",\"t\":12,\"w\":0}\n";
    let resume = "{\"ev\":\"resume\",\"t\":13";
    assert_eq!(
        rows(&run.replace(resume, &format!("{off}{resume}")))[0].1[0],
        2
    );
    // If another worker takes the first task, it costs nothing here.
    let stolen = run
        .replace("\"t\":42,\"w\":0,\"task\":1", "\"t\":42,\"w\":1,\"task\":1")
        .replace("\"t\":50,\"w\":0,\"task\":1", "\"t\":50,\"w\":1,\"task\":1");
    let stolen = rows(&stolen);
    let first = stolen.iter().find(|row| row.0 == "a.rs:1").unwrap();
    assert_eq!((first.1, first.2), ([3, 0, 0, 0], 1));
}
