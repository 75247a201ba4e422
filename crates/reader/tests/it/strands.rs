//! Which strands the DAG keeps, and where marks go when strands of no length are merged.

use workspan_dag::{Dag, EndKind};
use workspan_reader::{OpenOptions, text};

/// A trace of one task that creates tasks 1 and 2 at t = 5 and waits for both, with `steals` and
/// lines added by the caller.
fn two_creates(steals: &str, between: &str, second: (u64, u32), second_keys: &str) -> Dag {
    let (t, w) = second;
    let trace = format!(
        r#"{{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"{steals}"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":5,"w":0,"task":0,"child":1,"site":"a.rs:1"}}
{{"ev":"resume","t":{t},"w":{w},"task":0}}
{between}
{{"ev":"create","t":{t},"w":{w},"task":0,"child":2,"site":"a.rs:2"{second_keys}}}
{{"ev":"resume","t":{t},"w":{w},"task":0}}
{{"ev":"wait","t":{t},"w":{w},"task":0,"at":"a.rs:3"}}
{{"ev":"begin","t":10,"w":0,"task":1}}
{{"ev":"end","t":20,"w":0,"task":1}}
{{"ev":"begin","t":10,"w":1,"task":2}}
{{"ev":"end","t":20,"w":1,"task":2}}
{{"ev":"resume","t":20,"w":0,"task":0}}
{between_end}
{{"ev":"end","t":21,"w":0,"task":0}}
"#,
        between_end = match between.contains("\"scope\"") {
            true =>
                "{\"ev\":\"wait\",\"t\":20,\"w\":0,\"task\":0,\"scope\":4}\n{\"ev\":\"resume\",\"t\":20,\"w\":0,\"task\":0}",
            false => "",
        }
    );
    text::read_str(&trace).unwrap()
}

/// The end kinds of the root's strands.
fn ends(dag: &Dag) -> Vec<EndKind> {
    (0..dag.strands.len())
        .filter(|&s| dag.strands.task[s] == 0)
        .map(|s| dag.strands.end_kind[s])
        .collect()
}

use EndKind::{Create, End, Wait};

#[test]
fn strands_of_no_length_after_a_create_are_merged() {
    let dag = two_creates("child", "", (5, 0), "");
    assert_eq!(ends(&dag), [Wait, End]);
    assert_eq!(dag.tasks.creator[1..], [0, 0]);
    assert_eq!(dag.tasks.create_rank[1..], [0, 1]);
    // The strand ends where its last primitive is, and the next one starts there.
    assert_eq!(dag.places[dag.strands.to[0] as usize].label, "a.rs:3");
    assert_eq!(dag.starts_at(dag.tasks.last[0]), dag.strands.to[0]);
}

#[test]
fn not_when_a_burden_sits_between_them() {
    assert_eq!(
        ends(&two_creates("continuation", "", (5, 0), "")),
        [Create, Create, Wait, End]
    );
}

#[test]
fn not_when_they_became_ready_earlier() {
    assert_eq!(
        ends(&two_creates("child", "", (6, 0), "")),
        [Create, Wait, End]
    );
}

#[test]
fn not_on_another_thread() {
    assert_eq!(
        ends(&two_creates("child", "", (5, 1), "")),
        [Create, Wait, End]
    );
}

#[test]
fn not_when_they_carry_counters() {
    let dag = two_creates("child", "", (5, 0), ",\"counters\":{\"misses\":3}");
    assert_eq!(ends(&dag), [Create, Wait, End]);
    assert_eq!(dag.counters[0].values, [(1, 3)]);
}

#[test]
fn a_scope_opened_between_two_creates_says_so() {
    let scope = "{\"ev\":\"scope\",\"task\":0,\"scope\":4,\"kind\":\"group\"}";
    let dag = two_creates("child", scope, (5, 0), "");
    assert_eq!((dag.scopes[0].strand, dag.scopes[0].creates_before), (0, 1));
    assert_eq!(dag.tasks.scope[1], workspan_dag::NONE);
    assert_eq!(dag.tasks.scope[2], 0);
}

#[test]
fn a_region_opened_between_two_creates_says_so() {
    let region =
        "{\"ev\":\"region_begin\",\"t\":5,\"w\":0,\"task\":0,\"region\":\"r\",\"tree\":true}";
    let dag = two_creates("child", region, (5, 0), "");
    assert_eq!(
        (dag.regions[0].begin, dag.regions[0].begin_creates_before),
        ((0, 5), 1)
    );
    // Left open: closed by the task's end.
    assert_eq!(dag.regions[0].end, (dag.tasks.last[0], 21));
}

#[test]
fn detached_tasks_and_what_hangs_on_them_are_in_no_wait() {
    let trace = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"scope","task":0,"scope":1,"kind":"tree"}
{"ev":"create","t":1,"w":0,"task":0,"child":1,"detached":true}
{"ev":"resume","t":1,"w":0,"task":0}
{"ev":"create","t":2,"w":0,"task":0,"child":2}
{"ev":"resume","t":2,"w":0,"task":0}
{"ev":"wait","t":2,"w":0,"task":0,"scope":1}
{"ev":"begin","t":2,"w":0,"task":2}
{"ev":"create","t":3,"w":0,"task":2,"child":3}
{"ev":"resume","t":3,"w":0,"task":2}
{"ev":"end","t":3,"w":0,"task":2}
{"ev":"begin","t":3,"w":0,"task":3}
{"ev":"end","t":4,"w":0,"task":3}
{"ev":"resume","t":4,"w":0,"task":0}
{"ev":"wait","t":5,"w":0,"task":0}
{"ev":"resume","t":5,"w":0,"task":0}
{"ev":"end","t":5,"w":0,"task":0}
{"ev":"begin","t":6,"w":0,"task":1}
{"ev":"create","t":7,"w":0,"task":1,"child":4}
{"ev":"resume","t":7,"w":0,"task":1}
{"ev":"end","t":7,"w":0,"task":1}
{"ev":"begin","t":8,"w":0,"task":4}
{"ev":"end","t":9,"w":0,"task":4}
"#;
    let dag = text::read_str(trace).unwrap();
    assert_eq!(
        dag.waits.tasks.get(0),
        [2, 3],
        "the tree scope: its task and that one's child"
    );
    assert_eq!(
        dag.waits.tasks.get(1),
        [0u32; 0],
        "nothing is left for the plain wait"
    );
}

/// The folded line of the documentation.
#[test]
fn a_folded_line_stands_for_its_strand() {
    let doc = include_str!("../../../../docs/text-folded.md");
    let line = doc
        .lines()
        .find_map(|l| l.strip_prefix("    {\"ev\":\"folded\""))
        .unwrap();
    let trace = format!(
        "{{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}}\n{{\"ev\":\"begin\",\"t\":10,\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"folded\"{line}\n{{\"ev\":\"end\",\"t\":90,\"w\":0,\"task\":0}}\n"
    );
    let dag = text::read_str(&trace).unwrap();
    let fold = dag.fold_of(0).unwrap();
    assert_eq!(
        (fold.work, fold.span, fold.envelope.as_slice()),
        (70, 50, &[(50, 0), (30, 2)][..])
    );
    assert_eq!(dag.places[fold.sites[0].site as usize].label, "fib.rs:9");
    assert_eq!(fold.blocks, [(0, 1, 40), (1, workspan_dag::NONE, 30)]);
}

#[test]
fn names_lost_with_the_rest_of_the_file_are_counted() {
    let trace = "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n\
        {\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n{\"ev\":\"wait\",\"t\":1,\"w\":0,\"task\":0,\"of\":[7]}\n{\"ev\":\"res";
    let dag = text::read_with(
        trace.as_bytes(),
        &OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        },
    )
    .unwrap();
    let message =
        "Tasks, scopes and signals named in what was read but not told of there, left out: 1.";
    assert!(
        dag.meta.warnings.iter().any(|w| w == message),
        "{:?}",
        dag.meta.warnings
    );
}
