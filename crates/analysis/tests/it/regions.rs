//! Weight of a region that contains a part of a strand (MODEL.md §4).

use workspan_analysis::{Metric, Options, report};

/// One strand of 100 ticks, 10 of them preempted and 20 blocked, probes of 3 ticks, in three
/// regions one after another.
fn work(options: &Options) -> (u128, Vec<u128>) {
    let trace = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child","probe_cost":3}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"first"}
{"ev":"off","t":20,"w":0,"why":"preempted"}
{"ev":"on","t":30,"w":0}
{"ev":"region_end","t":40,"w":0,"task":0,"region":"first"}
{"ev":"region_begin","t":40,"w":0,"task":0,"region":"second"}
{"ev":"off","t":55,"w":0,"why":"blocked"}
{"ev":"region_end","t":60,"w":0,"task":0,"region":"second"}
{"ev":"region_begin","t":60,"w":0,"task":0,"region":"third"}
{"ev":"on","t":75,"w":0}
{"ev":"end","t":100,"w":0,"task":0,"counters":{"instructions":700}}
"#;
    let dag = workspan_reader::text::read(trace.as_bytes()).unwrap();
    let report = report(&dag, options).unwrap();
    let labels: Vec<&str> = report
        .regions
        .iter()
        .map(|r| dag.labels[r.label as usize].as_str())
        .collect();
    assert_eq!(labels, ["first", "second", "third"]);
    (
        report.work_span.work,
        report.regions.iter().map(|r| r.work).collect(),
    )
}

#[test]
fn a_probe_counts_where_it_lies() {
    // 100 less 30 off the CPU, less two probes: one in the first region, one in the third.
    assert_eq!(work(&Options::default()), (64, vec![27, 15, 22]));
}

#[test]
fn raw_and_with_blocked() {
    let options = Options {
        raw: true,
        ..Options::default()
    };
    assert_eq!(work(&options), (70, vec![30, 15, 25]));
    let options = Options {
        raw: true,
        count_blocked: true,
        ..Options::default()
    };
    assert_eq!(work(&options), (90, vec![30, 20, 40]));
}

#[test]
fn a_counter_is_shared_by_time() {
    let options = Options {
        metric: Metric::Counter("instructions".into()),
        ..Options::default()
    };
    assert_eq!(work(&options), (700, vec![300, 150, 250]));
}

/// A label for every step of a loop: each outcome takes a pass over the run, so only the heaviest
/// labels have outcomes.
#[test]
fn many_labels_take_no_quadratic_time() {
    let mut text = String::from(
        "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n",
    );
    let steps = 2_000;
    for step in 0..steps {
        // The last ones are the longest.
        let (from, to) = (step * 10_000, step * 10_000 + step);
        text.push_str(&format!(
            "{{\"ev\":\"region_begin\",\"t\":{from},\"w\":0,\"task\":0,\"region\":\"step {step}\"}}\n\
             {{\"ev\":\"region_end\",\"t\":{to},\"w\":0,\"task\":0,\"region\":\"step {step}\"}}\n"
        ));
    }
    text.push_str(&format!(
        "{{\"ev\":\"end\",\"t\":{},\"w\":0,\"task\":0}}\n",
        steps * 10_000
    ));
    let dag = workspan_reader::text::read_str(&text).unwrap();
    let rows = report(&dag, &Options::default()).unwrap().regions;
    assert_eq!(rows.len(), steps);
    let with: Vec<usize> = (0..steps)
        .filter(|&row| !rows[row].what_if.is_empty())
        .collect();
    assert_eq!(with, (steps - 64..steps).collect::<Vec<_>>());
}

#[test]
fn what_ran_of_the_recorder_is_no_work() {
    // Two runs of the recorder, of which the first overlaps a time off the CPU by 5 of its 10.
    let trace = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child","probe_cost":3}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"recorder","t":15,"w":0,"ticks":10}
{"ev":"off","t":20,"w":0,"why":"preempted"}
{"ev":"on","t":30,"w":0}
{"ev":"region_begin","t":60,"w":0,"task":0,"region":"last"}
{"ev":"recorder","t":80,"w":0,"ticks":7}
{"ev":"end","t":100,"w":0,"task":0}
"#;
    let dag = workspan_reader::text::read(trace.as_bytes()).unwrap();
    let whole = report(&dag, &Options::default()).unwrap();
    let breakdown = &whole.breakdown;
    assert_eq!((whole.work_span.work, whole.work_span.span), (72, 72));
    assert_eq!((breakdown.descheduled, breakdown.recording), (10, 18));
    assert_eq!(whole.regions[0].work, 30);
    let raw = Options {
        raw: true,
        ..Options::default()
    };
    assert_eq!(report(&dag, &raw).unwrap().work_span.work, 90);
    // The exported text trace gives the same result.
    let mut text = Vec::new();
    workspan_reader::text::write(&dag, &mut text).unwrap();
    let again = workspan_reader::text::read(&text).unwrap();
    assert_eq!(again.recorder_runs, dag.recorder_runs);
    assert_eq!(again.recorder_runs.len(), 2);
}
