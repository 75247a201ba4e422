//! Example A of MODEL.md §8, as text: the columns it must give.

use workspan_dag::{EndKind, NONE, StartKind, TaskKind};
use workspan_reader::text;

/// The trace as the specification prints it.
const TREE_SUM: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","name":"tree_sum"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"create_tree"}
{"ev":"region_end","t":80,"w":0,"task":0,"region":"create_tree"}
{"ev":"create","t":80,"w":0,"task":0,"child":1,"site":"L25"}
{"ev":"resume","t":80,"w":0,"task":0}
{"ev":"wait","t":80,"w":0,"task":0}
{"ev":"begin","t":80,"w":0,"task":1}
{"ev":"create","t":90,"w":0,"task":1,"child":2,"site":"L10"}
{"ev":"resume","t":90,"w":0,"task":1}
{"ev":"begin","t":92,"w":1,"task":2}
{"ev":"steal","t":92,"w":1,"victim":0,"task":2}
{"ev":"create","t":95,"w":0,"task":1,"child":3,"site":"L13"}
{"ev":"resume","t":95,"w":0,"task":1}
{"ev":"wait","t":95,"w":0,"task":1}
{"ev":"begin","t":95,"w":0,"task":3}
{"ev":"end","t":122,"w":1,"task":2}
{"ev":"end","t":135,"w":0,"task":3}
{"ev":"resume","t":135,"w":0,"task":1}
{"ev":"end","t":140,"w":0,"task":1}
{"ev":"resume","t":140,"w":0,"task":0}
{"ev":"end","t":145,"w":0,"task":0}
"#;

#[test]
fn columns() {
    let dag = text::read_str(TREE_SUM).unwrap();
    assert_eq!(dag.meta.workers, 2);
    assert_eq!(dag.meta.threads, 2);
    assert_eq!(dag.meta.name.as_deref(), Some("tree_sum"));
    let labels: Vec<&str> = dag.places.iter().map(|p| p.label.as_str()).collect();
    assert_eq!(labels, ["root", "L10", "L13", "L25"]);

    assert_eq!([0, 1, 2, 3].map(|t| dag.tasks.number(t)), [0, 1, 2, 3]);
    assert_eq!(dag.tasks.len(), 4);
    assert_eq!(dag.tasks.parent, [NONE, 0, 1, 1]);
    assert_eq!(
        dag.tasks.kind,
        [
            TaskKind::Root,
            TaskKind::Deferred,
            TaskKind::Deferred,
            TaskKind::Deferred
        ]
    );
    assert_eq!(dag.tasks.site, [0, 3, 1, 2]);
    assert_eq!(dag.tasks.level, [0, 1, 2, 2]);
    assert_eq!(dag.tasks.creator, [NONE, 0, 1, 2]);
    assert_eq!(dag.tasks.create_rank, [0; 4]);
    assert_eq!(dag.tasks.first, [0, 1, 3, 4]);
    assert_eq!(dag.tasks.last, [6, 5, 3, 4]);

    // The strands of no length after the creates of L25 and L13 are merged into those before them.
    assert_eq!(dag.strands.task, [0, 1, 1, 2, 3, 1, 0]);
    assert_eq!(dag.strands.thread, [0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(dag.strands.start, [0, 80, 90, 92, 95, 135, 140]);
    assert_eq!(dag.strands.end, [80, 90, 95, 122, 135, 140, 145]);
    assert_eq!(dag.strands.prev, [NONE, NONE, 1, NONE, NONE, 2, 0]);
    use EndKind::{Create, End, Wait};
    assert_eq!(
        dag.strands.end_kind,
        [Wait, Create, Wait, End, End, End, End]
    );
    use StartKind::{AfterCreate, AfterWait, Begin};
    assert_eq!(
        dag.strands.start_kind,
        [
            Begin,
            Begin,
            AfterCreate,
            Begin,
            Begin,
            AfterWait,
            AfterWait
        ]
    );

    assert_eq!(dag.waits.after, [5, 6]);
    assert_eq!(dag.waits.plain, [true, true]);
    assert_eq!(dag.waits.tasks.get(0), [2, 3]);
    assert_eq!(dag.waits.tasks.get(1), [1]);
    assert_eq!(dag.labels, ["create_tree"]);
    assert_eq!(
        (dag.regions[0].begin, dag.regions[0].end),
        ((0, 0), (0, 80))
    );
    assert_eq!(
        (
            dag.steals[0].thief,
            dag.steals[0].victim,
            dag.steals[0].task
        ),
        (1, 0, 2)
    );
}
