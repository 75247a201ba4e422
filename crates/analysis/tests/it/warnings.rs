//! Doubts about numbers are reported, and only if they exist.

use workspan_analysis::checks::Invariant;
use workspan_analysis::{Options, WarningTopic, report};
use workspan_dag::{CpuTimes, Dag, Meta, OffCpuReason};

/// Two workers: a root of 1,000 ticks that spawns a task of 500, which runs during its second half.
fn run(threads: u32, on: u32) -> Dag {
    let text = format!(
        r#"{{"workspan_trace":1,"workers":2,"threads":{threads},"time_unit":"ns","steals":"child"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":500,"w":0,"task":0,"child":1,"site":"s"}}
{{"ev":"resume","t":500,"w":0,"task":0}}
{{"ev":"begin","t":500,"w":{on},"task":1}}
{{"ev":"end","t":1000,"w":{on},"task":1}}
{{"ev":"end","t":1000,"w":0,"task":0}}
"#
    );
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

fn off(dag: &mut Dag, thread: u32, start: u64, end: u64, why: OffCpuReason) {
    dag.offs.push(workspan_dag::OffCpuInterval {
        thread,
        start,
        end,
        why,
        on: None,
    });
}

fn warnings(dag: &Dag, options: &Options) -> Vec<String> {
    let warnings = report(dag, options).unwrap().warnings;
    warnings.into_iter().map(|w| w.text).collect()
}

#[track_caller]
fn only_warning(dag: &Dag, options: &Options, expected: &str) {
    let warnings = warnings(dag, options);
    assert!(
        warnings.len() == 1 && warnings[0].starts_with(expected),
        "{warnings:?}"
    );
}

#[test]
fn nothing_is_wrong() {
    assert_eq!(
        warnings(&run(2, 1), &Options::default()),
        Vec::<String>::new()
    );
}

#[test]
fn the_traces_own_come_first() {
    let mut dag = run(2, 1);
    dag.meta.warnings = vec!["Half of it is missing.".into()];
    dag.meta.cpus = Some(1);
    let warnings = warnings(&dag, &Options::default());
    assert_eq!(warnings.len(), 2);
    assert_eq!(warnings[0], "Half of it is missing.");
    assert!(warnings[1].starts_with("2 workers shared 1 CPU"));
}

/// The process's clock includes the time inside the switches, which the threads' times do not.
#[test]
fn threads_may_lack_the_time_of_their_switches_and_no_more() {
    let holds = |threads_ns: u64, switches: u64| {
        let mut dag = run(2, 1);
        dag.meta.recorded = true;
        dag.meta.cpu = Some(CpuTimes {
            process: Some(100_000_000),
            threads: vec![(0, threads_ns)],
            switches,
            ..CpuTimes::default()
        });
        let checks = workspan_analysis::checks::checks(&dag);
        let check = checks
            .iter()
            .find(|check| check.invariant == Invariant::ThreadsMakeProcess);
        check.unwrap().holds
    };
    assert!(holds(100_000_000, 0) && holds(95_500_000, 0));
    assert!(!holds(94_500_000, 0), "beyond 3 % and 2 ms");
    assert!(holds(75_500_000, 2_000));
    assert!(
        !holds(74_500_000, 2_000),
        "beyond ten microseconds a switch"
    );
    assert!(
        !holds(105_500_000, 1_000_000),
        "switches explain no more time"
    );
}

/// Idle workers cannot have used more CPU time than the process had left.
#[test]
fn the_parts_of_the_cpu_time_are_within_the_processs() {
    let text = r#"{"workspan_trace":1,"workers":2,"threads":2,"time_unit":"ns","clock_hz":1000000000,"steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":5000000,"w":0,"task":0,"child":1,"site":"s"}
{"ev":"resume","t":5000000,"w":0,"task":0}
{"ev":"begin","t":5000000,"w":1,"task":1}
{"ev":"end","t":10000000,"w":1,"task":1}
{"ev":"wait","t":10000000,"w":0,"task":0}
{"ev":"begin","t":90000000,"w":1,"task":2}
{"ev":"end","t":100000000,"w":1,"task":2}
{"ev":"resume","t":100000000,"w":0,"task":0}
{"ev":"end","t":100000000,"w":0,"task":0}"#;
    // Worker 1 seems to be on the CPU from 10 to 90 ms.
    let holds = |process_ms: u64| {
        let mut dag = workspan_reader::text::read(text.as_bytes()).unwrap();
        dag.meta.recorded = true;
        dag.meta.cpu = Some(CpuTimes {
            process: Some(process_ms * 1_000_000),
            threads: vec![(0, 10_000_000), (1, 95_000_000)],
            ..CpuTimes::default()
        });
        let checks = workspan_analysis::checks::checks(&dag);
        let check = checks
            .iter()
            .find(|check| check.invariant == Invariant::PartsWithinProcess);
        check.unwrap().holds
    };
    assert!(!holds(100));
    assert!(holds(200));
}

/// Probes are a part of strands; their samples are the recorder's.
#[test]
fn samples_in_the_recorder_are_not_missing() {
    let holds = |in_task: u64, in_recorder: u64| {
        let mut text = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","clock_hz":1000000000,"steals":"child","sample_hz":1000}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"end","t":400000000,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"go","file":"a.c","line":3}
{"ev":"frame","frame":1,"function":"recording (workspan)","runtime":true}
{"ev":"stack","stack":0,"frames":[0]}
{"ev":"stack","stack":1,"frames":[1]}
"#
        .to_owned();
        for i in 0..in_task + in_recorder {
            let stack = u64::from(i >= in_task);
            let t = 1_000_000 * i + 1;
            text += &format!("{{\"ev\":\"sample\",\"t\":{t},\"w\":0,\"stack\":{stack}}}\n");
        }
        let mut dag = workspan_reader::text::read(text.as_bytes()).unwrap();
        dag.meta.recorded = true;
        let checks = workspan_analysis::checks::checks(&dag);
        let check = checks
            .iter()
            .find(|check| check.invariant == Invariant::SamplesMakeWork);
        check.unwrap().holds
    };
    assert!(holds(40, 360));
    assert!(!holds(40, 100));
    assert!(!holds(40, 0));
}

/// Work far below the CPU time is not a contradiction, but the reader must know about it.
#[test]
fn cpu_time_between_tasks_is_said() {
    let warning = |process: u64, outside: u64| {
        let mut dag = run(2, 1);
        dag.meta.recorded = true;
        dag.meta.ticks_per_second = 1_000;
        dag.meta.cpu = Some(CpuTimes {
            process: Some(process * 1_000_000),
            outside: outside * 1_000_000,
            ..CpuTimes::default()
        });
        let all = warnings(&dag, &Options::default());
        all.into_iter()
            .find(|text| text.contains("Recorded threads used"))
    };
    // The tasks ran for 1,500 ms.
    let sentence = warning(2_500, 0).unwrap();
    assert!(
        sentence.contains("Recorded threads used 1000 ms (40 %) between"),
        "{sentence}"
    );
    assert_eq!(warning(1_600, 0), None);
    assert_eq!(warning(2_500, 900), None);
}

/// Pools that alternate do not share the CPUs, whatever the sum of their workers.
#[test]
fn workers_that_never_ran_at_once_are_not_too_many() {
    let text = r#"{"workspan_trace":1,"workers":2,"threads":2,"time_unit":"ns","steals":"child","cpus":1}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":500,"w":0,"task":0,"child":1,"site":"s"}
{"ev":"resume","t":500,"w":0,"task":0}
{"ev":"wait","t":500,"w":0,"task":0}
{"ev":"begin","t":500,"w":1,"task":1}
{"ev":"end","t":1000,"w":1,"task":1}
{"ev":"resume","t":1000,"w":0,"task":0}
{"ev":"end","t":1100,"w":0,"task":0}
"#;
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    only_warning(
        &dag,
        &Options::default(),
        "There were 2 workers for 1 CPU, but hardly ever did more of them run",
    );
}

/// Each warning says what it is about, so that no code has to search its words.
#[test]
fn about_what() {
    let about = |dag: &Dag| {
        let warnings = report(dag, &Options::default()).unwrap().warnings;
        warnings.iter().map(|w| w.about).collect::<Vec<_>>()
    };
    let mut dag = run(2, 1);
    dag.meta.warnings = vec![
        "The trace is damaged in 1 place, the first at 7.".into(),
        "Off-CPU times are not known.".into(),
        "No debug information for a.out.".into(),
        "Something nobody thought of.".into(),
    ];
    dag.meta.cpus = Some(1);
    dag.meta.recorded = true;
    dag.meta.probe_cost = 60;
    assert_eq!(
        about(&dag),
        [
            WarningTopic::Everything,
            WarningTopic::Breakdown,
            WarningTopic::Sites,
            WarningTopic::Everything,
            WarningTopic::Breakdown,
            WarningTopic::Span,
            WarningTopic::Span,
        ]
    );
}

#[test]
fn enough_cpus_are_no_warning() {
    let mut dag = run(2, 1);
    dag.meta.cpus = Some(2);
    assert_eq!(warnings(&dag, &Options::default()), Vec::<String>::new());
}

#[test]
fn preempted_more_than_a_little() {
    let mut dag = run(2, 1);
    off(&mut dag, 0, 100, 180, OffCpuReason::Preempted);
    assert_eq!(warnings(&dag, &Options::default()), Vec::<String>::new());
    off(&mut dag, 0, 200, 240, OffCpuReason::Preempted);
    only_warning(
        &dag,
        &Options::default(),
        "Workers were preempted inside strands for 6 %",
    );
}

#[test]
fn blocked_on_the_critical_path() {
    let mut dag = run(2, 1);
    off(&mut dag, 0, 100, 140, OffCpuReason::Blocked);
    assert_eq!(warnings(&dag, &Options::default()), Vec::<String>::new());
    off(&mut dag, 0, 200, 260, OffCpuReason::Blocked);
    only_warning(
        &dag,
        &Options::default(),
        "Blocked time (I/O, locks, channels) is not counted as work (--count-blocked); counting it makes the span 11 % longer",
    );
    let counted = Options {
        count_blocked: true,
        ..Options::default()
    };
    assert_eq!(warnings(&dag, &counted), Vec::<String>::new());
}

#[test]
fn more_at_once_than_workers() {
    let mut dag = run(3, 1);
    dag.meta.workers = 1;
    only_warning(
        &dag,
        &Options::default(),
        "More strands than the 1 workers ran at once for 50 %",
    );
}

#[test]
fn strands_as_short_as_probes() {
    let mut dag = run(2, 1);
    dag.meta.probe_cost = 60;
    only_warning(
        &dag,
        &Options::default(),
        "Strands are so short that probes matter (380 ticks on average; a probe costs 60)",
    );
    dag.meta.probe_cost = 6;
    assert_eq!(warnings(&dag, &Options::default()), Vec::<String>::new());
}

#[test]
fn a_recorded_run_without_a_burden() {
    let mut dag = run(2, 1);
    dag.meta = Meta {
        recorded: true,
        ..dag.meta
    };
    only_warning(
        &dag,
        &Options::default(),
        "The cost of a steal was not measured",
    );
    let given = Options {
        burden: Some(0),
        ..Options::default()
    };
    assert_eq!(warnings(&dag, &given), Vec::<String>::new());
}

/// Thousands of nested sites, all entered by one signal from outside: measuring each by itself
/// would take quadratic time, so most get a bound, and a warning says so.
#[test]
fn too_many_nested_sites_entered_from_outside() {
    let depth = 8000;
    let mut lines =
        vec![r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}"#.to_owned()];
    let mut line = |ev: &str, w: u32, t: u32, task: u32, more: &str| {
        lines.push(format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{task}{more}}}"
        ));
    };
    line("begin", 1, 0, 1_000_000, "");
    line("signal", 1, 50_000, 1_000_000, ",\"id\":1");
    line("end", 1, 50_000, 1_000_000, "");
    for task in 0..depth {
        line("begin", 0, task, task, "");
        if task + 1 < depth {
            line(
                "create",
                0,
                task + 1,
                task,
                &format!(",\"child\":{},\"site\":\"s{task}\"", task + 1),
            );
            line("resume", 0, task + 1, task, "");
            line("wait", 0, task + 1, task, "");
        }
    }
    line("wait", 0, depth, depth - 1, ",\"on\":[1]");
    for task in (0..depth).rev() {
        line("resume", 0, 50_000 + depth - task, task, "");
        line("end", 0, 50_000 + depth - task + 1, task, "");
    }
    let dag = workspan_reader::text::read(lines.join("\n").as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    assert!(
        report
            .warnings
            .iter()
            .any(|w| w.about == WarningTopic::Sites && w.text.contains("is an upper bound")),
        "{:?}",
        report.warnings
    );
    assert!(report.sites.iter().all(|s| s.span >= 1));
}
