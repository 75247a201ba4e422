//! The DAG node by node, and the details.

use std::collections::BTreeSet;

use serde_json::Value;
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, Folded};
use workspan_view::{Session, answer};

use crate::pictures::look::{json, session};
use crate::pictures::runs::{Shape, chain, make};

fn inside(session: &Session, id: &str) -> Vec<Value> {
    let all = json(session, &format!("dag?run=a&ids={id}"));
    all["nodes"][id]["items"].as_array().unwrap().clone()
}

fn number(item: &Value, name: &str) -> u64 {
    match item[name].as_u64() {
        Some(n) => n,
        None => panic!("no {name} in {item}"),
    }
}

/// Expands everything below `node`. Checks that the sums of collapsed nodes match their contents,
/// and that every strand occurs once.
fn walk(session: &Session, dag: &Dag, met: &mut BTreeSet<u64>, tasks: &mut u64) {
    let mut open: Vec<(String, Option<Value>)> = vec![("r".into(), None)];
    while let Some((id, told)) = open.pop() {
        let items = inside(session, &id);
        assert!(items.len() <= 200, "{id}: {}", items.len());
        let (mut work, mut strands, mut below, mut critical) = (0, 0, 0, 0);
        let (mut start, mut end) = (u64::MAX, 0);
        let names: BTreeSet<&str> = items.iter().filter_map(|i| i["id"].as_str()).collect();
        for item in &items {
            start = start.min(number(item, "start"));
            end = end.max(number(item, "end"));
            if item["kind"] == "strand" {
                let s = number(item, "id");
                assert!(met.insert(s), "strand {s} twice");
                work += number(item, "weight");
                strands += 1;
                if item["critical"] == true {
                    critical += number(item, "weight");
                }
                for name in item["creates"].as_array().unwrap() {
                    assert!(names.contains(name.as_str().unwrap()), "{item}");
                }
                continue;
            }
            work += number(item, "work");
            strands += number(item, "strands");
            below += number(item, "tasks");
            critical += number(item, "critical_work");
            let name = item["id"].as_str().unwrap();
            if item["kind"] == "task" {
                *tasks += 1;
            }
            let busy: u64 = item["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|r| r[1].as_u64().unwrap())
                .sum();
            let length = number(item, "end") - number(item, "start");
            let running: f64 = item["running"]
                .as_array()
                .unwrap()
                .iter()
                .map(|r| r.as_f64().unwrap())
                .sum();
            if item["rows"].as_array().unwrap().len() < 8 {
                let ticks = running * length as f64 / 24.0;
                assert!(
                    (ticks - busy as f64).abs() < 1e-6 * busy as f64 + 1e-6,
                    "{item}"
                );
            }
            if item["expandable"] == true {
                open.push((name.to_owned(), Some(item.clone())));
            } else {
                assert_eq!(number(item, "strands"), 1);
                let first = dag.tasks.first[number(item, "task") as usize];
                assert!(met.insert(u64::from(first)));
            }
        }
        let Some(told) = told else { continue };
        let own = u64::from(told["kind"] == "task");
        assert_eq!(number(&told, "tasks"), below + own, "tasks of {id}");
        assert_eq!(number(&told, "strands"), strands, "strands of {id}");
        assert_eq!(number(&told, "work"), work, "work of {id}");
        assert_eq!(
            number(&told, "critical_work"),
            critical,
            "critical work of {id}"
        );
        assert_eq!(number(&told, "start"), start, "start of {id}");
        assert_eq!(number(&told, "end"), end, "end of {id}");
        assert!(number(&told, "span") <= work, "span of {id}");
    }
}

#[test]
fn nodes_add_up_to_the_analyses_numbers() {
    for (seed, fan) in [(1, 0), (2, 700), (3, 30)] {
        let shape = Shape {
            depth: 8,
            fan,
            offs: fan == 0,
            ..Shape::default()
        };
        let dag = make(seed, shape);
        let report = report(&dag, &Options::default()).unwrap();
        let session = session(dag.clone());
        let roots = inside(&session, "r");
        assert_eq!(roots.len(), 2);
        let work: u64 = roots.iter().map(|r| number(r, "work")).sum();
        assert_eq!(u128::from(work), report.work_span.work);
        let spans = roots.iter().map(|r| number(r, "span"));
        assert_eq!(u128::from(spans.max().unwrap()), report.work_span.span);
        let (mut met, mut tasks) = (BTreeSet::new(), 0);
        walk(&session, &dag, &mut met, &mut tasks);
        assert_eq!(met.len(), dag.strands.len());
        assert_eq!(tasks, dag.tasks.len() as u64);
        assert_eq!(report.work_span.tasks, tasks);
        let groups = inside(&session, "t0").iter().any(|i| i["kind"] == "group");
        assert!(!groups, "the root itself is short");
    }
}

#[test]
fn ancestors_lead_to_the_task() {
    let dag = make(
        5,
        Shape {
            depth: 6,
            fan: 700,
            ..Shape::default()
        },
    );
    let count = dag.tasks.len() as u32;
    let session = session(dag);
    let mut through_groups = 0;
    for task in (0..count).step_by(97).chain([count - 1]) {
        let line = json(&session, &format!("ancestors?run=a&task={task}"));
        let mut seen = inside(&session, "r");
        let line: Vec<&str> = line
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i.as_str().unwrap())
            .collect();
        assert_eq!(*line.last().unwrap(), format!("t{task}"));
        for id in &line {
            assert!(
                seen.iter().any(|i| i["id"] == *id),
                "{id} of {line:?} is not to be seen"
            );
            through_groups += u32::from(id.starts_with('g'));
            seen = inside(&session, id);
        }
    }
    assert!(through_groups > 0);
}

#[test]
fn spans_of_groups_are_those_of_their_paths() {
    // One task creates 1,000 tasks and waits. Its span is the longest path through it, and so is
    // the span of the group that contains it.
    let shape = Shape {
        depth: 0,
        fan: 1000,
        workers: 1,
        threads: 1,
        offs: false,
        ..Shape::default()
    };
    // Not every leaf has a loop.
    let mut runs = (0..).map(|seed| make(seed, shape));
    let dag = runs.find(|dag| dag.tasks.len() > 1000).unwrap();
    let session = session(dag);
    let root = &inside(&session, "r")[0];
    let groups = inside(&session, "t0");
    assert!(groups.iter().all(|g| g["kind"] == "group"), "{groups:?}");
    let most = groups.iter().map(|g| number(g, "span")).max().unwrap();
    let sum: u64 = groups.iter().map(|g| number(g, "span")).sum();
    assert!(most <= number(root, "span") && number(root, "span") <= sum);
}

#[test]
fn a_million_levels_are_no_danger() {
    let count = 1_000_000;
    let session = session(chain(count));
    let root = &inside(&session, "r")[0];
    assert_eq!(number(root, "tasks"), u64::from(count));
    assert_eq!(number(root, "strands"), 2 * u64::from(count) - 1);
    let line = json(&session, &format!("ancestors?run=a&task={}", count - 1));
    assert_eq!(line.as_array().unwrap().len(), 2000);
    let deepest = json(&session, &format!("task?run=a&id={}", count - 1));
    let stack = deepest["stack"].as_array().unwrap();
    assert_eq!(stack.len(), 500);
    assert_eq!(
        (number(&stack[0], "task"), number(&stack[499], "task")),
        (999_999, 0)
    );
}

#[test]
fn nodes_that_are_none() {
    let session = session(chain(3));
    for id in [
        "", "t3", "x", "t", "g0.0", "g0.1.1", "g0.0.9", "gr.0.2", "t-1", "t0.", "g9.0.1",
    ] {
        let url = format!("api/v1/dag?run=a&ids={id}");
        assert_eq!(answer(&session, &url).unwrap_err().status, 404, "{id}");
    }
    for url in [
        "strand?run=a&id=99",
        "task?run=a&id=3",
        "ancestors?run=a&task=3",
    ] {
        assert_eq!(
            answer(&session, &format!("api/v1/{url}"))
                .unwrap_err()
                .status,
            404
        );
    }
}

#[test]
fn details_agree_with_each_other() {
    let dag = make(
        4,
        Shape {
            depth: 7,
            fan: 20,
            ..Shape::default()
        },
    );
    let session = session(dag.clone());
    let begin = dag.strands.start[0];
    for s in (0..dag.strands.len()).step_by(13) {
        let told = json(&session, &format!("strand?run=a&id={s}"));
        let task = json(&session, &format!("task?run=a&id={}", told["task"]));
        let strands: Vec<u64> = task["strands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s.as_u64().unwrap())
            .collect();
        assert_eq!(number(&told, "of"), strands.len() as u64);
        let at = strands.iter().position(|&t| t == s as u64).unwrap();
        assert_eq!(
            told["previous"].as_u64(),
            at.checked_sub(1).map(|i| strands[i])
        );
        assert_eq!(told["next"].as_u64(), strands.get(at + 1).copied());
        // Mean number of strands on the CPU, counted tick by tick.
        let (from, to) = (dag.strands.start[s], dag.strands.end[s]);
        let ticks = (0..dag.strands.len()).map(|o| {
            let w = dag.strands.thread[o];
            let (a, b) = (dag.strands.start[o].max(from), dag.strands.end[o].min(to));
            (a..b)
                .filter(|t| {
                    let off = |f: &&workspan_dag::OffCpuInterval| {
                        f.thread == w && f.start <= *t && *t < f.end
                    };
                    !dag.offs.iter().any(|f| off(&f))
                })
                .count() as u64
        });
        let sum: u64 = ticks.sum();
        let mean = if to > from {
            sum as f64 / (to - from) as f64
        } else {
            0.0
        };
        assert!(
            (told["meanwhile"].as_f64().unwrap() - mean).abs() < 1e-9,
            "strand {s}"
        );
        assert_eq!(number(&told, "start"), from - begin);
        if told["ready"].is_u64() {
            assert!(number(&told, "ready") < number(&told, "start"));
            assert!(told["made_ready_by"].is_object());
        }
        assert_eq!(task["stack"][0]["task"], told["task"]);
    }
}

/// A run in which one strand stands for a subtree of ten tasks.
#[test]
fn folded_strands_are_told() {
    let mut dag = chain(2);
    let last = dag.tasks.last[1];
    let fold = Folded {
        work: 1,
        span: 1,
        envelope: vec![(1, 0)],
        tasks: 10,
        strands: 20,
        ..Folded::default()
    };
    dag.folded.push(last, &fold);
    let session = session(dag);
    let boxes = crate::pictures::look::tile(&session, "strands", 0, 0);
    let folded = boxes.plane("id").iter().zip(boxes.plane("flags"));
    for (&id, &flags) in folded {
        assert_eq!(flags as u8 & 8 != 0, id as u32 == last);
    }
    // The sum includes the ten folded tasks and the two in the graph.
    assert_eq!(number(&inside(&session, "r")[0], "tasks"), 12);
}
