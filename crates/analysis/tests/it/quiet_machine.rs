//! What a loss would be on a quiet machine, estimated on a loaded one, and the order of findings
//! that follows from it.

use workspan_analysis::CodeBlock;
use workspan_analysis::Report;
use workspan_analysis::causes::{Cause, Causes, Evidence, Finding, UndisturbedTime};
use workspan_dag::NONE;

use crate::blame::{finding, lost, measured};

/// Two workers begin to run one task each.
const BEGIN_OF_TWO: &str = "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
     {\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":1,\"site\":\"a.rs:3\"}\n\
     {\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}\n\
     {\"ev\":\"begin\",\"t\":0,\"w\":1,\"task\":1}\n";
/// Their tasks end at 2000 and 2001.
const END_OF_TWO: &str = "{\"ev\":\"end\",\"t\":2000,\"w\":1,\"task\":1}\n\
     {\"ev\":\"wait\",\"t\":2000,\"w\":0,\"task\":0}\n\
     {\"ev\":\"resume\",\"t\":2000,\"w\":0,\"task\":0}\n\
     {\"ev\":\"end\",\"t\":2001,\"w\":0,\"task\":0}\n";

/// Two workers of which one is preempted for 96 of 100 ticks. Whenever it gets a CPU, it waits for
/// a lock for `waits` ticks, or runs.
fn rarely_beside_each_other(waits: u64) -> Report {
    let mut lines = String::from(BEGIN_OF_TWO);
    for t in (0..2000).step_by(100) {
        let (on, ends) = (t + 96, t + 96 + waits);
        lines += &format!(
            "{{\"ev\":\"off\",\"t\":{t},\"w\":1,\"why\":\"preempted\"}}\n\
             {{\"ev\":\"on\",\"t\":{on},\"w\":1}}\n"
        );
        if waits > 0 {
            lines += &format!(
                "{{\"ev\":\"off\",\"t\":{on},\"w\":1,\"why\":\"blocked\",\"on\":\"lock\"}}\n\
                 {{\"ev\":\"on\",\"t\":{ends},\"w\":1}}\n"
            );
        }
    }
    lines += END_OF_TWO;
    measured(r#""workers":2,"time_unit":"ns","cpus":2"#, &lines).1
}

/// A lock that serializes the program is a finding on a machine whose load leaves the threads
/// little time to meet.
#[test]
fn a_lock_is_found_where_the_threads_rarely_run_at_once() {
    let report = rarely_beside_each_other(3);
    let lock = finding(&report, Cause::Lock);
    assert!(report.causes.percent(lock.lost) < 4.0);
    let undisturbed = report.causes.undisturbed_percent(lock).unwrap();
    // Per 100 ticks, of 2 x (3 / 0.51 + 1 / 0.51^2).
    assert!((29.0..32.0).contains(&undisturbed), "{undisturbed}");
    // It comes first, though the machine cost more.
    let by_loss = report.causes.findings();
    assert_eq!(by_loss[0].cause, Cause::Descheduled);
    let shown = report.causes.findings_program_first();
    assert_eq!(
        (shown.len(), shown[0].1.cause),
        (by_loss.len(), Cause::Lock)
    );
    for (index, finding) in shown {
        assert!(std::ptr::eq(finding, by_loss[index]));
    }
    let limits = report.work_span.limits;
    assert!(limits.blocked.is_some(), "the bounds are those without it");
    // Without the wait there is nothing to tell.
    let report = rarely_beside_each_other(0);
    assert_eq!(lost(&report, Cause::Lock), 0);
    assert!(report.work_span.limits.blocked.is_none());
}

/// Of 100 ticks, a worker is preempted for 40, waits for a lock for 20, and runs for 40. The holder
/// is the other worker, which is preempted for `preempted` ticks of that wait.
fn waits_for(preempted: u64) -> f64 {
    let mut lines = format!(
        "{BEGIN_OF_TWO}\
         {{\"ev\":\"frame\",\"frame\":0,\"function\":\"lock\"}}\n\
         {{\"ev\":\"stack\",\"stack\":0,\"frames\":[0]}}\n"
    );
    let mut line = |ev: &str, t: u64, more: &str| {
        lines += &format!("{{\"ev\":\"{ev}\",\"t\":{t},{more}}}\n");
    };
    for t in (0..2000).step_by(100) {
        line("off", t, "\"w\":1,\"why\":\"preempted\"");
        line("on", t + 40, "\"w\":1");
        line("off", t + 40, "\"w\":1,\"why\":\"blocked\"");
        let wait = "\"w\":1,\"stack\":0,\"ticks\":20,\"on\":\"mutex\",\"by\":0,\"held\":20";
        line("stop", t + 40, wait);
        if preempted > 0 {
            line("off", t + 41, "\"w\":0,\"why\":\"preempted\"");
            line("on", t + 41 + preempted, "\"w\":0");
        }
        line("on", t + 60, "\"w\":1");
    }
    lines += END_OF_TWO;
    let report = measured(r#""workers":2,"time_unit":"ns","cpus":2"#, &lines).1;
    let lock = finding(&report, Cause::Lock);
    report.causes.undisturbed_percent(lock).unwrap()
}

/// A thread that is preempted while it holds a lock makes others wait that would not meet it on a
/// quiet machine.
#[test]
fn waits_for_a_preempted_holder_hardly_count() {
    // Threads that can run have a CPU for q = 1 - 40/180 of the time: of
    // 2 x (20 / q + 40 / q^2) ticks.
    let running = waits_for(0);
    assert!((13.5..14.5).contains(&running), "{running}");
    // q = 1 - 58/180: of 2 x (2 / q + 40 / q^2) ticks 2 / q, which is a seventh of the wait and
    // counts as much.
    let preempted = waits_for(18);
    assert!((0.2..0.3).contains(&preempted), "{preempted}");
}

/// In ticks of 1000: the load took 600. Of blocked time, `undisturbed` of 100 weighted ticks.
fn finding_of(cause: Cause, lost: u128, undisturbed: f64) -> Finding {
    Finding {
        cause,
        block: CodeBlock::whole_site(NONE),
        strand: 0,
        lost,
        undisturbed,
        evidence: Evidence {
            strands: 9,
            ..Evidence::default()
        },
    }
}

#[test]
fn findings_are_listed_by_what_they_cost_on_a_quiet_machine() {
    let mut by_cause = [0; Cause::ALL.len()];
    by_cause[Cause::Descheduled as usize] = 600;
    let causes = Causes {
        total: 1000,
        lost: 900,
        undisturbed: UndisturbedTime {
            ticks: 100,
            weighted: 100.0,
        },
        by_cause,
        places: vec![
            finding_of(Cause::Descheduled, 600, 0.0),
            finding_of(Cause::GrainCoarse, 120, 0.0),
            finding_of(Cause::SerialStrand, 110, 0.0),
            finding_of(Cause::Lock, 20, 40.0),
            finding_of(Cause::Channel, 10, 5.0),
        ],
    };
    // Of the 400 ticks that the load left, 30, 27.5 and 5 %; but of a quiet machine, 40 % the lock.
    let of = |list: &[&Finding]| -> Vec<Cause> { list.iter().map(|f| f.cause).collect() };
    let findings = causes.findings();
    assert_eq!(
        of(&findings),
        [Cause::Descheduled, Cause::GrainCoarse, Cause::Lock]
    );
    let shown = causes.findings_program_first();
    let order: Vec<(usize, Cause)> = shown.iter().map(|&(i, f)| (i, f.cause)).collect();
    assert_eq!(
        order,
        [
            (2, Cause::Lock),
            (1, Cause::GrainCoarse),
            (0, Cause::Descheduled)
        ]
    );
}
