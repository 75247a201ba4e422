//! Limits that bounds do not show: regions divided by the number of threads, and blocked time. Text
//! trace in, answer out.

use workspan_analysis::advise::{Change, Goal, Stop, advise};
use workspan_analysis::scale::Logical;
use workspan_analysis::{Options, Report, report};
use workspan_dag::{Dag, ROOT_PLACE};

/// A region of two threads: serial 10, shares of `first` and `second`, serial 10. `kind` is the
/// scope's.
fn region(kind: &str, first: u64, second: u64, more: &str) -> Dag {
    let end = 10 + first.max(second);
    let last = end + 10;
    let (one, two) = (10 + first, 10 + second);
    let text = format!(
        r#"{{"workspan_trace":1,"workers":2,"time_unit":"us","steals":"child","name":"region"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"scope","task":0,"scope":0,"kind":"{kind}"}}
{{"ev":"create","t":10,"w":0,"task":0,"child":1,"inline":true,"site":"pf.c:7","scope":0}}
{{"ev":"resume","t":10,"w":0,"task":0}}
{{"ev":"create","t":10,"w":0,"task":0,"child":2,"inline":true,"site":"pf.c:7","scope":0}}
{{"ev":"resume","t":10,"w":0,"task":0}}
{{"ev":"wait","t":10,"w":0,"task":0,"scope":0}}
{{"ev":"begin","t":10,"w":0,"task":1}}
{{"ev":"end","t":{one},"w":0,"task":1}}
{{"ev":"begin","t":10,"w":1,"task":2}}
{more}{{"ev":"end","t":{two},"w":1,"task":2}}
{{"ev":"resume","t":{end},"w":0,"task":0}}
{{"ev":"end","t":{last},"w":0,"task":0}}
"#
    );
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

fn measured(dag: &Dag) -> Report {
    report(dag, &Options::default()).unwrap()
}

#[test]
fn shares_of_a_region_bound_nothing_beyond_its_threads() {
    let dag = region("team", 100, 90, "");
    let ws = measured(&dag).work_span;
    assert_eq!((ws.work, ws.span), (210, 120));
    let shares = ws.limits.shares.unwrap();
    assert_eq!(
        (shares.threads, shares.critical, shares.divided_span),
        (2, 100, 20)
    );
    assert_eq!(dag.places[shares.region as usize].label, "pf.c:7");
    // With at most as many workers as shares, the recorded division holds; with more, only the part
    // outside of shares.
    assert_eq!(ws.speedup(2).1, 210.0 / 120.0);
    assert_eq!(ws.speedup(4).1, 4.0);
    assert_eq!(ws.speedup(64).1, 210.0 / 20.0);
    assert_eq!(Logical::from(&ws).speedup(64), ws.speedup(64));
}

/// Two threads that the program starts at one line, or each at a line of its own, and joins.
fn threads(lines: [u32; 2]) -> Dag {
    threads_after(10, lines)
}

/// The same after so many ticks of serial code.
fn threads_after(serial: u64, lines: [u32; 2]) -> Dag {
    let [first, second] = lines;
    let [shorter, longer, last] = [90, 100, 110].map(|t| serial + t);
    let text = format!(
        r#"{{"workspan_trace":1,"workers":2,"time_unit":"us","steals":"child","name":"threads"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":{serial},"w":0,"task":0,"child":1,"site":"a.rs:{first}","thread":true}}
{{"ev":"resume","t":{serial},"w":0,"task":0}}
{{"ev":"create","t":{serial},"w":0,"task":0,"child":2,"site":"a.rs:{second}","thread":true}}
{{"ev":"resume","t":{serial},"w":0,"task":0}}
{{"ev":"wait","t":{serial},"w":0,"task":0,"of":[1,2]}}
{{"ev":"begin","t":{serial},"w":0,"task":1}}
{{"ev":"begin","t":{serial},"w":1,"task":2}}
{{"ev":"end","t":{shorter},"w":1,"task":2}}
{{"ev":"end","t":{longer},"w":0,"task":1}}
{{"ev":"resume","t":{longer},"w":0,"task":0}}
{{"ev":"end","t":{last},"w":0,"task":0}}
"#
    );
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

#[test]
fn threads_started_at_one_place_bound_nothing_beyond_their_number() {
    let dag = threads([7, 7]);
    let report = measured(&dag);
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span), (210, 120));
    let shares = ws.limits.shares.unwrap();
    assert_eq!(
        (shares.are_started, shares.threads, shares.divided_span),
        (true, 2, 20)
    );
    assert_eq!(dag.places[shares.region as usize].label, "a.rs:7");
    assert_eq!(ws.speedup(2).1, 210.0 / 120.0);
    assert_eq!(ws.speedup(64).1, 210.0 / 20.0);
    // That each thread has one half of the work is nothing to mend.
    assert!(report.critical_block.unwrap().is_enough);
    // Of a serial part beside them that matters, that is.
    let report = measured(&threads_after(30, [7, 7]));
    let block = report.critical_block.unwrap();
    assert_eq!((block.block.site, block.critical), (ROOT_PLACE, 30));
    assert!(!block.is_enough);
    // Threads of two kinds are as many as the program has kinds.
    let report = measured(&threads([7, 8]));
    let ws = &report.work_span;
    assert_eq!((ws.limits.shares, ws.speedup(64).1), (None, 210.0 / 120.0));
    assert!(!report.critical_block.unwrap().is_enough);
}

#[test]
fn a_started_thread_that_only_waits_is_not_a_share() {
    let text = r#"{"workspan_trace":1,"workers":2,"threads":3,"time_unit":"us","steals":"child","name":"threads"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:7","thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":2,"site":"a.rs:7","thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":3,"site":"a.rs:7","thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":10,"w":0,"task":0,"of":[1,2,3]}
{"ev":"begin","t":10,"w":0,"task":1}
{"ev":"begin","t":10,"w":1,"task":2}
{"ev":"begin","t":10,"w":2,"task":3}
{"ev":"end","t":12,"w":2,"task":3}
{"ev":"end","t":100,"w":1,"task":2}
{"ev":"end","t":110,"w":0,"task":1}
{"ev":"resume","t":110,"w":0,"task":0}
{"ev":"end","t":120,"w":0,"task":0}
"#;
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let report = measured(&dag);
    let shares = report.work_span.limits.shares.unwrap();
    assert_eq!((shares.threads, shares.work), (2, 190));
}

#[test]
fn a_tree_scope_or_one_busy_thread_is_no_division() {
    // The same tasks in a scope that a program opened itself.
    let ws = measured(&region("tree", 100, 90, "")).work_span;
    assert_eq!((ws.limits.shares, ws.speedup(64).1), (None, 210.0 / 120.0));
    // `single`: one thread did everything, and more threads would not change that.
    let ws = measured(&region("team", 100, 1, "")).work_span;
    assert_eq!((ws.limits.shares, ws.speedup(64).1), (None, 121.0 / 120.0));
}

#[test]
fn a_region_that_blocked_is_bounded_if_nothing_blocks() {
    let off =
        "{\"ev\":\"off\",\"t\":20,\"w\":1,\"why\":\"blocked\"}\n{\"ev\":\"on\",\"t\":80,\"w\":1}\n";
    let dag = region("tree", 100, 90, off);
    let blocked = measured(&dag).work_span.limits.blocked.unwrap();
    assert_eq!((blocked.ticks, blocked.of), (60, 210));
    let counted = Options {
        count_blocked: true,
        ..Options::default()
    };
    assert_eq!(
        report(&dag, &counted).unwrap().work_span.limits.blocked,
        None
    );
    let little = off.replace("80", "25");
    let ws = measured(&region("tree", 100, 90, &little)).work_span;
    assert_eq!(ws.limits.blocked, None);
}

#[test]
fn advice_on_shares_is_more_threads_and_no_more_of_them_than_cores() {
    let dag = region("team", 100, 90, "");
    let ask = |cores: u32, parallelism: f64| {
        let goal = Goal {
            parallelism,
            cores,
            spawn_cost: None,
        };
        advise(&dag, &Options::default(), &measured(&dag), goal).unwrap()
    };
    let advice = ask(8, 4.0);
    let of_region = advice
        .steps
        .iter()
        .find(|s| s.change == Change::MoreThreads);
    assert_eq!(of_region.unwrap().factor, 4.0);
    // As many cores as threads, so there is nothing to divide further.
    let advice = ask(2, 8.0);
    assert!(advice.steps.iter().all(|s| s.change != Change::MoreThreads));
    assert_eq!(advice.stop, Stop::Divided);
}
