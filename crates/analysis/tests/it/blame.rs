//! The party responsible for a loss: other programs or the program's own threads, this pool's
//! workers or another's; and what a thread waited for without an edge.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{Options, Report, WaitKind, blocked_in, report};
use workspan_dag::Dag;

pub(crate) fn measured(header: &str, lines: &str) -> (Dag, Report) {
    let text = format!("{{\"workspan_trace\":1,\"steals\":\"child\",{header}}}\n{lines}");
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let causes = &report.causes;
    assert_eq!(causes.by_cause.iter().sum::<u128>(), causes.lost);
    // A written run is read back as the same run.
    let mut written = Vec::new();
    workspan_reader::text::write(&dag, &mut written).unwrap();
    let again = workspan_reader::text::read(&written).unwrap();
    assert_eq!((&again.pools, &again.samples), (&dag.pools, &dag.samples));
    assert_eq!(again.start_waits, dag.start_waits);
    (dag, report)
}

pub(crate) fn lost(report: &Report, cause: Cause) -> u128 {
    report.causes.by_cause[cause as usize]
}

pub(crate) fn finding(report: &Report, cause: Cause) -> &Finding {
    let places = report.causes.places.iter();
    places
        .into_iter()
        .find(|f| f.cause == cause)
        .unwrap_or_else(|| panic!("no {cause:?}: {:#?}", report.causes))
}

/// Four tasks of 400 ticks of work on four workers, of which each was preempted for half of 800.
fn four_on(cpus: u32, cpu_time: &str) -> (Dag, Report) {
    let mut lines = String::from("{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n");
    for child in 1..4 {
        lines += &format!(
            "{{\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":{child},\"site\":\"part\"}}\n\
             {{\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}}\n"
        );
    }
    for w in 0..4 {
        // Two run while two are preempted; then the other way round.
        let (from, to) = if w < 2 { (400, 800) } else { (0, 400) };
        if w > 0 {
            lines += &format!("{{\"ev\":\"begin\",\"t\":0,\"w\":{w},\"task\":{w}}}\n");
        }
        lines += &format!(
            "{{\"ev\":\"off\",\"t\":{from},\"w\":{w},\"why\":\"preempted\"}}\n\
             {{\"ev\":\"on\",\"t\":{to},\"w\":{w}}}\n\
             {{\"ev\":\"end\",\"t\":800,\"w\":{w},\"task\":{w}}}\n"
        );
    }
    let facts = format!("\"facts\":[{{\"key\":\"CPU time\",\"value\":\"{cpu_time}\"}}]");
    let header = format!("\"workers\":4,\"time_unit\":\"ns\",\"cpus\":{cpus},{facts}");
    measured(&header, &lines)
}

#[test]
fn more_threads_than_cpus_are_no_other_programs() {
    // Two CPUs, both of which the process used all the time.
    let (_, report) = four_on(2, "0.0000016 s");
    assert_eq!(lost(&report, Cause::Oversubscribed), 1600);
    assert_eq!(lost(&report, Cause::Descheduled), 0);
    let gain = |(dag, report): (Dag, Report)| {
        let first = report.causes.findings()[0];
        report.elapsed_gain(&dag, first)
    };
    // 1600 ticks of work take two CPUs the 800 ticks that the run took.
    assert_eq!(gain(four_on(2, "0.0000016 s")), 0);
    // Of as much CPU time others had as much. With two threads instead of four the CPUs do no more.
    assert_eq!(gain(four_on(2, "0.0000008 s")), 0);
    assert_eq!(gain(four_on(4, "0.0000016 s")), 400);
    // With a CPU for each, others had them.
    let (_, report) = four_on(4, "0.0000016 s");
    assert_eq!(lost(&report, Cause::Descheduled), 1600);
    assert_eq!(lost(&report, Cause::Oversubscribed), 0);
    // With three CPUs, other programs can have used one: two threads were preempted while one CPU
    // ran none of the program's strands.
    let (_, report) = four_on(3, "0.0000016 s");
    assert_eq!(lost(&report, Cause::Descheduled), 800);
    assert_eq!(lost(&report, Cause::Oversubscribed), 800);
    // The program used that one as well, outside of strands.
    let (_, report) = four_on(3, "0.0000022 s");
    assert_eq!(lost(&report, Cause::Descheduled), 200);
    assert_eq!(lost(&report, Cause::Oversubscribed), 1400);
}

/// The root starts one task, runs beside it until 60, and waits for it until 100.
#[test]
fn a_thread_is_not_half_of_its_starters_work() {
    let with = |more: &str| {
        let lines = r#"{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"a.rs:3"MORE}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"begin","t":0,"w":1,"task":1}
{"ev":"wait","t":60,"w":0,"task":0,"of":[1]}
{"ev":"end","t":100,"w":1,"task":1}
{"ev":"resume","t":100,"w":0,"task":0}
{"ev":"end","t":100,"w":0,"task":0}
"#;
        let header = r#""workers":2,"time_unit":"ns""#;
        let (_, report) = measured(header, &lines.replace("MORE", more));
        (
            lost(&report, Cause::GrainCoarse),
            lost(&report, Cause::SerialStrand),
        )
    };
    assert_eq!(with(""), (40, 0));
    assert_eq!(with(",\"detached\":true,\"thread\":true"), (0, 40));
}

#[test]
fn what_bounds_the_program_is_said_beside_the_load() {
    let (dag, report) = four_on(4, "0.0000016 s");
    let quiet = report.on_a_quiet_machine().unwrap();
    let site = &dag.places[quiet.block.site as usize].label;
    assert_eq!(
        (site.as_str(), quiet.critical, quiet.span),
        ("root", 400, 400)
    );
    assert!(!quiet.is_enough);
}

/// The main thread waits, off the CPU, while other threads use it: `samples` samples of them in the
/// middle of 10,000 ticks.
fn waits(samples: u64) -> (Dag, Report) {
    let mut lines = String::from(
        "{\"ev\":\"begin\",\"t\":0,\"w\":2,\"task\":0}\n\
         {\"ev\":\"off\",\"t\":100,\"w\":2,\"why\":\"blocked\"}\n\
         {\"ev\":\"on\",\"t\":9100,\"w\":2}\n\
         {\"ev\":\"end\",\"t\":10000,\"w\":2,\"task\":0}\n\
         {\"ev\":\"frame\",\"frame\":0,\"function\":\"burn\",\"file\":\"a.rs\",\"line\":7}\n\
         {\"ev\":\"stack\",\"stack\":0,\"frames\":[0]}\n",
    );
    for i in 0..samples {
        lines += &format!(
            "{{\"ev\":\"sample\",\"t\":{},\"stack\":0}}\n",
            1000 + i * 100
        );
    }
    let facts = format!(
        "\"facts\":[{{\"key\":\"CPU time\",\"value\":\"0.000009 s\"}},\
         {{\"key\":\"CPU time of other threads\",\"value\":\"{:.7} s, 2 threads\"}}]",
        samples as f64 * 1e-7
    );
    let header =
        format!("\"workers\":2,\"threads\":3,\"time_unit\":\"ns\",\"sample_hz\":10000000,{facts}");
    measured(&header, &lines)
}

#[test]
fn a_wait_for_threads_outside_is_not_the_root_giving_up_the_cpu() {
    let (_, report) = waits(80);
    assert_eq!(lost(&report, Cause::OtherThreads), 2 * 9000);
    assert_eq!(lost(&report, Cause::Blocked), 0);
    let outside = report.other_threads.unwrap();
    assert_eq!((outside.cpu, outside.others), (9000, 8000));
    let hot = outside.hottest.unwrap();
    assert_eq!((hot.function.as_str(), hot.line), ("burn", Some(7)));
    // No other thread ran: it waits for something else.
    let (_, report) = waits(2);
    assert_eq!(lost(&report, Cause::OtherThreads), 0);
    assert_eq!(lost(&report, Cause::Blocked), 2 * 9000);
}

#[test]
fn a_wait_without_an_edge_is_for_the_one_strand_that_runs() {
    // Two roots: the first waits for the second, by a join of threads, and ends last.
    let lines = "{\"ev\":\"begin\",\"t\":0,\"w\":2,\"task\":0}\n\
        {\"ev\":\"off\",\"t\":100,\"w\":2,\"why\":\"blocked\"}\n\
        {\"ev\":\"on\",\"t\":900,\"w\":2}\n\
        {\"ev\":\"begin\",\"t\":100,\"w\":3,\"task\":1}\n\
        {\"ev\":\"create\",\"t\":900,\"w\":3,\"task\":1,\"child\":2,\"inline\":true,\"site\":\"part\",\"at\":\"part\"}\n\
        {\"ev\":\"begin\",\"t\":900,\"w\":3,\"task\":2}\n\
        {\"ev\":\"end\",\"t\":900,\"w\":3,\"task\":2}\n\
        {\"ev\":\"resume\",\"t\":900,\"w\":3,\"task\":1}\n\
        {\"ev\":\"end\",\"t\":900,\"w\":3,\"task\":1}\n\
        {\"ev\":\"end\",\"t\":1000,\"w\":2,\"task\":0}\n";
    let (dag, report) = measured("\"workers\":2,\"threads\":4,\"time_unit\":\"ns\"", lines);
    let head = finding(&report, Cause::SerialStrand);
    let strand = head.strand as usize;
    assert_eq!((dag.strands.thread[strand], head.lost), (3, 800));
    assert_eq!(lost(&report, Cause::None), 0);
}

/// Thread 0 is the worker of a pool of one, threads 1 and 2 those of another. Two tasks for the
/// first, one after the other.
fn two_pools(pools: bool) -> (Dag, Report) {
    let mut lines = String::from(
        "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
         {\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":1,\"site\":\"half\"}\n\
         {\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}\n\
         {\"ev\":\"wait\",\"t\":1000,\"w\":0,\"task\":0}\n\
         {\"ev\":\"begin\",\"t\":1000,\"w\":0,\"task\":1}\n\
         {\"ev\":\"end\",\"t\":2000,\"w\":0,\"task\":1}\n\
         {\"ev\":\"resume\",\"t\":2000,\"w\":0,\"task\":0}\n\
         {\"ev\":\"end\",\"t\":2000,\"w\":0,\"task\":0}\n",
    );
    if pools {
        lines += "{\"ev\":\"pool\",\"pool\":0,\"t\":0,\"to\":2000,\"size\":1,\"at\":\"a.rs:4\"}\n\
                  {\"ev\":\"pool\",\"pool\":1,\"t\":0,\"to\":2000,\"size\":2}\n\
                  {\"ev\":\"worker\",\"t\":0,\"to\":2000,\"w\":0,\"pool\":0}\n\
                  {\"ev\":\"worker\",\"t\":0,\"to\":2000,\"w\":1,\"pool\":1}\n\
                  {\"ev\":\"worker\",\"t\":0,\"to\":2000,\"w\":2,\"pool\":1}\n";
    }
    measured("\"workers\":3,\"time_unit\":\"ns\",\"burden\":10", &lines)
}

#[test]
fn idle_workers_of_another_pool_are_nobodys_fault() {
    // With a single pool, the task was ready while workers were free, and then was the last of its
    // phase.
    let (_, report) = two_pools(false);
    assert_eq!(lost(&report, Cause::SlowThief), 2000);
    let (dag, report) = two_pools(true);
    assert_eq!(lost(&report, Cause::OtherPool), report.causes.lost);
    assert_eq!(report.causes.lost, 4000);
    let found = report.causes.findings();
    assert_eq!(found.len(), 1);
    let strand = found[0].strand as usize;
    let pool = dag
        .pools
        .of(dag.strands.thread[strand], dag.strands.start[strand]);
    assert_eq!(
        dag.pools.list[pool.unwrap() as usize].built.as_deref(),
        Some("a.rs:4")
    );
    // The only worker of the first pool was busy while its task was ready: no delay there.
    let rows = report.pools.iter();
    let rows: Vec<_> = rows.map(|row| (row.work, row.span, row.delay)).collect();
    assert_eq!(rows, [(2000, 1000, 0), (0, 0, 0)]);
}

#[test]
fn blocked_time_is_where_the_stacks_of_its_switches_say() {
    let lines = "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
        {\"ev\":\"off\",\"t\":100,\"w\":0,\"why\":\"blocked\"}\n\
        {\"ev\":\"on\",\"t\":800,\"w\":0}\n\
        {\"ev\":\"off\",\"t\":900,\"w\":0,\"why\":\"blocked\"}\n\
        {\"ev\":\"on\",\"t\":950,\"w\":0}\n\
        {\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}\n\
        {\"ev\":\"frame\",\"frame\":0,\"function\":\"syscall\"}\n\
        {\"ev\":\"frame\",\"frame\":1,\"function\":\"lock_contended\",\"file\":\"library/std/src/sys/sync/mutex/futex.rs\",\"line\":9}\n\
        {\"ev\":\"frame\",\"frame\":2,\"function\":\"work\",\"file\":\"a.rs\",\"line\":6}\n\
        {\"ev\":\"frame\",\"frame\":3,\"function\":\"burn\",\"file\":\"a.rs\",\"line\":20}\n\
        {\"ev\":\"stack\",\"stack\":0,\"frames\":[0,1,2]}\n\
        {\"ev\":\"stack\",\"stack\":1,\"frames\":[0,3]}\n\
        {\"ev\":\"stack\",\"stack\":2,\"frames\":[3,2]}\n\
        {\"ev\":\"stop\",\"t\":100,\"w\":0,\"stack\":0,\"ticks\":700}\n\
        {\"ev\":\"stop\",\"t\":900,\"w\":0,\"stack\":1,\"ticks\":50}\n\
        {\"ev\":\"stop\",\"t\":1500,\"w\":0,\"stack\":1,\"ticks\":50}\n";
    // The code that ran does not show where it waited.
    let ran: String = (0..9)
        .map(|i| format!("{{\"ev\":\"sample\",\"t\":{i},\"w\":0,\"stack\":2}}\n"))
        .collect();
    let header = "\"workers\":1,\"time_unit\":\"ns\",\"sample_hz\":1000";
    let (dag, report) = measured(header, &(lines.to_owned() + &ran));
    let found = finding(&report, Cause::Lock);
    let at = blocked_in(&dag, found).unwrap();
    assert_eq!((at.function.as_str(), at.line), ("work", Some(6)));
    assert_eq!(at.waits_in.as_deref(), Some("lock_contended"));
    assert_eq!(
        (at.kind, at.ticks, at.of, at.stops),
        (WaitKind::Lock, 700, 700, 1)
    );
    assert_eq!(
        (lost(&report, Cause::Lock), lost(&report, Cause::Blocked)),
        (700, 50)
    );
    assert_eq!(workspan_analysis::hot_function_of(&dag, found), None);
}

/// A task's last call may be a jump, so that the stack has no frame of the task.
#[test]
fn a_wait_in_the_last_call_of_a_task_is_not_the_recorders() {
    let lines = "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
        {\"ev\":\"off\",\"t\":100,\"w\":0,\"why\":\"blocked\"}\n\
        {\"ev\":\"on\",\"t\":800,\"w\":0}\n\
        {\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}\n\
        {\"ev\":\"frame\",\"frame\":0,\"function\":\"__lll_lock_wait_private\"}\n\
        {\"ev\":\"frame\",\"frame\":1,\"function\":\"malloc_trim\"}\n\
        {\"ev\":\"frame\",\"frame\":2,\"function\":\"recording (workspan)\",\"runtime\":true}\n\
        {\"ev\":\"stack\",\"stack\":0,\"frames\":[0,1,2]}\n\
        {\"ev\":\"stop\",\"t\":100,\"w\":0,\"stack\":0,\"ticks\":700}\n";
    let (dag, report) = measured("\"workers\":1,\"time_unit\":\"ns\"", lines);
    let at = blocked_in(&dag, finding(&report, Cause::Lock)).unwrap();
    assert_eq!(at.function, "malloc_trim");
    assert_eq!(at.waits_in.as_deref(), Some("__lll_lock_wait_private"));
    assert!(at.is_c_library_lock());
}

/// A thread's task begins on a thread of its own: no worker took it from its creator.
#[test]
fn a_thread_that_the_program_starts_is_not_stolen() {
    let trace = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1","thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":20,"w":0,"task":0,"of":[1]}
{"ev":"begin","t":15,"w":1,"task":1}
{"ev":"end","t":50,"w":1,"task":1}
{"ev":"resume","t":50,"w":0,"task":0}
{"ev":"end","t":60,"w":0,"task":0}
"#;
    let stolen = |text: &str| {
        let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
        workspan_analysis::stolen_strands(&dag).len()
    };
    assert_eq!(stolen(trace), 0);
    // Any other task is stolen.
    assert_eq!(stolen(&trace.replace(",\"thread\":true", "")), 1);
}

/// A thread is started at 10 and begins at 90; it waited for a CPU for most of that time, or for a
/// part.
#[test]
fn a_new_thread_that_waits_for_a_cpu_is_the_machines_doing() {
    let started = |waited: &str| {
        let lines = r#"{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1","detached":true,"thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":20,"w":0,"task":0,"of":[1]}
{"ev":"begin","t":90,"w":1,"task":1WAITED}
{"ev":"end","t":150,"w":1,"task":1}
{"ev":"resume","t":150,"w":0,"task":0}
{"ev":"end","t":160,"w":0,"task":0}
"#;
        let header = "\"workers\":2,\"time_unit\":\"ns\",\"burden\":0,\"cpus\":2";
        let (_, report) = measured(header, &lines.replace("WAITED", waited));
        (
            lost(&report, Cause::ThreadStart),
            lost(&report, Cause::Descheduled),
        )
    };
    // Ready from 10 to 90 while a worker is free; from 20 on both are free.
    let (all, none) = started("");
    assert!(all >= 80 && none == 0, "{all}, {none}");
    assert_eq!(started(",\"waited\":39"), (all, 0));
    assert_eq!(started(",\"waited\":40"), (0, all));
}

/// A thread outside of the pool waits for the pool's only worker, which waits for a CPU from 12 to
/// 98 and then answers.
#[test]
fn a_pool_that_waits_for_a_cpu_is_the_machines_doing() {
    let lines = r#"{"ev":"begin","t":0,"w":1,"task":0}
{"ev":"off","t":10,"w":1,"why":"blocked","on":"ON"}
{"ev":"off","t":12,"w":0,"why":"preempted"}
{"ev":"on","t":98,"w":0}
{"ev":"on","t":100,"w":1}
{"ev":"create","t":100,"w":1,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":100,"w":1,"task":0}
{"ev":"begin","t":101,"w":0,"task":1}
{"ev":"wait","t":102,"w":1,"task":0}
{"ev":"end","t":200,"w":0,"task":1}
{"ev":"resume","t":200,"w":1,"task":0}
{"ev":"end","t":201,"w":1,"task":0}"#;
    let waiting = |on| {
        let header = r#""workers":1,"threads":2,"time_unit":"ns","cpus":2"#;
        measured(header, &lines.replace("ON", on)).1
    };
    let report = waiting("channel");
    assert_eq!(lost(&report, Cause::Descheduled), 86);
    assert!(lost(&report, Cause::Channel) <= 4);
    // It sleeps or reads a file, and then creates what the worker does.
    for (on, cause) in [("sleep", Cause::Sleep), ("io", Cause::Io)] {
        let report = waiting(on);
        assert_eq!(lost(&report, Cause::Descheduled), 0, "{on}");
        assert_eq!(lost(&report, cause), 90, "{on}");
    }
}

/// A thread that the program started sleeps from 10 to 100; the pool's only worker waits for a CPU
/// meanwhile, from 12 to 98.
#[test]
fn a_thread_that_sleeps_beside_a_preempted_pool_is_not_blamed() {
    let lines = r#"{"ev":"begin","t":0,"w":1,"task":0}
{"ev":"create","t":1,"w":1,"task":0,"child":1,"site":"a.rs:1","detached":true,"thread":true}
{"ev":"resume","t":1,"w":1,"task":0}
{"ev":"begin","t":2,"w":2,"task":1}
{"ev":"wait","t":3,"w":1,"task":0,"of":[1]}
{"ev":"off","t":10,"w":2,"why":"blocked","on":"sleep"}
{"ev":"off","t":12,"w":0,"why":"preempted"}
{"ev":"on","t":98,"w":0}
{"ev":"on","t":100,"w":2}
{"ev":"end","t":200,"w":2,"task":1}
{"ev":"resume","t":200,"w":1,"task":0}
{"ev":"end","t":201,"w":1,"task":0}"#;
    let header = r#""workers":1,"threads":3,"time_unit":"ns","cpus":2"#;
    let (_, report) = measured(header, lines);
    assert_eq!(lost(&report, Cause::Descheduled), 86);
    assert_eq!(lost(&report, Cause::Sleep), 4);
}

/// The root's wait is over at 20, but its thread runs another task until 120. The other worker is
/// free from 60 on, but preempted from 60 to 110.
#[test]
fn a_preempted_worker_is_free_for_nobody() {
    let lines = r#"{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"other"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":2,"site":"own"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"wait","t":0,"w":0,"task":0,"tasks":[2]}
{"ev":"begin","t":0,"w":1,"task":2}
{"ev":"create","t":10,"w":1,"task":2,"child":3,"site":"inner","detached":true}
{"ev":"resume","t":10,"w":1,"task":2}
{"ev":"end","t":20,"w":1,"task":2}
{"ev":"begin","t":10,"w":0,"task":3}
{"ev":"begin","t":20,"w":1,"task":1}
{"ev":"end","t":60,"w":1,"task":1}
{"ev":"off","t":60,"w":1,"why":"preempted"}
{"ev":"on","t":110,"w":1}
{"ev":"end","t":120,"w":0,"task":3}
{"ev":"resume","t":120,"w":0,"task":0}
{"ev":"wait","t":120,"w":0,"task":0}
{"ev":"resume","t":120,"w":0,"task":0}
{"ev":"end","t":200,"w":0,"task":0}
"#;
    let header = "\"workers\":2,\"time_unit\":\"ns\",\"burden\":5,\"cpus\":2";
    let (_, report) = measured(header, lines);
    assert_eq!(lost(&report, Cause::Descheduled), 50);
    assert_eq!(lost(&report, Cause::BuriedWait), 10);
}

/// Twelve times off the CPU for 10 ticks. `known` of them have a stack, `of_read` of these in
/// `read`, the others elsewhere.
fn stops(known: usize, of_read: usize) -> Report {
    stops_in(
        r#"{"ev":"frame","frame":0,"function":"read"}"#,
        known,
        of_read,
    )
}

/// The same, with another frame than that of `read`.
fn stops_in(frame: &str, known: usize, of_read: usize) -> Report {
    let mut lines = format!(
        r#"{{"ev":"begin","t":0,"w":0,"task":0}}
{frame}
{{"ev":"frame","frame":1,"function":"work","file":"a.rs","line":6}}
{{"ev":"frame","frame":2,"function":"syscall"}}
{{"ev":"stack","stack":0,"frames":[2,0,1]}}
{{"ev":"stack","stack":1,"frames":[1]}}
"#,
    );
    for i in 0..12 {
        let t = 100 * (i + 1);
        lines += &format!(
            "{{\"ev\":\"off\",\"t\":{t},\"w\":0,\"why\":\"blocked\"}}\n\
             {{\"ev\":\"on\",\"t\":{},\"w\":0}}\n",
            t + 10
        );
        if i < known {
            let stack = usize::from(i >= of_read);
            lines +=
                &format!("{{\"ev\":\"stop\",\"t\":{t},\"w\":0,\"stack\":{stack},\"ticks\":10}}\n");
        }
    }
    lines += "{\"ev\":\"end\",\"t\":2000,\"w\":0,\"task\":0}\n";
    measured("\"workers\":1,\"time_unit\":\"ns\"", &lines).1
}

#[test]
fn stops_without_a_stack_are_what_nearly_all_of_their_block_are() {
    let lost = |known, of_read| {
        let report = stops(known, of_read);
        (lost(&report, Cause::Io), lost(&report, Cause::Blocked))
    };
    assert_eq!(lost(12, 12), (120, 0));
    assert_eq!(lost(8, 8), (120, 0));
    // Too few stacks for a conclusion.
    assert_eq!(lost(7, 7), (70, 50));
    // Of two kinds.
    assert_eq!(lost(10, 9), (110, 10));
    assert_eq!(lost(10, 8), (80, 40));
}

#[test]
fn waits_in_the_recorder_are_no_finding_about_the_program() {
    let recorder = r#"{"ev":"frame","frame":0,"function":"recording (workspan)","runtime":true}"#;
    let lost = |known, in_recorder| {
        let report = stops_in(recorder, known, in_recorder);
        (lost(&report, Cause::None), lost(&report, Cause::Blocked))
    };
    assert_eq!(lost(12, 12), (120, 0));
    assert_eq!(lost(1, 1), (120, 0));
    // Of two kinds.
    assert_eq!(lost(12, 6), (60, 60));
    assert_eq!(lost(2, 1), (10, 110));
}
