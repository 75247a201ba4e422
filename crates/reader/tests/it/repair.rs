//! Repair mode: for any input from a reader, the DAG's edges agree with its times.

use crate::dice::Dice;
use proptest::prelude::*;
use workspan_dag::build::{Mode, build};
use workspan_dag::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};
use workspan_dag::{
    Dag, NONE, OffCpuInterval, OffCpuReason, Place, RaggedArray, ScopeKind, TaskKind, TimeUnit,
};
use workspan_reader::open::OpenOptions;
use workspan_reader::text;

/// A random run in which only the indices are in range.
fn nonsense(seed: u64, tasks: u32, strands: u32, sane_times: bool) -> RawTrace {
    let mut dice = Dice(seed);
    let mut raw = RawTrace::default();
    raw.meta.ticks_per_second = 1_000_000_000;
    raw.meta.time_unit = TimeUnit::Ns;
    raw.meta.recorded = true;
    for label in ["root", "a.rs:1", "b.rs:2", "a.rs:1"] {
        raw.places.push(Place {
            label: label.into(),
            primitive: Some("join".into()),
            ..Place::default()
        });
    }
    raw.labels = vec!["z".into(), "y".into()];
    raw.signals = vec![5, 3];
    let mut below = |n: u32| dice.roll(u64::from(n.max(1))) as u32;
    let kinds = [
        TaskKind::Root,
        TaskKind::Deferred,
        TaskKind::Inline,
        TaskKind::Detached,
    ];
    for i in 0..tasks {
        let parent = if below(4) == 0 { NONE } else { below(tasks) };
        let scope = if below(2) == 0 { NONE } else { below(3) };
        let number = u64::from(i * 7 % tasks.next_power_of_two().max(8) + 8 * (i / 8) * tasks);
        raw.tasks.push(RawTask {
            number,
            parent,
            kind: kinds[below(4) as usize],
            site: below(4),
            scope,
        });
    }
    raw.tasks.sort_by_key(|t| t.number);
    raw.tasks.dedup_by_key(|t| t.number);
    let tasks = raw.tasks.len() as u32;
    for t in &mut raw.tasks {
        t.parent = if t.parent == NONE {
            NONE
        } else {
            t.parent % tasks
        };
    }
    let mut lists = RaggedArray::default();
    lists.push([below(tasks), below(tasks)]);
    lists.push([]);
    raw.wait_tasks = lists;
    let mut lists = RaggedArray::default();
    lists.push([0, 1]);
    raw.wait_signals = lists;
    let mut created = 0;
    for i in 0..strands {
        let start = if sane_times {
            u64::from(i * 3)
        } else {
            u64::from(below(60))
        };
        let end_op = match below(12) {
            0..4 => {
                created += 1;
                RawEnd::Create(if below(3) == 0 {
                    below(tasks)
                } else {
                    created % tasks
                })
            }
            4 => RawEnd::WaitChildren,
            5 | 6 => RawEnd::WaitScope(below(3)),
            7 => RawEnd::WaitTasks(below(2)),
            8 => RawEnd::WaitSignals(0),
            9 => RawEnd::Signal(below(2)),
            10 => RawEnd::Yield,
            _ => RawEnd::End,
        };
        let mut task = below(tasks);
        if let RawEnd::Create(c) = end_op
            && raw.tasks[c as usize].parent != NONE
        {
            task = raw.tasks[c as usize].parent;
        }
        let (thread, at) = (below(3), if below(2) == 0 { NONE } else { below(4) });
        raw.strands.push(RawStrand {
            task,
            thread,
            start,
            end: start + u64::from(below(3)),
            end_op,
            at,
            keep: false,
        });
    }
    for i in 0..3 {
        let kind = if below(2) == 0 {
            ScopeKind::Group
        } else {
            ScopeKind::Tree
        };
        raw.scopes.push(RawScope {
            number: 9 - i,
            kind,
            opener: below(tasks),
            strand: below(strands),
        });
    }
    for _ in 0..below(4) {
        raw.depends.push((below(tasks), below(tasks)));
        let end = if below(2) == 0 { NONE } else { below(strands) };
        let begin = (below(strands), u64::from(below(60)));
        let task = raw.strands.task[begin.0 as usize];
        let region = RawRegion {
            label: below(2),
            task,
            tree: true,
            begin,
            end: (end, u64::from(below(60))),
        };
        if raw.parts.iter().all(|p: &RawRegion| p.task != task) {
            raw.parts.push(region);
        }
        let (start, why) = (u64::from(below(50)), OffCpuReason::Blocked);
        raw.offs.push(OffCpuInterval {
            thread: below(2),
            start,
            end: start + u64::from(below(9)),
            why,
            on: None,
        });
    }
    raw
}

fn check(dag: &Dag) {
    for s in 0..dag.strands.len() as u32 {
        let start = dag.strands.start[s as usize];
        assert!(start <= dag.strands.end[s as usize]);
        dag.for_each_predecessor(s, |p, kind| {
            assert!(p < s, "{kind:?} edge from {p} to {s}");
            assert!(
                dag.strands.end[p as usize] <= start,
                "{kind:?} edge from {p} to {s} goes back in time"
            );
        });
    }
    let mut last = vec![0; dag.meta.threads as usize];
    for s in 0..dag.strands.len() {
        if dag.strands.start[s] < dag.strands.end[s] {
            let last = &mut last[dag.strands.thread[s] as usize];
            assert!(
                *last <= dag.strands.start[s],
                "strand {s} overlaps the one before on its thread"
            );
            *last = dag.strands.end[s];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nonsense_is_repaired(seed: u64, tasks in 1u32..9, strands in 1u32..24, sane_times: bool) {
        let raw = nonsense(seed, tasks, strands, sane_times);
        let dag = build(raw, Mode::Repair).unwrap();
        check(&dag);
        let mut out = Vec::new();
        text::write(&dag, &mut out).unwrap();
        let again = text::read(&out);
        let shown = String::from_utf8_lossy(&out).into_owned();
        prop_assert!(again.is_ok(), "{:?}\n{}", again.err(), shown);
        let again = again.unwrap();
        check(&again);
        // The text cannot express a gap after a signal, nor which of a wait's tasks were not joined
        // by it.
        let is_consistent = dag.meta.warnings.iter().all(|w| !w.contains("times contradict"));
        if is_consistent && dag.signals.is_empty() {
            prop_assert_eq!(&dag, &again, "{}", shown);
        }
    }
}

/// The times of one worker's lines go back, in a truncated trace: the wait for task 2 is over
/// before that task begins.
#[test]
fn a_repaired_text_can_be_written_and_read_again() {
    for (scope, of, create) in [
        ("", "", ""),
        (
            r#"{"ev":"scope","t":1,"w":0,"task":0,"scope":7,"kind":"group"}"#,
            r#","scope":7"#,
            r#","scope":7"#,
        ),
    ] {
        let trace = format!(
            r#"{{"workspan_trace":1,"workers":2,"steals":"child","time_unit":"ms"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{scope}
{{"ev":"create","t":3,"w":0,"task":0,"child":1{create}}}
{{"ev":"resume","t":3,"w":0,"task":0}}
{{"ev":"create","t":3,"w":0,"task":0,"child":2{create}}}
{{"ev":"resume","t":3,"w":0,"task":0}}
{{"ev":"wait","t":4,"w":0,"task":0{of}}}
{{"ev":"begin","t":300,"w":0,"task":2}}
{{"ev":"begin","t":4,"w":1,"task":1}}
{{"ev":"end","t":9,"w":1,"task":1}}
{{"ev":"resume","t":90,"w":0,"task":0}}
{{"ev":"wait","t":95,"w":0,"task":0}}
{{"ev":"resume","t":95,"w":0,"task":0}}
{{"ev":"end","t":99,"w":0,"task":0}}
{{"ev"#
        );
        let options = OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        };
        let dag = text::read_with(trace.as_bytes(), &options).unwrap();
        check(&dag);
        assert!(
            dag.meta.warnings.iter().any(|w| w.contains("contradict")),
            "{:?}",
            dag.meta.warnings
        );
        let mut out = Vec::new();
        text::write(&dag, &mut out).unwrap();
        let shown = String::from_utf8_lossy(&out).into_owned();
        let again = text::read(&out).unwrap_or_else(|error| panic!("{error}: {shown}"));
        assert_eq!(again.waits.tasks, dag.waits.tasks, "{shown}");
        assert_eq!(again.strands, dag.strands, "{shown}");
    }
}
