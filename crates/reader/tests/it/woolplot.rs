//! WoolPlot's logs: the tasks and strands rebuilt from them, and damage.

use std::path::Path;

use workspan_dag::{Dag, TaskKind, ThreadEvent};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;

/// Two spawns on worker 0. Worker 1 steals the first at its second attempt; the other runs inside
/// of the main task. The clock of the events is 1005 behind.
pub const LOG: &str = include_str!("woolplot.log");

fn opened(text: &str) -> Dag {
    read(
        Path::new("wool.log"),
        text.as_bytes(),
        &OpenOptions::default(),
    )
    .unwrap()
}

fn error(text: &str) -> String {
    let read = read(
        Path::new("wool.log"),
        text.as_bytes(),
        &OpenOptions::default(),
    );
    read.unwrap_err().to_string()
}

#[test]
fn a_stolen_task_is_rebuilt_and_others_run_inside() {
    let dag = opened(LOG);
    assert_eq!(dag.meta.warnings, [""; 0]);
    assert_eq!(dag.tasks.kind, [TaskKind::Root, TaskKind::Deferred]);
    assert_eq!(dag.places[dag.tasks.site[1] as usize].label, "left");
    assert_eq!(dag.strands.start, [0, 10, 20, 82]);
    assert_eq!(dag.strands.end, [10, 65, 80, 100]);
    assert_eq!(dag.strands.thread, [0, 0, 1, 0]);
    // `right` was spawned and synced with inside of the main task's second strand.
    let (strand, inside) = dag.folded.iter().next().unwrap();
    assert_eq!((strand, dag.folded.len()), (1, 1));
    assert_eq!((inside.tasks, inside.spawns, inside.syncs), (1, 1, 1));
    assert_eq!((inside.work, inside.span), (55, 55));
    let steal = dag.steals[0];
    assert_eq!(
        (steal.t, steal.thief, steal.victim, steal.task),
        (20, 1, 0, 1)
    );
    assert!(!steal.leap);
    let cpu = ThreadEvent::Cpu(0.5);
    assert_eq!(
        dag.thread_events,
        [(17, 1, ThreadEvent::StealFailed(0)), (50, 1, cpu)]
    );
    let wool = dag.meta.facts.iter().find(|f| f.0 == "Wool's worker 0");
    assert_eq!(
        wool.unwrap().1,
        "spawns 2, inlined 1, read 0, wait 1, steal tries 0, steals 0, leap tries 0, leaps 0, spins 0"
    );
}

#[test]
fn a_wait_that_was_logged_before_its_sync_is_one_wait() {
    let order = LOG.replace("EVENT 0 6 60\nEVENT 0 3 61\n", "EVENT 0 3 60\n");
    let order = order.replace("EVENT 0 4 77\n", "EVENT 0 4 77\nEVENT 0 6 78\n");
    let dag = opened(&order);
    assert_eq!(dag.strands.end, [10, 65, 80, 100]);
    assert_eq!(dag.strands.start, [0, 10, 20, 82]);
    assert_eq!(dag.meta.warnings, [""; 0]);
}

#[test]
fn a_steal_in_a_wait_is_a_leapfrog() {
    // Worker 1 spawns inside of the stolen task; worker 0 takes that spawn while it waits.
    let leap = "EVENT 0 101 63\nEVENT 0 1 64\nEVENT 0 2 70\nEVENT 0 4 77\n";
    let inner = "EVENT 1 5 30\nEVENT 1 6 72\nEVENT 1 2 75\n";
    let log = LOG.replace("EVENT 0 4 77\n", leap);
    let dag = opened(&log.replace("EVENT 1 2 75\n", inner));
    assert_eq!(dag.tasks.len(), 3);
    assert_eq!(dag.tasks.parent[2], 1);
    let leap = dag.steals[1];
    assert_eq!(
        (leap.t, leap.thief, leap.victim, leap.leap),
        (69, 0, 1, true)
    );
    assert_eq!(dag.meta.warnings, [""; 0]);
}

#[test]
fn without_events_there_are_marks_and_counts() {
    let text: String = LOG
        .lines()
        .filter(|line| !line.starts_with("EVENT"))
        .map(|line| format!("{line}\n"))
        .collect();
    let dag = opened(&text);
    assert_eq!((dag.tasks.len(), dag.strands.len()), (1, 1));
    assert_eq!(dag.strands.end, [100]);
    assert_eq!(dag.folded.get(0).spawns, 2);
    assert_eq!(dag.steals.len(), 1);
    assert!(dag.meta.warnings[0].starts_with("The log has no EVENT lines"));
}

#[test]
fn damage_is_told_with_its_line() {
    for (change, to, message) in [
        (
            "---\n2\n",
            "---\nmany\n",
            "line 2: the number of workers is `many`",
        ),
        ("---\n2\n", "---\n0\n", "line 2: 0 workers; expected 1 to"),
        (
            "1100\n",
            "900\n",
            "line 4: ends at 900, before its start at 1000",
        ),
        (
            "[1:0:1020]",
            "[7:0:1020]",
            "line 5: worker `7`; expected one of 2 workers",
        ),
        (
            "[1:0:1020]",
            "[1:0]",
            "line 5: expected three values with colons between",
        ),
        ("EVENT 0 6 60", "EVENT 0 7 60", "type 7; expected 1 to 6"),
        (
            "EVENT 0 6 60",
            "EVENT 0 6",
            "an EVENT of other than three values",
        ),
        ("EVENT 0 6 60", "EVENT 0 6 2", "worker 0 was at 20 before"),
        ("EVENT 0 6 60", "EVENT 0 190 60", "worker `90`"),
        ("STAT 0 2", "STAT 0 x", "a count is `x`"),
        (
            "1:1050:50",
            "1:1050:much",
            "a load of `much`; expected per cent",
        ),
    ] {
        let changed = LOG.replacen(change, to, 1);
        assert_ne!(changed, LOG, "{change}");
        let error = error(&changed);
        assert!(error.contains(message), "{error}, not {message}");
        let options = OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        };
        let head = message.starts_with("line 2") || message.starts_with("line 4");
        let read = read(Path::new("wool.log"), changed.as_bytes(), &options);
        assert_eq!(read.is_err(), head, "{message}");
    }
    assert!(error("---BEGIN STARTENDTIMES---\n2\n").contains("ends before the start"));
    // A steal without a spawn.
    let dag = opened(&LOG.replace(
        "EVENT 1 1 15\n",
        "EVENT 1 1 15\nEVENT 1 100 16\nEVENT 1 1 17\nEVENT 1 100 18\nEVENT 1 1 18\n",
    ));
    assert!(
        dag.meta.warnings[0].contains("no spawn that was there to be stolen, left out: 1"),
        "{:?}",
        dag.meta.warnings
    );
}
